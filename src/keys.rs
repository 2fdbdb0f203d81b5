//! The keys of issuers of identity tokens: fetched when they are asked for, kept for a while, and used a
//! while longer when the issuer does not answer. Who checks a signature with them is `auth`.
//!
//! Only issuers that were configured are ever asked, and an unknown key makes no more than one request a
//! minute. One caller at a time fetches; the others use what there is, or hear that keys cannot be had,
//! and nobody waits for somebody else's request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::auth::workload::key_set::KeySet;
use crate::clock::Clock;

/// How long keys are used without asking again: a key that was withdrawn is believed no longer.
const FRESH: Duration = Duration::from_mins(10);
/// How long keys are used while the issuer does not answer.
const STALE_MAX: Duration = Duration::from_hours(24);
/// From one request to the next while there are keys.
const PAUSE: Duration = Duration::from_mins(1);
/// From one request to the next while there are none; not shorter than a request may take.
const PAUSE_WITHOUT_KEYS: Duration = Duration::from_secs(5);

/// Gets the document an issuer publishes its keys in; nothing when it cannot be had.
pub type Fetch = Box<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKey {
    /// The issuer is not one of those that were configured.
    UnknownIssuer,
    /// The issuer has no such key.
    UnknownKey,
    /// The issuer does not say; it may be asked again later.
    Unavailable,
}

/// The keys of all issuers.
pub struct Keys {
    issuers: Vec<(String, Mutex<Cached>)>,
    fetch: Fetch,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Cached {
    keys: Option<Arc<KeySet>>,
    loaded_at: Duration,
    /// Nothing before the first request.
    asked_at: Option<Duration>,
    /// The last request was answered with keys.
    answered: bool,
}

/// What to do about a key that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Use,
    Ask,
    Refuse(NoKey),
}

impl Keys {
    /// Returns the keys of these issuers. Nothing is fetched yet.
    #[must_use]
    pub fn new(issuers: Vec<String>, fetch: Fetch, clock: Arc<dyn Clock>) -> Self {
        let issuers = issuers.into_iter().map(|issuer| (issuer, Mutex::default())).collect();
        Self { issuers, fetch, clock }
    }

    /// Returns the keys of an issuer, this one among them. May ask the issuer, and wait for it.
    ///
    /// # Errors
    /// By why there is no such key.
    pub fn of(&self, issuer: &str, key_id: &str) -> Result<Arc<KeySet>, NoKey> {
        let known = self.issuers.iter().find(|(known, _)| known == issuer);
        let (issuer, cached) = known.ok_or(NoKey::UnknownIssuer)?;
        let now = self.clock.monotonic();
        {
            let mut cached = lock(cached);
            if cached.plan(key_id, now) != Plan::Ask {
                return cached.take(key_id, now);
            }
            (cached.asked_at, cached.answered) = (Some(now), false);
        }
        let fetched = (self.fetch)(issuer).and_then(|document| KeySet::read(&document));
        let mut cached = lock(cached);
        match fetched {
            Some(keys) => cached.replace(keys, now),
            None => {
                log::warn!(event = "keys.unavailable"; "an issuer's keys could not be had");
            }
        }
        cached.take(key_id, now)
    }
}

impl Cached {
    fn plan(&self, key_id: &str, now: Duration) -> Plan {
        let age = now.saturating_sub(self.loaded_at);
        let usable = self.keys.as_ref().filter(|_| age < STALE_MAX);
        let known = usable.is_some_and(|keys| keys.has(key_id));
        let pause = if usable.is_some() { PAUSE } else { PAUSE_WITHOUT_KEYS };
        let may_ask = self.asked_at.is_none_or(|asked| now.saturating_sub(asked) >= pause);
        match (known, age < FRESH && usable.is_some(), may_ask) {
            (true, true, _) | (true, false, false) => Plan::Use,
            (_, _, true) => Plan::Ask,
            (false, ..) if self.answered => Plan::Refuse(NoKey::UnknownKey),
            (false, ..) => Plan::Refuse(NoKey::Unavailable),
        }
    }

    /// Returns the keys as far as they may be used now.
    fn take(&self, key_id: &str, now: Duration) -> Result<Arc<KeySet>, NoKey> {
        match (self.plan(key_id, now), &self.keys) {
            (Plan::Use, Some(keys)) => Ok(Arc::clone(keys)),
            (Plan::Refuse(why), _) => Err(why),
            (Plan::Use | Plan::Ask, _) => Err(NoKey::Unavailable),
        }
    }

    fn replace(&mut self, keys: KeySet, now: Duration) {
        (self.keys, self.loaded_at, self.answered) = (Some(Arc::new(keys)), now, true);
    }
}

fn lock(cached: &Mutex<Cached>) -> MutexGuard<'_, Cached> {
    cached.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
