//! What is refused: the same call, too many that wait, a client that was denied too often, a session that is not there.

use std::time::Duration;

use svc::domain::relay::ActionEffect;
use svc::domain::relay::allowance::Length;
use svc::domain::relay::proposal::Refusal;
use svc::domain::relay::session::Event;
use svc::domain::relay::{DecidedBy, RelayReason};
use svc::store::relay::{Effects, NewAllowance, NewProposal, Proposed, Tell};

use super::super::Open;
use super::{Room, changed};
use crate::support::relay::{Plugin, Relay, executed, proof};

pub(super) fn exercise(open: Open) {
    joins_the_same_call(open);
    takes_back_what_no_call_stands_for(open);
    limits_what_waits(open);
    lets_a_client_rest_that_was_denied_too_often(open);
    says_at_once_that_a_session_is_not_there(open);
    reads_by_leave(open);
}

fn refused(why: Refusal, waiting: u32) -> Proposed {
    Proposed::Refused { why, waiting, rests_until: None }
}

fn joins_the_same_call(open: Open) {
    let room = Room::new(open);
    let relay = &room.relay;
    let other = relay.beside(open, &room.database(), &room.bench.clock);
    let ann = relay.pair(1, "ann", 1);
    let (first, steps) = relay.propose(&ann, &[ActionEffect::Write], 1);
    let again =
        |store: &Relay| store.store.relay_propose(store.proposal(&ann, &[ActionEffect::Write], 1));
    assert_eq!(again(relay).unwrap(), Proposed::Same(first));
    assert_eq!(again(&other).unwrap(), Proposed::Same(first), "of another process");
    let through_another = NewProposal {
        client: "other".to_owned(),
        ..relay.proposal(&ann, &[ActionEffect::Write], 1)
    };
    assert_eq!(relay.store.relay_propose(through_another).unwrap(), Proposed::Made);
    relay.approve(&ann, first);
    assert_eq!(again(relay).unwrap(), Proposed::Same(first), "it runs");
    relay.store.relay_session_event(ann.held, Event::SocketClosed).unwrap();
    assert_eq!(again(relay).unwrap(), Proposed::Same(first), "it may still be settled");
    relay.store.relay_end_session(ann.held.session, "ops").unwrap();
    assert_eq!(relay.state(&ann, steps[0]), "unknown revoked");
    assert_eq!(again(relay).unwrap(), refused(Refusal::NoSuchSession, 0));
}

fn takes_back_what_no_call_stands_for(open: Open) {
    let room = Room::new(open);
    let relay = &room.relay;
    let other = relay.beside(open, &room.database(), &room.bench.clock);
    let ann = relay.pair(1, "ann", 1);
    let call =
        || other.store.relay_propose(relay.proposal(&ann, &[ActionEffect::Write; 2], 1)).unwrap();
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    assert_eq!((call(), call()), (Proposed::Same(proposal), Proposed::Same(proposal)));
    let leave = |subject| relay.store.relay_leave(subject, proposal).unwrap();
    assert_eq!(leave("bob"), Effects::default(), "another's is unknown");
    assert_eq!((leave("ann"), leave("ann")), (Effects::default(), Effects::default()));
    assert_eq!(relay.state(&ann, steps[0]), "proposed");
    let effects = leave("ann");
    assert_eq!(changed(&effects).len(), 2);
    assert!(
        matches!(super::told(&effects, ann.held)[..], [Tell::Withdraw(it, _)] if it == proposal)
    );
    assert_eq!(relay.state(&ann, steps[1]), "cancelled cancelled_by_caller");
    assert_eq!(leave("ann"), Effects::default(), "again");
    // What has begun goes on.
    let (running, _) = relay.run(&ann, ActionEffect::Write, 2);
    let ran = relay.store.relay_invocation_of("ann", running).unwrap().unwrap();
    assert_eq!(changed(&relay.store.relay_leave("ann", ran.proposal).unwrap()), []);
    assert_eq!(relay.state(&ann, running), "running");
}

fn limits_what_waits(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let propose = |plugin: &Plugin, call| {
        relay.store.relay_propose(relay.proposal(plugin, &[ActionEffect::Write; 2], call)).unwrap()
    };
    let anns: Vec<Plugin> = (1..=3).map(|number| relay.pair(number, "ann", number)).collect();
    for call in 0..8 {
        assert_eq!(propose(&anns[0], call), Proposed::Made);
    }
    assert_eq!(propose(&anns[0], 8), refused(Refusal::Busy, 8));
    assert!(matches!(propose(&anns[0], 7), Proposed::Same(_)), "that is none more");
    for call in 0..8 {
        assert_eq!(propose(&anns[1], call), Proposed::Made);
    }
    assert_eq!(propose(&anns[2], 0), refused(Refusal::Busy, 16), "of one person");
    let bob = relay.pair(4, "bob", 1);
    assert_eq!(propose(&bob, 0), Proposed::Made);
    let waiting = relay.store.relay_waiting(anns[0].held).unwrap();
    assert_eq!(waiting.len(), 8);
    let steps: usize = waiting.iter().map(|card| card.steps.len()).sum();
    assert_eq!(steps, 16);
    relay.deny(&anns[0], waiting[0].id);
    assert_eq!(propose(&anns[2], 0), Proposed::Made);
}

fn lets_a_client_rest_that_was_denied_too_often(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let minutes = |count: u64| Duration::from_secs(60 * count);
    let deny = |call| {
        let (proposal, _) = relay.propose(&ann, &[ActionEffect::Write; 2], call);
        relay.deny(&ann, proposal);
    };
    let propose =
        |call| relay.store.relay_propose(relay.proposal(&ann, &[ActionEffect::Write], call));
    // What the plugin cannot show, and what an operator denies, is not the person's no.
    for call in 0..3 {
        let (proposal, _) = relay.propose(&ann, &[ActionEffect::Write], call);
        relay.cannot_show(&ann, proposal);
        let (_, steps) = relay.propose(&ann, &[ActionEffect::Write], call);
        relay.store.relay_deny(steps[0], "ops").unwrap();
    }
    deny(1);
    bench.clock.advance(minutes(4));
    deny(2);
    bench.clock.advance(minutes(4));
    deny(3);
    let until = relay.now().plus(minutes(10));
    let resting =
        Proposed::Refused { why: Refusal::CoolingOff, waiting: 0, rests_until: Some(until) };
    assert_eq!(propose(4).unwrap(), resting);
    let through_another = NewProposal {
        client: "other".to_owned(),
        ..relay.proposal(&ann, &[ActionEffect::Write], 4)
    };
    assert_eq!(relay.store.relay_propose(through_another).unwrap(), Proposed::Made);
    bench.clock.advance(minutes(10) - Duration::from_micros(1));
    assert!(matches!(propose(4).unwrap(), Proposed::Refused { why: Refusal::CoolingOff, .. }));
    bench.clock.advance(Duration::from_micros(1));
    assert_eq!(propose(4).unwrap(), Proposed::Made);
}

fn says_at_once_that_a_session_is_not_there(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let (ann, bob) = (relay.pair(1, "ann", 1), relay.pair(2, "bob", 1));
    let propose = |proposal| relay.store.relay_propose(proposal).unwrap();
    let happens = |event| relay.store.relay_session_event(ann.held, event).unwrap();
    let proposal = || relay.proposal(&ann, &[ActionEffect::Write], 1);
    let foreign = NewProposal { subject: "bob".to_owned(), ..proposal() };
    assert_eq!(propose(foreign), refused(Refusal::NoSuchSession, 0));
    let unknown = NewProposal { session: relay.id(), ..proposal() };
    assert_eq!(propose(unknown), refused(Refusal::NoSuchSession, 0));
    happens(Event::PongsMissed);
    assert_eq!(propose(proposal()), refused(Refusal::SessionSuspended, 0));
    happens(Event::SocketClosed);
    assert_eq!(propose(proposal()), refused(Refusal::SessionAway, 0));
    assert!(relay.store.relay_sessions_of("ann").unwrap().len() == 1);
    relay.store.relay_revoke_device(ann.device, "ops").unwrap();
    assert_eq!(propose(proposal()), refused(Refusal::NoSuchSession, 0));
    assert_eq!(propose(relay.proposal(&bob, &[ActionEffect::Write], 1)), Proposed::Made);
}

fn reads_by_leave(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let allow = |length| {
        let allowance = NewAllowance { page: ann.page, length, proof: proof(1) };
        assert_eq!(store.relay_allow(ann.held, allowance).unwrap(), Effects::default());
        store.relay_sessions_of("ann").unwrap()[0].allowance_until
    };
    let by_allowance = |effects: &[ActionEffect], call| {
        let (proposal, steps) = relay.propose(&ann, effects, call);
        (relay.decide(&ann, Relay::approval(&ann, proposal, DecidedBy::Allowance)), steps)
    };
    assert_eq!(allow(Length::Ended), None);
    let until = relay.now().plus(Duration::from_secs(900));
    assert_eq!(allow(Length::Quarter), Some(until));
    let (effects, steps) = by_allowance(&[ActionEffect::Read], 1);
    let grant = executed(&effects).expect("read without a card");
    super::succeed(relay, ann.held, grant);
    assert_eq!(relay.state(&ann, steps[0]), "succeeded");
    // Not what else is on the card.
    let (effects, steps) = by_allowance(&[ActionEffect::Read, ActionEffect::Export], 2);
    assert_eq!((changed(&effects), effects.tell.len()), (vec![], 1));
    assert_eq!(relay.state(&ann, steps[0]), "proposed");
    bench.clock.advance(Duration::from_secs(900));
    let (effects, _) = by_allowance(&[ActionEffect::Read], 3);
    assert_eq!((effects.unchanged, effects.tell.len()), (Some(RelayReason::AllowanceEnded), 0));
    assert_eq!(store.relay_sessions_of("ann").unwrap()[0].allowance_until, None);
    assert!(allow(Length::Hour).is_some());
    assert_eq!(allow(Length::Ended), None);
    // Another page does not show its end, so it is not that page's.
    allow(Length::Hour);
    let mut other = relay.reloaded(&ann);
    relay.returns(&mut other, &[]);
    assert_eq!(store.relay_sessions_of("ann").unwrap()[0].allowance_until, None);
}
