//! Keys for tests: made anew, but for the RSA key, which takes long to make. They sign anything.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};
use svc::card_signature::{Jwks, Signer};

pub(crate) const KINDS: [&str; 3] = ["ES256", "RS256", "EdDSA"];

/// A private key as PKCS #8.
pub(crate) struct Key {
    kind: &'static str,
    der: Vec<u8>,
}

impl Key {
    pub(crate) fn new(kind: &'static str) -> Self {
        let chance = SystemRandom::new();
        let made = match kind {
            "ES256" => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &chance),
            "EdDSA" => Ed25519KeyPair::generate_pkcs8(&chance),
            _ => {
                let pem = include_str!("../../data/throwaway-key-pkcs8.pem");
                let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
                return Self { kind, der: STANDARD.decode(text).unwrap() };
            }
        };
        Self { kind, der: made.unwrap().as_ref().to_vec() }
    }

    pub(crate) fn pem(&self) -> String {
        armored("PRIVATE KEY", &self.der)
    }

    pub(crate) fn signer(&self, id: &str) -> Signer {
        Signer::new(&self.pem().into(), id).unwrap()
    }

    /// Signs any message.
    pub(crate) fn sign(&self, message: &str) -> Vec<u8> {
        let (chance, message) = (SystemRandom::new(), message.as_bytes());
        match self.kind {
            "ES256" => {
                let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let pair = EcdsaKeyPair::from_pkcs8(algorithm, &self.der, &chance).unwrap();
                pair.sign(&chance, message).unwrap().as_ref().to_vec()
            }
            "EdDSA" => {
                Ed25519KeyPair::from_pkcs8(&self.der).unwrap().sign(message).as_ref().to_vec()
            }
            _ => {
                let pair = RsaKeyPair::from_pkcs8(&self.der).unwrap();
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &chance, message, &mut signature).unwrap();
                signature
            }
        }
    }
}

pub(crate) fn armored(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
}

pub(crate) fn jwks(keys: impl IntoIterator<Item = Value>) -> Jwks {
    let keys: Vec<Value> = keys.into_iter().collect();
    Jwks::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap()
}

pub(crate) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decoded(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text).unwrap()
}
