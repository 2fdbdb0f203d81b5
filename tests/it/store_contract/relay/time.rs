//! What the passing of time ends, in bounded batches, and what a clock that was wrong leaves behind.

use std::time::Duration;

use svc::domain::relay::ActionEffect;
use svc::domain::relay::allowance::Length;
use svc::domain::relay::invocation::{State, Withdrawal};
use svc::store::relay::{Effects, NewAllowance, Tell};

use super::super::Open;
use super::{Room, changed, succeed};
use crate::support::relay::{APPROVAL, GRANT, KEPT, Plugin, executed, proof};
use crate::support::world::open_raw;

const TICK: Duration = Duration::from_micros(1);

pub(super) fn exercise(open: Open) {
    ends_what_was_not_decided(open);
    ends_grants_that_were_not_claimed(open);
    ends_what_was_not_heard_of(open);
    ends_unused_sessions(open);
    ends_many_a_batch_at_a_time(open);
    sweeps_what_is_finished_and_old(open);
    makes_due_what_a_clock_that_was_ahead_has_put_out_of_reach(open);
}

fn expire(room: &Room) -> Effects {
    let (effects, more) = room.relay.store.relay_expire(KEPT).unwrap();
    assert!(!more);
    effects
}

fn ends_what_was_not_decided(open: Open) {
    let room = Room::new(open);
    let ann = room.relay.pair(1, "ann", 1);
    let (proposal, steps) = room.relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    room.relay.show(&ann, proposal);
    room.bench.clock.advance(APPROVAL - TICK);
    assert_eq!(expire(&room), Effects::default());
    assert_eq!(room.relay.store.relay_waiting(ann.held).unwrap().len(), 1);
    room.bench.clock.advance(TICK);
    assert_eq!(room.relay.store.relay_waiting(ann.held).unwrap(), [], "before it is swept, too");
    // The person decides now, before it is swept: the decision came late.
    let effects = room.relay.approve(&ann, proposal);
    let expected = steps.iter().map(|step| (*step, State::Expired)).collect::<Vec<_>>();
    assert_eq!((changed(&effects), executed(&effects)), (expected, None));
    assert_eq!(expire(&room), Effects::default());
    let (proposal, steps) = room.relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    room.bench.clock.advance(APPROVAL);
    let effects = expire(&room);
    assert_eq!(effects.tell, [(ann.held, Tell::Withdraw(proposal, Withdrawal::Expired))]);
    for step in steps {
        assert_eq!(room.relay.state(&ann, step), "expired proposal_expired");
    }
}

fn ends_grants_that_were_not_claimed(open: Open) {
    let room = Room::new(open);
    let (ann, other) = (room.relay.pair(1, "ann", 1), room.relay.pair(2, "ann", 1));
    let (_, running) = room.relay.run(&ann, ActionEffect::Export, 1);
    let (proposal, steps) = room.relay.propose(&other, &[ActionEffect::Write; 2], 1);
    room.relay.approve(&other, proposal);
    room.bench.clock.advance(GRANT - TICK);
    assert_eq!(expire(&room), Effects::default());
    room.bench.clock.advance(TICK);
    let claimed = room.relay.store.relay_claim_due(other.held).unwrap();
    assert_eq!(claimed, Effects::default(), "its time is over, be it swept or not");
    let late = room.relay.store.relay_report(ann.held, running, succeeded()).unwrap();
    assert_eq!(executed(&late), None);
    expire(&room);
    assert_eq!(room.relay.state(&other, steps[0]), "expired grant_expired");
    assert_eq!(room.relay.state(&other, steps[1]), "cancelled step_failed");
}

fn succeeded() -> svc::domain::relay::invocation::Report {
    svc::domain::relay::invocation::Report::Succeeded
}

fn ends_what_was_not_heard_of(open: Open) {
    for effect in ActionEffect::ALL {
        let room = Room::new(open);
        let (ann, other) = (room.relay.pair(1, "ann", 1), room.relay.pair(2, "ann", 1));
        let (running, _) = room.relay.run(&ann, *effect, 1);
        room.bench.clock.advance(effect.deadline() - TICK);
        let (proposal, _) = room.relay.propose(&other, &[ActionEffect::Write], 1);
        assert_eq!(executed(&room.relay.approve(&other, proposal)), None);
        assert_eq!(expire(&room), Effects::default(), "{effect}");
        room.bench.clock.advance(TICK);
        let effects = expire(&room);
        assert_eq!(changed(&effects), [(running, State::Unknown)]);
        assert_eq!(effects.free_for, [other.held.session], "{effect}");
        assert!(executed(&room.relay.store.relay_claim_due(other.held).unwrap()).is_some());
    }
}

fn ends_unused_sessions(open: Open) {
    let room = Room::new(open);
    let (ann, bob) = (room.relay.pair(1, "ann", 1), room.relay.pair(2, "bob", 1));
    room.bench.clock.advance(KEPT);
    assert_eq!(expire(&room), Effects::default());
    room.relay.propose(&bob, &[ActionEffect::Write], 1);
    room.bench.clock.advance(TICK);
    let effects = expire(&room);
    let close = Tell::Close(svc::domain::relay::CloseCode::NoSuchSession);
    assert_eq!(effects.tell, [(ann.held, close)]);
    assert!(room.relay.store.relay_sessions_of("ann").unwrap().is_empty());
    assert_eq!(room.relay.store.relay_sessions_of("bob").unwrap().len(), 1, "it was used");
}

fn ends_many_a_batch_at_a_time(open: Open) {
    let room = Room::new(open);
    let relay = &room.relay;
    for number in 0..150 {
        relay.store.relay_begin_pairing(relay.offer(1, number)).unwrap().unwrap();
    }
    room.bench.clock.advance(Duration::from_secs(300));
    let (effects, more) = relay.store.relay_expire(KEPT).unwrap();
    assert_eq!((effects.pairings.len(), more), (100, true));
    let (effects, more) = relay.store.relay_expire(KEPT).unwrap();
    assert_eq!((effects.pairings.len(), more), (50, false));
}

fn sweeps_what_is_finished_and_old(open: Open) {
    let room = Room::new(open);
    let (relay, store) = (&room.relay, &room.relay.store);
    let (ann, bob) = (relay.pair(1, "ann", 1), relay.pair(2, "bob", 1));
    let (_, grant) = relay.run(&ann, ActionEffect::Write, 1);
    succeed(relay, ann.held, grant);
    store.relay_revoke_device(ann.device, "ops").unwrap();
    let (waits, _) = relay.propose(&bob, &[ActionEffect::Write], 1);
    let age = Duration::from_secs(3_600);
    let swept = |room: &Room| {
        let swept = room.relay.store.sweep(age).unwrap();
        (swept.relay_proposals, swept.relay_sessions, swept.relay_pairings)
    };
    room.bench.clock.advance(age);
    assert_eq!(swept(&room), (0, 0, 0));
    room.bench.clock.advance(TICK);
    assert_eq!(swept(&room), (1, 1, 2));
    assert_eq!(swept(&room), (0, 0, 0));
    // What is open stays, and so does the key that must never be paired again.
    let count = |sql: &str| -> i64 {
        open_raw(&room.database()).query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM relay_grants"), 0);
    assert_eq!(count("SELECT count(*) FROM relay_approvals"), 0);
    assert_eq!(count("SELECT count(*) FROM relay_invocations"), 1);
    assert!(store.relay_device(&crate::support::relay::key(1)).unwrap().is_some());
    assert_eq!(store.relay_steps_of("bob", waits).unwrap().len(), 1);
    assert_eq!(store.relay_verify_audit(|_, _| ()).unwrap().broken, None);
}

fn makes_due_what_a_clock_that_was_ahead_has_put_out_of_reach(open: Open) {
    let room = Room::new(open);
    let (relay, store) = (&room.relay, &room.relay.store);
    let years = Duration::from_secs(4 * 365 * 86_400);
    room.bench.clock.advance(years);
    let plugins: Vec<Plugin> = (1..=2).map(|number| relay.pair(number, "ann", 1)).collect();
    let allowance = NewAllowance { page: plugins[0].page, length: Length::Hour, proof: proof(1) };
    store.relay_allow(plugins[0].held, allowance).unwrap();
    let (running, _) = relay.run(&plugins[0], ActionEffect::Write, 1);
    let (second, approved) = relay.propose(&plugins[1], &[ActionEffect::Write], 1);
    relay.approve(&plugins[1], second);
    let (_, waits) = relay.propose(&plugins[0], &[ActionEffect::Write], 2);
    let pairing = relay.offer(9, 9);
    store.relay_begin_pairing(pairing.clone()).unwrap().unwrap();
    room.bench.clock.step_back(years);
    assert_eq!(expire(&room), Effects::default());
    assert_eq!(store.clamp_future_times(Duration::ZERO).unwrap(), 5);
    assert_eq!(store.clamp_future_times(Duration::ZERO).unwrap(), 0);
    let effects = expire(&room);
    assert_eq!(effects.pairings, [pairing.id]);
    assert_eq!(relay.state(&plugins[0], running), "unknown deadline_passed");
    assert_eq!(relay.state(&plugins[0], approved[0]), "expired grant_expired");
    assert_eq!(relay.state(&plugins[0], waits[0]), "expired proposal_expired");
    assert_eq!(store.relay_sessions_of("ann").unwrap()[1].allowance_until, None);
}
