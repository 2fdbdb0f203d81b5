//! The client of the forge's REST API: who we are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::SecretString;

use super::Gate;
use super::answer::Answer;
use super::credentials::Credentials;
use super::reach::{Contact, Reach};
use super::settings::{ApiVersion, ClientError, Settings};
use super::token::{self, AppKey};
use super::wire::{self, Request, SendFailure, Wire};
use crate::domain::id::AppId;
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::current::Current;
use crate::runtime::notify::Notify;

/// Returns everything that would keep a client from being made of these settings; none of it repeats
/// a setting.
#[must_use]
pub fn problems(
    base_url: &str,
    private_key: Option<&SecretString>,
    root_certificate: Option<&[u8]>,
) -> Vec<ClientError> {
    let key = private_key.and_then(|pem| token::read_key(pem).err());
    let root = root_certificate.and_then(|pem| wire::read_roots(pem).err());
    wire::read_base(base_url).err().into_iter().chain(key).chain(root).collect()
}

/// A client of the real API.
pub struct ForgeClient {
    wire: Wire,
    pub(super) reach: Reach,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) app: AppId,
    pub(super) credentials: Current<Credentials>,
    /// Dispatches ask for the number of the run, until the server shows that it does not know the field.
    asks_for_run_details: AtomicBool,
}

impl ForgeClient {
    /// Returns a client. Nothing is sent. `waiting` is notified when the forge can be reached again.
    ///
    /// # Errors
    /// By what is wrong with the settings.
    pub fn new(
        settings: Settings,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        waiting: Notify,
    ) -> Result<Self, ClientError> {
        let key = AppKey::new(settings.app_id, &settings.private_key)?;
        Ok(Self {
            wire: Wire::new(&settings)?,
            reach: Reach::new(Arc::clone(&clock), Arc::clone(&metrics), waiting),
            clock,
            metrics,
            app: settings.app_id,
            credentials: Current::new(Credentials::new(key)),
            // The newer version always answers the number, an own server never does.
            asks_for_run_details: AtomicBool::new(settings.api_version == ApiVersion::V2022_11_28),
        })
    }

    /// Puts another key of the app in the place of the one before. It signs the next credential, and no session that begins
    /// from now on uses what was got with the one before.
    ///
    /// # Errors
    /// When it is not a usable key; then the one before stays.
    pub fn replace_key(&self, private_key: &SecretString) -> Result<(), ClientError> {
        self.credentials.set(Credentials::new(AppKey::new(self.app, private_key)?));
        Ok(())
    }

    /// Makes a call, and notes whether the forge could be reached.
    pub(super) fn send(
        &self,
        request: &Request<'_>,
        gate: &dyn Gate,
    ) -> Result<Answer, SendFailure> {
        let call = self.reach.call();
        // The gate is asked before each exchange: a pause may begin with the answer to the first. It may wait for the
        // database, which is no time of the forge.
        let exchange = |path: &str| {
            gate.check().map_err(SendFailure::Stopped)?;
            let began = self.clock.monotonic();
            let answer = self.wire.exchange(request, path);
            self.metrics.forge_calls.observe(self.clock.monotonic().saturating_sub(began));
            answer
        };
        let sent = self.wire.send(request, exchange);
        match &sent {
            // No connection was tried, so nothing is known.
            Err(SendFailure::Stopped(_) | SendFailure::NotSent(None)) => {}
            Err(SendFailure::NotSent(Some(cause))) => self.reach.failed(call, *cause),
            // What concerns one tenant begins after the connection: an answer, or none.
            Ok(_) => self.reach.succeeded(),
            Err(SendFailure::Lost(_)) => self.reach.lost(call),
        }
        if sent.is_ok() {
            self.reach.answered();
        }
        sent
    }

    /// Returns what is known of the forge since the start.
    #[must_use]
    pub fn contact(&self) -> Contact {
        self.reach.contact()
    }

    pub(super) fn asks_for_run_details(&self) -> bool {
        self.asks_for_run_details.load(Ordering::Relaxed)
    }

    pub(super) fn ask_for_no_run_details(&self) {
        // In memory only: a server that was upgraded is asked again after the next start.
        self.asks_for_run_details.store(false, Ordering::Relaxed);
    }
}
