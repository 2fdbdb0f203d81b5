//! Cards and what they approve: none is lost, none is taken off the screen that was just approved, and a value that was
//! given is there.

use std::sync::{Arc, Mutex};
use std::thread::scope;
use std::time::Duration;

use serde_json::json;
use svc::domain::relay::CardDecision;
use svc::relay::frame::DecidedInPlugin;

use super::hub::{Hub, get_selection, set_text, state, who};

/// Of a race that is looked for.
const ROUNDS: usize = 150;

#[test]
fn what_is_proposed_while_a_person_is_asked_about_another_file_is_not_kept_for_that_file() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    peer.open("another file");
    for relay in [&hub.relay, &hub.beside()] {
        let refused = relay.propose(who("ada"), peer.session, &set_text(&["Sign in"]));
        assert_eq!(refused.unwrap_err().code, "session_away");
    }
    peer.confirm();
    hub.tick();
    assert_eq!(peer.find("propose"), None);
    hub.relay.propose(who("ada"), peer.session, &set_text(&["Sign in"])).unwrap();
    let card = peer.next("propose");
    peer.approve(&card);
    peer.next("execute");
}

#[test]
fn a_card_is_remembered_however_many_reads_are_allowed_meanwhile() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    hub.relay.propose(who("ada"), peer.session, &set_text(&["Sign in"])).unwrap();
    let card = peer.next("propose");
    peer.allow();
    for _ in 0..70 {
        hub.tick();
        peer.pong();
        hub.relay.propose(who("ada"), peer.session, &get_selection()).unwrap();
        let read = peer.next("propose");
        peer.decide(&read, CardDecision::Approved, DecidedInPlugin::Allowance).unwrap();
        let execute = peer.next("execute");
        peer.succeed(&execute, &json!({"page": "Page 1", "nodes": []})).unwrap();
    }
    hub.tick();
    assert!(!peer.kinds().contains(&"propose".to_owned()), "it stands on the screen already");
    peer.approve(&card);
    peer.next("execute");
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "running");
}

#[test]
fn what_is_approved_while_what_waits_is_looked_at_is_not_withdrawn() {
    let hub = Hub::new();
    let peer = Arc::new(Mutex::new(hub.paired(1, "ada")));
    let session = peer.lock().unwrap().session;
    hub.relay.propose(who("ada"), session, &set_text(&["Sign in"])).unwrap();
    let card = peer.lock().unwrap().next("propose");
    let (page, shown) = (Arc::clone(&peer), card.clone());
    hub.just_before_reading(move || page.lock().unwrap().approve(&shown));
    hub.tick();
    let kinds = peer.lock().unwrap().kinds();
    assert_eq!(kinds, ["ping", "execute"]);
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "running");
}

#[test]
fn a_value_is_there_as_soon_as_its_invocation_has_succeeded() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    for round in 0..ROUNDS {
        let text = round.to_string();
        let proposal = hub.relay.propose(who("ada"), peer.session, &set_text(&[&text])).unwrap();
        let card = peer.next("propose");
        peer.approve(&card);
        let execute = peer.next("execute");
        let gone = scope(|threads| {
            let looking = threads.spawn(|| {
                loop {
                    let step = hub.relay.steps(who("ada"), proposal).unwrap().remove(0);
                    if step.has_ended() {
                        return step.value_gone;
                    }
                }
            });
            // As long as it may be, so that keeping it takes a while.
            let value = json!({"node": "1:2", "old": "x".repeat(10_000)});
            peer.succeed(&execute, &value).unwrap();
            looking.join().unwrap()
        });
        assert!(!gone, "round {round}");
        hub.clock.advance(Duration::from_millis(20));
    }
}

#[test]
fn a_second_result_for_a_grant_does_not_change_the_value() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let proposal = hub.relay.propose(who("ada"), peer.session, &set_text(&["Sign in"])).unwrap();
    let card = peer.next("propose");
    peer.approve(&card);
    let execute = peer.next("execute");
    for old in ["first", "second"] {
        peer.succeed(&execute, &json!({"node": "1:2", "old": old})).unwrap();
        let step = hub.relay.steps(who("ada"), proposal).unwrap().remove(0);
        assert_eq!(step.value.unwrap()["old"], "first");
    }
    // Once it is forgotten, it does not come back as something else.
    hub.clock.advance(Duration::from_mins(11));
    hub.relay.tick();
    drop(peer.kinds());
    peer.succeed(&execute, &json!({"node": "1:2", "old": "third"})).unwrap();
    let step = hub.relay.steps(who("ada"), proposal).unwrap().remove(0);
    assert_eq!((step.value, step.value_gone), (None, true));
}
