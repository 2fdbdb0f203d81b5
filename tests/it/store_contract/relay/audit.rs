//! The audit log: every change has its event, and a broken chain is found.

use std::time::Duration;

use svc::api::ListRequest;
use svc::api::relay::RelayAuditEvent;
use svc::domain::relay::allowance::Length;
use svc::domain::relay::session::Event;
use svc::domain::relay::{ActionEffect, DecidedBy, RelayReason};
use svc::store::relay::{NewAllowance, Verified};

use super::super::Open;
use super::{Room, succeed};
use crate::support::relay::{KEPT, Relay, proof};
use crate::support::world::{open_raw, open_store};

pub(super) fn exercise(open: Open) {
    records_every_change(open);
    says_who_decided_and_with_what_proof(open);
    says_once_that_an_allowance_has_ended(open);
    is_one_chain_for_two_processes(open);
}

fn events(room: &Room) -> Vec<RelayAuditEvent> {
    let wanted = ListRequest { filter: svc::api::NoFilter::default(), before: None, limit: 1_000 };
    let mut events = room.relay.store.relay_audit_events(&wanted).unwrap().unwrap().items;
    events.reverse();
    events
}

pub(super) fn names(room: &Room) -> Vec<String> {
    events(room).into_iter().map(|event| event.event.replace("relay.", "")).collect()
}

fn records_every_change(open: Open) {
    let room = Room::new(open);
    let (relay, store) = (&room.relay, &room.relay.store);
    assert_eq!(
        store.relay_verify_audit(|_, _| ()).unwrap(),
        Verified { rows: 0, head: None, broken: None }
    );
    let mut ann = relay.pair(1, "ann", 1);
    let (_, grant) = relay.run(&ann, ActionEffect::Write, 1);
    succeed(relay, ann.held, grant);
    succeed(relay, ann.held, grant);
    let allowance = NewAllowance { page: ann.page, length: Length::Hour, proof: proof(1) };
    store.relay_allow(ann.held, allowance).unwrap();
    let (denied, _) = relay.propose(&ann, &[ActionEffect::Write], 2);
    relay.show(&ann, denied);
    relay.deny(&ann, denied);
    relay.run(&ann, ActionEffect::Write, 3);
    let (_, waits) = relay.propose(&ann, &[ActionEffect::Write], 4);
    relay.returns(&mut ann, &[]);
    store.relay_cancel("ann", waits[0]).unwrap();
    store.relay_session_event(ann.held, Event::PongsMissed).unwrap();
    store.relay_revoke_device(ann.device, "ops").unwrap();
    let expected = [
        "device_paired",
        "session_opened",
        "proposed",
        "shown",
        "approved",
        "claimed",
        "settled",
        "allowance_given",
        "proposed",
        "shown",
        "denied",
        "proposed",
        "shown",
        "approved",
        "claimed",
        "proposed",
        "session_opened",
        "settled",
        "cancelled",
        "device_revoked",
        "session_ended",
        "allowance_ended",
    ];
    assert_eq!(names(&room), expected);
    let verified = store.relay_verify_audit(|_, _| ()).unwrap();
    let head = events(&room).last().map(|event| event.hash);
    assert_eq!(verified, Verified { rows: 22, head, broken: None });
}

fn says_who_decided_and_with_what_proof(open: Open) {
    let room = Room::new(open);
    let (relay, store) = (&room.relay, &room.relay.store);
    let ann = relay.pair(1, "ann", 1);
    let (proposal, steps) = relay.propose(&ann, &[ActionEffect::Write], 1);
    relay.approve(&ann, proposal);
    let events_now = events(&room);
    let paired = &events_now[0];
    assert_eq!((paired.subject.as_str(), paired.client.as_deref()), ("ann", Some("agent")));
    assert_eq!((paired.device, paired.session), (Some(ann.device), None));
    let approved = events_now.iter().find(|event| event.event == "relay.approved").unwrap();
    assert_eq!((approved.proposal, approved.invocation), (Some(proposal), Some(steps[0])));
    assert_eq!(approved.preview_sha256, Some([7; 32].into()));
    assert_eq!(approved.arguments_sha256, Some([0; 32].into()));
    assert_eq!((approved.decided_by.as_deref(), approved.epoch), (Some("person"), Some(1)));
    assert_eq!((approved.session, approved.actor.as_deref()), (Some(ann.held.session), None));
    store.relay_end_session(ann.held.session, "ops:1").unwrap();
    let ended = events(&room).into_iter().find(|event| event.event == "relay.session_ended");
    let ended = ended.unwrap();
    assert_eq!(
        (ended.actor.as_deref(), ended.decided_by.as_deref()),
        (Some("ops:1"), Some("operator"))
    );
}

fn says_once_that_an_allowance_has_ended(open: Open) {
    let room = Room::new(open);
    let (relay, store) = (&room.relay, &room.relay.store);
    let ann = relay.pair(1, "ann", 1);
    let allow = |length| {
        let allowance = NewAllowance { page: ann.page, length, proof: proof(1) };
        store.relay_allow(ann.held, allowance).unwrap();
    };
    let ended = || {
        store.relay_expire(KEPT).unwrap();
        names(&room).iter().filter(|name| *name == "allowance_ended").count()
    };
    allow(Length::Quarter);
    room.bench.clock.advance(Duration::from_mins(15) - Duration::from_micros(1));
    assert_eq!(ended(), 0);
    room.bench.clock.advance(Duration::from_micros(1));
    assert_eq!(ended(), 1);
    let end = events(&room).pop().unwrap();
    assert_eq!((end.event.as_str(), end.decided_by), ("relay.allowance_ended", None));
    assert_eq!((end.session, end.epoch), (Some(ann.held.session), Some(1)));
    // A decision that was on its way is still told why it does nothing.
    let (proposal, _) = relay.propose(&ann, &[ActionEffect::Read], 1);
    let verdict = Relay::approval(&ann, proposal, DecidedBy::Allowance);
    let late = relay.decide(&ann, verdict);
    assert_eq!((late.unchanged, late.tell), (Some(RelayReason::AllowanceEnded), vec![]));
    // Neither the person nor the end of the session ends it again.
    allow(Length::Ended);
    assert_eq!(ended(), 1);
    // One that has run out, and was not looked at before the next one.
    allow(Length::Quarter);
    room.bench.clock.advance(Duration::from_mins(15));
    allow(Length::Hour);
    assert_eq!(ended(), 2);
    allow(Length::Quarter);
    assert_eq!(ended(), 2, "the next one replaces it");
    room.bench.clock.advance(Duration::from_mins(15));
    assert_eq!(ended(), 3);
    store.relay_end_session(ann.held.session, "ops:1").unwrap();
    assert_eq!(ended(), 3);
}

fn is_one_chain_for_two_processes(open: Open) {
    let room = Room::new(open);
    let relay = &room.relay;
    let other = relay.beside(open, &room.database(), &room.bench.clock);
    let (ann, bob) = (relay.pair(1, "ann", 1), other.pair(2, "bob", 1));
    std::thread::scope(|scope| {
        for (store, plugin) in [(relay.store.clone(), ann), (other.store.clone(), bob)] {
            let allowance =
                move |length| NewAllowance { page: plugin.page, length, proof: proof(1) };
            scope.spawn(move || {
                for _ in 0..150 {
                    store.relay_allow(plugin.held, allowance(Length::Hour)).unwrap();
                    store.relay_allow(plugin.held, allowance(Length::Ended)).unwrap();
                }
            });
        }
    });
    let verified = other.store.relay_verify_audit(|_, _| ()).unwrap();
    // More than are read at once.
    assert_eq!((verified.rows, verified.broken), (604, None));
}

/// Not part of the exam: rows are changed behind the store's back.
#[test]
fn a_broken_chain_is_found() {
    let changes = [
        ("UPDATE relay_audit_events SET subject = 'bob' WHERE seq = 3", 3),
        ("UPDATE relay_audit_events SET created_at = created_at + 1 WHERE seq = 3", 3),
        ("UPDATE relay_audit_events SET signature = NULL WHERE event = 'relay.approved'", 5),
        ("UPDATE relay_audit_events SET actor = 'ops' WHERE seq = 1", 1),
        ("UPDATE relay_audit_events SET session_id = 'none' WHERE seq = 4", 4),
        ("UPDATE relay_audit_events SET hash = zeroblob(32) WHERE seq = 6", 6),
        ("UPDATE relay_audit_events SET prev_hash = zeroblob(32) WHERE seq = 2", 2),
        ("DELETE FROM relay_audit_events WHERE seq = 1", 2),
        ("DELETE FROM relay_audit_events WHERE seq = 4", 5),
    ];
    for (change, broken) in changes {
        let room = Room::new(open_store);
        let ann = room.relay.pair(1, "ann", 1);
        room.relay.run(&ann, ActionEffect::Write, 1);
        let connection = open_raw(&room.database());
        assert!(connection.execute(change, []).is_err(), "events are final: {change}");
        connection
            .execute_batch(
                "DROP TRIGGER relay_audit_events_are_not_changed; \
                 DROP TRIGGER relay_audit_events_are_not_deleted",
            )
            .unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1, "{change}");
        let verified = room.relay.store.relay_verify_audit(|_, _| ()).unwrap();
        assert_eq!(verified.broken, Some(broken), "{change}");
        assert!(verified.rows < 6 && verified.head.is_some() == (verified.rows > 0), "{change}");
    }
}

/// Anyone can compute the hash of an event from what operators are shown.
#[test]
fn the_hash_of_an_event_is_that_of_its_canonical_form() {
    let room = Room::new(open_store);
    room.relay.pair(1, "ann", 1);
    let log = events(&room);
    let [first, second] = log.as_slice() else { panic!("{log:?}") };
    let device = first.device.unwrap();
    // What the person signed when they confirmed.
    let (nonce, pairing) = (first.nonce.as_ref().unwrap(), first.pairing.unwrap());
    let (key, signature) = (first.public_key.as_ref().unwrap(), first.signature.as_ref().unwrap());
    let text = format!(
        "{{\"client\":\"agent\",\"createdAt\":\"2026-11-21T09:00:00.000000Z\",\"decidedBy\":\"person\",\
         \"device\":\"{device}\",\
         \"event\":\"relay.device_paired\",\"nonce\":\"{nonce}\",\"pairing\":\"{pairing}\",\
         \"publicKey\":\"{key}\",\"seq\":1,\"signature\":\"{signature}\",\"subject\":\"ann\"}}"
    );
    let hashed = [[0; 32].as_slice(), text.as_bytes()].concat();
    assert_eq!(first.hash, svc::crypto::sha256::of(&hashed), "{text}");
    let text = format!(
        "{{\"createdAt\":\"2026-11-21T09:00:00.000000Z\",\"decidedBy\":\"person\",\
         \"device\":\"{device}\",\"epoch\":1,\"event\":\"relay.session_opened\",\
         \"nonce\":\"{nonce}\",\"pairing\":\"{pairing}\",\"seq\":2,\"session\":\"{}\",\
         \"signature\":\"{signature}\",\"subject\":\"ann\"}}",
        second.session.unwrap()
    );
    let hashed = [first.hash.as_bytes(), text.as_bytes()].concat();
    assert_eq!(second.hash, svc::crypto::sha256::of(&hashed), "{text}");
}
