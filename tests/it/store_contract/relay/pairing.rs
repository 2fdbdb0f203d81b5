//! Pairings and devices.

use std::time::Duration;

use svc::domain::relay::{CloseCode, DesignTool, device};
use svc::store::Store;
use svc::store::relay::{
    Arrived, Device, Effects, NewPairing, Paired, PairingAnswer, SessionSocket, Tell, TooMany,
};
use zeroize::Zeroizing;

use super::super::Open;
use super::Room;
use crate::support::relay::{KEPT, Plugin, digest, key, lane, ready};

pub(super) fn exercise(open: Open) {
    keeps_the_first_key(open);
    pairs_a_plugin_by_its_code(open);
    takes_a_code_once_and_in_time(open);
    ends_pairings(open);
    limits_how_many_are_open(open);
    opens_another_file_with_a_click(open);
    binds_a_key_to_one_subject(open);
    never_pairs_a_revoked_key_again(open);
}

fn keeps_the_first_key(open: Open) {
    let room = Room::new(open);
    let key = |store: &Store, candidate: u8| {
        store.relay_key(Zeroizing::new(vec![candidate; 138])).unwrap().to_vec()
    };
    assert_eq!(key(&room.bench.store, 1), [1; 138]);
    assert_eq!(key(&room.bench.store, 2), [1; 138]);
    let other = open(&room.database(), &room.bench.clock, 8);
    assert_eq!(key(&other, 3), [1; 138]);
}

fn pairs_a_plugin_by_its_code(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let offer = relay.offer(1, 1);
    assert_eq!(store.relay_begin_pairing(offer.clone()).unwrap(), Ok(()));
    assert_eq!(store.relay_pairing(offer.id).unwrap(), None, "the code was not typed");
    assert_eq!(store.relay_device(&key(1)).unwrap(), None);
    assert_eq!(store.relay_claim_pairing(digest(2), "ann", "agent").unwrap(), None);
    let claimed = store.relay_claim_pairing(digest(1), "ann", "agent").unwrap().unwrap();
    assert_eq!((claimed.subject.as_str(), claimed.client.as_str()), ("ann", "agent"));
    assert_eq!((claimed.tool, claimed.expires_at), (DesignTool::Penpot, relay.now().plus(MINUTE)));
    assert_eq!(store.relay_pairing(offer.id).unwrap(), Some(claimed));
    assert_eq!(store.relay_claim_pairing(digest(1), "bob", "agent").unwrap(), None, "used");
    let answer = relay.answer(&offer, lane("ann", 1), true);
    let opened = ready(store.relay_answer_pairing(answer.clone()).unwrap());
    assert_eq!((opened.session, opened.epoch), (answer.session, 1));
    assert_eq!((opened.subject.as_str(), opened.effects), ("ann", Effects::default()));
    let device =
        Device { id: answer.device, subject: "ann".to_owned(), state: device::State::Active };
    assert_eq!(store.relay_device(&key(1)).unwrap(), Some(device));
    assert_eq!(store.relay_pairing(offer.id).unwrap(), None);
    let again = store.relay_answer_pairing(answer).unwrap();
    assert_eq!(again, Paired::Close(CloseCode::BadFrame), "it is confirmed once");
}

const MINUTE: Duration = Duration::from_secs(60);

fn takes_a_code_once_and_in_time(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let store = &relay.store;
    let offer = relay.offer(1, 1);
    store.relay_begin_pairing(offer.clone()).unwrap().unwrap();
    assert_eq!(store.relay_begin_pairing(relay.offer(2, 1)).unwrap(), Err(TooMany), "same code");
    bench.clock.advance(Duration::from_secs(300));
    assert_eq!(store.relay_claim_pairing(digest(1), "ann", "agent").unwrap(), None, "expired");
    let (effects, more) = store.relay_expire(KEPT).unwrap();
    assert_eq!((effects.pairings, more), (vec![offer.id], false));
    let other = relay.offer(2, 1);
    store.relay_begin_pairing(other.clone()).unwrap().expect("the code is free again");
    store.relay_claim_pairing(digest(1), "ann", "agent").unwrap().unwrap();
    bench.clock.advance(MINUTE);
    assert_eq!(store.relay_pairing(other.id).unwrap(), None);
    let late = store.relay_answer_pairing(relay.answer(&other, lane("ann", 1), true)).unwrap();
    assert_eq!(late, Paired::Close(CloseCode::PairingExpired));
    assert_eq!(store.relay_device(&key(2)).unwrap(), None);
}

fn ends_pairings(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let claimed = |code: u8| {
        let offer = relay.offer(code, code);
        store.relay_begin_pairing(offer.clone()).unwrap().unwrap();
        store.relay_claim_pairing(digest(code), "ann", "agent").unwrap().unwrap();
        offer
    };
    let confirm = |offer: &NewPairing, accept| {
        store.relay_answer_pairing(relay.answer(offer, lane("ann", 1), accept)).unwrap()
    };
    let refused = claimed(1);
    assert_eq!(confirm(&refused, false), Paired::Close(CloseCode::PairingExpired));
    assert_eq!(confirm(&refused, true), Paired::Close(CloseCode::BadFrame));
    let closed = claimed(2);
    store.relay_close_pairing(closed.id).unwrap();
    store.relay_close_pairing(closed.id).unwrap();
    assert_eq!(confirm(&closed, true), Paired::Close(CloseCode::BadFrame));
    let offered = relay.offer(3, 3);
    store.relay_begin_pairing(offered.clone()).unwrap().unwrap();
    assert_eq!(confirm(&offered, true), Paired::Close(CloseCode::BadFrame), "no one typed it");
    let unknown = relay.offer(4, 4);
    assert_eq!(confirm(&unknown, true), Paired::Close(CloseCode::BadFrame));
    for number in 1..5 {
        assert_eq!(store.relay_device(&key(number)).unwrap(), None);
    }
}

fn limits_how_many_are_open(open: Open) {
    let Room { bench, relay } = &Room::new(open);
    let begin = |code| relay.store.relay_begin_pairing(relay.offer(1, code)).unwrap();
    assert!((0..200).all(|code| begin(code).is_ok()));
    assert_eq!(begin(200), Err(TooMany));
    bench.clock.advance(Duration::from_secs(300));
    assert_eq!(begin(200), Ok(()), "those whose time is over do not count");
}

fn opens_another_file_with_a_click(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let click = |of_session, file| {
        let pairing = relay.ask(&ann, of_session);
        store.relay_begin_pairing(pairing.clone()).unwrap().unwrap();
        let claimed = store.relay_pairing(pairing.id).unwrap().unwrap();
        assert_eq!((claimed.subject.as_str(), claimed.client.as_str()), ("ann", ""));
        let answer = relay.answer(&pairing, lane("ann", file), true);
        let answered = store.relay_answer_pairing(answer.clone()).unwrap();
        (answer, answered)
    };
    // The session that the socket has becomes one of the other file.
    let (_, paired) = click(true, 2);
    let moved = ready(paired);
    assert_eq!((moved.session, moved.epoch), (ann.held.session, 1));
    let of_file = |file| {
        let arrival = relay.arrival(&Plugin { file, ..ann }, &[]);
        store.relay_arrive(arrival).unwrap()
    };
    assert_eq!(of_file(1), Arrived::Ask, "it is not its file any more");
    // Not by a socket that was replaced since.
    let reloaded = relay.store.relay_arrive(relay.arrival(&Plugin { file: 2, ..ann }, &[]));
    assert!(matches!(reloaded.unwrap(), Arrived::Ready(_)));
    assert_eq!(click(true, 4).1, Paired::Close(CloseCode::TakenOver));
    // Without one there is a new session.
    let (answer, paired) = click(false, 3);
    let second = ready(paired);
    assert_eq!((second.session, second.epoch), (answer.session, 1));
    // Another tab was faster: its session is taken over.
    let (_, paired) = click(false, 3);
    let taken = ready(paired);
    assert_eq!((taken.session, taken.epoch), (second.session, 2));
    let old = SessionSocket { session: second.session, epoch: 1 };
    assert_eq!(taken.effects.tell, [(old, Tell::Close(CloseCode::TakenOver))]);
    // A session that has ended is not brought back.
    store.relay_end_session(ann.held.session, "ops").unwrap().unwrap();
    assert_eq!(click(true, 4).1, Paired::Close(CloseCode::NoSuchSession));
}

fn binds_a_key_to_one_subject(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let (first, second) = (relay.offer(1, 1), relay.offer(1, 2));
    for (offer, code, subject) in [(&first, 1, "ann"), (&second, 2, "bob")] {
        store.relay_begin_pairing(offer.clone()).unwrap().unwrap();
        store.relay_claim_pairing(digest(code), subject, "agent").unwrap().unwrap();
    }
    let confirm = |offer: &NewPairing, subject| {
        store.relay_answer_pairing(relay.answer(offer, lane(subject, 1), true)).unwrap()
    };
    ready(confirm(&first, "ann"));
    assert_eq!(confirm(&second, "bob"), Paired::Close(CloseCode::PairingExpired));
    assert_eq!(store.relay_device(&key(1)).unwrap().unwrap().subject, "ann");
    assert!(store.relay_sessions_of("bob").unwrap().is_empty());
}

fn never_pairs_a_revoked_key_again(open: Open) {
    let Room { relay, .. } = &Room::new(open);
    let store = &relay.store;
    let ann = relay.pair(1, "ann", 1);
    let pending = relay.ask(&ann, false);
    store.relay_begin_pairing(pending.clone()).unwrap().unwrap();
    let effects = store.relay_revoke_device(ann.device, "ops").unwrap().unwrap();
    assert_eq!(effects.tell, [(ann.held, Tell::Close(CloseCode::Revoked))]);
    let again = store.relay_revoke_device(ann.device, "ops").unwrap();
    assert_eq!(again, Some(Effects::default()));
    assert_eq!(store.relay_revoke_device(relay.id(), "ops").unwrap(), None);
    assert_eq!(store.relay_device(&key(1)).unwrap().unwrap().state, device::State::Revoked);
    assert!(store.relay_sessions_of("ann").unwrap().is_empty());
    let arrived = store.relay_arrive(relay.arrival(&ann, &[])).unwrap();
    assert_eq!(arrived, Arrived::Close(CloseCode::Revoked));
    let answer: PairingAnswer = relay.answer(&pending, lane("ann", 2), true);
    let paired = store.relay_answer_pairing(answer).unwrap();
    assert_eq!(paired, Paired::Close(CloseCode::Revoked));
}
