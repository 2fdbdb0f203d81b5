//! The keys of issuers of tokens: fetched when they are asked for, kept for a while, and used a
//! while longer when the issuer does not answer. Who checks a signature with them is `auth`.
//!
//! Only configured issuers are ever asked. Every request fetches the whole key set, so a request that
//! a stranger causes brings in a rotated key for all callers. That is why requests for unknown key ids can
//! be limited without a stranger keeping such a key out. One caller at a time fetches; the others use the
//! keys there are, or are told when to come back, and never wait for the request of another caller.

pub mod bucket;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::crypto::jose::Algorithm;
use crate::crypto::jose::key_set::KeySet;
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;

use bucket::{Bucket, Limits, Peer};

/// How long keys are used without asking again: a key that was withdrawn is believed no longer.
const FRESH: Duration = Duration::from_mins(10);
/// How long keys are used while the issuer does not answer.
const STALE_MAX: Duration = Duration::from_hours(24);
/// From one request to the next while there are keys, but old ones.
const PAUSE: Duration = Duration::from_mins(1);
/// From one request to the next while there are none; not shorter than a request may take.
const PAUSE_WITHOUT_KEYS: Duration = Duration::from_secs(5);
/// When to come back while a request is under way; most take less.
const UNDER_WAY: Duration = Duration::from_secs(1);
/// Limits of the requests to one issuer for key ids it is not known to have. No issuer has several new
/// keys a minute, and a sender retries for four minutes, so waiting a minute keeps no run out. The limit
/// that all peers share is a light load for an issuer and delays a request by ten seconds at most; the
/// burst is for peers that come at the same time.
/// See `docs/decisions/25-issuer-keys.md`.
const UNKNOWN_KEYS: Limits =
    Limits { peer_interval: Duration::from_mins(1), burst: 3, interval: Duration::from_secs(10) };

/// Gets the document in which an issuer, by its name in tokens, publishes its keys; `None` when it cannot be
/// had. Where that is, only the closure knows.
pub type Fetch = Box<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// Why there is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoKey {
    /// The issuer is not one of those that were configured.
    UnknownIssuer,
    /// The issuer was asked by this very call, and has no such key.
    UnknownKey,
    /// The issuer does not say, or may not be asked yet.
    Unavailable {
        /// How long until it may be asked.
        retry_after: Duration,
    },
}

/// The key sets of all issuers.
pub struct JwksCache {
    issuers: Vec<(String, Mutex<Cached>)>,
    algorithms: Vec<Algorithm>,
    fetch: Fetch,
    clock: Arc<dyn Clock>,
}

struct Cached {
    keys: Option<Arc<KeySet>>,
    loaded_at: Duration,
    /// When keys were last asked for because there were only old ones, or none.
    refreshed_at: Option<Duration>,
    /// Requests for unknown key ids while there are keys. Each issuer has its own: a request to another
    /// one would bring in nothing.
    unknown: Bucket,
    /// A request is under way.
    asking: bool,
}

/// What to do about a key that is asked for.
enum Plan {
    Use(Arc<KeySet>),
    Ask,
    Wait(Duration),
}

/// The one request to an issuer that is under way; over when dropped, after a panic too.
struct Asking<'a>(&'a Mutex<Cached>);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        lock(self.0).asking = false;
    }
}

impl JwksCache {
    /// Returns the keys of these issuers for these algorithms. Nothing is fetched yet.
    #[must_use]
    pub fn new(
        issuers: Vec<String>,
        algorithms: Vec<Algorithm>,
        fetch: Fetch,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let issuers = issuers.into_iter().map(|issuer| (issuer, Mutex::new(Cached::new())));
        Self { issuers: issuers.collect(), algorithms, fetch, clock }
    }

    /// Returns the keys of an issuer, this one among them. May ask the issuer on behalf of `peer`, and
    /// wait for it.
    ///
    /// # Errors
    /// By why there is no such key.
    pub fn of(&self, issuer: &str, key_id: &str, peer: Peer) -> Result<Arc<KeySet>, NoKey> {
        let known = self.issuers.iter().find(|(known, _)| known == issuer);
        let (issuer, cached) = known.ok_or(NoKey::UnknownIssuer)?;
        let asked_at = self.clock.monotonic();
        // The lock is not held during the request: other callers use the keys that are there.
        let plan = lock(cached).plan(key_id, peer, asked_at);
        let _asking = match plan {
            Plan::Use(keys) => return Ok(keys),
            Plan::Wait(retry_after) => return Err(NoKey::Unavailable { retry_after }),
            Plan::Ask => Asking(cached),
        };
        let fetched =
            (self.fetch)(issuer).and_then(|document| KeySet::read(&document, &self.algorithms));
        let (answered, now) = (fetched.is_some(), self.clock.monotonic());
        // Declared after `_asking`, so dropped before it, whose drop takes the same lock.
        let mut cached = lock(cached);
        match fetched {
            // From when they were asked for: the answer may have been on its way for a while.
            Some(keys) => (cached.keys, cached.loaded_at) = (Some(Arc::new(keys)), asked_at),
            // An answer without readable keys counts as none: the old keys stay in use.
            None => {
                log::warn!(event = "keys.unavailable"; "the keys of an issuer could not be fetched");
            }
        }
        let keys = cached.usable(now).filter(|keys| keys.get(key_id).is_some());
        keys.cloned().ok_or_else(|| match answered {
            true => NoKey::UnknownKey,
            false => NoKey::Unavailable { retry_after: cached.wait(peer, now) },
        })
    }

    /// Returns the keys of an issuer that are believed now, as far as they are there. Sends no request, so it
    /// never waits.
    #[must_use]
    pub fn current(&self, issuer: &str) -> Option<Arc<KeySet>> {
        let (_, cached) = self.issuers.iter().find(|(known, _)| known == issuer)?;
        lock(cached).usable(self.clock.monotonic()).cloned()
    }
}

impl Cached {
    const fn new() -> Self {
        Self {
            keys: None,
            loaded_at: Duration::ZERO,
            refreshed_at: None,
            unknown: Bucket::new(UNKNOWN_KEYS),
            asking: false,
        }
    }

    /// Decides about a key, and notes the request that is to be made.
    fn plan(&mut self, key_id: &str, peer: Peer, now: Duration) -> Plan {
        let age = now.saturating_sub(self.loaded_at);
        let usable = self.usable(now);
        let is_due = (usable.is_none() || age >= FRESH) && self.refresh_wait(now).is_zero();
        let known = usable.filter(|keys| keys.get(key_id).is_some());
        // While a request is under way, a known key is used and does not wait for it.
        if let Some(keys) = known.filter(|_| !is_due || self.asking) {
            return Plan::Use(Arc::clone(keys));
        }
        if self.asking {
            return Plan::Wait(UNDER_WAY);
        }
        if is_due {
            // The first caller refreshes the keys: that is no request for an unknown key, and takes from no bucket.
            self.refreshed_at = Some(now);
        } else if usable.is_none() {
            return Plan::Wait(self.refresh_wait(now));
        } else if let Err(wait) = self.unknown.take(peer, now) {
            return Plan::Wait(wait);
        }
        self.asking = true;
        Plan::Ask
    }

    /// Returns the keys as far as they may be used now.
    fn usable(&self, now: Duration) -> Option<&Arc<KeySet>> {
        self.keys.as_ref().filter(|_| now.saturating_sub(self.loaded_at) < STALE_MAX)
    }

    /// Returns how long old keys, or none, are not asked for again.
    fn refresh_wait(&self, now: Duration) -> Duration {
        let pause = if self.usable(now).is_some() { PAUSE } else { PAUSE_WITHOUT_KEYS };
        self.refreshed_at.map_or(Duration::ZERO, |at| (at + pause).saturating_sub(now))
    }

    /// Returns how long until a peer may cause a request for an unknown key.
    fn wait(&self, peer: Peer, now: Duration) -> Duration {
        match self.usable(now) {
            Some(_) => self.unknown.wait(peer, now),
            None => self.refresh_wait(now),
        }
    }
}

#[cfg(test)]
mod tests;
