//! Sets of public keys (RFC 7517).

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::Algorithm;
use super::key::PublicKey;
use crate::json::{self, Object};

/// Most keys of a set.
pub const KEYS_MAX: usize = 64;
/// Longest id of an issuer's key, in bytes.
pub const KEY_ID_BYTES_MAX: usize = 128;
/// How deep a set of an issuer may be nested; real ones have three levels.
const DEPTH_MAX: usize = 8;

/// Why a document is not a set of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no object with an array of objects, `keys`.
    Shape,
    /// A name is repeated in one of its objects.
    Duplicate,
    /// It has more than [`KEYS_MAX`] keys.
    TooMany,
}

impl From<json::Fault> for Fault {
    fn from(fault: json::Fault) -> Self {
        match fault {
            json::Fault::Malformed | json::Fault::TooMany => Self::Shape,
            json::Fault::Duplicate => Self::Duplicate,
        }
    }
}

/// Reads the keys of a set, whatever they are.
///
/// # Errors
/// By what is wrong with the document.
pub fn read(document: &[u8]) -> Result<Vec<Object<'_>>, Fault> {
    let set = Object::read(document)?;
    let listed: Option<Vec<&RawValue>> =
        set.raw("keys").and_then(|keys| serde_json::from_str(keys.get()).ok());
    let listed = listed.ok_or(Fault::Shape)?;
    if listed.len() > KEYS_MAX {
        return Err(Fault::TooMany);
    }
    listed.into_iter().map(|key| Ok(Object::read(key.get().as_bytes())?)).collect()
}

/// The keys that an issuer of tokens publishes, by their ids. Keys that are weak, or not for signatures of the wanted
/// algorithms, are left out.
pub struct KeySet(BTreeMap<String, PublicKey>);

impl KeySet {
    /// Reads a published document; `None` when it holds no usable key, or when two of them have one id.
    #[must_use]
    pub fn read(document: &[u8], wanted: &[Algorithm]) -> Option<Self> {
        if json::depth(document) > DEPTH_MAX {
            return None;
        }
        let mut keys = BTreeMap::new();
        for jwk in read(document).ok()? {
            // Issuers publish keys for other purposes in the same set, and RFC 7517, 5 says to ignore them.
            let Ok(key) = PublicKey::read(&jwk) else { continue };
            // A token names its key by this id; without one it cannot be found.
            let Some(id) = jwk.text("kid", KEY_ID_BYTES_MAX) else { continue };
            if !wanted.contains(&key.algorithm()) || !key.is_fit_for_issuer() {
                continue;
            }
            if keys.insert(id, key).is_some() {
                return None;
            }
        }
        if keys.is_empty() { None } else { Some(Self(keys)) }
    }

    /// Returns all keys, by their ids.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &PublicKey> {
        self.0.values()
    }

    /// Returns the key of an id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&PublicKey> {
        self.0.get(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ALL: &[Algorithm] = Algorithm::ALL;

    fn key(algorithm: Algorithm) -> Value {
        let bytes = |count: usize| crate::crypto::jose::encode(&vec![0xa5; count]);
        let key = match algorithm {
            Algorithm::Es256 => {
                json!({"kty": "EC", "crv": "P-256", "x": bytes(32), "y": bytes(32)})
            }
            Algorithm::Rs256 => json!({"kty": "RSA", "n": bytes(256), "e": "AQAB"}),
            Algorithm::EdDsa => json!({"kty": "OKP", "crv": "Ed25519", "x": bytes(32)}),
        };
        let mut key = key;
        key["kid"] = algorithm.as_str().into();
        key
    }

    fn set(keys: &[Value]) -> Vec<u8> {
        json!({ "keys": keys }).to_string().into_bytes()
    }

    #[test]
    fn keys_of_the_wanted_algorithms_are_taken_and_no_others() {
        let published: Vec<Value> = ALL.iter().copied().map(key).collect();
        for wanted in ALL {
            let keys = KeySet::read(&set(&published), &[*wanted]).expect("one key is wanted");
            for other in ALL {
                assert_eq!(keys.get(other.as_str()).is_some(), other == wanted, "{other}");
            }
        }
        assert!(KeySet::read(&set(&published), &[]).is_none());
    }

    #[test]
    fn a_key_that_names_another_algorithm_or_purpose_is_left_out() {
        for algorithm in ALL.iter().copied() {
            for (name, value, is_taken) in [
                ("alg", json!(algorithm.as_str()), true),
                ("alg", json!("HS256"), false),
                ("use", json!("sig"), true),
                ("use", json!("enc"), false),
                ("key_ops", json!(["verify"]), true),
                ("key_ops", json!(["sign"]), false),
                ("key_ops", json!("verify"), false),
            ] {
                let mut key = key(algorithm);
                key[name] = value;
                assert_eq!(
                    KeySet::read(&set(&[key]), ALL).is_some(),
                    is_taken,
                    "{algorithm} {name}"
                );
            }
        }
    }
}
