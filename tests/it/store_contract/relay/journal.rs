//! What a page that comes back knows of what was claimed, and what only a late proof settles.

use std::time::Duration;

use svc::domain::id::GrantId;
use svc::domain::relay::invocation::{Entry, Report, State};
use svc::domain::relay::{ActionEffect, RelayReason};
use svc::store::relay::{Arrival, Arrived, SessionSocket, Tell};

use super::super::Open;
use super::{Room, changed, succeed, told};
use crate::support::relay::{KEPT, Plugin, executed, lane, ready};

pub(super) fn exercise(open: Open) {
    reads_the_journal(open);
    settles_what_was_unknown(open);
    lets_entries_go_that_are_of_no_use(open);
    proves_nothing_without_a_journal(open);
    takes_no_unusable_value_of_a_write_for_a_failure(open);
}

/// Returns how an order ended for a page that comes back with an entry of it, or without one.
fn returning(open: Open, entry: Option<Entry>, is_other_page: bool) -> (String, Vec<Tell>) {
    let Room { relay, .. } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let (invocation, grant) = relay.run(&ann, ActionEffect::Write, 1);
    let mut page = if is_other_page { relay.reloaded(&ann) } else { ann };
    let journal: Vec<_> = entry.into_iter().map(|entry| (grant, entry)).collect();
    let effects = relay.returns(&mut page, &journal);
    let told = told(&effects, page.held);
    assert!(told.iter().all(|tell| *tell == Tell::Settled(grant)));
    (relay.state(&ann, invocation), told)
}

fn reads_the_journal(open: Open) {
    for is_other_page in [false, true] {
        let returning = |entry| {
            let (state, told) = returning(open, entry, is_other_page);
            (state, told.len())
        };
        let expected = |state: &str, told| (state.to_owned(), told);
        assert_eq!(returning(Some(Entry::Succeeded)), expected("succeeded", 1));
        assert_eq!(returning(Some(Entry::Failed)), expected("failed plugin_failed", 1));
        assert_eq!(returning(Some(Entry::Stale)), expected("stale", 1));
        assert_eq!(returning(Some(Entry::Begun)), expected("unknown interrupted", 0));
        let silent = if is_other_page { "unknown page_replaced" } else { "failed not_delivered" };
        assert_eq!(returning(None), expected(silent, 0));
    }
}

fn settles_what_was_unknown(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let store = &relay.store;
    let mut ann = relay.pair(1, "ann", 1);
    let unknown = |plugin: &Plugin, call| {
        let (invocation, grant) = relay.run(plugin, ActionEffect::Write, call);
        bench.clock.advance(ActionEffect::Write.deadline());
        let (effects, _) = store.relay_expire(KEPT).unwrap();
        assert_eq!(changed(&effects), [(invocation, State::Unknown)]);
        (invocation, grant)
    };
    let (first, grant) = unknown(&ann, 1);
    assert_eq!(relay.state(&ann, first), "unknown deadline_passed");
    // It frees the lane, and is never sent again.
    let (second, second_grant) = unknown(&ann, 2);
    assert_eq!(store.relay_claim_due(ann.held).unwrap().tell, []);
    let effects = succeed(relay, ann.held, grant);
    assert_eq!(changed(&effects), [(first, State::Succeeded)]);
    assert_eq!(relay.state(&ann, first), "succeeded late");
    // Another page knows nothing of the third one, and the second one's journal was written late.
    let (third, _) = unknown(&ann, 3);
    let mut other = relay.reloaded(&ann);
    let effects = relay.returns(&mut other, &[(second_grant, Entry::Stale)]);
    assert_eq!(changed(&effects), [(second, State::Stale)]);
    assert_eq!(relay.state(&ann, second), "stale late");
    assert_eq!(relay.state(&ann, third), "unknown deadline_passed");
    // The page that was told to act comes back, and never got to know of it.
    ann.held = other.held;
    let effects = relay.returns(&mut ann, &[]);
    assert_eq!(changed(&effects), [(third, State::Failed)]);
    assert_eq!(relay.state(&ann, third), "failed not_delivered late");
}

fn lets_entries_go_that_are_of_no_use(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let mut ann = relay.pair(1, "ann", 1);
    let (_, settled) = relay.run(&ann, ActionEffect::Write, 1);
    succeed(relay, ann.held, settled);
    // Another file of the same device: its journal has entries of both.
    let pairing = relay.ask(&ann, false);
    store.relay_begin_pairing(pairing.clone()).unwrap().unwrap();
    let answer = relay.answer(&pairing, lane("ann", 2), true);
    let opened = ready(store.relay_answer_pairing(answer).unwrap());
    let held = SessionSocket { session: opened.session, epoch: opened.epoch };
    let second = Plugin { held, file: 2, ..ann };
    let (_, running) = relay.run(&second, ActionEffect::Write, 1);
    let forgotten: GrantId = relay.id();
    let journal = [
        (settled, Entry::Succeeded),
        (running, Entry::Succeeded),
        (forgotten, Entry::Begun),
        (settled, Entry::Succeeded),
    ];
    let effects = relay.returns(&mut ann, &journal);
    assert_eq!(changed(&effects), [], "what runs in another session is none of its business");
    let mut told = told(&effects, ann.held);
    told.sort_by_key(|tell| *tell != Tell::Settled(settled));
    assert_eq!(told, [Tell::Settled(settled), Tell::Settled(forgotten)]);
}

/// A page takes a session over with a click, for which its journal is not at hand.
fn proves_nothing_without_a_journal(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let (invocation, grant) = relay.run(&ann, ActionEffect::Write, 1);
    let pairing = relay.ask(&ann, false);
    store.relay_begin_pairing(pairing.clone()).unwrap().unwrap();
    let mut answer = relay.answer(&pairing, lane("ann", 1), true);
    answer.page = ann.page;
    let opened = ready(store.relay_answer_pairing(answer).unwrap());
    assert_eq!((opened.session, opened.epoch), (ann.held.session, 2));
    assert_eq!(relay.state(&ann, invocation), "unknown page_replaced");
    let held = SessionSocket { session: opened.session, epoch: 2 };
    let effects = succeed(relay, held, grant);
    assert_eq!(changed(&effects), [(invocation, State::Succeeded)]);
}

fn takes_no_unusable_value_of_a_write_for_a_failure(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let ann = relay.pair(1, "ann", 1);
    let unusable = Report::Unusable(RelayReason::BadResult);
    let (read, grant) = relay.run(&ann, ActionEffect::Read, 1);
    relay.store.relay_report(ann.held, grant, unusable).unwrap();
    assert_eq!(relay.state(&ann, read), "failed bad_result");
    let (write, grant) = relay.run(&ann, ActionEffect::Write, 2);
    relay.store.relay_report(ann.held, grant, unusable).unwrap();
    assert_eq!(relay.state(&ann, write), "unknown bad_result");
    bench.clock.advance(Duration::from_secs(1));
    let arrival = Arrival { journal: vec![(grant, Entry::Succeeded)], ..relay.arrival(&ann, &[]) };
    assert!(matches!(relay.store.relay_arrive(arrival).unwrap(), Arrived::Ready(_)));
    assert_eq!(relay.state(&ann, write), "succeeded late");
    assert_eq!(executed(&relay.store.relay_claim_due(ann.held).unwrap()), None);
}
