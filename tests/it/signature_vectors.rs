//! Project Wycheproof's published signatures, right ones and those that careless verifiers take, against the keys that
//! check signatures of cards and those that check tokens: each verdict is the published one, or in a list of reasons.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use svc::crypto::jose::Algorithm;
use svc::crypto::jose::key::PublicKey;
use svc::crypto::jose::key_set::KeySet;
use svc::json::Object;
use wycheproof::{ecdsa, eddsa, rsa_pkcs1_verify as rsa};

use crate::support::keys::encoded;

/// What was made of one published signature.
#[derive(Clone, Debug)]
struct Vector {
    set: &'static str,
    number: u64,
    published: String,
    flags: Vec<String>,
    /// The published exponent of an RSA key.
    exponent: Option<String>,
    /// It was checked with the key as one of an issuer of tokens.
    for_tokens: bool,
    is_taken: bool,
}

/// Verdicts that are not the published ones, or that publishers leave open, and why. All of them refuse.
type Reason = (&'static str, fn(&Vector) -> bool, usize);
const ON_PURPOSE: [Reason; 3] = [
    // RFC 7518, 3.4: r and s as 64 bytes, so that a signature has one spelling.
    ("JWS has no signatures in DER", |vector| vector.set == "ES256 in DER", 348),
    // RFC 8017 has one encoding of the name of the hash, and an allowance for old signatures.
    (
        "the name of the hash lacks its NULL",
        |vector| {
            vector.flags.iter().any(|flag| flag == "MissingNull")
                && vector.published == "acceptable"
        },
        8,
    ),
    // No issuer has such keys, and signatures of them have been forged.
    (
        "the key of an issuer has the exponent 3",
        |vector| vector.for_tokens && vector.exponent.as_deref() == Some("03"),
        3,
    ),
];

fn sets() -> [(&'static str, Algorithm, &'static str); 7] {
    use Algorithm::{EdDsa, Es256, Rs256};
    use ecdsa::TestName::{EcdsaSecp256r1Sha256, EcdsaSecp256r1Sha256P1363};
    use rsa::TestName::{Rsa2048Sha256, Rsa3072Sha256, Rsa4096Sha256, Rsa8192Sha256};
    [
        ("ES256", Es256, EcdsaSecp256r1Sha256P1363.json_data()),
        ("ES256 in DER", Es256, EcdsaSecp256r1Sha256.json_data()),
        ("EdDSA", EdDsa, eddsa::TestName::Ed25519.json_data()),
        ("RS256, 2048 bits", Rs256, Rsa2048Sha256.json_data()),
        ("RS256, 3072 bits", Rs256, Rsa3072Sha256.json_data()),
        ("RS256, 4096 bits", Rs256, Rsa4096Sha256.json_data()),
        ("RS256, 8192 bits", Rs256, Rsa8192Sha256.json_data()),
    ]
}

fn bytes(hexadecimal: &Value) -> Vec<u8> {
    let digits = hexadecimal.as_str().unwrap().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Returns the published key as a JSON Web Key; a few are published in other forms only.
fn jwk(group: &Value, algorithm: Algorithm) -> Value {
    let mut published = ["publicKeyJwk", "keyJwk"].iter().map(|name| &group[name]);
    if let Some(jwk) = published.find(|jwk| jwk.is_object()) {
        return jwk.clone();
    }
    let key = &group["publicKey"];
    let number = |name: &str| {
        let bytes = bytes(&key[name]);
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        encoded(&bytes[zeros..])
    };
    match algorithm {
        Algorithm::Rs256 => {
            json!({"kty": "RSA", "n": number("modulus"), "e": number("publicExponent")})
        }
        Algorithm::EdDsa => {
            json!({"kty": "OKP", "crv": "Ed25519", "x": encoded(bytes(&key["pk"]))})
        }
        Algorithm::Es256 => {
            let point = bytes(&key["uncompressed"]);
            json!({"kty": "EC", "crv": "P-256", "x": encoded(&point[1..33]), "y": encoded(&point[33..])})
        }
    }
}

/// Checks every signature of a set with its key, as one of a card and as one of an issuer.
fn judged(set: &'static str, algorithm: Algorithm, text: &str) -> Vec<Vector> {
    let published: Value = serde_json::from_str(text).unwrap();
    let mut judged = Vec::new();
    for group in published["testGroups"].as_array().unwrap() {
        let mut jwk = jwk(group, algorithm);
        jwk["kid"] = "k".into();
        let of_card = PublicKey::read(&Object::read(jwk.to_string().as_bytes()).unwrap()).ok();
        let issued = KeySet::read(json!({"keys": [jwk]}).to_string().as_bytes(), &[algorithm]);
        let of_issuer = issued.as_ref().and_then(|keys| keys.get("k"));
        for test in group["tests"].as_array().unwrap() {
            let (message, signature) = (bytes(&test["msg"]), bytes(&test["sig"]));
            for (for_tokens, key) in [(false, of_card.as_ref()), (true, of_issuer)] {
                let flags = test["flags"].as_array().unwrap().iter();
                judged.push(Vector {
                    set,
                    number: test["tcId"].as_u64().unwrap(),
                    published: test["result"].as_str().unwrap().to_owned(),
                    flags: flags.map(|flag| flag.as_str().unwrap().to_owned()).collect(),
                    exponent: group["publicKey"]["publicExponent"].as_str().map(str::to_owned),
                    for_tokens,
                    is_taken: key.is_some_and(|key| key.verify(&message, &signature).is_ok()),
                });
            }
        }
    }
    judged
}

#[test]
fn published_signatures_get_their_published_verdicts() {
    let all = sets().map(|(set, algorithm, text)| judged(set, algorithm, text)).concat();
    let mut differing = BTreeMap::new();
    let is_published = |vector: &&Vector| match vector.published.as_str() {
        "valid" => vector.is_taken,
        "invalid" => !vector.is_taken,
        _ => false,
    };
    let mut unexplained = Vec::new();
    for vector in all.iter().filter(|vector| !is_published(vector)) {
        match ON_PURPOSE.iter().find(|(_, holds, _)| !vector.is_taken && holds(vector)) {
            Some((reason, ..)) => *differing.entry(*reason).or_insert(0) += 1,
            None => {
                unexplained.push((vector.set, vector.number, vector.for_tokens, vector.is_taken));
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    let expected: BTreeMap<&str, usize> =
        ON_PURPOSE.iter().map(|(reason, _, count)| (*reason, *count)).collect();
    let taken = all.iter().filter(|vector| vector.is_taken).count();
    assert_eq!(differing, expected);
    // Each is one of a card and one of a token. Fewer would mean that some were not read.
    assert_eq!((all.len(), taken), (2 * 1_931, 581));
}
