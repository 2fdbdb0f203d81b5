//! What is refused, and why: signatures as attackers and careless libraries make them, keys that
//! should not be trusted. Each row has one thing wrong; the rest of it is right.

use ring::hmac;
use serde_json::{Value, json};
use svc::card_signature::{Jwks, JwksError, Reason, SignatureVerdict};

use super::{because, jws_of, sign, verdicts};
use crate::support::keys::{Key, decoded, encoded, jwks};

const CARD: &str =
    r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;

/// The parts of a right signature, and the key that made it.
pub(super) struct Right {
    pub(super) kind: &'static str,
    key: Key,
    payload: String,
    signature: String,
    jws: String,
}

impl Right {
    pub(super) fn new(kind: &'static str) -> Self {
        let key = Key::new(kind);
        let jws = jws_of(&sign(&key.signer("k"), CARD));
        let parts: Vec<&str> = jws.split('.').collect();
        let [_, payload, signature] = parts[..] else { panic!("{jws}") };
        let (payload, signature) = (payload.to_owned(), signature.to_owned());
        Self { kind, key, payload, signature, jws }
    }

    pub(super) fn jwk(&self) -> Value {
        self.key.signer("k").jwk()
    }

    /// Signs any header and payload, as only the owner of the key can.
    fn resigned(&self, header: &str, payload: &str) -> String {
        let message = format!("{}.{payload}", encoded(header));
        format!("{message}.{}", encoded(self.key.sign(&message)))
    }

    /// Signs the right payload under a header with other members, too.
    pub(super) fn with(&self, members: &str) -> String {
        let header = format!(r#"{{"alg":"{}","kid":"k"{members}}}"#, self.kind);
        self.resigned(&header, &self.payload)
    }

    fn with_signature(&self, signature: impl AsRef<[u8]>) -> String {
        self.jws.replace(&self.signature, &encoded(signature))
    }

    pub(super) fn judged(&self, jws: &str) -> SignatureVerdict {
        judged(self.kind, jws, &jwks([self.jwk()]))
    }
}

pub(super) fn judged(algorithm: &str, jws: &str, trusted: &Jwks) -> SignatureVerdict {
    verdicts(&card(algorithm, jws), trusted).unwrap().remove(0)
}

pub(super) fn card(algorithm: &str, jws: &str) -> String {
    let entry = json!({"algorithm": algorithm, "keyId": "k", "jws": jws});
    CARD.replace('}', &format!(",\"signatures\":[{entry}]}}"))
}

#[test]
fn the_form_of_a_signature_is_strict() {
    for kind in super::KINDS {
        let right = Right::new(kind);
        let (jws, signature) = (right.jws.as_str(), decoded(&right.signature));
        assert_eq!(right.judged(jws), SignatureVerdict::Valid);
        let cut = |length: usize| jws.split_at(jws.len() - length).0.to_owned();
        let rows = [
            (String::new(), Reason::NotCompact),
            ("..".to_owned(), Reason::HeaderNotJson),
            (jws.replacen('.', "", 1), Reason::NotCompact),
            (format!("{jws}."), Reason::NotCompact),
            (format!("{jws}.{}", right.signature), Reason::NotCompact),
            (format!(".{jws}"), Reason::NotCompact),
            (format!("{{\"payload\":\"{}\"}}", right.payload), Reason::NotCompact),
            (format!("{jws}="), Reason::NotBase64url),
            (format!("{jws}=="), Reason::NotBase64url),
            (format!("{jws} "), Reason::NotBase64url),
            (format!("{jws}\n"), Reason::NotBase64url),
            (format!(" {jws}"), Reason::NotBase64url),
            (jws.replacen('.', " .", 1), Reason::NotBase64url),
            (jws.replacen('.', "\n.", 1), Reason::NotBase64url),
            (cut(1), Reason::NotBase64url),
            (format!("{}+", cut(1)), Reason::NotBase64url),
            (format!("{}é", cut(1)), Reason::NotBase64url),
            (next_spelling(jws), Reason::NotBase64url),
            (cut(4), Reason::NotBase64url),
            (cut(right.signature.len()), Reason::SignatureMalformed),
            (right.with_signature(&signature[1..]), Reason::SignatureMalformed),
            (right.with_signature([&signature[..], &[0]].concat()), Reason::SignatureMalformed),
            (right.with_signature([&[0], &signature[..]].concat()), Reason::SignatureMalformed),
            (right.with_signature(vec![0; signature.len()]), Reason::SignatureWrong),
            (right.with_signature(vec![0xff; signature.len()]), Reason::SignatureWrong),
            (right.with_signature(vec![7; 2_000]), Reason::TooLarge),
            (format!("{}{jws}", "e30".repeat(2_000)), Reason::TooLarge),
            (jws.replace(&right.payload, ""), Reason::PayloadMissing),
        ];
        for (jws, reason) in rows {
            // What is left of three bytes may be the spelling of two.
            let found = right.judged(&jws);
            let is_shorter = jws == cut(4) && found == because(Reason::SignatureMalformed);
            assert!(is_shorter || found == because(reason), "{kind} {jws}: {found:?}");
        }
    }
}

/// Returns the same bytes with one of the bits that are left over set.
fn next_spelling(jws: &str) -> String {
    let (front, last) = jws.split_at(jws.len() - 1);
    format!("{front}{}", char::from(last.as_bytes()[0] + 1))
}

#[test]
fn the_header_is_what_the_card_declares_and_nothing_that_matters_besides() {
    for kind in super::KINDS {
        let right = Right::new(kind);
        let whole = |header: &str| right.resigned(header, &right.payload);
        let other = if kind == "ES256" { "EdDSA" } else { "ES256" };
        let rows = [
            (right.with(r#","crit":["exp"],"exp":1"#), Reason::HeaderCritical),
            (right.with(r#","crit":[]"#), Reason::HeaderCritical),
            (right.with(r#","b64":false"#), Reason::HeaderUnencoded),
            (right.with(r#","b64":true"#), Reason::HeaderUnencoded),
            (right.with(r#","b64":false,"crit":["b64"]"#), Reason::HeaderCritical),
            (right.with(r#","typ":"JWT""#), Reason::OtherType),
            (right.with(r#","typ":null"#), Reason::OtherType),
            (right.with(r#","kid":"k""#), Reason::HeaderDuplicate),
            (right.with(r#","\u0061lg":"none""#), Reason::HeaderDuplicate),
            (whole(r#"{"alg":"none","kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(r#"{"alg":"None","kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(r#"{"alg":"HS256","kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(r#"{"alg":"PS256","kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(r#"{"alg":["ES256"],"kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(r#"{"kid":"k"}"#), Reason::AlgorithmUnknown),
            (whole(&format!(r#"{{"alg":"{kind} ","kid":"k"}}"#)), Reason::AlgorithmUnknown),
            (whole(&format!(r#"{{"alg":"{other}","kid":"k"}}"#)), Reason::AlgorithmDiffers),
            (whole(&format!(r#"{{"alg":"{kind}","kid":"other"}}"#)), Reason::KeyIdDiffers),
            (whole(&format!(r#"{{"alg":"{kind}","kid":"K"}}"#)), Reason::KeyIdDiffers),
            (whole(&format!(r#"{{"alg":"{kind}","kid":7}}"#)), Reason::KeyIdDiffers),
            (whole(&format!(r#"{{"alg":"{kind}"}}"#)), Reason::KeyIdDiffers),
            (whole(&format!(r#"[{{"alg":"{kind}","kid":"k"}}]"#)), Reason::HeaderNotJson),
            (whole(&format!(r#"{{"alg":"{kind}","kid":"k"}}{{}}"#)), Reason::HeaderNotJson),
            (whole(&format!(r#"{{"alg":"{kind}","kid":"k",}}"#)), Reason::HeaderNotJson),
            (
                whole(&format!("\u{feff}{{\"alg\":\"{kind}\",\"kid\":\"k\"}}")),
                Reason::HeaderNotJson,
            ),
            (whole("null"), Reason::HeaderNotJson),
            (whole(&"[".repeat(2_000)), Reason::HeaderNotJson),
            (whole(&" ".repeat(4_000)), Reason::TooLarge),
        ];
        for (jws, reason) in rows {
            assert_eq!(right.judged(&jws), because(reason), "{kind} {jws}");
        }
        for members in ["", r#","typ":"JOSE""#, r#","iat":7"#, r#","cty":"a2a""#] {
            assert_eq!(right.judged(&right.with(members)), SignatureVerdict::Valid, "{members}");
        }
    }
}

#[test]
fn the_payload_is_the_card_in_its_canonical_form() {
    let right = Right::new("EdDSA");
    let header = r#"{"alg":"EdDSA","kid":"k"}"#;
    let canonical = String::from_utf8(decoded(&right.payload)).unwrap();
    for (payload, differs_at) in [
        (CARD.to_owned(), None),
        (format!("{canonical} "), None),
        (canonical.replace("\"n\"", "\"\\u006e\""), None),
        (canonical.replace("\"n\"", "\"m\""), Some("/name")),
        (canonical.replace("\"n\"", "\"n\",\"new\":1"), Some("/new")),
        (canonical.replace("}", ",\"signatures\":[]}"), Some("/signatures")),
        ("null".to_owned(), Some("")),
        ("{".to_owned(), None),
        ("\u{0}".to_owned(), None),
    ] {
        let expected = SignatureVerdict::Invalid {
            reason: Reason::PayloadDiffers,
            differs_at: differs_at.map(str::to_owned),
        };
        let jws = right.resigned(header, &encoded(&payload));
        assert_eq!(right.judged(&jws), expected, "{payload}");
    }
}

#[test]
fn a_key_of_another_kind_never_verifies() {
    let ec = Right::new("ES256");
    // A secret that everybody knows: the public key.
    let public = decoded(ec.jwk()["x"].as_str().unwrap());
    let message = format!("{}.{}", encoded(r#"{"alg":"HS256","kid":"k"}"#), ec.payload);
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message.as_bytes());
    let jws = format!("{message}.{}", encoded(mac));
    assert_eq!(ec.judged(&jws), because(Reason::AlgorithmUnknown));
    // DER, as other libraries write signatures of ECDSA.
    let raw = decoded(&ec.signature);
    let number = |bytes: &[u8]| [&[2, 33, 0], bytes].concat();
    let der = [&[0x30, 70], &*number(&raw[..32]), &*number(&raw[32..])].concat();
    assert_eq!(ec.judged(&ec.with_signature(der)), because(Reason::SignatureMalformed));
    for kind in super::KINDS {
        let right = Right::new(kind);
        for other in super::KINDS.into_iter().filter(|other| *other != kind) {
            let key = jwks([Key::new(other).signer("k").jwk()]);
            assert_eq!(judged(kind, &right.jws, &key), because(Reason::KeyMismatch));
            let found = judged(other, &right.jws, &key);
            assert_eq!(found, because(Reason::AlgorithmDiffers));
        }
    }
    let stranger = jwks([Key::new("ES256").signer("k").jwk()]);
    assert_eq!(judged("ES256", &ec.jws, &stranger), because(Reason::SignatureWrong));
    let named = jwks([Key::new("ES256").signer("K").jwk()]);
    assert_eq!(judged("ES256", &ec.jws, &named), SignatureVerdict::NoSuchKey);
}

/// Returns a key with members in place of its own.
fn changed(jwk: &Value, members: &Value) -> Value {
    let mut changed = jwk.as_object().unwrap().clone();
    for (name, value) in members.as_object().unwrap() {
        if value.is_null() {
            drop(changed.remove(name));
        } else {
            drop(changed.insert(name.clone(), value.clone()));
        }
    }
    changed.into()
}

#[test]
fn keys_that_prove_nothing_are_refused() {
    let (ec, rsa, ed) = (Right::new("ES256"), Right::new("RS256"), Right::new("EdDSA"));
    let modulus = decoded(rsa.jwk()["n"].as_str().unwrap());
    let with_zero = encoded([&[0], &modulus[..]].concat());
    let x = ec.jwk()["x"].clone();
    let short = encoded(vec![7; 31]);
    let rows = [
        (&ec, json!({"crv": "P-384"}), Reason::KeyUnusable),
        (&ec, json!({"crv": "secp256k1"}), Reason::KeyUnusable),
        (&ec, json!({"kty": "oct"}), Reason::KeyUnusable),
        (&ec, json!({"kty": null}), Reason::KeyUnusable),
        (&ec, json!({"x": short}), Reason::KeyUnusable),
        (&ec, json!({"y": null}), Reason::KeyUnusable),
        (&ec, json!({"y": x}), Reason::SignatureWrong),
        (&ec, json!({"x": encoded([0; 32]), "y": encoded([0; 32])}), Reason::SignatureWrong),
        (&ec, json!({"use": "enc"}), Reason::KeyNotForThis),
        (&ec, json!({"use": 7}), Reason::KeyNotForThis),
        (&ec, json!({"alg": "ES384"}), Reason::KeyNotForThis),
        (&ec, json!({"alg": "EdDSA"}), Reason::KeyNotForThis),
        (&ec, json!({"key_ops": ["sign"]}), Reason::KeyNotForThis),
        (&ec, json!({"key_ops": "verify"}), Reason::KeyNotForThis),
        (&rsa, json!({"n": encoded(&modulus[..128])}), Reason::KeyTooSmall),
        (&rsa, json!({"n": encoded([&[0x7f], &modulus[1..]].concat())}), Reason::KeyTooSmall),
        (&rsa, json!({"n": with_zero}), Reason::KeyUnusable),
        (&rsa, json!({"n": ""}), Reason::KeyUnusable),
        (&rsa, json!({"e": ""}), Reason::KeyUnusable),
        (&rsa, json!({"e": encoded([1])}), Reason::SignatureWrong),
        (
            &rsa,
            json!({"n": rsa.jwk()["n"].as_str().unwrap().to_owned() + "="}),
            Reason::KeyUnusable,
        ),
        (&rsa, json!({"alg": "PS256"}), Reason::KeyNotForThis),
        (&ed, json!({"crv": "Ed448"}), Reason::KeyUnusable),
        (&ed, json!({"crv": "X25519"}), Reason::KeyUnusable),
        (&ed, json!({"x": short}), Reason::KeyUnusable),
    ];
    for (right, members, reason) in rows {
        let key = changed(&right.jwk(), &members);
        let found = judged(right.kind, &right.jws, &jwks([key]));
        assert_eq!(found, because(reason), "{} {members}", right.kind);
    }
    let good = changed(&ec.jwk(), &json!({"use": null, "alg": null, "key_ops": ["verify"]}));
    assert_eq!(judged("ES256", &ec.jws, &jwks([good])), SignatureVerdict::Valid);
    let twice = jwks([ec.jwk(), ed.jwk()]);
    assert_eq!(judged("ES256", &ec.jws, &twice), because(Reason::KeyAmbiguous));
    let without_id = jwks([changed(&ec.jwk(), &json!({"kid": null}))]);
    assert_eq!(judged("ES256", &ec.jws, &without_id), SignatureVerdict::NoSuchKey);
}

#[test]
fn points_of_small_order_are_no_keys() {
    let ed = Right::new("EdDSA");
    // With the neutral point as key, this is a signature of everything.
    let anything = [&[1], &[0; 63][..]].concat();
    for point in [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ] {
        let digits: Vec<u32> = point.chars().map(|digit| digit.to_digit(16).unwrap()).collect();
        let byte = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair[1]).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        let key = changed(&ed.jwk(), &json!({"x": encoded(bytes)}));
        let found = judged("EdDSA", &ed.with_signature(&anything), &jwks([key]));
        assert_eq!(found, because(Reason::KeyUnusable), "{point}");
    }
}

#[test]
fn only_the_first_signatures_are_looked_at() {
    let right = Right::new("EdDSA");
    let entry = json!({"algorithm": "EdDSA", "keyId": "k", "jws": right.jws}).to_string();
    let list = vec![entry; 66].join(",");
    let card = CARD.replace('}', &format!(",\"signatures\":[{list}]}}"));
    let found = verdicts(&card, &jwks([right.jwk()])).unwrap();
    assert!(found[..64].iter().all(|verdict| *verdict == SignatureVerdict::Valid));
    assert_eq!(found[64..], [because(Reason::TooMany), because(Reason::TooMany)]);
}

#[test]
fn key_sets_are_read_strictly() {
    let jwk = Key::new("ES256").signer("k").jwk().to_string();
    let many = vec![jwk.as_str(); 65].join(",");
    for (text, error) in [
        (String::new(), JwksError::Shape),
        ("[]".to_owned(), JwksError::Shape),
        ("{}".to_owned(), JwksError::Shape),
        (r#"{"keys":{}}"#.to_owned(), JwksError::Shape),
        (r#"{"keys":[7]}"#.to_owned(), JwksError::Shape),
        (r#"{"keys":[["kid","k"]]}"#.to_owned(), JwksError::Shape),
        (r#"{"keys":[]}{}"#.to_owned(), JwksError::Shape),
        (jwk.clone(), JwksError::Shape),
        (format!("<html>{jwk}"), JwksError::Shape),
        ("[".repeat(200_000), JwksError::Shape),
        (r#"{"keys":[],"keys":[]}"#.to_owned(), JwksError::Twice),
        (r#"{"keys":[{"kid":"a","kid":"b"}]}"#.to_owned(), JwksError::Twice),
        (r#"{"keys":[{"kty":"OKP","d":"AAAA"}]}"#.to_owned(), JwksError::Private),
        (r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#.to_owned(), JwksError::Private),
        (format!("{{\"keys\":[{many}]}}"), JwksError::TooLarge),
        (" ".repeat(300_000), JwksError::TooLarge),
    ] {
        let shown: String = text.chars().take(60).collect();
        assert_eq!(Jwks::parse(text.as_bytes()).unwrap_err(), error, "{shown}");
    }
}
