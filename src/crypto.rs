//! Digests, signatures of tokens, and secrets in files: the cryptography that more than one module uses.

pub(crate) mod jwt;
pub mod secret;
pub mod sha256;
