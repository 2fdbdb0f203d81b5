//! A compact JWS, read strictly, before anything of it is believed.

use super::object::Object;
use super::{Algorithm, Reason, decoded};
use crate::card::Declared;

/// What `typ` says of the signature of a card.
pub(super) const TYPE: &str = "a2a-agent-card+jws";

/// Longest header that is read, in characters.
const HEADER_MAX: usize = 4_096;

/// Longest last part: an RSA key of 8192 bits makes 1366 characters.
const SIGNATURE_MAX: usize = 2_048;

/// Header parameters by which a JWS brings a key, or says where one is.
const KEYS: [&str; 6] = ["jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256"];

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
        let (message, signature) = declared.jws.rsplit_once('.').ok_or(Reason::NotCompact)?;
        let (header, payload) = message.split_once('.').ok_or(Reason::NotCompact)?;
        if payload.contains('.') {
            return Err(Reason::NotCompact);
        }
        if header.len() > HEADER_MAX || signature.len() > SIGNATURE_MAX {
            return Err(Reason::TooLarge);
        }
        let part = |text| decoded(text).ok_or(Reason::NotBase64url);
        let (header, payload, signature) = (part(header)?, part(payload)?, part(signature)?);
        check_header(&header, declared)?;
        if payload.is_empty() {
            return Err(Reason::PayloadMissing);
        }
        Ok(Self { message, payload, signature })
    }
}

fn check_header(header: &[u8], declared: &Declared<'_>) -> Result<(), Reason> {
    let header: Object = serde_json::from_slice(header).map_err(|_| Reason::HeaderNotJson)?;
    let has = |name: &str| header.get(name).is_some();
    let algorithm = header.text("alg").and_then(Algorithm::from_word);
    let is_ours = |kind: &str| kind == TYPE || kind == "JOSE";
    let faults = [
        (header.has_twice, Reason::HeaderDuplicate),
        (has("crit"), Reason::HeaderCritical),
        (has("b64"), Reason::HeaderUnencoded),
        (KEYS.into_iter().any(has), Reason::HeaderKey),
        (has("typ") && !header.text("typ").is_some_and(is_ours), Reason::OtherType),
        (algorithm.is_none(), Reason::AlgorithmUnknown),
        (header.text("alg") != Some(&declared.algorithm), Reason::AlgorithmDiffers),
        (header.text("kid") != Some(&declared.key_id), Reason::KeyIdDiffers),
    ];
    let fault = faults.into_iter().find(|(is_there, _)| *is_there);
    fault.map_or(Ok(()), |(_, reason)| Err(reason))
}
