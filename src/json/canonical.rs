//! The canonical form of JSON (RFC 8785): what digests and signatures are made over.

use serde_json::Value;

/// Returns the canonical form of a value, in UTF-8.
///
/// Members are sorted by the UTF-16 code units of their names. Numbers are written as JavaScript writes them, so a
/// number that has no exact double is written as the nearest one.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value).expect("a value of JSON has a canonical form")
}

#[cfg(test)]
mod tests;
