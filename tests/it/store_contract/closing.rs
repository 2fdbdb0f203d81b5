//! The part of the exam about dead letters that are closed: who is first, and what the others hear.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use svc::api::DeadLetter;
use svc::domain::dead_letter::{ItemId, ItemRequest, NotReplayable};
use svc::domain::id::AuditEventId;
use svc::domain::operation::{CloseOutcome, NotOpen, OperationId, OperatorReason, Outcome};
use svc::store::Store;

use super::{Bench, Open, POLICY, bench, dead_job, delivery, page, replay};
use crate::support::world::{installation, plan};

/// Callers that ask at the same time.
const CALLERS: usize = 4;

pub(super) fn exercise(open: Open) {
    closes_once_for_each_key(open);
    closes_once_whatever_the_number_of_callers(open);
    lets_a_close_or_a_replay_win_and_never_both(open);
    deletes_a_closed_job_once_it_is_old(open);
}

fn request(item: ItemId, key: &str) -> ItemRequest {
    ItemRequest {
        installation: installation(1),
        item,
        operation: OperationId::new(key).unwrap(),
        actor: "ops".to_owned(),
    }
}

fn close(store: &Store, item: ItemId, key: &str, reason: &str) -> CloseOutcome {
    store.close_dead_letter(request(item, key), None, OperatorReason::new(reason).unwrap()).unwrap()
}

fn applied<R: std::fmt::Debug>(outcome: &Outcome<R>) -> AuditEventId {
    match outcome {
        Outcome::Applied(event) => *event,
        other => panic!("{other:?}"),
    }
}

fn closes_once_for_each_key(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let item = dead_job(&store, "a", 1);
    let event = applied(&close(&store, item, "k", "not needed"));
    assert!(page::<DeadLetter>(&store, installation(1), None, 9).unwrap().items.is_empty());
    drop(store);
    let store = open(&folder.path().join("svc.db"), &clock, 9);
    assert_eq!(close(&store, item, "k", "not needed"), Outcome::AlreadyApplied(event));
    // Another reason is another request, and so is a replay.
    assert_eq!(close(&store, item, "k", "a mistake"), Outcome::OperationConflict);
    assert_eq!(replay(&store, installation(1), item, "k"), Outcome::OperationConflict);
    assert_eq!(close(&store, item, "k2", "not needed"), Outcome::Refused(NotOpen));
    let closed = Outcome::Refused(NotReplayable::Closed);
    assert_eq!(replay(&store, installation(1), item, "k3"), closed);
    assert!(store.claim_jobs(9, "x", POLICY).unwrap().is_empty());
    let foreign = ItemRequest { installation: installation(2), ..request(item, "k4") };
    let reason = OperatorReason::new("not mine").unwrap();
    assert_eq!(store.close_dead_letter(foreign, None, reason).unwrap(), Outcome::NotFound);
}

/// Runs `ask` on two processes at the same time, and returns what each caller heard.
fn at_once<R: Send>(stores: &[Store; 2], ask: impl Fn(&Store, usize) -> R + Sync) -> Vec<R> {
    let barrier = Barrier::new(CALLERS);
    thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|number| {
                let (store, barrier, ask) = (&stores[number % 2], &barrier, &ask);
                scope.spawn(move || {
                    barrier.wait();
                    ask(store, number)
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

fn closes_once_whatever_the_number_of_callers(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let item = dead_job(&store, "a", 1);
    let stores = [store, open(&folder.path().join("svc.db"), &clock, 8)];
    let same = at_once(&stores, |store, _| close(store, item, "k", "once"));
    let event = same.iter().find(|it| matches!(it, Outcome::Applied(_))).map(applied).unwrap();
    let again = same.iter().filter(|it| **it == Outcome::AlreadyApplied(event));
    assert_eq!(again.count(), CALLERS - 1, "{same:?}");

    let item = dead_job(&stores[0], "b", 1);
    let keys = at_once(&stores, |store, number| close(store, item, &format!("b{number}"), "once"));
    let first = keys.iter().filter(|it| matches!(it, Outcome::Applied(_)));
    assert_eq!(first.count(), 1, "{keys:?}");
    let refused = keys.iter().filter(|it| **it == Outcome::Refused(NotOpen));
    assert_eq!(refused.count(), CALLERS - 1, "{keys:?}");
}

fn lets_a_close_or_a_replay_win_and_never_both(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let stores = [store, open(&folder.path().join("svc.db"), &clock, 8)];
    for round in 0..4 {
        let item = dead_job(&stores[0], &format!("r{round}"), 1);
        let (replayed, closed): (Vec<_>, Vec<_>) = at_once(&stores, |store, number| {
            let key = format!("r{round}-{number}");
            // Callers 0 and 1 are of the two processes, and so are 2 and 3.
            let is_replay = (number / 2 + round) % 2 == 0;
            match is_replay {
                true => (Some(replay(store, installation(1), item, &key)), None),
                false => (None, Some(close(store, item, &key, "either"))),
            }
        })
        .into_iter()
        .unzip();
        let replayed = replayed.iter().flatten().filter(|it| matches!(it, Outcome::Applied(_)));
        let closed = closed.iter().flatten().filter(|it| matches!(it, Outcome::Applied(_)));
        let (replayed, closed) = (replayed.count(), closed.count());
        assert_eq!(replayed + closed, 1, "round {round}");
        let claims = stores[0].claim_jobs(9, "x", POLICY).unwrap();
        assert_eq!(claims.len(), replayed, "round {round}");
        for claim in claims {
            stores[0].run_job(&claim, &plan()).wait().unwrap();
        }
        for letter in page::<DeadLetter>(&stores[0], installation(1), None, 9).unwrap().items {
            applied(&close(&stores[0], super::item(&letter), &format!("end{round}"), "over"));
        }
    }
}

fn deletes_a_closed_job_once_it_is_old(open: Open) {
    let bench = bench(open);
    let age = Duration::from_secs(100);
    let item = dead_job(&bench.store, "a", 1);
    bench.clock.advance(age * 2);
    // What suspended the installation.
    assert_eq!(bench.store.sweep(age).unwrap().jobs, 1);
    applied(&close(&bench.store, item, "k", "not needed"));
    assert_eq!(bench.store.sweep(age).unwrap().jobs, 0, "it was closed just now");
    bench.clock.advance(age + Duration::from_secs(1));
    let swept = bench.store.sweep(age).unwrap();
    assert_eq!((swept.jobs, swept.deliveries), (1, 1));
    assert!(matches!(close(&bench.store, item, "k", "not needed"), Outcome::AlreadyApplied(_)));
    assert_eq!(close(&bench.store, item, "k2", "not needed"), Outcome::NotFound);
    let again = delivery("a", 1, 1);
    assert!(bench.store.record_delivery(again).is_ok(), "its id is free");
}
