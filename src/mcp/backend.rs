//! What tools ask for: the service itself, in the daemon; the daemon, through its control socket, elsewhere.

use crate::api::{CardReport, Readiness};
use crate::app::{self, App};
use crate::domain::time::Timestamp;
use crate::runtime::random::{Ids, SystemEntropy};

/// Does what tools need. It may block.
pub trait Backend: Send + Sync {
    /// Checks the text of an agent card.
    ///
    /// # Errors
    /// When that cannot be done at present.
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, BackendUnavailable>;

    /// Tells how the service is.
    ///
    /// # Errors
    /// When that cannot be told at present.
    fn service_status(&self) -> Result<Readiness, BackendUnavailable>;

    /// Returns the key that seals what a request keeps from one round to the next.
    ///
    /// # Errors
    /// When it cannot be had at present.
    fn request_state_key(&self) -> Result<[u8; 32], BackendUnavailable>;

    /// Returns a nonce that no state was sealed with.
    fn nonce(&self) -> [u8; 12];

    /// Marks a state as used; returns whether it was not before.
    ///
    /// # Errors
    /// When that cannot be done at present. It was not marked.
    fn use_request_state(
        &self,
        nonce: [u8; 12],
        expires_at: Timestamp,
    ) -> Result<bool, BackendUnavailable>;
}

/// Why a tool cannot be used at present, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BackendUnavailable(pub String);

impl Backend for App {
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, BackendUnavailable> {
        let report = self.check_card(card.as_bytes());
        report.map(|it| CardReport::new(it, None)).map_err(unavailable)
    }

    fn service_status(&self) -> Result<Readiness, BackendUnavailable> {
        Ok(self.readiness())
    }

    fn request_state_key(&self) -> Result<[u8; 32], BackendUnavailable> {
        Self::request_state_key(self).map_err(unavailable)
    }

    fn nonce(&self) -> [u8; 12] {
        Ids::new(Box::new(SystemEntropy::new())).bytes()
    }

    fn use_request_state(
        &self,
        nonce: [u8; 12],
        expires_at: Timestamp,
    ) -> Result<bool, BackendUnavailable> {
        Self::use_request_state(self, nonce, expires_at).map_err(unavailable)
    }
}

fn unavailable(why: app::Error) -> BackendUnavailable {
    BackendUnavailable(why.to_string())
}
