//! Digests, keys, signatures, encryption, and secrets in files: the cryptography that more than one module uses. All of
//! it is ring's.

pub mod aead;
pub mod jose;
pub(crate) mod jwt;
pub mod secret;
pub mod sha1;
pub mod sha256;
