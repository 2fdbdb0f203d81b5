//! Callers that wear people down, and clocks that jump.

use std::time::Duration;

use serde_json::{Value, json};
use svc::app::relay::Who;
use svc::domain::relay::CardDecision;
use svc::relay::frame::DecidedInPlugin;

use super::hub::{Hub, get_selection, set_text, state, who};
use super::peer::Peer;
use crate::support::world::open_raw;

/// Proposes a text; returns the refusal's word.
fn propose(hub: &Hub, who: Who<'_>, peer: &Peer, text: &str) -> Result<(), String> {
    let proposed = hub.relay.propose(who, peer.session, &set_text(&[text]));
    proposed.map(|_| ()).map_err(|refusal| refusal.code.into_owned())
}

#[test]
fn so_many_cards_wait_and_no_more() {
    let hub = Hub::new();
    let peers = [hub.paired(1, "ada"), hub.paired(2, "ada"), hub.paired(3, "ada")];
    let ben = hub.paired(4, "ben");
    for peer in &peers[..2] {
        for number in 0..8 {
            propose(&hub, who("ada"), peer, &number.to_string()).unwrap();
        }
        let refusal = hub.relay.propose(who("ada"), peer.session, &set_text(&["9"])).unwrap_err();
        assert_eq!(refusal.code, "busy");
        assert!(refusal.message.contains("cancel_invocation"), "{}", refusal.message);
        // The same call again is the same card.
        propose(&hub, who("ada"), peer, "3").unwrap();
        assert_eq!(peer.kinds().iter().filter(|kind| *kind == "propose").count(), 8);
    }
    assert_eq!(propose(&hub, who("ada"), &peers[2], "17").unwrap_err(), "busy");
    propose(&hub, who("ben"), &ben, "1").unwrap();
}

/// Only so many questions are open in the whole service, so what one device leaves open keeps the others from pairing.
#[test]
fn a_bad_answer_leaves_no_question_open() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let open = || -> i64 {
        let database = open_raw(&hub.database());
        let sql = "SELECT count(*) FROM relay_pairings WHERE finished_at IS NULL";
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let other = "0199f3a0-0000-7000-8000-00000000000a";
    for (number, pairing) in [(1, None), (2, Some(other))] {
        (peer.file, peer.session) = (format!("file {number}"), None);
        peer.connect(&hub.relay).unwrap();
        let asked = peer.next("claimed");
        assert_eq!(open(), 1);
        let pairing = pairing.map_or_else(|| asked["pairing"].clone(), Value::from);
        let unsigned = json!({
            "type": "confirm", "pairing": pairing, "accept": true, "signature": "A".repeat(86),
        });
        peer.say(&unsigned).unwrap_err();
        peer.connection = None;
        assert_eq!(open(), 0, "{unsigned}");
    }
}

#[test]
fn reads_that_an_allowance_covers_are_no_proposals() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let session = peer.session;
    let names: Vec<String> = (1..=20).map(|number| format!("agent {number}")).collect();
    let read = |client: &str| {
        let read = hub.relay.propose(Who { client, ..who("ada") }, session, &get_selection());
        read.map(|_| ()).map_err(|refusal| refusal.code.into_owned())
    };
    // One client rests, and one card less waits than may.
    for number in 0..3 {
        propose(&hub, who("ada"), &peer, &number.to_string()).unwrap();
        let card = peer.next("propose");
        peer.decide(&card, CardDecision::Denied, DecidedInPlugin::Person).unwrap();
    }
    let other = Who { client: "another agent", ..who("ada") };
    for number in 0..7 {
        propose(&hub, other, &peer, &number.to_string()).unwrap();
    }
    drop(peer.kinds());
    assert_eq!(read("agent").unwrap_err(), "cooling_off");
    peer.allow();
    read("agent").unwrap();
    for client in &names[1..] {
        read(client).unwrap();
    }
    // None of them counts, neither for a card nor, when the cards are too many, for themselves.
    propose(&hub, other, &peer, "the eighth").unwrap();
    assert_eq!(propose(&hub, other, &peer, "one more").unwrap_err(), "busy");
    // They have a limit of their own, as large as what comes in a second.
    hub.tick();
    assert_eq!(read(&names[0]).unwrap_err(), "busy");
    let decided = peer.next("propose");
    peer.decide(&decided, CardDecision::Approved, DecidedInPlugin::Allowance).unwrap();
    read(&names[0]).unwrap();
    // A page that comes back gets all of them, and not more at once than may wait for it.
    peer.connect(&hub.relay).unwrap();
    let mut cards = Vec::new();
    for _ in 0..4 {
        let sent = peer.kinds().into_iter().filter(|kind| kind == "propose").count();
        cards.push(sent);
        hub.tick();
    }
    assert_eq!(cards, [8, 8, 8, 4]);
}

#[test]
fn who_was_denied_three_times_rests_and_others_do_not() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    for number in 0..3 {
        propose(&hub, who("ada"), &peer, &number.to_string()).unwrap();
        let card = peer.next("propose");
        peer.decide(&card, CardDecision::Denied, DecidedInPlugin::Person).unwrap();
        hub.tick();
    }
    let refusal = hub.relay.propose(who("ada"), peer.session, &set_text(&["3"])).unwrap_err();
    assert_eq!(refusal.code, "cooling_off");
    assert!((1..=601).contains(&refusal.retry_after_seconds.unwrap()));
    let other = Who { client: "another agent", ..who("ada") };
    propose(&hub, other, &peer, "4").unwrap();
    hub.clock.advance(Duration::from_mins(10));
    peer.pong();
    propose(&hub, who("ada"), &peer, "5").unwrap();
}

#[test]
fn so_many_proposals_come_in_a_minute() {
    let hub = Hub::with_proposals_per_minute(30);
    let peer = hub.paired(1, "ada");
    let mut made = 0;
    let refusal = loop {
        let proposed = hub.relay.propose(who("ada"), peer.session, &set_text(&[&made.to_string()]));
        let proposal = match proposed {
            Ok(proposal) => proposal,
            Err(refusal) => break refusal,
        };
        made += 1;
        assert!(made <= 30);
        let step = hub.relay.steps(who("ada"), proposal).unwrap().remove(0);
        hub.relay.cancel(who("ada"), step.invocation).unwrap();
    };
    assert_eq!((made, &*refusal.code), (30, "too_many_proposals"));
    assert!(refusal.retry_after_seconds.is_some());
}

#[test]
fn a_clock_that_jumps_ahead_ends_what_waits_and_forgets_nothing_that_happened() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    propose(&hub, who("ada"), &peer, "runs").unwrap();
    let running = peer.next("propose");
    peer.approve(&running);
    let execute = peer.next("execute");
    propose(&hub, who("ada"), &peer, "waits").unwrap();
    let waiting = peer.next("propose");
    hub.clock.advance(Duration::from_hours(24));
    hub.tick();
    assert_eq!(state(&hub.relay, "ada", &running["steps"][0]), "unknown");
    assert_eq!(state(&hub.relay, "ada", &waiting["steps"][0]), "expired");
    assert!(peer.kinds().contains(&"withdraw".to_owned()));
    // A decision that comes late does nothing, and what was done is known late.
    let late = peer.decision(&waiting, CardDecision::Approved, DecidedInPlugin::Person);
    let _closed = peer.say(&late);
    peer.succeed(&execute, &serde_json::json!({"node": "1:2", "old": "x"})).unwrap();
    assert_eq!(state(&hub.relay, "ada", &running["steps"][0]), "succeeded");
    assert_eq!(peer.kinds(), ["settled"]);
}

#[test]
fn a_clock_that_steps_back_holds_nothing_up() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    propose(&hub, who("ada"), &peer, "one").unwrap();
    hub.clock.step_back(Duration::from_hours(24));
    for _ in 0..3 {
        hub.clock.advance(Duration::from_secs(9));
        hub.tick();
        peer.pong();
    }
    let card = peer.next("propose");
    peer.approve(&card);
    let execute = peer.next("execute");
    peer.succeed(&execute, &serde_json::json!({"node": "1:2", "old": "x"})).unwrap();
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "succeeded");
    propose(&hub, who("ada"), &peer, "two").unwrap();
    peer.next("propose");
    assert_eq!(peer.closed(), None);
}

#[test]
fn a_row_that_cannot_be_read_holds_up_no_other_session() {
    let hub = Hub::new();
    let peers: Vec<Peer> = (1..=8).map(|number| hub.paired(number, "ada")).collect();
    let other = hub.beside();
    for peer in &peers {
        other.propose(who("ada"), peer.session, &set_text(&["one"])).unwrap();
        assert_eq!(peer.find("propose"), None);
    }
    let raw = open_raw(&hub.database());
    raw.execute_batch(&format!(
        "PRAGMA ignore_check_constraints = ON; \
         UPDATE relay_sessions SET lane = x'00' WHERE session_id = '{}';",
        peers[0].session.unwrap()
    ))
    .unwrap();
    hub.tick();
    for peer in &peers[1..] {
        peer.next("propose");
    }
}
