//! Private keys, and the signatures made with them.

use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::canonical::payload;
use super::jws::{Jws, TYPE};

use crate::card::{Valid, ValidationReport, Variant};
use crate::crypto::jose::{Algorithm, encode};

/// Longest key id, in bytes.
const KEY_ID_MAX: usize = 256;

/// A private key with its id.
#[derive(Debug)]
pub struct Signer {
    pair: Pair,
    key_id: String,
}

#[derive(Debug)]
enum Pair {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

/// Why a private key cannot be used. Never holds a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no private key in it.
    #[error("it does not contain an unencrypted private key in PEM format")]
    NotPem,
    /// It is of another kind, too small, or damaged.
    #[error("it is not a key for EC P-256, Ed25519, or RSA with at least 2048 bits")]
    Unusable,
    /// A key cannot be found by such an id.
    #[error("a key id is 1 to 256 bytes without control characters")]
    KeyId,
}

/// Why a card was not signed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SignError {
    /// Only a valid card is signed.
    #[error("the card is not valid")]
    NotValid(ValidationReport),
    /// The legacy variant has no place for signatures.
    #[error("a card of the legacy variant cannot have signatures")]
    Legacy,
    /// The card was changed since, so that those are worth nothing.
    #[error("the card has a signature that was made for other content")]
    Stale,
    /// Two signatures of one key say no more than one.
    #[error("the card already has a signature with this key id")]
    Twice,
    /// The library failed, which it does only when there is no randomness.
    #[error("the signature could not be made")]
    Failed,
}

impl Signer {
    /// Reads a private key: PKCS #8, PKCS #1 of RSA or SEC 1 of EC, as PEM.
    ///
    /// # Errors
    /// When there is none, it is none that is used here, or the id cannot be one.
    pub fn new(pem: &SecretString, key_id: &str) -> Result<Self, KeyError> {
        let fits = (1..=KEY_ID_MAX).contains(&key_id.len()) && !key_id.contains(char::is_control);
        if !fits {
            return Err(KeyError::KeyId);
        }
        let pem = pem.expose_secret().as_bytes();
        // The parser's error is dropped, because it could quote the key.
        let key = Zeroizing::new(PrivateKeyDer::from_pem_slice(pem).map_err(|_| KeyError::NotPem)?);
        let pair = pair(&key).ok_or(KeyError::Unusable)?;
        Ok(Self { pair, key_id: key_id.to_owned() })
    }

    /// Returns what it signs with.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        match self.pair {
            Pair::Es256(_) => Algorithm::Es256,
            Pair::Rs256(_) => Algorithm::Rs256,
            Pair::EdDsa(_) => Algorithm::EdDsa,
        }
    }

    /// Returns the public half as a JSON Web Key.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let (id, algorithm) = (self.key_id.as_str(), self.algorithm().as_str());
        let rest = json!({"kid": id, "alg": algorithm, "use": "sig"});
        let key = match &self.pair {
            Pair::Es256(pair) => {
                let point = pair.public_key().as_ref();
                // The point is the byte 0x04, x and y.
                let (x, y) = (point.get(1..33), point.get(33..));
                let (x, y) = (x.unwrap_or_default(), y.unwrap_or_default());
                json!({"kty": "EC", "crv": "P-256", "x": encode(x), "y": encode(y)})
            }
            Pair::EdDsa(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "OKP", "crv": "Ed25519", "x": encode(point)})
            }
            Pair::Rs256(pair) => {
                let public: PublicKeyComponents<Vec<u8>> = pair.public().into();
                json!({"kty": "RSA", "n": encode(&public.n), "e": encode(&public.e)})
            }
        };
        let members = [key, rest].into_iter().filter_map(|part| match part {
            Value::Object(members) => Some(members),
            _ => None,
        });
        Value::Object(members.flatten().collect())
    }

    /// Signs a card: returns it with one more signature, or with this one in the place of all others,
    /// and otherwise as it was, byte for byte.
    ///
    /// # Errors
    /// When the card is not valid and current, or has signatures this one cannot stand beside.
    pub fn sign(&self, card: &[u8], in_place: bool) -> Result<String, SignError> {
        let card = Valid::of(card).map_err(SignError::NotValid)?;
        if card.variant() == Variant::Legacy {
            return Err(SignError::Legacy);
        }
        let payload = payload(&card);
        if !in_place {
            for declared in card.signatures() {
                if declared.key_id == self.key_id {
                    return Err(SignError::Twice);
                }
                // One that cannot be read proved nothing before either; only a readable one shows that the card was
                // changed.
                if Jws::parse(&declared).is_ok_and(|jws| jws.payload != payload) {
                    return Err(SignError::Stale);
                }
            }
        }
        let entry = self.entry(&payload)?;
        Ok(card.with_signature(&entry, in_place))
    }

    fn entry(&self, payload: &[u8]) -> Result<String, SignError> {
        let algorithm = self.algorithm().as_str();
        let header = json!({"alg": algorithm, "kid": self.key_id, "typ": TYPE}).to_string();
        let message = format!("{}.{}", encode(header.as_bytes()), encode(payload));
        let signature = self.bytes(message.as_bytes()).ok_or(SignError::Failed)?;
        let jws = format!("{message}.{}", encode(&signature));
        let key_id = Value::from(self.key_id.as_str());
        // Only the key id can need escapes.
        Ok(format!(r#"{{"algorithm":"{algorithm}","keyId":{key_id},"jws":"{jws}"}}"#))
    }

    fn bytes(&self, message: &[u8]) -> Option<Vec<u8>> {
        let chance = SystemRandom::new();
        match &self.pair {
            Pair::Es256(pair) => Some(pair.sign(&chance, message).ok()?.as_ref().to_vec()),
            Pair::EdDsa(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Pair::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &chance, message, &mut signature).ok()?;
                Some(signature)
            }
        }
    }
}

/// Returns the key pair of a private key, whichever kind it is.
fn pair(key: &PrivateKeyDer<'_>) -> Option<Pair> {
    let ec = |der: &[u8]| {
        let chance = SystemRandom::new();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &chance)
    };
    match key {
        PrivateKeyDer::Pkcs1(der) => {
            RsaKeyPair::from_der(der.secret_pkcs1_der()).ok().map(Pair::Rs256)
        }
        // ring reads EC keys as PKCS #8 only.
        PrivateKeyDer::Sec1(der) => ec(&wrapped(der.secret_sec1_der())?).ok().map(Pair::Es256),
        PrivateKeyDer::Pkcs8(der) => {
            let der = der.secret_pkcs8_der();
            let rsa = || RsaKeyPair::from_pkcs8(der).map(Pair::Rs256);
            // OpenSSL leaves the public half out, which ring then computes.
            let ed = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(Pair::EdDsa);
            // ring cannot tell what kind a key is; each reader refuses the keys of the others.
            ec(der).map(Pair::Es256).or_else(|_| rsa()).or_else(|_| ed()).ok()
        }
        _ => None,
    }
}

/// Writes a key of SEC 1 as PKCS #8: version, algorithm with its curve, and the key as it is.
fn wrapped(sec1: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    /// Version 0; id-ecPublicKey, prime256v1; the tag of an octet string.
    const HEAD: [u8; 25] = [
        0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04,
    ];
    // A P-256 key in SEC 1 has at most 121 bytes, so a longer one is of another curve.
    let length = u8::try_from(sec1.len()).ok().filter(|length| *length < 0x80)?;
    let whole = length.checked_add(u8::try_from(HEAD.len() + 1).ok()?)?;
    // From 128 on, a length has a byte in front.
    let front: &[u8] = if whole < 0x80 { &[0x30] } else { &[0x30, 0x81] };
    Some(Zeroizing::new([front, &[whole], &HEAD, &[length], sec1].concat()))
}
