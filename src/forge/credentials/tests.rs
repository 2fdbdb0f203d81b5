//! What is used again, and when it no longer is.

use proptest::prelude::*;

use super::*;
use crate::domain::id::AppId;
use crate::simulator::Simulator;

const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn credentials() -> Arc<Credentials> {
    let simulator = Simulator::start().expect("the system has a port");
    let pem = SecretString::from(simulator.private_key_pem());
    let app: AppId = simulator.app_id();
    Arc::new(Credentials::new(AppKey::new(app, &pem).expect("the key is one")))
}

fn scope(number: i64) -> TokenScope {
    TokenScope {
        installation: number.try_into().expect("the number is positive"),
        repository: 7.try_into().expect("the number is positive"),
        permission: Permission::ChecksWrite,
    }
}

fn minted(expires_at: Option<Timestamp>) -> Minted {
    Minted { secret: "t".into(), expires_at }
}

#[test]
fn the_apps_credential_is_signed_again_a_minute_before_it_ends_or_when_it_is_refused() {
    let credentials = credentials();
    let at = |now| credentials.app(now).expect("the key signs");
    let first = at(NOW);
    let last = NOW.plus(LIFETIME).minus(LEFT_MIN).minus(SECOND);
    assert!(Arc::ptr_eq(&first, &at(last)));
    let second = at(last.plus(SECOND));
    assert!(!Arc::ptr_eq(&first, &second), "it ends in a minute");
    let third = at(NOW);
    assert!(!Arc::ptr_eq(&second, &third), "the clock was set back");
    credentials.app_refused(&second);
    assert!(Arc::ptr_eq(&third, &at(NOW)), "another one was refused");
    credentials.app_refused(&third);
    assert!(!Arc::ptr_eq(&third, &at(NOW)), "it was refused");
}

#[test]
fn no_more_tokens_are_kept_than_fit() {
    let credentials = credentials();
    let count = i64::try_from(TOKENS_MAX).expect("the bound is small") + 1;
    for number in 1..=count {
        // The second one ends first.
        let expires_at = NOW.plus(if number == 2 { HOUR / 2 } else { HOUR });
        Token::keep(&credentials, scope(number), minted(Some(expires_at)), NOW);
    }
    assert_eq!(lock(&credentials.tokens).len(), TOKENS_MAX);
    let kept = |number| Token::kept(&credentials, scope(number), NOW).is_some();
    assert_eq!([kept(1), kept(2), kept(count)], [true, false, true]);
    // A newer token for a scope takes the place of its own older one.
    Token::keep(&credentials, scope(count), minted(Some(NOW.plus(HOUR))), NOW);
    assert_eq!(lock(&credentials.tokens).len(), TOKENS_MAX);
    // Those that have ended go first, and all of them.
    Token::keep(&credentials, scope(1), minted(Some(NOW.plus(HOUR * 2))), NOW.plus(HOUR));
    assert_eq!(lock(&credentials.tokens).len(), 1);
}

/// What happens to tokens.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The clock is set, to so many seconds after the start.
    Set(u64),
    /// A token is minted for a scope; it ends so many seconds later, or the forge does not say when.
    Mint(i64, Option<u64>),
    /// A session of a scope begins, and perhaps its token is refused.
    Open(i64, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..8_000_u64).prop_map(Event::Set),
        (1..4_i64, prop::option::of(0..8_000_u64))
            .prop_map(|(number, ends)| Event::Mint(number, ends)),
        (1..4_i64, any::<bool>()).prop_map(|(number, refused)| Event::Open(number, refused)),
    ]
}

#[test]
fn a_token_is_used_again_for_its_own_scope_while_a_minute_of_it_is_left() {
    let credentials = credentials();
    proptest!(|(events in prop::collection::vec(event(), 0..60))| {
        lock(&credentials.tokens).clear();
        let mut now = NOW;
        // The newest token of each scope that has not been refused: which, when it was minted, when it ends.
        let mut known: BTreeMap<i64, (Arc<SecretString>, Timestamp, Timestamp)> = BTreeMap::new();
        for event in events {
            match event {
                Event::Set(seconds) => now = NOW.plus(Duration::from_secs(seconds)),
                Event::Mint(number, ends) => {
                    let expires_at = ends.map(|ends| now.plus(Duration::from_secs(ends)));
                    let token = Token::keep(&credentials, scope(number), minted(expires_at), now);
                    if let Some(ends) = expires_at {
                        let ends = ends.min(now.plus(HOUR));
                        known.insert(number, (token.secret, now, ends));
                    }
                }
                Event::Open(number, is_refused) => {
                    let Some(token) = Token::kept(&credentials, scope(number), now) else { continue };
                    let (secret, from, ends) = known.get(&number).expect("one was minted");
                    prop_assert!(Arc::ptr_eq(secret, &token.secret));
                    prop_assert!(*from <= now && now.plus(LEFT_MIN) < *ends);
                    if is_refused {
                        token.refused();
                        known.remove(&number);
                    }
                }
            }
        }
    });
}
