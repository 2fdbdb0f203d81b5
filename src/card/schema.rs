//! The rules once more, as two JSON Schemas of draft 2020-12: for other people's tools, and for the
//! tests that hold the checker to them. `format: uri` must be asserted; instants are a pattern.
//!
//! See `docs/decisions/58-card-schemas.md`.

use super::shape::Variant;

/// Returns the JSON Schema of a variant, as it is published.
#[must_use]
pub const fn schema(variant: Variant) -> &'static str {
    match variant {
        Variant::Current => include_str!("schema/current.json"),
        Variant::Legacy => include_str!("schema/legacy.json"),
    }
}
