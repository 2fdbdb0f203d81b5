//! Nothing of another subject is seen, and nothing of what was asked for stays.

use svc::api::{ListRequest, ListRow};
use svc::domain::relay::ActionEffect;
use svc::domain::relay::invocation::Report;
use svc::store::relay::Proposed;

use super::super::Open;
use super::{Room, succeed};
use crate::support::relay::{APPROVAL, KEPT, executed};
use crate::support::world::{open_raw, open_store};

pub(super) fn exercise(open: Open) {
    shows_each_subject_their_own(open);
    lists_for_operators(open);
}

fn shows_each_subject_their_own(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let (ann, bob) = (relay.pair(1, "ann", 1), relay.pair(2, "bob", 1));
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write; 2], 1);
    let (theirs, unknown) =
        (store.relay_steps_of("bob", proposal), store.relay_steps_of("bob", relay.id()));
    assert_eq!((theirs.unwrap(), unknown.unwrap()), (vec![], vec![]));
    assert_eq!(store.relay_invocation_of("bob", steps[0]).unwrap(), None);
    assert_eq!(store.relay_cancel("bob", steps[0]).unwrap(), None);
    let own = store.relay_steps_of("ann", proposal).unwrap();
    assert_eq!(own.iter().map(|step| step.id).collect::<Vec<_>>(), steps);
    assert_eq!(own.iter().map(|step| step.position).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(own[0].expires_at, relay.now().plus(APPROVAL));
    for (plugin, subject) in [(&ann, "ann"), (&bob, "bob")] {
        let sessions = store.relay_sessions_of(subject).unwrap();
        assert_eq!(sessions.iter().map(|it| it.id).collect::<Vec<_>>(), [plugin.held.session]);
    }
    assert!(store.relay_sessions_of("").unwrap().is_empty());
}

/// Reads a list page by page, and checks that nothing is missed or shown twice.
fn all<R: ListRow>(
    mut page: impl FnMut(&ListRequest<R>) -> Option<svc::domain::page::Page<R, R::Cursor>>,
) -> Vec<R> {
    let mut wanted = ListRequest { filter: R::Filter::default(), before: None, limit: 2 };
    let mut rows = Vec::new();
    loop {
        let found = page(&wanted).expect("the cursor names a row");
        rows.extend(found.items);
        wanted.before = found.next;
        if wanted.before.is_none() {
            return rows;
        }
    }
}

fn before<R: ListRow>(before: R::Cursor) -> ListRequest<R> {
    ListRequest { filter: R::Filter::default(), before: Some(before), limit: 2 }
}

fn lists_for_operators(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let plugins: Vec<_> = (1..=5).map(|number| relay.pair(number, "ann", number)).collect();
    let mut invocations = Vec::new();
    for plugin in &plugins {
        let (proposal, steps) = relay.propose(plugin, &[ActionEffect::Write], 1);
        invocations.extend(steps);
        relay.approve(plugin, proposal);
    }
    let sessions = all(|wanted| store.relay_sessions(wanted).unwrap());
    let expected: Vec<_> = plugins.iter().rev().map(|plugin| plugin.held.session).collect();
    assert_eq!(sessions.iter().map(|row| row.session).collect::<Vec<_>>(), expected);
    assert_eq!(store.relay_show_session(sessions[0].session).unwrap().as_ref(), sessions.first());
    assert_eq!((sessions[0].state.as_str(), sessions[0].epoch), ("connected", 1));
    let devices = all(|wanted| store.relay_devices(wanted).unwrap());
    assert_eq!((devices.len(), devices[0].device), (5, plugins[4].device));
    assert_eq!(store.relay_show_device(devices[1].device).unwrap().as_ref(), devices.get(1));
    let listed = all(|wanted| store.relay_invocations(wanted).unwrap());
    invocations.reverse();
    assert_eq!(listed.iter().map(|row| row.invocation).collect::<Vec<_>>(), invocations);
    assert_eq!(store.relay_show_invocation(invocations[2]).unwrap().as_ref(), listed.get(2));
    assert_eq!(
        (listed[0].state.as_str(), listed[0].decided_by.as_deref()),
        ("running", Some("person"))
    );
    let events = all(|wanted| store.relay_audit_events(wanted).unwrap());
    let last = i64::try_from(events.len()).unwrap();
    assert_eq!(
        events.iter().map(|row| row.seq).collect::<Vec<_>>(),
        (1..=last).rev().collect::<Vec<_>>()
    );
    assert_eq!(store.relay_show_audit_event(last).unwrap().as_ref(), events.first());
    let shown = serde_json::to_string(&(&sessions, &devices, &listed, &events)).unwrap();
    assert!(!shown.contains("secret"), "{shown}");
    // A cursor that names no row.
    assert!(store.relay_sessions(&before(relay.id())).unwrap().is_none());
    assert!(store.relay_audit_events(&before(last + 1)).unwrap().is_none());
    assert!(store.relay_show_session(relay.id()).unwrap().is_none());
    assert!(store.relay_show_device(relay.id()).unwrap().is_none());
    assert!(store.relay_show_invocation(relay.id()).unwrap().is_none());
    assert!(store.relay_show_audit_event(0).unwrap().is_none());
}

/// Not part of the exam: it looks for what was asked for in the bytes of database and log.
#[test]
fn arguments_are_gone_from_the_file_once_an_invocation_has_ended() {
    let room = Room::new(open_store);
    let (relay, store) = (&room.relay, &room.relay.store);
    let ann = relay.pair(1, "ann", 1);
    let propose = |call: u8, bytes: usize| {
        let mut proposal = relay.proposal(&ann, &[ActionEffect::Write; 2], call);
        for (place, step) in proposal.steps.iter_mut().enumerate() {
            let filler = format!("needle-{call}-{place} ").repeat(bytes / 10 + 1);
            step.arguments = format!("{{\"text\":\"{filler}\"}}");
        }
        let id = proposal.id;
        let steps: Vec<_> = proposal.steps.iter().map(|step| step.id).collect();
        assert_eq!(store.relay_propose(proposal).unwrap(), Proposed::Made);
        (id, steps)
    };
    // Each way to end, with arguments that fit a page, fill it, and need many.
    let sizes = [40, 1_500, 3_900, 30_000];
    for (number, bytes) in (0_u8..).zip(sizes) {
        let call = |way: u8| number * 10 + way;
        let (proposal, _) = propose(call(0), bytes);
        let first = executed(&relay.approve(&ann, proposal)).unwrap();
        let second = executed(&succeed(relay, ann.held, first)).unwrap();
        store.relay_report(ann.held, second, Report::Stale).unwrap();
        let (_, steps) = propose(call(1), bytes);
        store.relay_cancel("ann", steps[0]).unwrap();
        let (proposal, _) = propose(call(2), bytes);
        relay.cannot_show(&ann, proposal);
        let (proposal, _) = propose(call(3), bytes);
        relay.approve(&ann, proposal);
        room.bench.clock.advance(ActionEffect::Write.deadline());
        store.relay_expire(KEPT).unwrap();
    }
    let (_, steps) = propose(99, 100);
    let found = |what: &str| {
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 =
            open_raw(&room.database()).query_row(checkpoint, [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0);
        let files = std::fs::read_dir(room.bench.folder.path()).unwrap();
        files.into_iter().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(what.len()).any(|window| window == what.as_bytes())
        })
    };
    assert!(found("needle-99"), "what is open is kept, so the search finds what there is");
    store.relay_cancel("ann", steps[0]).unwrap();
    assert!(!found("needle-"), "what was asked for is still in a file");
}
