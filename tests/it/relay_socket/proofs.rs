//! Proofs: only the device that was paired comes back, on a socket of its own, until it is revoked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::demo::plugin::device::BrowserProfile;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::demo::plugin::socket::Heard;
use svc::demo::plugin::{Plugin, Tamper};
use svc::domain::id::RelaySessionId;
use svc::domain::relay::CardDecision;

use super::world::{FILE, World, card, closed, code, confirm, event, ready, title};
use crate::daemon::PATIENCE;

/// Keeps every frame that is sent.
fn recording() -> (Arc<Mutex<Vec<Value>>>, Tamper) {
    let frames = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&frames);
    let tamper: Tamper = Box::new(move |frame| {
        kept.lock().unwrap().push(frame.clone());
        vec![frame]
    });
    (frames, tamper)
}

/// Returns what comes next, whatever a page would make of it.
fn read(page: &mut Plugin) -> Heard {
    page.socket().unwrap().read(PATIENCE)
}

#[test]
fn a_proof_is_worth_something_once() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let (frames, tamper) = recording();
    page.tamper = Some(tamper);
    page.connect().unwrap();
    let (session, epoch) = ready(&mut page);
    let earlier = frames.lock().unwrap().clone();
    let [hello, proof] = earlier.as_slice() else { panic!("{earlier:?}") };
    // A proof of an earlier socket behind a greeting of one's own.
    let mut thief = world.other_page(&page);
    let replayed = proof.clone();
    thief.tamper = Some(Box::new(move |frame| {
        vec![if frame["type"] == "proof" { replayed.clone() } else { frame }]
    }));
    thief.connect().unwrap();
    assert_eq!(closed(&mut thief), (vec!["bad_proof".to_owned()], Some(4403)));
    // And behind the greeting that it was made for. No honest page would go on after the challenge.
    thief.tamper = Some(Box::new(|_| Vec::new()));
    thief.connect().unwrap();
    thief.send_value(hello);
    assert!(matches!(read(&mut thief), Heard::Text(text) if text.contains("challenge")));
    thief.send_value(proof);
    assert!(matches!(read(&mut thief), Heard::Text(text) if text.contains("bad_proof")));
    assert_eq!(read(&mut thief), Heard::Closed(Some(4403)));
    assert_eq!(world.states(&agent), [(session.to_string(), "connected".to_owned())]);
    assert_eq!(page.epoch(), epoch, "a greeting alone takes nothing over");
    page.asleep_after = None;
    assert!(matches!(event(&mut page, "a ping", |it| Some(it.clone())), Event::Ping(_)));
}

#[test]
fn a_proof_of_another_key_or_over_something_else_is_none() {
    let world = World::local(&[]);
    let other = BrowserProfile::new().unwrap();
    let another_key = serde_json::to_value(other.key()).unwrap();
    let foreign = serde_json::to_value(other.sign("svc.relay.v1 device").unwrap()).unwrap();
    let changes: [(&str, Tamper); 4] = [
        ("another key", Box::new(change("hello", "/key", another_key))),
        ("another signature", Box::new(change("proof", "/signature", foreign))),
        ("no signature at all", Box::new(change("proof", "/signature", json!("A".repeat(86))))),
        (
            "another journal",
            Box::new(change(
                "proof",
                "/journal",
                json!([{"grant": "0199f3a0-0000-7000-8000-00000000000a", "outcome": "begun"}]),
            )),
        ),
    ];
    for (what, tamper) in changes {
        let mut page = world.page();
        page.tamper = Some(tamper);
        page.connect().unwrap();
        assert_eq!(closed(&mut page), (vec!["bad_proof".to_owned()], Some(4403)), "{what}");
    }
}

/// Returns a tamperer that puts something else at a place of each frame of a type.
fn change(
    kind: &'static str,
    place: &'static str,
    value: Value,
) -> impl FnMut(Value) -> Vec<Value> + Send {
    move |mut frame| {
        if frame["type"] == kind {
            *frame.pointer_mut(place).unwrap() = value.clone();
        }
        vec![frame]
    }
}

#[test]
fn a_point_that_is_on_no_curve_proves_nothing() {
    let world = World::local(&[]);
    let zero = json!({"kty": "EC", "crv": "P-256", "x": "A".repeat(43), "y": "A".repeat(43)});
    let mut page = world.page();
    page.tamper = Some(Box::new(change("hello", "/key", zero)));
    page.connect().unwrap();
    assert_eq!(closed(&mut page).1, Some(4403));
}

#[test]
fn a_session_of_another_device_is_as_unknown_as_one_that_never_was() {
    let world = World::local(&[]);
    let agent = world.agent();
    let page = world.paired(&agent);
    let mut other = world.page();
    other.connect().unwrap();
    world.pair(&agent, &mut other);
    let never: RelaySessionId = "0199f3a0-0000-7000-8000-00000000000a".parse().unwrap();
    for session in [page.session().unwrap(), never] {
        other.device().remember(FILE, session);
        other.connect().unwrap();
        assert_eq!(closed(&mut other).1, Some(4404), "{session}");
        assert_eq!(other.session(), None, "it is forgotten");
    }
    let mut states = world.states(&agent);
    states.sort();
    assert_eq!(states.iter().filter(|(_, state)| state == "connected").count(), 1, "{states:?}");
}

#[test]
fn a_stranger_who_names_a_session_is_offered_a_code_and_no_more() {
    let world = World::local(&[]);
    let agent = world.agent();
    let page = world.paired(&agent);
    let session = page.session().unwrap();
    let mut stranger = world.page();
    stranger.device().remember(FILE, session);
    stranger.connect().unwrap();
    let outcome = event(&mut stranger, "a code, or the end", |event| match event {
        Event::Code(_) => Some(None),
        Event::Closed(code) => Some(*code),
        _ => None,
    });
    assert!([None, Some(4404)].contains(&outcome), "{outcome:?}");
    assert_eq!(world.states(&agent), [(session.to_string(), "connected".to_owned())]);
}

#[test]
fn a_revoked_device_is_sent_away_and_begins_anew() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let key = page.device().key();
    let operator = world.operator();
    let device = operator.list("devices")[0]["device"].as_str().unwrap().to_owned();
    assert_eq!(operator.delete(&format!("devices/{device}")), 204);
    assert_eq!(closed(&mut page).1, Some(4401));
    assert_eq!(operator.delete(&format!("devices/{device}")), 204, "again");
    assert_eq!(world.states(&agent), []);
    assert_ne!(page.device().key(), key, "the page has made another key");
    page.connect().unwrap();
    code(&mut page);
}

#[test]
fn a_person_revokes_their_device_from_any_of_its_pages() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    // The same profile, with another file open.
    let mut other = world.other_page(&page);
    other.open(Some("another file"), "another file", "a page");
    other.connect().unwrap();
    confirm(&mut other);
    let waiting = agent.propose(
        "set_text",
        &json!({ "session": page.session(), "node": Document::TITLE, "text": "Sign in" }),
    );
    other.send_value(&json!({ "type": "bye", "reason": "forget" }));
    assert_eq!((closed(&mut other).1, closed(&mut page).1), (Some(4401), Some(4401)));
    assert_eq!(agent.await_state(waiting, "cancelled")["reason"], "revoked");
    let operator = world.operator();
    assert_eq!(operator.list("devices")[0]["state"], "revoked");
    let events = operator.audit();
    let revoked: Vec<_> =
        events.iter().filter(|it| it["event"] == "relay.device_revoked").collect();
    assert_eq!(revoked.len(), 1, "{revoked:?}");
    assert_eq!(revoked[0]["decidedBy"], "person", "{revoked:?}");
    page.connect().unwrap();
    code(&mut page);
}

#[test]
fn a_revoked_key_proves_nothing_although_it_still_signs() {
    for other_file in [false, true] {
        let world = World::local(&[]);
        let agent = world.agent();
        let mut page = world.paired(&agent);
        let operator = world.operator();
        let device = operator.list("devices")[0]["device"].as_str().unwrap().to_owned();
        // The page is not there when it happens, so it keeps its key.
        page.drop_socket();
        assert_eq!(operator.delete(&format!("devices/{device}")), 204);
        if other_file {
            page.open(Some("another file"), "another file", "a page");
        }
        page.connect().unwrap();
        assert_eq!(closed(&mut page).1, Some(4401), "{other_file}");
    }
}

#[test]
fn a_session_that_was_ended_is_over_and_its_device_is_not() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let session = page.session().unwrap();
    let operator = world.operator();
    let key = page.device().key();
    page.drop_socket();
    assert_eq!(operator.delete(&format!("sessions/{session}")), 204);
    page.connect().unwrap();
    let mut before = session;
    for when in ["while it was away", "on its socket"] {
        assert_eq!(closed(&mut page).1, Some(4404), "{when}");
        assert_eq!(page.device().key(), key, "{when}");
        // One click, and no code.
        page.connect().unwrap();
        let next = confirm(&mut page);
        assert_ne!(next, before);
        assert_eq!(world.states(&agent), [(next.to_string(), "connected".to_owned())]);
        assert_eq!(operator.delete(&format!("sessions/{next}")), 204);
        before = next;
    }
}

#[test]
fn a_replayed_decision_of_an_earlier_socket_is_none() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    // The decision is lost with the socket.
    let lost = Arc::new(Mutex::new(None));
    page.tamper = Some(Box::new({
        let lost = Arc::clone(&lost);
        move |frame| {
            *lost.lock().unwrap() = Some(frame);
            Vec::new()
        }
    }));
    page.decide(proposal, CardDecision::Approved);
    let lost = lost.lock().unwrap().take();
    page.tamper = None;
    page.connect().unwrap();
    ready(&mut page);
    card(&mut page);
    page.send_value(&lost.unwrap());
    assert_eq!(closed(&mut page).1, Some(4400));
    assert_eq!(page.pump(PATIENCE), Event::Closed(None));
    page.connect().unwrap();
    ready(&mut page);
    card(&mut page);
    agent.await_state(invocation, "shown");
    assert_eq!(title(&page), "Log in");
}
