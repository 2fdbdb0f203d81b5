//! What all JSON Web Tokens (RFC 7519) have in common, read strictly before anything of it is used.

use crate::crypto::jose::key_set::KEY_ID_BYTES_MAX;
use crate::crypto::jose::{Compact, decode};
use crate::json::{self, Object};

/// How deep header and claims may be nested; real ones have three or four levels.
const DEPTH_MAX: usize = 8;
/// What a header may not have: each asks to trust another key, or to do something else.
const REFUSED: [&str; 8] = ["crit", "b64", "jku", "jwk", "x5u", "x5c", "zip", "enc"];

/// A token, taken apart and decoded.
pub(super) struct Parts<'a> {
    /// Header and claims as they were signed.
    pub(super) signed: &'a str,
    pub(super) header: Vec<u8>,
    pub(super) claims: Vec<u8>,
    /// Not empty.
    pub(super) signature: Vec<u8>,
}

impl<'a> Parts<'a> {
    /// Takes a token apart; `None` unless it has three parts in their one spelling.
    pub(super) fn of(token: &'a str) -> Option<Self> {
        let parts = Compact::split(token)?;
        let signature = decode(parts.signature).filter(|bytes| !bytes.is_empty())?;
        let (header, claims) = (decode(parts.header)?, decode(parts.payload)?);
        Some(Self { signed: parts.signed, header, claims, signature })
    }
}

/// Reads header or claims; `None` when they are no JSON object, repeat a name, or are nested too deep.
pub(super) fn read_object(json: &[u8]) -> Option<Object<'_>> {
    // Counted on the text, before anything is built from it.
    if json::depth(json) > DEPTH_MAX { None } else { Object::read(json).ok() }
}

/// Says whether a header asks for anything but a signature that is checked with a known key.
pub(super) fn asks_for_more(header: &Object<'_>) -> bool {
    REFUSED.iter().any(|name| header.has(name))
}

/// Returns the id of the key: visible ASCII.
pub(super) fn key_id(header: &Object<'_>) -> Option<String> {
    let is_plain = |id: &String| id.bytes().all(|byte| byte.is_ascii_graphic());
    header.text("kid", KEY_ID_BYTES_MAX).filter(is_plain)
}
