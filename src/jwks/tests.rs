//! The cache over a clock and an issuer of its own.

use std::net::Ipv4Addr;
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
    keys: Arc<JwksCache>,
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
    let keys = JwksCache::new(
        vec![ISSUER.to_owned()],
        vec![Algorithm::Rs256],
        fetch,
        Arc::<Seconds>::clone(&clock),
    );
    Bench { keys: Arc::new(keys), clock, asked, document: served }
}

impl Bench {
    fn at(&self, second: u64) -> &Self {
        self.clock.0.store(second, Ordering::Relaxed);
        self
    }

    fn get(&self, key_id: &str) -> Result<(), NoKey> {
        self.get_for(0, key_id)
    }

    fn get_for(&self, peer: u8, key_id: &str) -> Result<(), NoKey> {
        let peer = (peer > 0).then(|| Ipv4Addr::new(192, 0, 2, peer).into());
        self.keys.of(ISSUER, key_id, peer).map(drop)
    }

    fn serve(&self, document: Option<Vec<u8>>) {
        *self.document.lock().unwrap() = document;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn unavailable(seconds: u64) -> Result<(), NoKey> {
    Err(NoKey::Unavailable { retry_after: Duration::from_secs(seconds) })
}

#[test]
fn keys_are_asked_for_once_and_again_when_they_are_old() {
    let bench = bench();
    assert_eq!(
        bench.keys.of("https://other.example", "one", None).err(),
        Some(NoKey::UnknownIssuer)
    );
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
fn current_keys_are_those_that_would_be_used_and_are_not_asked_for() {
    let bench = bench();
    let current = || bench.keys.current(ISSUER);
    assert!(current().is_none() && bench.keys.current("https://other.example").is_none());
    assert_eq!(bench.asked(), 0);
    let used = bench.keys.of(ISSUER, "one", None).unwrap();
    assert!(Arc::ptr_eq(&used, &current().unwrap()), "the very same, until others are fetched");
    bench.serve(document("two"));
    assert_eq!(bench.at(600).get("two"), Ok(()));
    assert!(current().unwrap().get("one").is_none());
    bench.serve(None);
    assert!(bench.at(600 + 86_399).keys.current(ISSUER).is_some());
    assert!(bench.at(600 + 86_400).keys.current(ISSUER).is_none(), "too old to be believed");
}

#[test]
fn two_keys_of_one_id_are_no_keys_and_earlier_ones_stay() {
    let bench = bench();
    let twice = || Some(Issuer::key_document(&["one", "one"]).to_string().into_bytes());
    bench.serve(twice());
    assert_eq!(bench.get("one"), unavailable(5));
    bench.serve(document("one"));
    assert_eq!(bench.at(5).get("one"), Ok(()));
    bench.serve(twice());
    assert_eq!(bench.at(700).get("one"), Ok(()), "the keys from before");
    assert_eq!(bench.get("two"), unavailable(60));
}

#[test]
fn an_unknown_key_is_refused_only_by_a_call_that_asked_for_it() {
    let bench = bench();
    assert_eq!(bench.at(100).get("one"), Ok(()));
    assert_eq!(bench.at(101).get("new"), Err(NoKey::UnknownKey));
    for _ in 0..10_000 {
        assert_eq!(bench.at(160).get("new"), unavailable(1));
    }
    assert_eq!(bench.asked(), 2);
    bench.serve(document("new"));
    assert_eq!(bench.at(161).get("new"), Ok(()));
    assert_eq!(bench.asked(), 3);
}

#[test]
fn strangers_keep_no_rotated_key_out() {
    let bench = bench();
    assert_eq!(bench.at(100).get("one"), Ok(()));
    for peer in 1..=255 {
        let told = if peer > 3 { unavailable(10) } else { Err(NoKey::UnknownKey) };
        assert_eq!(bench.get_for(peer, "unknown"), told);
    }
    bench.serve(document("new"));
    assert_eq!(bench.at(109).get("new"), unavailable(1));
    assert_eq!(bench.at(110).get_for(4, "unknown"), Err(NoKey::UnknownKey));
    assert_eq!(bench.get("new"), Ok(()), "each request brings it in");
    assert_eq!(bench.asked(), 1 + 3 + 1);
}

#[test]
fn old_keys_are_asked_for_again_whatever_strangers_take() {
    let bench = bench();
    assert_eq!(bench.get("one"), Ok(()));
    bench.serve(None);
    for (second, asked) in [(700, 1 + 1 + 3), (759, 1 + 1 + 3 + 3)] {
        for peer in 1..=255 {
            assert!(bench.at(second).get_for(peer, "unknown").is_err());
        }
        assert_eq!(bench.asked(), asked);
    }
    bench.serve(document("two"));
    assert_eq!(bench.at(760).get("one"), Err(NoKey::UnknownKey), "it was withdrawn");
    assert_eq!(bench.get("two"), Ok(()));
}

#[test]
fn known_keys_outlive_an_outage_for_a_day_and_unknown_ones_cannot_be_had() {
    let bench = bench();
    assert_eq!(bench.get("one"), Ok(()));
    bench.serve(None);
    assert_eq!(bench.at(700).get("one"), Ok(()));
    assert_eq!(bench.get("new"), unavailable(60));
    assert_eq!(bench.at(86_399).get("one"), Ok(()));
    assert_eq!(bench.at(86_400).get("one"), unavailable(4));
    bench.serve(document("one"));
    assert_eq!(bench.at(86_403).get("one"), unavailable(1));
    assert_eq!(bench.at(86_404).get("one"), Ok(()));
}

#[test]
fn without_keys_it_is_asked_every_few_seconds() {
    let bench = bench();
    for useless in
        [None, Some(Vec::new()), Some(b"<html>".to_vec()), Some(b"{\"keys\":[]}".to_vec())]
    {
        bench.serve(useless);
        assert_eq!(bench.get("one"), unavailable(5));
    }
    assert_eq!(bench.asked(), 1);
    assert_eq!(bench.at(4).get("one"), unavailable(1));
    bench.serve(document("one"));
    assert_eq!(bench.at(5).get("one"), Ok(()));
    assert_eq!(bench.asked(), 2);
}

#[test]
fn no_caller_waits_for_the_request_of_another() {
    let clock = Arc::<Seconds>::default();
    let (started, begun) = std::sync::mpsc::channel();
    let (release, held) = std::sync::mpsc::channel::<&str>();
    let (started, held) = (Mutex::new(started), Mutex::new(held));
    let fetch: Fetch = Box::new(move |_| {
        started.lock().unwrap().send(()).unwrap();
        document(held.lock().unwrap().recv().unwrap())
    });
    let keys =
        Arc::new(JwksCache::new(vec![ISSUER.to_owned()], vec![Algorithm::Rs256], fetch, clock));
    let get = |key_id| keys.of(ISSUER, key_id, None).map(drop);
    for (key_id, meanwhile) in [("one", unavailable(1)), ("two", Ok(()))] {
        let other = Arc::clone(&keys);
        let first = move || other.of(ISSUER, key_id, None).map(drop);
        let first = crate::runtime::thread::spawn("first", first).unwrap();
        begun.recv().unwrap();
        assert_eq!(get("one"), meanwhile);
        assert_eq!(get("three"), unavailable(1));
        release.send(key_id).unwrap();
        assert_eq!(first.join().unwrap(), Ok(()));
        assert_eq!(get(key_id), Ok(()));
    }
}

#[test]
fn a_request_that_panics_is_over() {
    let (clock, asked) = (Arc::<Seconds>::default(), AtomicUsize::new(0));
    let fetch: Fetch = Box::new(move |_| {
        assert!(asked.fetch_add(1, Ordering::Relaxed) > 0, "the first request panics");
        document("one")
    });
    let keys = JwksCache::new(
        vec![ISSUER.to_owned()],
        vec![Algorithm::Rs256],
        fetch,
        Arc::<Seconds>::clone(&clock),
    );
    let get = || keys.of(ISSUER, "one", None).map(drop);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(get)).is_err());
    clock.0.store(5, Ordering::Relaxed);
    assert_eq!(get(), Ok(()));
}
