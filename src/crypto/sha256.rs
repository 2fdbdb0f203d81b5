//! The one way a SHA-256 digest is computed.

use ring::digest::{SHA256, digest};

use crate::domain::digest::Digest;

/// Returns the digest of `bytes`.
#[must_use]
pub fn of(bytes: &[u8]) -> Digest {
    let mut sha256 = [0; 32];
    sha256.copy_from_slice(digest(&SHA256, bytes).as_ref());
    sha256.into()
}
