//! Each signature of a card is checked with the trusted keys. Fails closed: only what was proved
//! is valid.
//!
//! What is refused: `docs/decisions/65-card-verification.md`.

use super::canonical::{difference, payload};
use super::jws::Jws;
use super::{Jwks, Reason};
use crate::card::{Declared, Valid, ValidationReport};

/// Most signatures of a card that are looked at.
const SIGNATURES_MAX: usize = 64;

/// One signature of a card, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSignature {
    /// As the card declares it.
    pub algorithm: String,
    /// As the card declares it.
    pub key_id: String,
    /// What it is worth.
    pub verdict: SignatureVerdict,
}

/// What a signature is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureVerdict {
    /// The card is as the owner of the key signed it.
    Valid,
    /// None of the trusted keys has its id: nothing is known.
    NoSuchKey,
    /// It proves nothing.
    Invalid {
        /// Why.
        reason: Reason,
        /// JSON Pointer to the first thing that is different in the card that was signed.
        differs_at: Option<String>,
    },
}

/// Verifies every signature of a card, in their order.
///
/// # Errors
/// When the card is not valid: why.
pub fn verify(card: &[u8], trusted: &Jwks) -> Result<Vec<VerifiedSignature>, ValidationReport> {
    let card = Valid::of(card)?;
    let payload = payload(&card);
    let judged = card.signatures().enumerate().map(|(place, declared)| VerifiedSignature {
        verdict: match place {
            // Each costs an operation with a public key, and a card has room for thousands.
            SIGNATURES_MAX.. => invalid(Reason::TooMany),
            _ => verify_one(&declared, &payload, trusted),
        },
        algorithm: declared.algorithm.into_owned(),
        key_id: declared.key_id.into_owned(),
    });
    Ok(judged.collect())
}

fn verify_one(declared: &Declared<'_>, payload: &[u8], trusted: &Jwks) -> SignatureVerdict {
    let jws = match Jws::parse(declared) {
        Ok(jws) => jws,
        Err(reason) => return invalid(reason),
    };
    let key = match trusted.get(&declared.key_id) {
        None => return SignatureVerdict::NoSuchKey,
        Some(Err(reason)) => return invalid(reason),
        Some(Ok(key)) => key,
    };
    if key.algorithm().as_str() != declared.algorithm {
        return invalid(Reason::KeyMismatch);
    }
    // Such a signature may be genuine; what differs helps more than that it is wrong for this card.
    if jws.payload != payload {
        let differs_at = difference(payload, &jws.payload);
        return SignatureVerdict::Invalid { reason: Reason::PayloadDiffers, differs_at };
    }
    match key.verify(jws.message.as_bytes(), &jws.signature) {
        Ok(()) => SignatureVerdict::Valid,
        Err(fault) => invalid(fault.into()),
    }
}

const fn invalid(reason: Reason) -> SignatureVerdict {
    SignatureVerdict::Invalid { reason, differs_at: None }
}
