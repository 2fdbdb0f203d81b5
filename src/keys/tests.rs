//! The cache over a clock and an issuer of its own.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::*;
use crate::domain::time::Timestamp;
use crate::simulator::Issuer;

#[derive(Default)]
struct Seconds(AtomicU64);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

struct Bench {
    keys: Arc<Keys>,
    clock: Arc<Seconds>,
    asked: Arc<AtomicUsize>,
    document: Arc<Mutex<Option<Vec<u8>>>>,
}

const ISSUER: &str = "https://issuer.example";

fn document(key_id: &str) -> Option<Vec<u8>> {
    Some(Issuer::key_document(&[key_id]).to_string().into_bytes())
}

fn bench() -> Bench {
    let (clock, asked) = (Arc::<Seconds>::default(), Arc::<AtomicUsize>::default());
    let served = Arc::new(Mutex::new(document("one")));
    let (counted, given) = (Arc::clone(&asked), Arc::clone(&served));
    let fetch: Fetch = Box::new(move |issuer| {
        assert_eq!(issuer, ISSUER);
        counted.fetch_add(1, Ordering::Relaxed);
        given.lock().unwrap().clone()
    });
    let keys = Keys::new(vec![ISSUER.to_owned()], fetch, Arc::<Seconds>::clone(&clock));
    Bench { keys: Arc::new(keys), clock, asked, document: served }
}

impl Bench {
    fn at(&self, second: u64) -> &Self {
        self.clock.0.store(second, Ordering::Relaxed);
        self
    }

    fn get(&self, key_id: &str) -> Result<(), NoKey> {
        self.keys.of(ISSUER, key_id).map(drop)
    }

    fn serve(&self, document: Option<Vec<u8>>) {
        *self.document.lock().unwrap() = document;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[test]
fn keys_are_asked_for_once_and_again_when_they_are_old() {
    let bench = bench();
    assert_eq!(bench.keys.of("https://other.example", "one").err(), Some(NoKey::UnknownIssuer));
    assert_eq!(bench.asked(), 0);
    for second in [0, 1, 599] {
        assert_eq!(bench.at(second).get("one"), Ok(()));
    }
    assert_eq!(bench.asked(), 1);
    bench.serve(document("two"));
    assert_eq!(bench.at(600).get("one"), Err(NoKey::UnknownKey), "it was withdrawn");
    assert_eq!(bench.get("two"), Ok(()));
    assert_eq!(bench.asked(), 2);
}

#[test]
fn an_unknown_key_is_asked_for_once_a_minute() {
    let bench = bench();
    assert_eq!(bench.at(100).get("one"), Ok(()));
    for _ in 0..10_000 {
        assert_eq!(bench.at(159).get("new"), Err(NoKey::UnknownKey));
    }
    assert_eq!(bench.asked(), 1);
    bench.serve(document("new"));
    assert_eq!(bench.at(160).get("new"), Ok(()));
    assert_eq!(bench.asked(), 2);
}

#[test]
fn known_keys_outlive_an_outage_for_a_day_and_unknown_ones_cannot_be_had() {
    let bench = bench();
    assert_eq!(bench.get("one"), Ok(()));
    bench.serve(None);
    assert_eq!(bench.at(700).get("one"), Ok(()));
    assert_eq!(bench.get("new"), Err(NoKey::Unavailable));
    assert_eq!(bench.at(86_399).get("one"), Ok(()));
    assert_eq!(bench.at(86_400).get("one"), Err(NoKey::Unavailable));
    bench.serve(document("one"));
    assert_eq!(bench.at(86_403).get("one"), Err(NoKey::Unavailable));
    assert_eq!(bench.at(86_404).get("one"), Ok(()));
}

#[test]
fn without_keys_it_is_asked_every_few_seconds() {
    let bench = bench();
    for useless in
        [None, Some(Vec::new()), Some(b"<html>".to_vec()), Some(b"{\"keys\":[]}".to_vec())]
    {
        bench.serve(useless);
        assert_eq!(bench.get("one"), Err(NoKey::Unavailable));
    }
    assert_eq!(bench.asked(), 1);
    assert_eq!(bench.at(4).get("one"), Err(NoKey::Unavailable));
    bench.serve(document("one"));
    assert_eq!(bench.at(5).get("one"), Ok(()));
    assert_eq!(bench.asked(), 2);
}

#[test]
fn nobody_waits_for_somebody_else_s_request() {
    let clock = Arc::<Seconds>::default();
    let (started, begun) = std::sync::mpsc::channel();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (started, held) = (Mutex::new(started), Mutex::new(held));
    let fetch: Fetch = Box::new(move |_| {
        started.lock().unwrap().send(()).unwrap();
        held.lock().unwrap().recv().unwrap();
        document("one")
    });
    let keys = Arc::new(Keys::new(vec![ISSUER.to_owned()], fetch, clock));
    let other = Arc::clone(&keys);
    let first = crate::thread::spawn("first", move || other.of(ISSUER, "one").map(drop)).unwrap();
    begun.recv().unwrap();
    assert_eq!(keys.of(ISSUER, "one").err(), Some(NoKey::Unavailable));
    release.send(()).unwrap();
    assert_eq!(first.join().unwrap(), Ok(()));
    assert!(keys.of(ISSUER, "one").is_ok());
}
