//! Signatures of agent cards: made with a private key, and checked with trusted keys.
//!
//! What is signed is the card in its canonical form (RFC 8785) without its `signatures`, so that
//! layout and the order of properties do not matter, and one signature does not void another. It
//! stands embedded in a compact JWS (RFC 7515). Everything is read strictly and refused when in
//! doubt: the key decides the algorithm, and what the card declares and what the JWS says must both
//! be that; a key comes from the verifier, never from the card. This module reads no file and
//! fetches nothing. Cryptography is ring's.
//!
//! Why this form: `docs/decisions/64-card-signature-format.md`.

mod canonical;
mod jwks;
mod jws;
mod reason;
mod signer;
mod verify;

pub use jwks::{JWKS_BYTES_MAX, Jwks, JwksError};
pub use reason::Reason;
pub use signer::{KeyError, SignError, Signer};
pub use verify::{SignatureVerdict, VerifiedSignature, verify};
