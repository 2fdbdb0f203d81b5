//! The public keys of an issuer, as it publishes them (RFC 7517). Keys that are weak, or not for RS256
//! signatures, are left out; a document with two keys of one id is refused as a whole.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde_json::value::RawValue;

use super::object::Object;
use super::token::KEY_ID_BYTES_MAX;

/// Keys that are read, at most.
const KEYS_MAX: usize = 64;
/// Bytes of a modulus: from 2048 to 8192 bits.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;
/// The one exponent in use: 65537. Smaller ones have been forged against.
const EXPONENT: [u8; 3] = [1, 0, 1];

/// Keys by their ids.
pub struct KeySet(BTreeMap<String, DecodingKey>);

impl KeySet {
    /// Reads a published document; nothing when it holds no usable key, or cannot be trusted to say
    /// which key an id means.
    #[must_use]
    pub fn read(json: &[u8]) -> Option<Self> {
        let document = Object::read(json)?;
        let listed: Vec<&RawValue> = serde_json::from_str(document.raw("keys")?.get()).ok()?;
        if listed.len() > KEYS_MAX {
            return None;
        }
        let mut keys = BTreeMap::new();
        for json in listed {
            let jwk = Object::read(json.get().as_bytes())?;
            let Some((id, key)) = read_key(&jwk) else { continue };
            if keys.insert(id, key).is_some() {
                return None;
            }
        }
        if keys.is_empty() { None } else { Some(Self(keys)) }
    }

    /// Says whether there is a key of this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    pub(super) fn key(&self, id: &str) -> Option<&DecodingKey> {
        self.0.get(id)
    }
}

fn read_key(jwk: &Object<'_>) -> Option<(String, DecodingKey)> {
    let is = |name, wanted: &str| jwk.member::<String>(name).as_deref() == Some(wanted);
    let absent_or = |name, wanted| !jwk.has(name) || is(name, wanted);
    if !is("kty", "RSA") || !absent_or("use", "sig") || !absent_or("alg", "RS256") {
        return None;
    }
    let verifies = |operations: Vec<String>| operations.iter().any(|word| word == "verify");
    if jwk.has("key_ops") && !jwk.member("key_ops").is_some_and(verifies) {
        return None;
    }
    let decode = |name| URL_SAFE_NO_PAD.decode(jwk.member::<String>(name)?).ok();
    let (modulus, exponent) = (decode("n")?, decode("e")?);
    let strong = MODULUS_BYTES.contains(&modulus.len())
        && modulus.first().is_some_and(|high| *high >= 0x80)
        && exponent == EXPONENT;
    let key = DecodingKey::from_rsa_raw_components(&modulus, &exponent);
    strong.then_some((jwk.text("kid", KEY_ID_BYTES_MAX)?, key))
}
