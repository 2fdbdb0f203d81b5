//! Keys that a signature brings, or says where to find: they are not used, and nothing is fetched
//! (docs/decisions/113-card-key-headers.md).

use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};
use svc::card_signature::{Reason, SignatureVerdict};

use super::because;
use super::refused::{Right, card, judged};
use crate::support::keys::{KINDS, Key, jwks};

#[test]
fn parameters_about_keys_change_no_verdict() {
    for kind in KINDS {
        let right = Right::new(kind);
        let other = Key::new("ES256").signer("k").jwk();
        let untrusted = jwks([Key::new(kind).signer("other").jwk()]);
        for members in [
            r#","jku":"https://evil.example/jwks.json""#.to_owned(),
            r#","jku":7"#.to_owned(),
            format!(r#","jwk":{}"#, right.jwk()),
            format!(r#","jwk":{other}"#),
            r#","x5u":"https://evil.example/cert""#.to_owned(),
            r#","x5c":["AAAA"]"#.to_owned(),
            r#","x5t":"AAAA""#.to_owned(),
            r#","x5t#S256":null"#.to_owned(),
        ] {
            let jws = right.with(&members);
            assert_eq!(right.judged(&jws), SignatureVerdict::Valid, "{kind} {members}");
            assert_eq!(
                judged(kind, &jws, &untrusted),
                SignatureVerdict::NoSuchKey,
                "{kind} {members}"
            );
            let refused = right.with(&format!(r#"{members},"crit":["x5t"]"#));
            assert_eq!(right.judged(&refused), because(Reason::HeaderCritical), "{kind} {members}");
        }
    }
}

#[test]
fn a_key_in_the_header_is_never_used() {
    for kind in KINDS.into_iter().filter(|kind| *kind != "RS256") {
        // Made with the forger's key, which is in the header under the id of a trusted one.
        let forged = Right::new(kind);
        let jws = forged.with(&format!(r#","jwk":{}"#, forged.jwk()));
        let trusted = jwks([Key::new(kind).signer("k").jwk()]);
        assert_eq!(judged(kind, &jws, &trusted), because(Reason::SignatureWrong), "{kind}");
        assert_eq!(judged(kind, &jws, &jwks([])), SignatureVerdict::NoSuchKey, "{kind}");
    }
}

#[test]
fn an_address_in_the_header_gets_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let right = Right::new("EdDSA");
    let members = format!(r#","jku":"http://{address}/jwks.json","x5u":"http://{address}/cert""#);
    let signed = folder.path().join("card.json");
    std::fs::write(&signed, card(right.kind, &right.with(&members))).unwrap();
    let stranger = Key::new("EdDSA").signer("other").jwk();
    for (key, code, verdict) in [(right.jwk(), 0, "valid"), (stranger, 1, "no-such-key")] {
        let keys = folder.path().join("jwks.json");
        std::fs::write(&keys, json!({"keys": [key]}).to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command.args(["cards", "verify", "-o", "json", "--jwks"]).arg(&keys).arg(&signed);
        let ended = command.output().unwrap();
        let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(told["cards"][0]["signatures"][0]["verdict"], verdict, "{told}");
        assert_eq!(ended.status.code(), Some(code));
    }
    // The commands have ended, so a connection of theirs would be waiting.
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}
