//! A compact JWS, read strictly, before anything of it is believed.

use super::Reason;
use crate::card::Declared;
use crate::crypto::jose::{Algorithm, Compact, decode};
use crate::json::{self, Object};

/// What `typ` says of the signature of a card.
pub(super) const TYPE: &str = "a2a-agent-card+jws";

/// Longest header that is read, in characters.
const HEADER_MAX: usize = 4_096;

/// Longest last part: an RSA key of 8192 bits makes 1366 characters.
const SIGNATURE_MAX: usize = 2_048;

/// What a JWS consists of.
#[derive(Debug)]
pub(super) struct Jws<'a> {
    /// What the signature is over: header and payload as they stand.
    pub(super) message: &'a str,
    pub(super) payload: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Takes a JWS apart and decodes it; its header must say what the card declares.
    pub(super) fn parse(declared: &'a Declared<'_>) -> Result<Self, Reason> {
        let parts = Compact::split(&declared.jws).ok_or(Reason::NotCompact)?;
        // Before anything is decoded. The payload is limited by the size of the card.
        if parts.header.len() > HEADER_MAX || parts.signature.len() > SIGNATURE_MAX {
            return Err(Reason::TooLarge);
        }
        let decoded = |part| decode(part).ok_or(Reason::NotBase64url);
        let header = decoded(parts.header)?;
        let (payload, signature) = (decoded(parts.payload)?, decoded(parts.signature)?);
        check_header(&header, declared)?;
        if payload.is_empty() {
            return Err(Reason::PayloadMissing);
        }
        Ok(Self { message: parts.signed, payload, signature })
    }
}

/// Parameters that bring a key or say where one is (`jku`, `jwk`, `x5u`, `x5c`, `x5t`) are not read: the key is the one
/// that is trusted under the key's id (`docs/decisions/113-card-key-headers.md`).
fn check_header(header: &[u8], declared: &Declared<'_>) -> Result<(), Reason> {
    let header = Object::read(header).map_err(|fault| match fault {
        json::Fault::Duplicate => Reason::HeaderDuplicate,
        json::Fault::Malformed | json::Fault::TooMany => Reason::HeaderNotJson,
    })?;
    let has = |name: &str| header.has(name);
    let algorithm = header.member::<String>("alg").as_deref().and_then(Algorithm::from_word);
    // `JOSE` is the registered `typ` of any compact JWS (RFC 7515, 4.1.9).
    let is_ours = header.is("typ", TYPE) || header.is("typ", "JOSE");
    // In the order of `Reason`, because the first that holds is reported.
    let faults = [
        (has("crit"), Reason::HeaderCritical),
        (has("b64"), Reason::HeaderUnencoded),
        (has("typ") && !is_ours, Reason::OtherType),
        (algorithm.is_none(), Reason::AlgorithmUnknown),
        (!header.is("alg", &declared.algorithm), Reason::AlgorithmDiffers),
        (!header.is("kid", &declared.key_id), Reason::KeyIdDiffers),
    ];
    let fault = faults.into_iter().find(|(is_there, _)| *is_there);
    fault.map_or(Ok(()), |(_, reason)| Err(reason))
}
