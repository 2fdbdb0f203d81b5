//! The client of the forge's REST API: who we are there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::SecretString;

use super::settings::{ApiVersion, ClientError, Settings};
use super::token::{self, AppKey};
use super::wire::{self, Wire};
use crate::domain::id::AppId;
use crate::runtime::clock::Clock;

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
pub struct Client {
    pub(super) wire: Wire,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) app: AppId,
    pub(super) key: AppKey,
    /// Dispatches ask for the number of the run, until the server shows that it does not know the field.
    asks_for_run_details: AtomicBool,
}

impl Client {
    /// Returns a client. Nothing is sent.
    ///
    /// # Errors
    /// By what is wrong with the settings.
    pub fn new(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, ClientError> {
        Ok(Self {
            wire: Wire::new(&settings)?,
            clock,
            app: settings.app_id,
            key: AppKey::new(settings.app_id, &settings.private_key)?,
            // The newer version always answers the number, an own server never does.
            asks_for_run_details: AtomicBool::new(settings.api_version == ApiVersion::V2022_11_28),
        })
    }

    pub(super) fn asks_for_run_details(&self) -> bool {
        self.asks_for_run_details.load(Ordering::Relaxed)
    }

    pub(super) fn ask_for_no_run_details(&self) {
        // In memory only: a server that was upgraded is asked again after the next start.
        self.asks_for_run_details.store(false, Ordering::Relaxed);
    }
}
