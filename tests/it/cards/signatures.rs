//! Signatures of cards: what is signed here is valid here, for every kind of key; no alteration of a
//! card is, nor of a signature; everything that is odd is refused, each for its reason.

mod command;
mod headers;
mod refused;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use svc::card;
use svc::card_signature::{self, Jwks, Reason, SignError, SignatureVerdict, Signer};

use crate::support::keys::{self, KINDS, Key, jwks};

/// A card with something of everything.
fn full() -> Value {
    json!({
        "protocolVersion": "1.2",
        "name": "Fahrplan-Auskunft",
        "description": "Zeile 1\nZeile 2 \u{1}\u{2028} 😀 \"\\/",
        "url": "https://a.example/a2a",
        "version": "1.0.0",
        "capabilities": {"streaming": true, "mcpCompatible": false},
        "defaultInputModes": ["text/plain", "application/json"],
        "documentationUrl": "https://a.example/docs",
        "iconUrl": "https://a.example/icon.svg",
        "modelHints": ["small"],
        "protocolBinding": "HTTP+JSON",
        "transport": "http",
        "provider": {"name": "Beispiel", "url": "https://b.example/"},
        "extensions": [{"uri": "https://b.example/e", "required": true, "version": "1"}],
        "security": [{"😀": ["read"], "\u{fb33}": [], "b": ["write", "read"]}, {}],
        "securitySchemes": [
            {"type": "apiKey", "id": "b", "in": "header", "name": "X-Key"},
            {"type": "http", "id": "h", "scheme": "bearer", "audience": ["x"]},
        ],
        "signedAt": "2026-11-21T09:00Z",
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["a", "b"]}],
        "supportedInterfaces":
            [{"url": "https://a.example/", "protocolBinding": "gRPC", "protocolVersion": "1.0"}],
    })
}

fn sign(signer: &Signer, card: &str) -> String {
    signer.sign(card.as_bytes(), false).unwrap()
}

/// Returns what every signature is worth; nothing when the card is not valid.
fn verdicts(card: &str, trusted: &Jwks) -> Option<Vec<SignatureVerdict>> {
    let verified = card_signature::verify(card.as_bytes(), trusted).ok()?;
    Some(verified.into_iter().map(|signature| signature.verdict).collect())
}

fn because(reason: Reason) -> SignatureVerdict {
    SignatureVerdict::Invalid { reason, differs_at: None }
}

#[test]
fn what_is_signed_here_is_valid_here_however_it_is_laid_out() {
    for kind in KINDS {
        let signer = Key::new(kind).signer("k");
        assert_eq!(signer.algorithm().as_str(), kind);
        let trusted = jwks([signer.jwk()]);
        let card = sign(&signer, &full().to_string());
        assert!(card::check(card.as_bytes()).is_valid(), "{card}");
        let value: Value = serde_json::from_str(&card).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let backwards: Vec<String> = value
            .as_object()
            .unwrap()
            .iter()
            .rev()
            .map(|(name, value)| format!("{}:{value}", json!(name)))
            .collect();
        let escaped = card.replace("Fahrplan", "\\u0046ahrplan").replace(":\"S\"", ": \"\\u0053\"");
        for text in [&card, &pretty, &format!(" {{{}}}", backwards.join(" , ")), &escaped] {
            assert_eq!(verdicts(text, &trusted), Some(vec![SignatureVerdict::Valid]), "{text}");
        }
    }
}

#[test]
fn one_signature_stands_beside_another() {
    let signers = KINDS.map(|kind| Key::new(kind).signer(kind));
    let mut card = full().to_string();
    for signer in &signers {
        card = sign(signer, &card);
    }
    let trusted = jwks(signers.iter().map(Signer::jwk));
    assert_eq!(verdicts(&card, &trusted), Some(vec![SignatureVerdict::Valid; 3]));
    let only = jwks([signers[1].jwk()]);
    let expected =
        [SignatureVerdict::NoSuchKey, SignatureVerdict::Valid, SignatureVerdict::NoSuchKey];
    assert_eq!(verdicts(&card, &only), Some(expected.to_vec()));
    assert!(matches!(signers[0].sign(card.as_bytes(), false), Err(SignError::Twice)));
    let replaced = signers[0].sign(card.as_bytes(), true).unwrap();
    assert_eq!(verdicts(&replaced, &trusted), Some(vec![SignatureVerdict::Valid]));
    let changed = card.replace("Beispiel", "Andere");
    let other = Key::new("EdDSA").signer("other");
    assert!(matches!(other.sign(changed.as_bytes(), false), Err(SignError::Stale)));
    assert!(other.sign(changed.as_bytes(), true).is_ok());
}

#[test]
fn only_valid_current_cards_are_signed() {
    let signer = Key::new("EdDSA").signer("k");
    let minimal =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    assert!(signer.sign(minimal.as_bytes(), false).is_ok());
    let legacy = minimal.replace("1.0", "0.3");
    assert!(matches!(signer.sign(legacy.as_bytes(), false), Err(SignError::Legacy)));
    for text in [
        "{}".to_owned(),
        minimal.replace("\"n\"", "7"),
        minimal.replace("\"n\"", "1e400"),
        minimal.replace("\"n\"", "\"\\ud800\""),
        minimal.replace("{", "{\"name\":\"m\","),
        format!("\u{feff}{minimal}"),
    ] {
        let refused = signer.sign(text.as_bytes(), false);
        assert!(matches!(refused, Err(SignError::NotValid(_))), "{text}");
    }
}

#[test]
fn every_alteration_of_a_card_is_noticed() {
    let signer = Key::new("EdDSA").signer("k");
    let trusted = jwks([signer.jwk()]);
    let signed: Value = serde_json::from_str(&sign(&signer, &full().to_string())).unwrap();
    let mut altered = Vec::new();
    alter(&signed, &mut |changed| altered.push(changed));
    altered.retain(|changed| *changed != signed);
    let mut told = 0;
    for card in &altered {
        let Some(verdicts) = verdicts(&card.to_string(), &trusted) else { continue };
        told += 1;
        assert!(!verdicts.contains(&SignatureVerdict::Valid), "{card}");
    }
    assert!(altered.len() > 250 && told > 100, "{told} of {} are cards", altered.len());
}

/// Alters each value in several ways: all but the list of signatures, which is not signed.
fn alter(card: &Value, take: &mut dyn FnMut(Value)) {
    match card {
        Value::Object(members) => {
            for name in members.keys().filter(|name| *name != "signatures") {
                let mut with = |value: Option<Value>, name: &str| {
                    let mut changed = members.clone();
                    let _old = changed.remove(name);
                    changed.extend(value.map(|value| (name.to_owned(), value)));
                    take(changed.into());
                };
                with(None, name);
                let mut renamed = members.clone();
                let value = renamed.remove(name).unwrap();
                with(Some(json!("altered")), "iconUrl");
                alter(&value, &mut |value| with(Some(value), name));
                renamed.extend([(format!("{name} "), value)]);
                take(renamed.into());
            }
        }
        Value::Array(items) => {
            for place in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(place);
                take(fewer.into());
                let mut swapped = items.clone();
                swapped.swap(place, 0);
                if swapped != *items {
                    take(swapped.into());
                }
                alter(&items[place], &mut |value| {
                    let mut changed = items.clone();
                    changed[place] = value;
                    take(changed.into());
                });
            }
            take([items.as_slice(), items].concat().into());
        }
        Value::String(text) => {
            take(format!("{text}x").into());
            take(text.to_uppercase().replace("1.2", "1.0").into());
            take(format!("{text}\u{301}").into());
        }
        Value::Bool(flag) => take((!flag).into()),
        Value::Null | Value::Number(_) => {}
    }
}

#[test]
fn every_altered_bit_of_a_signature_is_noticed() {
    for kind in KINDS {
        let signer = Key::new(kind).signer("k");
        let trusted = jwks([signer.jwk()]);
        let minimal =
            r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
        let card = sign(&signer, minimal);
        let jws = jws_of(&card);
        for place in 0..jws.len() {
            let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ";
            for step in [1, 2, 4, 8, 16, 32] {
                let mut bytes = jws.clone().into_bytes();
                let old = alphabet.iter().position(|known| *known == bytes[place]).unwrap();
                bytes[place] = alphabet[(old ^ step) % alphabet.len()];
                if bytes == jws.as_bytes() {
                    continue;
                }
                let altered = card.replace(&jws, &String::from_utf8(bytes).unwrap());
                let found = verdicts(&altered, &trusted).unwrap();
                assert!(matches!(found[..], [SignatureVerdict::Invalid { .. }]), "{kind} {place}");
            }
        }
    }
}

/// Returns the first signature of a card.
fn jws_of(card: &str) -> String {
    let card: Value = serde_json::from_str(card).unwrap();
    card["signatures"][0]["jws"].as_str().unwrap().to_owned()
}

proptest! {
    #[test]
    fn whatever_is_read_is_read_or_refused(bytes in vec(any::<u8>(), 0..80), text in ".{0,80}") {
        let card = r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
        let trusted = jwks([Key::new("EdDSA").signer("k").jwk()]);
        let dotted = [&text, ".", &keys::encoded(&bytes), ".", &keys::encoded(&text)].concat();
        for jws in [text.clone(), dotted, format!("{}..", keys::encoded(&bytes))] {
            let entry = json!({"algorithm": "EdDSA", "keyId": "k", "jws": jws});
            let signed = card.replace('}', &format!(",\"signatures\":[{entry}]}}"));
            let found = verdicts(&signed, &trusted).unwrap();
            let is_invalid = matches!(found[..], [SignatureVerdict::Invalid { .. }]);
            prop_assert!(is_invalid, "{:?}", found);
        }
        drop(Jwks::parse(&bytes));
        drop(Signer::new(&keys::armored("PRIVATE KEY", &bytes).into(), "k"));
        drop(Signer::new(&keys::armored("EC PRIVATE KEY", &bytes).into(), "k"));
        drop(Signer::new(&text.into(), "k"));
    }
}

#[test]
fn private_keys_that_cannot_be_used_are_refused() {
    let good = Key::new("EdDSA").pem();
    let armored = |label: &str| keys::armored(label, &[0, 0, 0]);
    let text = |name: &str| std::fs::read_to_string(format!("tests/data/cards/keys/{name}"));
    let odd = ["rsa-1024.pem", "p384.pem", "p384-sec1.pem", "ed448.pem", "encrypted.pem"];
    let odd = odd.map(|name| text(name).unwrap());
    let mut rows = vec![
        (String::new(), "k", "it does not contain an unencrypted private key"),
        (armored("PUBLIC KEY"), "k", "it does not contain an unencrypted private key"),
        (armored("PRIVATE KEY"), "k", "it is not a key for"),
        (armored("EC PRIVATE KEY"), "k", "it is not a key for"),
        (armored("RSA PRIVATE KEY"), "k", "it is not a key for"),
        (good.clone(), "", "a key id is"),
        (good.clone(), "a\nb", "a key id is"),
    ];
    rows.extend(odd.into_iter().map(|pem| {
        let says =
            if pem.contains("ENCRYPTED") { "it does not contain" } else { "it is not a key for" };
        (pem, "k", says)
    }));
    let long = "k".repeat(257);
    rows.push((good, &long, "a key id is"));
    for (pem, id, expected) in rows {
        let refused = Signer::new(&pem.clone().into(), id).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{refused}: {pem}");
    }
}

#[test]
fn private_keys_are_read_in_every_form() {
    let minimal =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    for (name, algorithm) in [
        ("p256.pem", "ES256"),
        ("p256-sec1.pem", "ES256"),
        ("rsa-2048-pkcs1.pem", "RS256"),
        ("ed25519.pem", "EdDSA"),
    ] {
        let pem = std::fs::read_to_string(format!("tests/data/cards/keys/{name}")).unwrap();
        let signer = Signer::new(&pem.into(), "k").unwrap();
        assert_eq!(signer.algorithm().as_str(), algorithm, "{name}");
        let card = sign(&signer, minimal);
        assert_eq!(
            verdicts(&card, &jwks([signer.jwk()])),
            Some(vec![SignatureVerdict::Valid]),
            "{name}"
        );
    }
}
