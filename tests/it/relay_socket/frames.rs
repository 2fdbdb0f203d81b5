//! Frames that are none, or may not come: the socket closes with a code and says why before, and nothing has changed.

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::event::Event;
use tokio_tungstenite::tungstenite::Message;

use super::world::{World, card, closed, code, ready};
use crate::daemon::PATIENCE;

/// A digest.
const SHA: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const ID: &str = "0199f3a0-0000-7000-8000-00000000000a";

/// A page that sends nothing by itself.
fn silent(world: &World) -> Plugin {
    let mut page = world.page();
    page.tamper = Some(Box::new(|_| Vec::new()));
    page.connect().unwrap();
    page
}

/// Changes `hello`.
fn with_hello(world: &World, change: impl Fn(&mut Value) + Send + 'static) -> Plugin {
    let mut page = world.page();
    page.tamper = Some(Box::new(move |mut frame| {
        change(&mut frame);
        vec![frame]
    }));
    page.connect().unwrap();
    page
}

fn assert_closed(page: &mut Plugin, word: &str, code: u16, what: &str) {
    let (problems, found) = closed(page);
    assert_eq!((problems.join(" ").as_str(), found), (word, Some(code)), "{what}");
}

#[test]
fn the_first_frame_is_a_hello_that_fits() {
    let world = World::local(&[]);
    for (text, word, code) in [
        ("", "malformed", 4400),
        ("hello", "malformed", 4400),
        ("[]", "malformed", 4400),
        ("{\"type\":\"hello\"} {}", "malformed", 4400),
        ("{}", "unknown_type", 4400),
        ("{\"type\":\"greeting\"}", "unknown_type", 4400),
        ("{\"type\":\"challenge\"}", "unknown_type", 4400),
        ("{\"type\":7}", "unknown_type", 4400),
        ("{\"type\":\"hello\",\"type\":\"hello\"}", "repeated_member", 4400),
        ("{\"type\":\"hello\"}", "schema_mismatch", 4400),
        ("{\"type\":\"bye\",\"reason\":\"person\"}", "out_of_order", 4400),
        ("{\"type\":\"pong\",\"n\":1,\"visible\":true}", "out_of_order", 4400),
        (&"[".repeat(10_000), "malformed", 4400),
        (&format!("\"{}\"", "x".repeat(16 << 10)), "", 4413),
    ] {
        let mut page = silent(&world);
        page.socket().unwrap().send(text);
        let what: String = text.chars().take(60).collect();
        let (problems, found) = closed(&mut page);
        // What is too long is refused before it is read.
        let is_told = problems.join(" ") == word || code == 4413;
        assert!(is_told && found == Some(code), "{what}: {problems:?} {found:?}");
    }
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 8] = [
        ("an unknown member", |hello| hello["more"] = 1.into()),
        ("no file", |hello| drop(hello.as_object_mut().unwrap().remove("file"))),
        ("an unknown tool", |hello| hello["tool"] = "paint".into()),
        ("an unknown member inside", |hello| hello["file"]["more"] = 1.into()),
        ("a private key", |hello| hello["key"]["d"] = "x".repeat(43).into()),
        ("a name too long", |hello| hello["file"]["name"] = "x".repeat(201).into()),
        ("a session that is none", |hello| hello["session"] = "x".into()),
        ("an instance that is none", |hello| hello["instance"] = "x".into()),
    ];
    for (what, change) in changes {
        assert_closed(&mut with_hello(&world, change), "schema_mismatch", 4400, what);
    }
    assert_eq!(world.states(&world.agent()), []);
}

#[test]
fn a_socket_has_five_seconds_for_each_part_of_the_greeting() {
    let world = World::local(&[]);
    let mut mute = silent(&world);
    let mut half = world.page();
    half.tamper = Some(Box::new(|frame| match frame["type"] == "hello" {
        true => vec![frame],
        false => Vec::new(),
    }));
    half.connect().unwrap();
    assert_eq!(half.pump(PATIENCE), Event::Nothing, "the challenge");
    let mut stalled = silent(&world);
    // The first half of a text message, and never the second.
    stalled.socket().unwrap().send_bytes(&[0x01, 0x82, 0, 0, 0, 0, b'{', b'"']);
    for page in [&mut mute, &mut half, &mut stalled] {
        assert_eq!(closed(page).1, Some(4408));
    }
}

#[test]
fn half_a_message_ends_a_session_s_socket_too() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    // A pong in between would break the rules of WebSockets.
    page.tamper = Some(Box::new(|_| Vec::new()));
    page.socket().unwrap().send_bytes(&[0x01, 0x82, 0, 0, 0, 0, b'{', b'"']);
    assert_eq!(closed(&mut page).1, Some(4408));
    page.tamper = None;
    page.connect().unwrap();
    assert_eq!(ready(&mut page).1, 2);
}

#[test]
fn only_text_is_taken() {
    let world = World::local(&[]);
    for (bytes, close) in [
        (&[0x82, 0x82, 0, 0, 0, 0, b'{', b'}'][..], 1003),
        (&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe], 1007),
        (&[0xc1, 0x82, 0, 0, 0, 0, b'{', b'}'], 1002),
        (&[0x81, 0x02, b'{', b'}'], 1002),
    ] {
        let mut page = silent(&world);
        page.socket().unwrap().send_bytes(bytes);
        assert_eq!(closed(&mut page).1, Some(close), "{bytes:x?}");
    }
    let mut page = silent(&world);
    page.socket().unwrap().send_message(Message::binary(b"{}".to_vec()));
    assert_eq!(closed(&mut page).1, Some(1003));
}

#[test]
fn nothing_but_its_proof_follows_the_challenge() {
    let world = World::local(&[]);
    let agent = world.agent();
    for frame in after_ready() {
        let mut page = world.page();
        let wrong = frame.clone();
        page.tamper = Some(Box::new(move |honest| match honest["type"] == "hello" {
            true => vec![honest],
            false => vec![wrong.clone()],
        }));
        page.connect().unwrap();
        assert_closed(&mut page, "out_of_order", 4400, &frame.to_string());
    }
    assert_eq!(world.states(&agent), []);
}

/// Frames that may come only once the session works.
fn after_ready() -> Vec<Value> {
    let signature = "x".repeat(86);
    vec![
        json!({"type": "shown", "proposal": ID, "previewSha256": SHA}),
        json!({"type": "decision", "proposal": ID, "previewSha256": SHA, "decision": "approved", "by": "person",
               "signature": signature}),
        json!({"type": "result", "grant": ID, "outcome": "succeeded", "value": {}}),
        json!({"type": "allowance", "minutes": 60, "signature": signature}),
        json!({"type": "context", "file": {"key": "x", "name": "x", "page": "x"}}),
        json!({"type": "confirm", "pairing": ID, "accept": true, "signature": signature}),
    ]
}

#[test]
fn while_a_code_is_shown_nothing_is_confirmed_or_decided() {
    let world = World::local(&[]);
    for frame in after_ready().into_iter().take(5) {
        let mut page = world.page();
        page.connect().unwrap();
        code(&mut page);
        page.send_value(&frame);
        assert_closed(&mut page, "out_of_order", 4400, &frame.to_string());
    }
}

#[test]
fn a_frame_that_is_none_ends_the_socket_and_changes_nothing() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    card(&mut page);
    agent.await_state(invocation, "shown");
    let hello = json!({"type": "hello"});
    let large = json!({"type": "pong", "n": 1, "visible": true, "more": "x".repeat(64 << 10)});
    for (frame, word, code) in [
        (json!([1]), "malformed", 4400),
        (json!({"type": "no"}), "unknown_type", 4400),
        (hello, "out_of_order", 4400),
        (json!({"type": "pong", "n": -1, "visible": true}), "schema_mismatch", 4400),
        (json!({"type": "bye", "reason": "boredom"}), "schema_mismatch", 4400),
        (json!({"type": "shown", "proposal": "x", "previewSha256": SHA}), "schema_mismatch", 4400),
        (after_ready().remove(5), "out_of_order", 4400),
        (large, "too_large", 4413),
    ] {
        page.send_value(&frame);
        let what: String = frame.to_string().chars().take(80).collect();
        assert_closed(&mut page, word, code, &what);
        page.connect().unwrap();
        ready(&mut page);
        // It waits again, on a new card.
        card(&mut page);
        agent.await_state(invocation, "shown");
    }
}

#[test]
fn a_flood_of_frames_ends_the_socket() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for n in 0..400 {
        page.send_value(&json!({"type": "pong", "n": n, "visible": true}));
    }
    assert_closed(&mut page, "too_many_frames", 4429, "a flood");
    page.connect().unwrap();
    assert_eq!(ready(&mut page).1, 2);
}
