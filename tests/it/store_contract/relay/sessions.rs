//! Sessions: who may take one up, what an epoch fences, and what hangs on a socket.

use std::time::Duration;

use svc::domain::relay::allowance::Length;
use svc::domain::relay::invocation::{Report, State, Withdrawal};
use svc::domain::relay::session::{self, Event};
use svc::domain::relay::{ActionEffect, CloseCode, DecidedBy, RelayReason};
use svc::store::relay::{Arrival, Arrived, Effects, NewAllowance, SessionSocket, Tell};

use super::super::Open;
use super::{Room, changed, told};
use crate::support::relay::{Plugin, Relay, digest, executed, lane, proof};

pub(super) fn exercise(open: Open) {
    finds_the_session_of_a_page(open);
    lets_a_stale_holder_change_nothing(open);
    tells_how_a_socket_stands(open);
    tells_a_page_nothing_that_does_not_answer(open);
    ends_what_hangs_on_a_socket(open);
    closes_what_an_ended_process_held(open);
    ends_sessions(open);
    ends_what_was_proposed_in_another_file(open);
}

fn finds_the_session_of_a_page(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let mut ann = relay.pair(1, "ann", 1);
    let bob = relay.pair(2, "bob", 1);
    let arrive = |arrival: Arrival| relay.store.relay_arrive(arrival).unwrap();
    let of = |arrival: Arrival| match arrive(arrival) {
        Arrived::Ready(opened) => (opened.session, opened.epoch),
        other => panic!("{other:?}"),
    };
    let remembered = relay.arrival(&ann, &[]);
    assert_eq!(of(remembered.clone()), (ann.held.session, 2));
    let forgotten = Arrival { session: None, ..remembered.clone() };
    assert_eq!(of(forgotten.clone()), (ann.held.session, 3), "its file tells");
    let none = Arrival { lane: None, ..forgotten.clone() };
    assert_eq!(arrive(none), Arrived::Ask);
    let other_file = Arrival { lane: Some(lane("ann", 2)), ..forgotten };
    assert_eq!(arrive(other_file.clone()), Arrived::Ask);
    let moved = Arrival { session: Some(ann.held.session), ..other_file };
    assert_eq!(arrive(moved), Arrived::Ask);
    let foreign = Arrival { session: Some(bob.held.session), ..remembered.clone() };
    assert_eq!(arrive(foreign), Arrived::Close(CloseCode::NoSuchSession));
    let unknown = Arrival { session: Some(relay.id()), ..remembered.clone() };
    assert_eq!(arrive(unknown), Arrived::Close(CloseCode::NoSuchSession));
    ann.held.epoch = 3;
    relay.store.relay_session_event(ann.held, Event::Bye).unwrap();
    assert_eq!(arrive(remembered.clone()), Arrived::Close(CloseCode::NoSuchSession));
    let forgotten = Arrival { session: None, ..remembered };
    assert_eq!(arrive(forgotten), Arrived::Ask, "one that ended is not found by its file");
}

fn lets_a_stale_holder_change_nothing(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let mut ann = relay.pair(1, "ann", 1);
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 1);
    let stale = ann;
    let effects = relay.returns(&mut ann, &[]);
    assert_eq!(effects.tell, [(stale.held, Tell::Close(CloseCode::TakenOver))]);
    assert_eq!(store.relay_waiting(stale.held).unwrap(), []);
    assert_eq!(relay.show(&stale, proposal), Effects::default());
    relay.show(&ann, proposal);
    let approval = Relay::approval(&stale, proposal, DecidedBy::Person);
    assert_eq!(relay.decide(&stale, approval.clone()), Effects::default());
    let told = relay.decide(&ann, approval).tell;
    assert_eq!(told, [(ann.held, Tell::Close(CloseCode::BadFrame))], "signed for another epoch");
    let grant = executed(&relay.approve(&ann, proposal)).unwrap();
    let report = |held| store.relay_report(held, grant, Report::Succeeded).unwrap();
    assert_eq!(report(stale.held), Effects::default());
    assert_eq!(store.relay_claim_due(stale.held).unwrap(), Effects::default());
    for event in [Event::SocketClosed, Event::PongsMissed, Event::FileChanged, Event::Bye] {
        assert_eq!(store.relay_session_event(stale.held, event).unwrap(), Effects::default());
    }
    let allowance = NewAllowance { page: stale.page, length: Length::Hour, proof: proof(1) };
    store.relay_allow(stale.held, allowance).unwrap();
    assert_eq!(store.relay_sessions_of("ann").unwrap()[0].allowance_until, None);
    assert_eq!(relay.state(&ann, steps[0]), "running");
    assert_eq!(changed(&report(ann.held)), [(steps[0], State::Succeeded)]);
}

fn tells_how_a_socket_stands(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let mut ann = relay.pair(1, "ann", 1);
    let state = || relay.store.relay_sessions_of("ann").unwrap()[0].state;
    let happens = |held, event| relay.store.relay_session_event(held, event).unwrap();
    assert_eq!(state(), session::State::Connected);
    // Not from a socket: nothing comes of these.
    for event in [Event::Proved, Event::Revoked, Event::DeviceRevoked, Event::Unused] {
        assert_eq!(happens(ann.held, event), Effects::default());
    }
    happens(ann.held, Event::PongsMissed);
    assert_eq!(state(), session::State::Suspended);
    happens(ann.held, Event::PongAgain);
    assert_eq!(state(), session::State::Connected);
    happens(ann.held, Event::SocketClosed);
    assert_eq!(state(), session::State::Away);
    happens(ann.held, Event::PongAgain);
    assert_eq!(state(), session::State::Away, "it has no socket");
    relay.returns(&mut ann, &[]);
    assert_eq!((state(), ann.held.epoch), (session::State::Connected, 2));
}

fn tells_a_page_nothing_that_does_not_answer(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let (ann, anns_other) = (relay.pair(1, "ann", 1), relay.pair(2, "ann", 1));
    let (_, running) = relay.run(&ann, ActionEffect::Write, 1);
    let (proposal, _) = relay.propose(&anns_other, &[ActionEffect::Write], 1);
    assert_eq!(executed(&relay.approve(&anns_other, proposal)), None, "the lane is taken");
    store.relay_session_event(anns_other.held, Event::PongsMissed).unwrap();
    store.relay_report(ann.held, running, Report::Succeeded).unwrap();
    let refused = store.relay_claim_due(anns_other.held).unwrap();
    assert_eq!((refused.unchanged, refused.changed), (Some(RelayReason::NotConnected), vec![]));
    let effects = store.relay_session_event(anns_other.held, Event::PongAgain).unwrap();
    assert!(executed(&effects).is_some(), "it answers again");
}

fn ends_what_hangs_on_a_socket(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let mut ann = relay.pair(1, "ann", 1);
    let (running, grant) = relay.run(&ann, ActionEffect::Write, 1);
    let (second, approved) = relay.propose(&ann, &[ActionEffect::Write], 2);
    assert_eq!(executed(&relay.approve(&ann, second)), None, "the lane is taken");
    let (third, shown) = relay.propose(&ann, &[ActionEffect::Write], 3);
    relay.show(&ann, third);
    let effects = relay.store.relay_session_event(ann.held, Event::SocketClosed).unwrap();
    let expected = [(approved[0], State::Expired), (shown[0], State::Proposed)];
    assert_eq!(changed(&effects), expected);
    assert_eq!(relay.state(&ann, running), "running", "its page may come back");
    assert_eq!(relay.state(&ann, approved[0]), "expired disconnected");
    assert_eq!(relay.state(&ann, shown[0]), "proposed");
    let effects =
        relay.returns(&mut ann, &[(grant, svc::domain::relay::invocation::Entry::Succeeded)]);
    assert_eq!(changed(&effects), [(running, State::Succeeded)]);
    assert_eq!(told(&effects, ann.held), [Tell::Settled(grant)]);
    let waiting = relay.store.relay_waiting(ann.held).unwrap();
    assert_eq!(waiting.iter().map(|it| it.id).collect::<Vec<_>>(), [third], "shown again");
}

fn closes_what_an_ended_process_held(open: Open) {
    let room = Room::new(open);
    let (relay, other) =
        (&room.relay, room.relay.beside(open, &room.database(), &room.bench.clock));
    let (ann, bob) = (relay.pair(1, "ann", 1), other.pair(2, "bob", 1));
    let beats = || relay.store.relay_beats_beside(relay.process).unwrap();
    let states =
        || ["ann", "bob"].map(|subject| relay.store.relay_sessions_of(subject).unwrap()[0].state);
    let [before] = beats()[..] else { panic!("one other process") };
    assert_eq!(before.process, other.process);
    other.store.relay_beat(other.process).unwrap();
    let (effects, _) = relay.store.relay_close_ended(before).unwrap();
    assert_eq!(
        (effects, states()),
        (Effects::default(), [session::State::Connected; 2]),
        "it lives"
    );
    let (waits, steps) = relay.propose(&bob, &[ActionEffect::Write], 1);
    relay.show(&bob, waits);
    relay.store.relay_close_ended(beats()[0]).unwrap();
    assert_eq!(states(), [session::State::Connected, session::State::Away]);
    assert_eq!(relay.state(&bob, steps[0]), "proposed");
    assert_eq!(beats(), []);
    // It had only been slow, and accepts a socket again.
    room.bench.clock.advance(Duration::from_secs(15));
    let mut bob = other.reloaded(&bob);
    other.returns(&mut bob, &[]);
    assert_eq!(beats().len(), 1);
    assert_ne!(beats(), [before], "not as the one that was given up");
    assert_eq!(relay.store.relay_close_ended(before).unwrap(), Default::default());
    relay.run(&ann, ActionEffect::Write, 2);
    assert_eq!(states(), [session::State::Connected; 2]);
}

fn ends_sessions(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let end = |id| store.relay_end_session(id, "ops").unwrap();
    let ann = relay.pair(1, "ann", 1);
    let (running, _) = relay.run(&ann, ActionEffect::Write, 1);
    let (_, waits) = relay.propose(&ann, &[ActionEffect::Read, ActionEffect::Write], 2);
    let effects = end(ann.held.session).unwrap();
    assert_eq!(told(&effects, ann.held), [Tell::Close(CloseCode::NoSuchSession)]);
    assert_eq!(relay.state(&ann, running), "unknown revoked");
    for step in waits {
        assert_eq!(relay.state(&ann, step), "cancelled revoked");
    }
    assert_eq!(end(ann.held.session), Some(Effects::default()), "again");
    assert_eq!(end(relay.id()), None);
    assert_eq!(store.relay_waiting(ann.held).unwrap(), []);
    // The person says goodbye.
    let bob = relay.pair(2, "bob", 1);
    let effects = store.relay_session_event(bob.held, Event::Bye).unwrap();
    assert_eq!(effects.tell, [(bob.held, Tell::Close(CloseCode::NoSuchSession))]);
    assert!(store.relay_sessions_of("bob").unwrap().is_empty());
    let device = store.relay_device(&crate::support::relay::key(2)).unwrap().unwrap();
    assert_eq!(device.id, bob.device, "the device stays paired");
}

fn ends_what_was_proposed_in_another_file(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let allowance = NewAllowance { page: ann.page, length: Length::Hour, proof: proof(1) };
    store.relay_allow(ann.held, allowance).unwrap();
    let (running, grant) = relay.run(&ann, ActionEffect::Write, 1);
    let (proposal, waits) = relay.propose(&ann, &[ActionEffect::Write], 2);
    let effects = store.relay_session_event(ann.held, Event::FileChanged).unwrap();
    assert_eq!(changed(&effects), [(waits[0], State::Expired)]);
    assert_eq!(told(&effects, ann.held), [Tell::Withdraw(proposal, Withdrawal::Expired)]);
    assert_eq!(store.relay_sessions_of("ann").unwrap()[0].allowance_until, None);
    // The session is now one of the other file, and what runs in the old one still holds it up.
    let pairing = relay.ask(&ann, true);
    store.relay_begin_pairing(pairing.clone()).unwrap().unwrap();
    store.relay_answer_pairing(relay.answer(&pairing, lane("ann", 2), true)).unwrap();
    let moved = Plugin { file: 2, ..ann };
    let (second, steps) = relay.propose(&moved, &[ActionEffect::Write], 3);
    assert_eq!(executed(&relay.approve(&moved, second)), None);
    assert_eq!(relay.state(&ann, running), "running");
    let effects = store.relay_report(ann.held, grant, Report::Stale).unwrap();
    assert_eq!(changed(&effects), [(running, State::Stale), (steps[0], State::Running)]);
    let other = SessionSocket { epoch: 9, ..ann.held };
    assert_eq!(store.relay_shown(other, second, digest(7)).unwrap(), Effects::default());
}
