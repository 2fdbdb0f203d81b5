//! The shape of a token and of a document: what is read, and the bounds of it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use svc::auth::workload::Token;
use svc::crypto::jose::Algorithm::Rs256;
use svc::crypto::jose::key_set::KeySet;
use svc::domain::result::ResultProblem;
use svc::simulator::Issuer;

use super::{body, encode, started};

fn good() -> String {
    let (world, attempt) = started();
    attempt.token(&world, &body("accepted"), "t1")
}

fn fault(authorization: &str) -> Option<ResultProblem> {
    Token::read(authorization).err()
}

#[test]
fn a_token_stands_behind_its_scheme() {
    let token = good();
    for scheme in ["Bearer", "bearer"] {
        assert_eq!(fault(&format!("{scheme} {token}")), None, "{scheme}");
    }
    for missing in [&format!("Basic {token}"), &token, "Bearer", "Bearer ", " ", ""] {
        assert_eq!(fault(missing), Some(ResultProblem::Missing), "{missing}");
    }
}

/// Returns the token with another signature, and blanks behind its header, that has this length.
fn of_length(token: &str, length: usize) -> String {
    let (header, rest) = token.split_once('.').unwrap();
    let (claims, _) = rest.split_once('.').unwrap();
    let header = URL_SAFE_NO_PAD.decode(header).unwrap();
    let long = (0..3).find_map(|blanks| {
        let header = encode([&header[..], &b"   "[..blanks]].concat());
        let left = length - header.len() - claims.len() - 2;
        // Base64 without padding has no text whose length is one more than a multiple of four.
        (left % 4 != 1).then(|| format!("{header}.{claims}.{}", "A".repeat(left)))
    });
    long.unwrap()
}

#[test]
fn a_token_has_at_most_16_kib() {
    let token = good();
    for (length, told) in [(16_384, None), (16_385, Some(ResultProblem::TooLarge))] {
        let long = of_length(&token, length);
        assert_eq!(long.len(), length);
        assert_eq!(fault(&format!("Bearer {long}")), told, "{length}");
    }
}

/// A document with one key, which has a further member.
fn with_member(name: &str, value: serde_json::Value) -> Vec<u8> {
    let mut document = Issuer::key_document(&["a"]);
    document["keys"][0][name] = value;
    document.to_string().into_bytes()
}

#[test]
fn brackets_in_text_are_not_depth() {
    for text in ["[", "{", "\"[", "\\[", "]", "}", "\"]["].map(|part| part.repeat(20)) {
        assert!(KeySet::read(&with_member("x", text.clone().into()), &[Rs256]).is_some(), "{text}");
    }
}

#[test]
fn a_document_has_at_most_eight_levels_wherever_they_stand() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for (levels, is_read) in [(5, true), (6, false)] {
        for before in ["\"text\"", "\"]]]]\"", "\"\\\\\"", "\"\\\"]\"", "[[],[]]"] {
            let value = format!("[{before},{}]", nested(levels - 1));
            let document = with_member("x", serde_json::from_str(&value).unwrap());
            assert_eq!(KeySet::read(&document, &[Rs256]).is_some(), is_read, "{value}");
        }
    }
    let wide = with_member("x", serde_json::json!([[], [], [], [], [], [], [], [], [], []]));
    assert!(KeySet::read(&wide, &[Rs256]).is_some());
}

#[test]
fn an_object_has_at_most_128_members() {
    for (count, is_read) in [(128, true), (129, false), (130, false)] {
        let mut document = Issuer::key_document(&["a"]);
        let key = document["keys"][0].as_object_mut().unwrap();
        for number in key.len()..count {
            key.insert(format!("more-{number}"), number.into());
        }
        assert_eq!(key.len(), count);
        assert_eq!(
            KeySet::read(document.to_string().as_bytes(), &[Rs256]).is_some(),
            is_read,
            "{count}"
        );
    }
}
