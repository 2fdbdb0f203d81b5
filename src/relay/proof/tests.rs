//! Texts and signatures, against vectors that were made with Web Crypto, and with one thing changed.

use serde_json::Value;

use super::*;
use crate::crypto::sha256;
use crate::domain::id::InvalidId;

struct Vectors(Value);

impl Vectors {
    fn read() -> Self {
        let text = include_str!("../../../tests/data/relay/vectors.json");
        Self(serde_json::from_str(text).unwrap())
    }

    fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).unwrap().as_str().unwrap()
    }

    fn parsed<T: serde::de::DeserializeOwned>(&self, pointer: &str) -> T {
        serde_json::from_value(self.0.pointer(pointer).unwrap().clone()).unwrap()
    }

    fn digest(&self, pointer: &str) -> Digest {
        self.text(pointer).parse().unwrap()
    }

    fn texts(&self) -> [(&'static str, String); 5] {
        let nonce: Nonce = self.parsed("/values/challengeNonce");
        let hello = self.digest("/hello/sha256");
        let (session, epoch) = (self.parsed("/values/session"), self.parsed("/values/epoch"));
        let arguments: Vec<Digest> = self.parsed("/values/argumentsSha256");
        let decision = DecisionText {
            session,
            epoch,
            proposal: self.parsed("/values/proposal"),
            arguments: &arguments,
            preview: self.digest("/values/previewSha256"),
            decision: self.parsed("/values/decision"),
            by: self.parsed("/values/by"),
        };
        let minutes = self.parsed("/values/minutes");
        [
            ("challenge", challenge_text(&self.parsed("/values/helloNonce"), &nonce, hello)),
            ("proof", proof_text(&nonce, hello, self.digest("/journal/sha256"))),
            ("confirm", confirm_text(&nonce, self.parsed("/values/pairing"), true)),
            ("allowance", allowance_text(&nonce, session, epoch, minutes)),
            ("decision", decision.text()),
        ]
    }
}

fn id<T: From<uuid::Uuid>>(last: u8) -> T {
    uuid::Uuid::from_bytes([last; 16]).into()
}

#[test]
fn the_texts_are_those_of_the_vectors_and_their_signatures_hold() {
    let vectors = Vectors::read();
    for (purpose, text) in vectors.texts() {
        assert_eq!(text, vectors.text(&format!("/signatures/{purpose}/text")));
        let signature: Signature = vectors.parsed(&format!("/signatures/{purpose}/signature"));
        for (name, key) in [("challenge", "/daemonKey"), ("", "/deviceKey")] {
            let is_signer = (purpose == "challenge") == (name == "challenge");
            assert_eq!(is_signed(&vectors.parsed(key), &text, &signature), is_signer, "{purpose}");
        }
    }
}

#[test]
fn a_signature_for_one_text_is_worth_nothing_for_another() {
    let vectors = Vectors::read();
    let texts = vectors.texts();
    for (purpose, _) in &texts {
        let key = if *purpose == "challenge" { "/daemonKey" } else { "/deviceKey" };
        let signature: Signature = vectors.parsed(&format!("/signatures/{purpose}/signature"));
        for (other, text) in &texts {
            let holds = is_signed(&vectors.parsed(key), text, &signature);
            assert_eq!(holds, purpose == other, "{purpose} for {other}");
        }
    }
}

/// Signs the first text and shows that it holds for no other one.
fn check_alone(texts: &[String]) {
    let key = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
    let signature = key.sign(&texts[0]).unwrap();
    for (place, text) in texts.iter().enumerate() {
        assert_eq!(is_signed(key.public(), text, &signature), place == 0, "{text}");
    }
}

#[test]
fn each_part_of_a_challenge_matters() {
    let nonce = |last: u8| Nonce::new(&[last; 16]);
    let hello = |text: &[u8]| sha256::of(text);
    check_alone(&[
        challenge_text(&nonce(1), &nonce(2), hello(b"a")),
        challenge_text(&nonce(3), &nonce(2), hello(b"a")),
        challenge_text(&nonce(1), &nonce(3), hello(b"a")),
        challenge_text(&nonce(2), &nonce(1), hello(b"a")),
        challenge_text(&nonce(1), &nonce(2), hello(b"b")),
    ]);
}

#[test]
fn each_part_of_a_proof_matters() {
    let nonce = |last: u8| Nonce::new(&[last; 16]);
    let (a, b, c) = (sha256::of(b"a"), sha256::of(b"b"), sha256::of(b"c"));
    check_alone(&[
        proof_text(&nonce(1), a, b),
        proof_text(&nonce(2), a, b),
        proof_text(&nonce(1), c, b),
        proof_text(&nonce(1), a, c),
        proof_text(&nonce(1), b, a),
    ]);
}

#[test]
fn each_part_of_a_confirmation_and_of_an_allowance_matters() {
    let nonce = |last: u8| Nonce::new(&[last; 16]);
    check_alone(&[
        confirm_text(&nonce(1), id(1), true),
        confirm_text(&nonce(2), id(1), true),
        confirm_text(&nonce(1), id(2), true),
        confirm_text(&nonce(1), id(1), false),
    ]);
    check_alone(&[
        allowance_text(&nonce(1), id(1), 7, 15),
        allowance_text(&nonce(2), id(1), 7, 15),
        allowance_text(&nonce(1), id(2), 7, 15),
        allowance_text(&nonce(1), id(1), 71, 5),
        allowance_text(&nonce(1), id(1), 8, 15),
        allowance_text(&nonce(1), id(1), 7, 60),
        allowance_text(&nonce(1), id(1), 7, 0),
    ]);
}

#[test]
fn each_part_of_a_decision_matters() {
    let (a, b) = (sha256::of(b"a"), sha256::of(b"b"));
    let (both, turned, one, other) = ([a, b], [b, a], [a], [a, a]);
    let first = DecisionText {
        session: id(1),
        epoch: 7,
        proposal: id(2),
        arguments: &both,
        preview: a,
        decision: CardDecision::Approved,
        by: DecidedInPlugin::Person,
    };
    let texts = [
        first,
        DecisionText { session: id(3), ..first },
        DecisionText { epoch: 8, ..first },
        DecisionText { proposal: id(3), ..first },
        DecisionText { arguments: &turned, ..first },
        DecisionText { arguments: &one, ..first },
        DecisionText { arguments: &other, ..first },
        DecisionText { preview: b, ..first },
        DecisionText { decision: CardDecision::Denied, ..first },
        DecisionText { by: DecidedInPlugin::Allowance, ..first },
        DecisionText { by: DecidedInPlugin::Plugin, ..first },
    ];
    check_alone(&texts.map(|text| text.text()));
}

#[test]
fn an_altered_signature_does_not_hold() {
    let key = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
    let other = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
    let signature = key.sign("text").unwrap();
    assert!(is_signed(key.public(), "text", &signature));
    assert!(!is_signed(other.public(), "text", &signature));
    let bytes = signature.bytes().unwrap();
    assert_eq!((bytes.len(), signature.as_str().len()), (64, 86));
    for place in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[place] ^= 1;
        assert!(!is_signed(key.public(), "text", &Signature::new(&altered)), "byte {place}");
        assert!(!is_signed(key.public(), "text", &Signature::new(&bytes[..place])));
    }
    for bytes in [[0; 64], [0xff; 64]] {
        assert!(!is_signed(key.public(), "text", &Signature::new(&bytes)));
    }
    assert!(!is_signed(key.public(), "text", &Signature::new(&[bytes, vec![0]].concat())));
}

#[test]
fn another_spelling_of_a_signature_or_key_is_not_taken() {
    let key = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
    let signature = key.sign("text").unwrap();
    // The last character has four bits that no byte needs.
    let respelled = |text: &str| {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let (rest, last) = text.split_at(text.len() - 1);
        let place = ALPHABET.iter().position(|known| last.as_bytes() == [*known]).unwrap();
        format!("{rest}{}", char::from(ALPHABET[place + 1]))
    };
    let spelled: Signature = serde_json::from_value(respelled(signature.as_str()).into()).unwrap();
    assert!(!is_signed(key.public(), "text", &spelled));
    let mut jwk = serde_json::to_value(key.public()).unwrap();
    jwk["x"] = respelled(jwk["x"].as_str().unwrap()).into();
    let spelled: PublicJwk = serde_json::from_value(jwk).unwrap();
    assert!(spelled.public().is_none());
    assert!(!is_signed(&spelled, "text", &signature));
}

#[test]
fn a_point_off_the_curve_signs_nothing() {
    let key = PublicJwk::of_point(&[&[4][..], &[1; 64]].concat()).unwrap();
    assert!(!is_signed(&key, "text", &Signature::new(&[1; 64])));
    for point in [&[][..], &[4; 64], &[4; 66], &[3; 65]] {
        assert_eq!(PublicJwk::of_point(point), None);
    }
}

#[test]
fn a_damaged_key_is_refused() {
    let stored = DaemonKey::generate().unwrap();
    assert!(DaemonKey::read(&stored).is_ok());
    for bytes in [&[][..], &stored[1..], &stored[..stored.len() - 1], &[0; 138]] {
        assert_eq!(DaemonKey::read(bytes).err(), Some(DeviceKeyError::Unusable));
    }
}

#[test]
fn no_part_of_a_text_can_hold_a_line_feed() {
    // Ids, digests and words are read by their shape; nonces by the schema of frames.
    assert_eq!("a\nb".parse::<RelaySessionId>(), Err(InvalidId));
    assert!("a\nb".parse::<Digest>().is_err());
    assert_eq!(CardDecision::from_word("approved\nperson"), None);
    let nonce = Nonce::new(&[0xff; 16]);
    assert!(nonce.as_str().len() == 22 && !nonce.as_str().contains('\n'));
}
