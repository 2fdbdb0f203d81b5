//! Trusted keys: a JSON Web Key Set (RFC 7517), read strictly.

use super::Reason;
use crate::crypto::jose::key::PublicKey;
use crate::crypto::jose::key_set;
use crate::json::Object;

/// Longest key set that is read, in bytes.
pub const JWKS_BYTES_MAX: usize = 256 * 1024;

/// Members of a JSON Web Key that only its owner may have. `k` is a secret that both sides share.
const PRIVATE: [&str; 2] = ["d", "k"];

/// Trusted public keys, by their ids.
#[derive(Debug)]
pub struct Jwks {
    keys: Vec<(String, Result<PublicKey, Reason>)>,
}

/// Why a key set was refused. Never holds a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwksError {
    /// It is larger than is read.
    #[error("the key set is larger than 256 KiB, or has more than 64 keys")]
    TooLarge,
    /// It is no key set.
    #[error(
        "it is not a JSON Web Key Set, which is an object with an array of objects called keys"
    )]
    Shape,
    /// A name is repeated in one object.
    #[error("a name is repeated in one of its objects")]
    Twice,
    /// It holds what must not be published.
    #[error(
        "it contains a private or shared key, which must not be published; keep only the public part"
    )]
    Private,
}

impl Jwks {
    /// Reads a key set. A key without an id is left out, and one that cannot be used counts only
    /// when a signature names it.
    ///
    /// # Errors
    /// When it is too large, no key set, ambiguous, or holds a secret.
    pub fn parse(bytes: &[u8]) -> Result<Self, JwksError> {
        if bytes.len() > JWKS_BYTES_MAX {
            return Err(JwksError::TooLarge);
        }
        let list = key_set::read(bytes).map_err(|fault| match fault {
            key_set::Fault::Shape => JwksError::Shape,
            key_set::Fault::Duplicate => JwksError::Twice,
            key_set::Fault::TooMany => JwksError::TooLarge,
        })?;
        let is_private = |key: &Object<'_>| PRIVATE.iter().any(|name| key.has(name));
        if list.iter().any(is_private) {
            return Err(JwksError::Private);
        }
        let named = |key: &Object<'_>| {
            Some((key.member::<String>("kid")?, PublicKey::read(key).map_err(Reason::from)))
        };
        Ok(Self { keys: list.iter().filter_map(named).collect() })
    }

    /// Returns the one key of an id; `None` when there is none.
    pub(super) fn get(&self, id: &str) -> Option<Result<&PublicKey, Reason>> {
        let mut known = self.keys.iter().filter(|(known, _)| known == id);
        let (_, key) = known.next()?;
        if known.next().is_some() {
            return Some(Err(Reason::KeyAmbiguous));
        }
        Some(key.as_ref().map_err(|reason| *reason))
    }
}
