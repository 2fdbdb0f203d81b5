//! What tools ask for: the service itself, in the daemon; the daemon, through its control socket, elsewhere.

use crate::api::{CardReport, Readiness};
use crate::app::App;

/// Does what tools need. It may block.
pub trait Backend: Send + Sync {
    /// Checks the text of an agent card.
    ///
    /// # Errors
    /// When that cannot be done at present.
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, Unavailable>;

    /// Tells how the service is.
    ///
    /// # Errors
    /// When that cannot be told at present.
    fn service_status(&self) -> Result<Readiness, Unavailable>;
}

/// Why a tool cannot be used at present, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

impl Backend for App {
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, Unavailable> {
        let report = self.check_card(card.as_bytes());
        report.map(|it| CardReport::new(it, None)).map_err(|why| Unavailable(why.to_string()))
    }

    fn service_status(&self) -> Result<Readiness, Unavailable> {
        Ok(self.readiness())
    }
}
