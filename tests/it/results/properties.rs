//! Any token at all: nothing panics, nothing but the one token gets in.

use proptest::prelude::*;
use svc::auth::workload::Token;
use svc::crypto::jose::Algorithm::Rs256;
use svc::crypto::jose::key_set::KeySet;
use svc::forge::result;
use svc::simulator::Issuer;

use super::{Attempt, body, encode, post, started};
use crate::support::World;

fn bench() -> (World, Attempt, String) {
    let (world, attempt) = started();
    let token = attempt.token(&world, &body("accepted"), "t1");
    (world, attempt, token)
}

#[test]
fn a_token_with_any_character_changed_is_refused() {
    let (world, attempt, token) = bench();
    let strategy = (0..token.len(), "[ -~]");
    proptest!(|((place, other) in strategy)| {
        let mut bent = token.clone();
        bent.replace_range(place..=place, &other);
        if bent != token {
            let status = post(&world, &attempt.target(), &bent, &body("accepted")).status.as_u16();
            // A changed key id is one that may not be asked for so soon again.
            prop_assert!(matches!(status, 401 | 503), "{} {}", place, status);
        }
    });
}

#[test]
fn any_text_is_refused_as_a_token() {
    let (world, attempt, _) = bench();
    proptest!(|(token in "[!-~]{0,300}|([A-Za-z0-9_-]{0,90}\\.){0,5}[A-Za-z0-9_-]{0,90}")| {
        let status = post(&world, &attempt.target(), &token, &body("accepted")).status;
        prop_assert_eq!(status, 401);
    });
}

proptest! {
    #[test]
    fn any_json_is_no_token(header in "\\PC{0,80}", claims in "\\PC{0,200}") {
        let token = format!("Bearer {}.{}.{}", encode(header), encode(claims), encode("x"));
        prop_assert!(Token::read(&token).is_err());
    }

    #[test]
    fn any_bytes_are_no_keys(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(KeySet::read(&bytes, &[Rs256]).is_none());
    }

    #[test]
    fn any_text_is_no_result(text in "\\PC{0,300}") {
        prop_assert!(result::read(&text).is_err());
    }
}

#[test]
fn weak_foreign_and_ambiguous_keys_are_left_out() {
    let good = Issuer::key_document(&["a"])["keys"][0].clone();
    let with = |name: &str, value: serde_json::Value| {
        let mut key = good.clone();
        key[name] = value;
        serde_json::json!({"keys": [key]}).to_string()
    };
    let modulus = good["n"].as_str().unwrap();
    let keys = KeySet::read(with("x5t", "more".into()).as_bytes(), &[Rs256]).unwrap();
    assert!(keys.get("a").is_some() && keys.get("b").is_none());
    for (name, value) in [
        ("kty", "EC".into()),
        ("use", "enc".into()),
        ("alg", "RS512".into()),
        ("alg", "HS256".into()),
        ("key_ops", serde_json::json!(["encrypt"])),
        ("key_ops", "verify".into()),
        ("kid", "".into()),
        ("kid", 1.into()),
        ("kid", "k".repeat(129).into()),
        ("e", "Aw".into()),
        ("e", "AAEAAQ".into()),
        ("n", modulus.split_at(170).0.into()),
        ("n", format!("AA{modulus}").into()),
        ("n", "A".repeat(342).into()),
        ("n", modulus.repeat(5).into()),
        ("n", format!("{modulus}==").into()),
    ] {
        assert!(
            KeySet::read(with(name, value.clone()).as_bytes(), &[Rs256]).is_none(),
            "{name} {value}"
        );
    }
    let twice = Issuer::key_document(&["a", "a"]).to_string();
    assert!(KeySet::read(twice.as_bytes(), &[Rs256]).is_none());
    let names: Vec<String> = (0..65).map(|number| number.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let document = |count: usize| Issuer::key_document(&names[..count]).to_string();
    assert!(KeySet::read(document(64).as_bytes(), &[Rs256]).is_some());
    assert!(KeySet::read(document(65).as_bytes(), &[Rs256]).is_none());
    let repeated = format!("{{\"keys\":[{good}],\"keys\":[{good}]}}");
    assert!(KeySet::read(repeated.as_bytes(), &[Rs256]).is_none());
}
