//! What tools of MCP ask, in tests that call none of those that do.

use svc::api::{CardReport, Readiness};
use svc::domain::time::Timestamp;
use svc::mcp::backend::{Backend, BackendUnavailable};

/// A backend that nothing is asked of.
pub(crate) struct NoBackend;

impl Backend for NoBackend {
    fn validate_agent_card(&self, _: &str) -> Result<CardReport, BackendUnavailable> {
        unreachable!("nothing is asked of it")
    }

    fn service_status(&self) -> Result<Readiness, BackendUnavailable> {
        unreachable!("nothing is asked of it")
    }

    fn request_state_key(&self) -> Result<[u8; 32], BackendUnavailable> {
        unreachable!("nothing is asked of it")
    }

    fn nonce(&self) -> [u8; 12] {
        unreachable!("nothing is asked of it")
    }

    fn use_request_state(&self, _: [u8; 12], _: Timestamp) -> Result<bool, BackendUnavailable> {
        unreachable!("nothing is asked of it")
    }
}
