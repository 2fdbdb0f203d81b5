//! Access tokens: whom each speaks for. A token that was verified is remembered for a short while, so that most
//! requests cost one digest and no signature, and is forgotten with the key it was verified with.
//!
//! Why a token is refused goes to a counter and a line, as a word of a closed set; its sender hears one answer
//! for every fault.

mod cache;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::auth::access_token::{self, AccessTokenRules};
use crate::crypto::sha256;
use crate::jwks::bucket::Peer;
use crate::jwks::{JwksCache, NoKey};
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::log_throttle::LogThrottle;
use crate::runtime::mutex::lock;

use cache::{Cache, Entry};

/// For how long a verified token is remembered at most: a key that was withdrawn verifies nothing after that.
/// See `docs/decisions/38-access-tokens.md`.
const REMEMBERED: Duration = Duration::from_mins(1);
/// The counter's word when the keys cannot be had.
const KEYS_UNAVAILABLE: &str = "keys_unavailable";

/// Checks access tokens of one issuer.
pub struct AccessTokens {
    rules: AccessTokenRules,
    keys: JwksCache,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    verified: Mutex<Cache>,
    refused: LogThrottle,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It proves nothing; another one is needed.
    #[error("the access token is refused ({0}); get another one")]
    Fault(access_token::Fault),
    /// Nothing can be said of it, because the issuer does not answer, or may not be asked yet.
    #[error("the issuer's keys are not available; send the same token again later")]
    KeysUnavailable {
        /// How long until the same token may be sent again.
        retry_after: Duration,
    },
}

impl From<access_token::Fault> for TokenError {
    fn from(fault: access_token::Fault) -> Self {
        Self::Fault(fault)
    }
}

impl AccessTokens {
    /// Returns a check by these rules. `keys` must be those of the rules' issuer, for the rules' algorithms.
    #[must_use]
    pub fn new(
        rules: AccessTokenRules,
        keys: JwksCache,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (verified, refused) = (Mutex::default(), LogThrottle::default());
        Self { rules, keys, clock, metrics, verified, refused }
    }

    /// Returns whom a token speaks for that was verified a short while ago and still holds. Never waits.
    #[must_use]
    pub fn known(&self, token: &str) -> Option<Arc<access_token::Caller>> {
        // Without keys that are believed now, nothing that they verified is believed either.
        let current = self.keys.current(&self.rules.issuer)?;
        // Looked up by its digest: how long that takes says nothing about a token that is not known.
        let digest = sha256::of(token.as_bytes());
        let verified = lock(&self.verified);
        let entry = verified.get(&digest, self.clock.monotonic())?;
        entry.holds_with(&current).then(|| Arc::clone(&entry.caller))
    }

    /// Verifies a token; may ask the issuer for its keys on behalf of `peer`, and wait for it.
    ///
    /// # Errors
    /// [`TokenError::Fault`], which is counted and logged here; [`TokenError::KeysUnavailable`].
    pub fn check(&self, token: &str, peer: Peer) -> Result<Arc<access_token::Caller>, TokenError> {
        self.verify(token, peer).inspect_err(|error| {
            let fault = match error {
                TokenError::Fault(fault) => fault.as_str(),
                TokenError::KeysUnavailable { .. } => KEYS_UNAVAILABLE,
            };
            self.metrics.access_tokens_refused.count([("fault", fault)]);
            // Any stranger can cause this line, so it is written at most every ten seconds.
            if let Some(suppressed) = self.refused.due(self.clock.monotonic()) {
                log::warn!(event = "access_token.refused", fault = fault, suppressed; "an access token was refused");
            }
        })
    }

    fn verify(&self, token: &str, peer: Peer) -> Result<Arc<access_token::Caller>, TokenError> {
        let now = self.clock.now();
        let read = access_token::Token::read(token, &self.rules, now)?;
        let key_id = read.key_id().to_owned();
        let keys = self.keys.of(&self.rules.issuer, &key_id, peer).map_err(|why| match why {
            NoKey::UnknownIssuer => access_token::Fault::Issuer.into(),
            NoKey::UnknownKey => access_token::Fault::Key.into(),
            NoKey::Unavailable { retry_after } => TokenError::KeysUnavailable { retry_after },
        })?;
        let verified = read.verify(&keys)?;
        let caller = Arc::new(verified.caller);
        // The monotonic clock counts from here on: a wall clock that steps back would prolong the token.
        let (began, holds) = (self.clock.monotonic(), verified.expires_at.since(now));
        let entry = Entry {
            caller: Arc::clone(&caller),
            key_id,
            keys,
            until: began + holds.min(REMEMBERED),
        };
        lock(&self.verified).insert(sha256::of(token.as_bytes()), entry, began);
        Ok(caller)
    }
}

#[cfg(test)]
mod tests;
