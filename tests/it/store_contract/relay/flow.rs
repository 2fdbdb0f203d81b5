//! From a proposal to its end: the order of things, and that each happens once.

use std::sync::Barrier;
use std::time::Duration;

use svc::domain::id::InvocationId;
use svc::domain::relay::invocation::{Report, State, Withdrawal};
use svc::domain::relay::{ActionEffect, CloseCode, DecidedBy, RelayReason};
use svc::store::relay::{Effects, GrantFor, SignedVerdict, Tell};

use super::super::Open;
use super::{Room, changed, succeed, told};
use crate::support::relay::{Plugin, Relay, digest, executed};
use crate::support::world::{open_raw, open_store};

pub(super) fn exercise(open: Open) {
    carries_out_what_was_approved(open);
    records_what_was_shown_with_the_decision(open);
    carries_out_the_steps_in_order(open);
    ends_the_steps_behind_one_that_did_not_succeed(open);
    keeps_one_in_flight_in_a_lane(open);
    refuses_what_breaks_the_protocol(open);
    takes_back_what_has_not_begun(open);
    denies(open);
    lets_one_of_two_processes_claim(open);
}

fn carries_out_what_was_approved(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 1);
    let waiting = store.relay_waiting(ann.held).unwrap();
    let [card] = waiting.as_slice() else { panic!("{waiting:?}") };
    assert_eq!((card.id, card.client.as_str()), (proposal, "agent"));
    let [step] = card.steps.as_slice() else { panic!("{card:?}") };
    assert_eq!(
        (step.id, step.action.as_str(), step.effect),
        (steps[0], "set_text", ActionEffect::Write)
    );
    assert_eq!(step.arguments, "{\"secret\":\"canary-1-0\"}");
    assert_eq!(changed(&relay.show(&ann, proposal)), [(steps[0], State::Shown)]);
    assert_eq!(relay.show(&ann, proposal), Effects::default(), "told again");
    let effects = relay.decide(&ann, Relay::approval(&ann, proposal, DecidedBy::Person));
    let expected = [(steps[0], State::Approved), (steps[0], State::Running)];
    assert_eq!(changed(&effects), expected);
    let grant = executed(&effects).unwrap();
    let (invocation, effect, arguments_sha256) = (steps[0], ActionEffect::Write, digest(0));
    let execute = Tell::Execute { grant, invocation, arguments_sha256, effect };
    assert_eq!(effects.tell, [(ann.held, execute)]);
    assert_eq!(store.relay_waiting(ann.held).unwrap(), []);
    let is_for = GrantFor { invocation, action: "set_text".to_owned() };
    assert_eq!(store.relay_grant(ann.held, grant).unwrap(), Some(is_for));
    let effects = succeed(relay, ann.held, grant);
    assert_eq!(changed(&effects), [(steps[0], State::Succeeded)]);
    assert_eq!(effects.tell, [(ann.held, Tell::Settled(grant))]);
    // Told twice: nothing changes, and the journal may forget it.
    let again = succeed(relay, ann.held, grant);
    assert_eq!((changed(&again), told(&again, ann.held)), (vec![], vec![Tell::Settled(grant)]));
    assert_eq!(store.relay_steps_of("ann", proposal).unwrap()[0].state, State::Succeeded);
}

/// In one transaction, whether or not it was recorded before.
fn records_what_was_shown_with_the_decision(open: Open) {
    let room = Room::new(open);
    let relay = &room.relay;
    let ann = relay.pair(1, "ann", 1);
    let verdict = |proposal, shown| SignedVerdict {
        shown: Some(digest(shown)),
        ..Relay::approval(&ann, proposal, DecidedBy::Person)
    };
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 1);
    let effects = relay.decide(&ann, verdict(proposal, 7));
    let states = [State::Shown, State::Approved, State::Running];
    assert_eq!(changed(&effects), states.map(|state| (steps[0], state)));
    let events = super::audit::names(&room);
    assert_eq!(events[events.len() - 3..], ["shown", "approved", "claimed"]);
    succeed(relay, ann.held, executed(&effects).unwrap());
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 2);
    relay.show(&ann, proposal);
    let close = vec![(ann.held, Tell::Close(CloseCode::BadFrame))];
    assert_eq!(relay.decide(&ann, verdict(proposal, 8)).tell, close, "another preview");
    assert_eq!(relay.state(&ann, steps[0]), "shown");
    let effects = relay.decide(&ann, verdict(proposal, 7));
    assert_eq!(changed(&effects), [State::Approved, State::Running].map(|it| (steps[0], it)));
}

fn carries_out_the_steps_in_order(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let (proposal, steps) =
        relay.propose(&ann, &[ActionEffect::Read, ActionEffect::Write, ActionEffect::Export], 1);
    let mut grant = executed(&relay.approve(&ann, proposal));
    for (place, step) in steps.iter().enumerate() {
        // Longer than a grant lasts: its time begins with its turn.
        bench.clock.advance(Duration::from_secs(50));
        let effects = succeed(relay, ann.held, grant.unwrap());
        grant = executed(&effects);
        assert_eq!(relay.state(&ann, *step), "succeeded");
        assert_eq!(grant.is_some(), place < 2);
    }
}

fn ends_the_steps_behind_one_that_did_not_succeed(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 3], 1);
    let first = executed(&relay.approve(&ann, proposal)).unwrap();
    let second = executed(&succeed(relay, ann.held, first)).unwrap();
    let failed = Report::Failed(RelayReason::NoSuchNode);
    let effects = relay.store.relay_report(ann.held, second, failed).unwrap();
    let expected = [(steps[1], State::Failed), (steps[2], State::Cancelled)];
    assert_eq!((changed(&effects), executed(&effects)), (expected.to_vec(), None));
    let states = steps.iter().map(|step| relay.state(&ann, *step)).collect::<Vec<_>>();
    assert_eq!(states, ["succeeded", "failed no_such_node", "cancelled step_failed"]);
}

fn keeps_one_in_flight_in_a_lane(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    // Two plugins of one person have the same file open, another person a file of their own.
    let (ann, anns_other) = (relay.pair(1, "ann", 1), relay.pair(2, "ann", 1));
    let bob = relay.pair(3, "bob", 1);
    let (_, first) = relay.run(&ann, ActionEffect::Write, 1);
    let (proposal, steps) = relay.propose(&anns_other, &[ActionEffect::Write], 1);
    assert_eq!(executed(&relay.approve(&anns_other, proposal)), None);
    let refused = store.relay_claim_due(anns_other.held).unwrap();
    assert_eq!((refused.unchanged, refused.changed), (Some(RelayReason::LaneBusy), vec![]));
    relay.run(&bob, ActionEffect::Write, 1);
    let (second, waits) = relay.propose(&ann, &[ActionEffect::Write], 2);
    assert_eq!(executed(&relay.approve(&ann, second)), None);
    let refused = store.relay_claim_due(ann.held).unwrap();
    assert_eq!(refused.unchanged, Some(RelayReason::SessionBusy));
    // The session that has the socket goes on; the holder of the other one is told that the lane is free.
    let effects = succeed(relay, ann.held, first);
    let next = executed(&effects).expect("its own next one");
    assert_eq!(relay.state(&ann, waits[0]), "running");
    assert!(effects.free_for.contains(&anns_other.held.session), "{effects:?}");
    let effects = succeed(relay, ann.held, next);
    assert_eq!(effects.free_for, [anns_other.held.session]);
    assert_eq!(relay.state(&anns_other, steps[0]), "approved");
    let effects = store.relay_claim_due(anns_other.held).unwrap();
    assert!(executed(&effects).is_some());
    assert_eq!(store.relay_claim_due(anns_other.held).unwrap(), Effects::default());
}

fn refuses_what_breaks_the_protocol(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let (ann, bob) = (relay.pair(1, "ann", 1), relay.pair(2, "bob", 1));
    let bad = |plugin: &Plugin| Effects {
        tell: vec![(plugin.held, Tell::Close(CloseCode::BadFrame))],
        ..Effects::default()
    };
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Read, ActionEffect::Write], 1);
    let approval = |by| Relay::approval(&ann, proposal, by);
    // Not shown yet; by an allowance that there is not; by those who may not.
    for by in [DecidedBy::Person, DecidedBy::Allowance, DecidedBy::Operator, DecidedBy::Caller] {
        assert_eq!(relay.decide(&ann, approval(by)), bad(&ann), "{by}");
    }
    relay.show(&ann, proposal);
    let other = store.relay_shown(ann.held, proposal, digest(8)).unwrap();
    assert_eq!(other, bad(&ann), "another preview");
    let foreign = Relay::approval(&bob, proposal, DecidedBy::Person);
    assert_eq!(relay.decide(&bob, foreign.clone()), bad(&bob), "a proposal of another session");
    assert_eq!(relay.decide(&ann, foreign), bad(&ann), "signed by another device");
    assert_eq!(relay.show(&bob, proposal), bad(&bob));
    assert_eq!(relay.show(&ann, relay.id()), bad(&ann), "no such proposal");
    assert_eq!(store.relay_report(ann.held, relay.id(), Report::Stale).unwrap(), bad(&ann));
    for step in &steps {
        assert_eq!(relay.state(&ann, *step), "shown", "nothing has changed");
    }
    let grant = executed(&relay.approve(&ann, proposal)).unwrap();
    assert_eq!(store.relay_grant(bob.held, grant).unwrap(), None);
    assert_eq!(succeed(relay, bob.held, grant), bad(&bob), "a grant of another session");
    assert_eq!(relay.cannot_show(&ann, proposal), bad(&ann), "it is approved");
    assert_eq!(relay.state(&ann, steps[0]), "running");
}

fn takes_back_what_has_not_begun(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let cancel = |subject: &str, id| store.relay_cancel(subject, id).unwrap();
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    assert_eq!(cancel("bob", steps[0]), None, "it is not theirs");
    assert_eq!(cancel("ann", relay.id()), None);
    let effects = cancel("ann", steps[1]).unwrap();
    assert_eq!(told(&effects, ann.held), [Tell::Withdraw(proposal, Withdrawal::Cancelled)]);
    for step in &steps {
        assert_eq!(relay.state(&ann, *step), "cancelled cancelled_by_caller");
    }
    assert_eq!(cancel("ann", steps[0]), Some(Effects::default()), "again");
    // What runs goes on, what is behind it does not.
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 2);
    let grant = executed(&relay.approve(&ann, proposal)).unwrap();
    let effects = store.relay_deny(steps[0], "ops").unwrap().unwrap();
    assert_eq!(changed(&effects), [(steps[1], State::Cancelled)]);
    assert_eq!(relay.state(&ann, steps[1]), "cancelled denied_by_operator");
    let late = store.relay_deny(steps[0], "ops").unwrap().unwrap();
    assert_eq!((late.unchanged, late.changed), (Some(RelayReason::TooLate), vec![]));
    assert_eq!(store.relay_deny(relay.id(), "ops").unwrap(), None);
    assert_eq!(changed(&succeed(relay, ann.held, grant)), [(steps[0], State::Succeeded)]);
}

fn denies(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let states = |steps: &[_]| steps.iter().map(|id| relay.state(&ann, *id)).collect::<Vec<_>>();
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    relay.show(&ann, proposal);
    relay.deny(&ann, proposal);
    assert_eq!(states(&steps), ["denied", "denied"]);
    assert_eq!(relay.deny(&ann, proposal), Effects::default(), "again");
    assert_eq!(relay.approve(&ann, proposal), Effects::default(), "too late");
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 2);
    relay.cannot_show(&ann, proposal);
    assert_eq!(states(&steps), ["failed no_such_node", "failed no_such_node"]);
    // They change their mind while the lane is busy.
    let (_, grant) = relay.run(&ann, ActionEffect::Write, 3);
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 4);
    relay.approve(&ann, proposal);
    relay.deny(&ann, proposal);
    assert_eq!(states(&steps), ["cancelled withdrawn_by_person"]);
    assert_eq!(executed(&succeed(relay, ann.held, grant)), None, "its grant is dead");
}

/// Both hold the socket of one of two sessions of the same lane, and want to begin at once.
fn lets_one_of_two_processes_claim(open: Open) {
    for _ in 0..8 {
        let room = Room::new(open);
        let relay = &room.relay;
        let other = relay.beside(open, &room.database(), &room.bench.clock);
        let plugins = [relay.pair(1, "ann", 1), relay.pair(2, "ann", 1)];
        let proposals = plugins.map(|plugin| {
            let (proposal, _) = relay.propose(&plugin, &[ActionEffect::Write], 1);
            relay.show(&plugin, proposal);
            proposal
        });
        let start = Barrier::new(2);
        let stores = [relay.store.clone(), other.store.clone()];
        let claimed = std::thread::scope(|scope| {
            let threads: Vec<_> = plugins
                .into_iter()
                .zip(proposals)
                .zip(stores)
                .map(|((plugin, proposal), store)| {
                    let start = &start;
                    scope.spawn(move || {
                        let verdict = Relay::approval(&plugin, proposal, DecidedBy::Person);
                        start.wait();
                        let grant_time = crate::support::relay::GRANT;
                        store.relay_decide(plugin.held, verdict, grant_time).unwrap()
                    })
                })
                .collect();
            let all = threads.into_iter().map(|thread| thread.join().unwrap());
            all.filter_map(|effects| executed(&effects)).count()
        });
        assert_eq!(claimed, 1);
    }
}

/// Not part of the exam: rows are claimed behind the store's back.
#[test]
fn the_file_itself_refuses_a_second_claim() {
    let room = Room::new(open_store);
    let relay = &room.relay;
    let (ann, anns_other) = (relay.pair(1, "ann", 1), relay.pair(2, "ann", 1));
    let approved = |plugin: &Plugin, call| {
        let (proposal, steps) = relay.propose(plugin, &[ActionEffect::Write], call);
        assert_eq!(executed(&relay.approve(plugin, proposal)), None);
        steps[0]
    };
    relay.run(&ann, ActionEffect::Write, 1);
    let of_session = approved(&ann, 2);
    let of_lane = approved(&anns_other, 1);
    let connection = open_raw(&room.database());
    let claim = |step: InvocationId| {
        let claim = "UPDATE relay_grants SET state = 'claimed', claimed_at = 5, claimed_for = 'p', \
            deadline_at = 5 WHERE invocation_id = ?1";
        connection.execute(claim, [step.to_string()]).map_err(|error| error.to_string())
    };
    for step in [of_session, of_lane] {
        assert!(claim(step).unwrap_err().contains("UNIQUE"), "{:?}", claim(step));
    }
    // Without what is in flight either can be claimed.
    connection
        .execute("UPDATE relay_grants SET state = 'spent' WHERE state = 'claimed'", [])
        .unwrap();
    assert_eq!(claim(of_lane), Ok(1));
}
