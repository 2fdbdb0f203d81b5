//! Frames that were made by another, for another socket, or before: none of them does anything.

use serde_json::{Value, json};
use svc::app::relay::{Closing, Connection};
use svc::domain::relay::CardDecision;
use svc::relay::frame::DecidedInPlugin;

use super::hub::{Hub, get_selection, set_text, state, who};
use super::peer::Peer;

const REVOKED: u16 = 4401;
const REFUSED: u16 = 4403;
const UNKNOWN: u16 = 4404;
const BAD: u16 = 4400;

fn code(said: Result<(), Closing>) -> u16 {
    said.expect_err("it was taken in").code
}

#[test]
fn a_proof_of_another_socket_or_key_opens_nothing() {
    let hub = Hub::new();
    let mut victim = hub.paired(1, "ada");
    let proof = victim.last_proof.clone();
    // Another process of the machine says who it is, and repeats what it has heard.
    let mut thief = Peer::new(2);
    thief.claim_to_be(&victim);
    assert_eq!(code(thief.connect_with(&hub.relay, Some(proof))), REFUSED);
    // With a key of its own it is another device, for which a person would be asked.
    let mut thief = Peer::new(3);
    thief.session = victim.session;
    thief.file.clone_from(&victim.file);
    thief.connect(&hub.relay).unwrap();
    assert_eq!(thief.kinds(), ["pairing"]);
    // The victim has its socket still.
    victim.pong();
    assert_eq!(victim.closed(), None);
}

#[test]
fn a_session_of_another_device_or_that_there_is_not_is_unknown_alike() {
    let hub = Hub::new();
    let victim = hub.paired(1, "ada");
    for session in [victim.session, Some("0199f3a0-0000-7000-8000-00000000000a".parse().unwrap())] {
        let mut peer = hub.paired(2, "eve");
        drop(peer.connection.take());
        peer.session = session;
        peer.address = [192, 0, 2, 77].into();
        assert_eq!(code(peer.connect(&hub.relay)), UNKNOWN);
        assert_eq!(peer.kinds(), Vec::<String>::new());
    }
    assert_eq!(victim.closed(), None);
}

#[test]
fn a_revoked_key_is_not_paired_again() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let device = hub
        .store
        .relay_devices(&svc::api::ListRequest {
            filter: svc::api::NoFilter {},
            limit: 1,
            before: None,
        })
        .unwrap();
    let device = device.unwrap().items.remove(0).device;
    let effects = hub.store.relay_revoke_device(device, "ops:test").unwrap().unwrap();
    hub.relay.carry_out(effects);
    assert_eq!(peer.closed(), Some(REVOKED));
    drop(peer.connection.take());
    for session in [peer.session, None] {
        peer.session = session;
        assert_eq!(code(peer.connect(&hub.relay)), REVOKED);
    }
}

#[test]
fn a_decision_is_worth_nothing_on_another_socket_and_twice() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    hub.relay.propose(who("ada"), peer.session, &set_text(&["one"])).unwrap();
    let card = peer.next("propose");
    let decision = peer.decision(&card, CardDecision::Approved, DecidedInPlugin::Person);
    // The page reloads; the same card is shown again; what was signed before is not taken.
    drop(peer.connection.take());
    peer.connect(&hub.relay).unwrap();
    let again = peer.next("propose");
    assert_eq!(again["proposal"], card["proposal"]);
    peer.show(&again);
    assert_eq!(code(peer.say(&decision)), BAD);
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "shown");
    drop(peer.connection.take());
    peer.connect(&hub.relay).unwrap();
    let card = peer.next("propose");
    peer.show(&card);
    let decision = peer.decision(&card, CardDecision::Approved, DecidedInPlugin::Person);
    for _ in 0..3 {
        peer.say(&decision).unwrap();
    }
    let kinds = peer.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "execute").count(), 1, "{kinds:?}");
}

#[test]
fn another_device_of_the_same_person_decides_nothing() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let mut other = hub.paired(2, "ada");
    hub.relay.propose(who("ada"), peer.session, &set_text(&["one"])).unwrap();
    let card = peer.next("propose");
    peer.show(&card);
    other.claim_session(&peer);
    let decision = other.decision(&card, CardDecision::Approved, DecidedInPlugin::Person);
    assert_eq!(code(other.say(&decision)), BAD);
    assert_eq!(code(peer.say(&decision)), BAD);
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "shown");
}

#[test]
fn leave_to_read_is_none_to_write_and_none_of_another_key() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    peer.allow();
    hub.relay.propose(who("ada"), peer.session, &set_text(&["one"])).unwrap();
    let card = peer.next("propose");
    assert_eq!(code(peer.decide(&card, CardDecision::Approved, DecidedInPlugin::Allowance)), BAD);
    let mut eve = hub.paired(2, "eve");
    let mut peer = hub.paired(3, "ben");
    eve.claim_session(&peer);
    let allowance = eve.allowance();
    assert_eq!(code(peer.say(&allowance)), BAD);
    // Without leave, a read needs the person.
    let mut peer = hub.paired(4, "cleo");
    hub.relay.propose(who("cleo"), peer.session, &get_selection()).unwrap();
    let card = peer.next("propose");
    assert_eq!(code(peer.decide(&card, CardDecision::Approved, DecidedInPlugin::Allowance)), BAD);
}

#[test]
fn a_result_is_taken_from_the_socket_that_was_told_to_act() {
    let hub = Hub::new();
    let mut peer = hub.paired(1, "ada");
    let mut eve = hub.paired(2, "eve");
    hub.relay.propose(who("ada"), peer.session, &set_text(&["one", "two"])).unwrap();
    let card = peer.next("propose");
    peer.approve(&card);
    let execute = peer.next("execute");
    let value = json!({"node": "1:2", "old": "x"});
    assert_eq!(code(eve.succeed(&execute, &value)), BAD);
    let unknown = json!({"grant": "0199f3a0-0000-7000-8000-00000000000a"});
    let mut eve = hub.paired(3, "eve");
    assert_eq!(code(eve.succeed(&unknown, &value)), BAD);
    assert_eq!(state(&hub.relay, "ada", &card["steps"][0]), "running");
    // Its own page says it; again, it is told that this was settled, and the next step is not touched.
    peer.succeed(&execute, &value).unwrap();
    peer.succeed(&execute, &value).unwrap();
    assert_eq!(peer.kinds(), ["settled", "execute", "settled"]);
    assert_eq!(state(&hub.relay, "ada", &card["steps"][1]), "running");
}

#[test]
fn nothing_is_said_out_of_order() {
    let hub = Hub::new();
    let frames = |peer: &mut Peer| -> Vec<Value> {
        let card = json!({"proposal": "0199f3a0-0000-7000-8000-00000000000a", "steps": []});
        let mut claims = Peer::new(200);
        claims.session = Some("0199f3a0-0000-7000-8000-00000000000b".parse().unwrap());
        vec![
            claims.decision(&card, CardDecision::Approved, DecidedInPlugin::Person),
            json!({"type": "context", "file": {"key": null, "name": "x", "page": "y"}}),
            json!({"type": "result", "grant": "0199f3a0-0000-7000-8000-00000000000a", "outcome": "stale"}),
            json!({"type": "ready", "session": claims.session, "epoch": 1, "account": "ada"}),
            json!({"type": "allowance", "minutes": 15, "signature": "A".repeat(86)}),
            peer.last_proof.clone(),
        ]
    };
    for place in 0..6 {
        let mut peer = Peer::new(u8::try_from(10 + place).unwrap());
        peer.connect(&hub.relay).unwrap();
        peer.kinds();
        let frame = frames(&mut peer).remove(place);
        assert_eq!(code(peer.say(&frame)), BAD, "{}", frame["type"]);
        assert_eq!(peer.kinds(), ["problem"]);
    }
}

#[test]
fn sockets_have_their_places_and_no_more() {
    let hub = Hub::new();
    // Four of a peer that have proved nothing.
    let silent: Vec<Connection> =
        (0..4).map(|_| Peer::new(9).open_socket(&hub.relay).unwrap()).collect();
    assert!(Peer::new(9).open_socket(&hub.relay).is_err());
    assert!(Peer::new(8).open_socket(&hub.relay).is_ok());
    drop(silent);
    // Five codes of a peer within ten minutes.
    for _ in 0..5 {
        Peer::new(9).connect(&hub.relay).unwrap();
    }
    assert_eq!(code(Peer::new(9).connect(&hub.relay)), 4429);
    // Eight sockets of a subject.
    let peers: Vec<Peer> = (20..28).map(|number| hub.paired(number, "ada")).collect();
    let mut ninth = Peer::new(28);
    ninth.connect(&hub.relay).unwrap();
    let asked = ninth.typed(&hub.relay, "ada");
    assert_eq!(code(ninth.answer(&asked)), 4429);
    drop((peers, ninth));
    // And as many as there may be in all: here 64, of which none is left open.
    let all: Vec<_> =
        (100..164).map(|number| Peer::new(number).open_socket(&hub.relay).unwrap()).collect();
    assert!(Peer::new(200).open_socket(&hub.relay).is_err());
    drop(all);
    assert!(Peer::new(200).open_socket(&hub.relay).is_ok());
}
