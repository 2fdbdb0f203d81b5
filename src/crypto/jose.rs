//! JSON Object Signing and Encryption (RFC 7515 to 7518), as far as tokens and signatures of cards need it.
//!
//! Nothing here trusts a key that comes with what it has signed.

pub mod key;
pub mod key_set;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

words! {
    /// What a key signs with, by its name in JSON Web Algorithms.
    Algorithm {
        /// ECDSA over P-256 with SHA-256.
        Es256 => "ES256",
        /// RSA, PKCS #1 1.5, with SHA-256.
        Rs256 => "RS256",
        /// Ed25519.
        EdDsa => "EdDSA",
    }
}

/// The three parts of the compact form, still encoded.
#[derive(Clone, Copy, Debug)]
pub struct Compact<'a> {
    /// What the signature is over: header and payload with the full stop between them.
    pub signed: &'a str,
    /// The first part.
    pub header: &'a str,
    /// The second part.
    pub payload: &'a str,
    /// The last part.
    pub signature: &'a str,
}

impl<'a> Compact<'a> {
    /// Splits a text; `None` unless it has three parts.
    #[must_use]
    pub fn split(text: &'a str) -> Option<Self> {
        let (signed, signature) = text.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        // Five parts would be an encrypted token (RFC 7516).
        (!payload.contains('.')).then_some(Self { signed, header, payload, signature })
    }
}

/// Writes bytes as base64url without padding.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads base64url without padding; `None` when the text is not the one spelling of its bytes.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    // This engine refuses padding and stray last bits (RFC 4648, 3.5), so that no signature has a second spelling.
    URL_SAFE_NO_PAD.decode(text).ok()
}
