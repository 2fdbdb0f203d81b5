//! The part of the exam about request states: one key for all processes, and each state used once.

use std::sync::Barrier;
use std::time::Duration;

use svc::domain::time::Timestamp;
use svc::runtime::clock::Clock as _;
use svc::store::{Error, Health, Store, Unavailable};

use super::{Bench, Open, bench};
use crate::support::ManualClock;
use crate::support::world::{open_raw, open_store};

/// How many used states are remembered before they expire.
const USED_MAX: u32 = 100_000;
/// How many rows a sweep deletes.
const SWEEP_MAX: usize = 100;
/// How long states live here.
const LIFE: Duration = Duration::from_secs(300);
/// Finished rows of other kinds are kept for that long.
const RETENTION: Duration = Duration::from_secs(30 * 86_400);

pub(super) fn exercise(open: Open) {
    makes_one_key_and_keeps_it(open);
    makes_one_key_for_two_processes_that_start_at_once(open);
    lets_each_state_be_used_once(open);
    lets_one_of_many_callers_in_two_processes_use_a_state(open);
    forgets_used_states_when_they_have_expired(open);
}

fn nonce(number: u32) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[8..].copy_from_slice(&number.to_be_bytes());
    nonce
}

fn end_of_life(clock: &ManualClock) -> Timestamp {
    clock.now().plus(LIFE)
}

fn makes_one_key_and_keeps_it(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let key = store.request_state_key().unwrap();
    assert_ne!(key, [0; 32]);
    assert_eq!(store.request_state_key().unwrap(), key);
    // Another seed: its own key would be another one.
    let other = open(&folder.path().join("svc.db"), &clock, 8);
    assert_eq!(other.request_state_key().unwrap(), key);
    drop((store, other));
    let reopened = open(&folder.path().join("svc.db"), &clock, 9);
    assert_eq!(reopened.request_state_key().unwrap(), key);
}

fn makes_one_key_for_two_processes_that_start_at_once(open: Open) {
    for _ in 0..8 {
        let Bench { folder, clock, store } = bench(open);
        let other = open(&folder.path().join("svc.db"), &clock, 8);
        let start = Barrier::new(2);
        let ask = |store: &Store| {
            start.wait();
            store.request_state_key().unwrap()
        };
        let (one, two) = std::thread::scope(|scope| {
            let two = scope.spawn(|| ask(&other));
            (ask(&store), two.join().unwrap())
        });
        assert_eq!(one, two);
        assert_eq!(store.request_state_key().unwrap(), one);
    }
}

fn lets_each_state_be_used_once(open: Open) {
    let Bench { folder, clock, store } = bench(open);
    let expires_at = end_of_life(&clock);
    let other = open(&folder.path().join("svc.db"), &clock, 8);
    assert!(store.use_request_state(nonce(1), expires_at).unwrap());
    assert!(!store.use_request_state(nonce(1), expires_at).unwrap());
    assert!(!store.use_request_state(nonce(1), expires_at.plus(LIFE)).unwrap());
    assert!(!other.use_request_state(nonce(1), expires_at).unwrap());
    assert!(other.use_request_state(nonce(2), expires_at).unwrap());
    drop((store, other));
    let reopened = open(&folder.path().join("svc.db"), &clock, 9);
    assert!(!reopened.use_request_state(nonce(1), expires_at).unwrap());
    assert!(!reopened.use_request_state(nonce(2), expires_at).unwrap());
    assert!(reopened.use_request_state(nonce(3), expires_at).unwrap());
}

fn lets_one_of_many_callers_in_two_processes_use_a_state(open: Open) {
    const CALLERS: usize = 8;
    const STATES: u32 = 20;
    let Bench { folder, clock, store } = bench(open);
    let expires_at = end_of_life(&clock);
    let other = open(&folder.path().join("svc.db"), &clock, 8);
    let start = Barrier::new(CALLERS);
    let used_by = |store: &Store| -> Vec<u32> {
        start.wait();
        let first = |number: &u32| store.use_request_state(nonce(*number), expires_at).unwrap();
        (0..STATES).filter(first).collect()
    };
    let mut used: Vec<u32> = std::thread::scope(|scope| {
        let stores = [&store, &other].into_iter().cycle().take(CALLERS);
        let callers: Vec<_> = stores.map(|store| scope.spawn(|| used_by(store))).collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    used.sort_unstable();
    assert_eq!(used, Vec::from_iter(0..STATES));
}

fn forgets_used_states_when_they_have_expired(open: Open) {
    let Bench { folder: _folder, clock, store } = bench(open);
    let (soon, later) = (end_of_life(&clock), end_of_life(&clock).plus(LIFE));
    assert!(store.use_request_state(nonce(1), soon).unwrap());
    assert!(store.use_request_state(nonce(2), later).unwrap());
    clock.advance(LIFE - Duration::from_micros(1));
    assert_eq!(store.sweep(RETENTION).unwrap().request_states, 0);
    assert!(store.use_request_state(nonce(3), soon).unwrap(), "it has not expired yet");
    clock.advance(Duration::from_micros(1));
    assert!(!store.use_request_state(nonce(4), soon).unwrap(), "it expires now");
    clock.advance(Duration::from_micros(1));
    let swept = store.sweep(RETENTION).unwrap();
    assert_eq!((swept.request_states, swept.may_have_more()), (2, false));
    assert!(!store.use_request_state(nonce(1), soon).unwrap(), "it is not remembered");
    assert!(!store.use_request_state(nonce(2), later).unwrap(), "it was not forgotten");
}

/// Not part of the exam: so many states are put into the file directly.
#[test]
fn used_states_are_limited_until_they_expire() {
    let Bench { folder, clock, store } = bench(open_store);
    let expires_at = end_of_life(&clock);
    let connection = open_raw(&folder.path().join("svc.db"));
    let fill = format!(
        "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < {USED_MAX}) \
         INSERT INTO mcp_used_request_states SELECT CAST(printf('%012d', n) AS BLOB), {} FROM n",
        expires_at.micros()
    );
    assert_eq!(connection.execute(&fill, []).unwrap(), usize::try_from(USED_MAX).unwrap() - 1);
    assert!(store.use_request_state(nonce(1), expires_at).unwrap(), "room for one");
    let refused = store.use_request_state(nonce(2), expires_at.plus(LIFE));
    assert!(matches!(refused, Err(Error::Unavailable(Unavailable::Overloaded))), "{refused:?}");
    assert_eq!(store.health(), Health::Ok, "the store can write all the same");
    clock.advance(LIFE + Duration::from_micros(1));
    assert!(store.use_request_state(nonce(2), end_of_life(&clock)).unwrap(), "all have expired");
    let swept = store.sweep(RETENTION).unwrap();
    assert_eq!((swept.request_states, swept.may_have_more()), (SWEEP_MAX, true));
    let left: u32 = connection
        .query_row("SELECT count(*) FROM mcp_used_request_states", [], |row| row.get(0))
        .unwrap();
    assert_eq!(usize::try_from(left).unwrap(), usize::try_from(USED_MAX).unwrap() + 1 - SWEEP_MAX);
}
