//! Use cases: one function for each thing a caller may want, its access check first.
//!
//! Surfaces translate to and from these functions and add nothing, so they cannot drift. An
//! operator must hold a [`Principal`], which only the check gives out.

mod access;
mod callback;
mod cards;
mod dead_letters;
mod error;
mod lists;
mod readiness;
mod receive;
pub mod relay;
mod relay_audit;
mod relay_operators;
mod reload;
mod request_states;
mod slo;
mod status;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::app::relay::Relay;
use crate::auth::operator::{Operators, Principal};
use crate::auth::shared_secret;
use crate::domain::reconcile::Rules;
use crate::domain::slo::SloReport;
use crate::domain::time::Timestamp;
use crate::forge::client::ForgeClient;
use crate::forge::{payload, signature};
use crate::jwks::JwksCache;
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::log_throttle::LogThrottle;
use crate::runtime::notify::Notify;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::watch::Watch;
use crate::store::Store;

pub use access::{AccessTokens, TokenError};
pub use callback::{Callback, ResultTaken};
pub use cards::Put;
pub use dead_letters::Applied;
pub use error::Error;
pub use receive::{Intake, Webhook};
pub use relay_operators::RelayList;
pub use reload::Reload;

// Rows that use cases return, so that surfaces need not know the store.
pub use crate::store::List;

/// Webhook intake: what is needed to trust and to understand a delivery.
pub struct IntakeRules {
    /// Secrets a delivery may be signed with.
    pub secrets: signature::Secrets,
    /// What starts something.
    pub payload: payload::PayloadRules,
    /// Largest body in bytes.
    pub body_bytes_max: usize,
}

/// Results of releases: whom they are believed from.
pub struct ResultRules {
    /// Keys of issuers of identity tokens.
    pub keys: JwksCache,
    /// Secrets a result may be signed with instead.
    pub secrets: shared_secret::Secrets,
}

/// Notifies workers that there is work. It only saves them the wait for their next poll.
#[derive(Clone, Debug, Default)]
pub struct WorkerNotify {
    /// Lifecycle jobs.
    pub jobs: Notify,
    /// Side effects.
    pub outbox: Notify,
}

/// Cards are checked without a token, so checking must not take the threads operators need.
pub const CARD_CHECKS_MAX: usize = 2;

/// Lines that any client of the public address can cause.
#[derive(Debug, Default)]
pub struct Refused {
    webhook: LogThrottle,
    result: LogThrottle,
}

/// Everything use cases need.
pub struct App {
    pub store: Store,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Nothing means the operator API is off.
    pub operators: Option<Operators>,
    /// Nothing means the forge is off.
    pub intake: Option<IntakeRules>,
    /// The client of the forge; nothing means the forge is off.
    pub forge: Option<Arc<ForgeClient>>,
    /// When this process started.
    pub started_at: Timestamp,
    /// Nothing means that no result is believed.
    pub results: Option<ResultRules>,
    /// How it is reconciled; nothing means that the settings could not be understood.
    pub reconciliation: Option<Rules>,
    pub worker_notify: WorkerNotify,
    /// Nothing means that the relay is off.
    pub relay: Option<Arc<Relay>>,
    /// How secrets are read again.
    pub reload: Reload,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Semaphore for requests that check cards, [`CARD_CHECKS_MAX`] of them.
    pub card_checks: Semaphore,
    /// Lines about webhooks and results of strangers.
    pub refused: Refused,
    /// How the signals stood when they were last evaluated.
    pub slo: Watch<SloReport>,
    /// The service is stopping.
    pub draining: AtomicBool,
}

impl App {
    /// Returns who asks, or why the request is refused.
    ///
    /// # Errors
    /// [`Error::OperatorApiOff`] when it is not configured, [`Error::Unauthenticated`] when the
    /// header does not hold the token.
    pub fn operator(&self, authorization: Option<&str>) -> Result<Principal, Error> {
        // Off before any token is looked at: `docs/decisions/33-unconfigured-parts.md`.
        let operators = self.operators.as_ref().ok_or(Error::OperatorApiOff)?;
        operators.authenticate(authorization).ok_or(Error::Unauthenticated)
    }

    /// Makes readiness fail from now on, so that no new work is sent here.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}
