//! The check over a clock and an issuer of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::*;
use crate::auth::access_token::Scope;
use crate::crypto::jose::Algorithm;
use crate::domain::time::Timestamp;
use crate::simulator::Issuer;

const ISSUER: &str = "https://issuer.example";
const RESOURCE: &str = "https://svc.example/mcp";
const START: u64 = 1_795_251_600;

#[derive(Default)]
struct Seconds(AtomicU64);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        let seconds = START + self.0.load(Ordering::Relaxed);
        Timestamp::from_micros(i64::try_from(seconds * 1_000_000).unwrap())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

struct Bench {
    tokens: AccessTokens,
    clock: Arc<Seconds>,
    metrics: Arc<Metrics>,
    key_ids: Arc<Mutex<Vec<&'static str>>>,
}

/// Returns a service that knows the keys of these ids, which are all the same key.
fn bench() -> Bench {
    let (clock, metrics) = (Arc::<Seconds>::default(), Arc::<Metrics>::default());
    let key_ids = Arc::new(Mutex::new(vec!["one", "two"]));
    let published = Arc::clone(&key_ids);
    let fetch = move |_: &str| {
        let ids = published.lock().unwrap().clone();
        (!ids.is_empty()).then(|| Issuer::key_document(&ids).to_string().into_bytes())
    };
    let algorithms = vec![Algorithm::Rs256];
    let rules = AccessTokenRules {
        issuer: ISSUER.to_owned(),
        audience: RESOURCE.to_owned(),
        algorithms: algorithms.clone(),
        token_type: "at+jwt".to_owned(),
    };
    let time: Arc<dyn Clock> = Arc::<Seconds>::clone(&clock);
    let keys =
        JwksCache::new(vec![ISSUER.to_owned()], algorithms, Box::new(fetch), Arc::clone(&time));
    let tokens = AccessTokens::new(rules, keys, time, Arc::clone(&metrics));
    Bench { tokens, clock, metrics, key_ids }
}

/// Returns a token of a subject that is taken for so many seconds from the start: the leeway included.
fn token(key_id: &str, subject: &str, seconds: u64) -> String {
    let header = json!({"alg": "RS256", "kid": key_id, "typ": "at+jwt"});
    let claims = json!({
        "iss": ISSUER,
        "aud": RESOURCE,
        "exp": START + seconds - 60,
        "sub": subject,
        "client_id": "a-client",
        "scope": "mcp:read",
    });
    Issuer::sign(&header, &claims)
}

impl Bench {
    fn at(&self, second: u64) -> &AccessTokens {
        self.clock.0.store(second, Ordering::Relaxed);
        &self.tokens
    }

    fn counted(&self, fault: &str) -> u64 {
        self.metrics.access_tokens_refused.sum(|[(_, word)]| word == fault)
    }
}

#[test]
fn a_verified_token_is_known_for_a_minute_or_until_it_expires() {
    let bench = bench();
    let (long, short) = (token("one", "long", 3_600), token("one", "short", 80));
    assert_eq!(bench.at(0).known(&long), None, "nothing is known before it was checked");
    let caller = bench.at(0).check(&long, None).unwrap();
    assert_eq!(caller.subject, "https://issuer.example long");
    assert_eq!(
        (caller.client.as_str(), caller.scopes.as_slice()),
        ("a-client", &[Scope::Read][..])
    );
    assert_eq!(bench.at(59).known(&long), Some(caller));
    assert_eq!(bench.at(60).known(&long), None);
    assert!(bench.at(60).check(&short, None).is_ok());
    assert!(bench.at(79).known(&short).is_some());
    assert_eq!(bench.at(80).known(&short), None);
    assert_eq!(
        bench.at(80).check(&short, None),
        Err(TokenError::Fault(access_token::Fault::Expired))
    );
    let bent = long.replacen('.', "..", 1);
    assert_eq!(bench.at(80).known(&bent), None, "one that was never checked");
}

#[test]
fn a_token_is_dropped_with_its_key_and_kept_with_another_fetch() {
    let bench = bench();
    let (one, two) = (token("one", "a", 3_600), token("two", "b", 3_600));
    assert!(bench.at(0).check(&one, None).is_ok(), "the keys are fetched");
    for token in [&one, &two] {
        assert!(bench.at(599).check(token, None).is_ok());
    }
    *bench.key_ids.lock().unwrap() = vec!["one"];
    assert!(bench.at(600).known(&two).is_some(), "the key is believed until keys are fetched");
    assert!(bench.at(600).check(&token("one", "c", 3_600), None).is_ok(), "they are fetched again");
    assert!(bench.at(600).known(&one).is_some());
    assert_eq!(bench.at(600).known(&two), None);
    assert_eq!(bench.at(600).check(&two, None), Err(TokenError::Fault(access_token::Fault::Key)));
}

#[test]
fn keys_that_cannot_be_had_refuse_no_token() {
    let bench = bench();
    bench.key_ids.lock().unwrap().clear();
    let good = token("one", "a", 3_600);
    let later = Err(TokenError::KeysUnavailable { retry_after: Duration::from_secs(5) });
    assert_eq!(bench.at(0).check(&good, None), later);
    assert_eq!(
        bench.at(0).check("x", None),
        Err(TokenError::Fault(access_token::Fault::Malformed))
    );
    let expired = token("one", "a", 60);
    assert_eq!(
        bench.at(60).check(&expired, None),
        Err(TokenError::Fault(access_token::Fault::Expired))
    );
    for (word, count) in [("keys_unavailable", 1), ("malformed", 1), ("expired", 1), ("key", 0)] {
        assert_eq!(bench.counted(word), count, "{word}");
    }
    *bench.key_ids.lock().unwrap() = vec!["one"];
    assert!(bench.at(60).check(&good, None).is_ok());
}

#[test]
fn no_more_than_ten_thousand_tokens_are_remembered() {
    let bench = bench();
    let keys = {
        let checked = bench.tokens.check(&token("one", "a", 3_600), None);
        checked.unwrap();
        bench.tokens.keys.current(ISSUER).unwrap()
    };
    let caller = bench.tokens.known(&token("one", "a", 3_600)).unwrap();
    let mut cache = Cache::default();
    let digest = |number: u32| sha256::of(&number.to_be_bytes());
    for number in 0..25_000_u32 {
        let entry = Entry {
            caller: Arc::clone(&caller),
            key_id: "one".to_owned(),
            keys: Arc::clone(&keys),
            until: REMEMBERED,
        };
        cache.insert(digest(number), entry, Duration::ZERO);
    }
    let known = |cache: &Cache, now| {
        (0..25_000).filter(|number| cache.get(&digest(*number), now).is_some()).count()
    };
    assert_eq!(known(&cache, Duration::ZERO), 10_000);
    assert!(cache.get(&digest(24_999), Duration::ZERO).is_some(), "the last ones");
    assert_eq!(known(&cache, REMEMBERED), 0);
}
