//! Requests of the modern era that take several rounds: what one keeps for the next travels with the client, sealed.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::mcp::Caller;
use crate::mcp::backend::{Backend, Unavailable};
use crate::mcp::rpc::{Code, Error};
use crate::runtime::clock::Clock;

/// The rounds of one request.
pub(super) struct Rounds {
    state: Option<Value>,
}

impl Rounds {
    pub(super) fn open(
        _method: &str,
        params: &Map<String, Value>,
        _caller: Caller,
        _backend: Arc<dyn Backend>,
        _clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        match params.get("requestState") {
            None => Ok(Self { state: None }),
            Some(_) => Err(Error::new(Code::InvalidParams, "the request state is not valid")),
        }
    }

    pub(super) const fn state(&self) -> Option<&Value> {
        self.state.as_ref()
    }

    pub(super) fn seal(&self, _state: &Value) -> Result<String, Unavailable> {
        Err(Unavailable("off".to_owned()))
    }
}
