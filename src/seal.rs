//! Signatures of agent cards: made with a private key, and held against keys somebody trusts.
//!
//! What is signed is the card in its canonical form (RFC 8785) without its `signatures`, so that
//! layout and the order of properties do not matter, and one signature does not void another. It
//! stands embedded in a compact JWS (RFC 7515). Everything is read strictly and refused when in
//! doubt: the key decides the algorithm, and what the card declares and what the JWS says must both
//! be that; a key comes from whoever verifies, never from the card. This room reads no file and
//! fetches nothing. Cryptography is ring's.

mod canonical;
mod jwks;
mod jws;
mod object;
mod public;
mod reason;
mod signer;
mod verify;

pub use jwks::{JWKS_BYTES_MAX, Jwks, JwksError};
pub use reason::Reason;
pub use signer::{KeyError, SignError, Signer};
pub use verify::{Verdict, Verified, verify};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// What a key signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// RSA, PKCS #1 1.5, with SHA-256.
    Rs256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Es256, Self::Rs256, Self::EdDsa];

    /// Returns the word of JSON Web Algorithms for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// Returns the algorithm of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == word)
    }
}

/// Writes bytes as base64url without padding.
fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads base64url without padding; nothing when it is not the one spelling of its bytes.
fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
