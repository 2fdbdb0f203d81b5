//! Requests of the modern era that take several rounds: what one keeps for the next travels with the client, sealed,
//! and comes back once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::mcp::Caller;
use crate::mcp::backend::{Backend, BackendUnavailable};
use crate::mcp::request_state::{Binding, Opened, Sealer, params_digest};
use crate::mcp::rpc::{Code, Error};
use crate::runtime::clock::Clock;

/// How long a client has for one round: a person may have to answer.
const ROUND_MAX: Duration = Duration::from_mins(15);

/// The rounds of one request.
pub(super) struct Rounds {
    binding: Binding,
    state: Option<Value>,
    backend: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
}

impl Rounds {
    /// Goes on with a request: reads what the round before has kept, if it is one of several.
    ///
    /// # Errors
    /// When the state is none of this server for this caller and request, came too late, or was used before.
    pub(super) fn open(
        method: &str,
        params: &Map<String, Value>,
        caller: Caller,
        backend: Arc<dyn Backend>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let Caller { subject, client, .. } = caller;
        let params_digest = params_digest(&repeated(params));
        let binding = Binding { subject, client, method: method.to_owned(), params_digest };
        let mut rounds = Self { binding, state: None, backend, clock };
        if let Some(sealed) = params.get("requestState") {
            rounds.state = Some(rounds.unseal(sealed)?);
        }
        Ok(rounds)
    }

    /// Returns what the round before has kept.
    pub(super) const fn state(&self) -> Option<&Value> {
        self.state.as_ref()
    }

    /// Seals what the next round is to have.
    pub(super) fn seal(&self, state: &Value) -> Result<String, BackendUnavailable> {
        let sealer = Sealer::new(self.backend.request_state_key()?);
        let expires_at = self.clock.now().plus(ROUND_MAX);
        let nonce = self.backend.nonce();
        let sealed = sealer.seal(nonce, &self.binding, expires_at, state);
        sealed.map_err(|too_large| BackendUnavailable(too_large.to_string()))
    }

    fn unseal(&self, sealed: &Value) -> Result<Value, Error> {
        let refuse = || {
            let message =
                "the request state is not valid, or was used before; start again without it";
            Error::new(Code::InvalidParams, message)
        };
        let unavailable =
            |_| Error::new(Code::Internal, "the request state cannot be read now; try later");
        let sealer = Sealer::new(self.backend.request_state_key().map_err(unavailable)?);
        let sealed = sealed.as_str().ok_or_else(refuse)?;
        let opened = sealer.open(sealed, &self.binding, self.clock.now());
        let Opened { nonce, expires_at, state } = opened.map_err(|_| refuse())?;
        // Only what opens is marked, so that forged states take no room in the store.
        let is_first = self.backend.use_request_state(nonce, expires_at).map_err(unavailable)?;
        if is_first { Ok(state) } else { Err(refuse()) }
    }
}

/// Returns what a client repeats in each round: what is asked for. What it adds, and what describes the exchange, may
/// differ.
fn repeated(params: &Map<String, Value>) -> Value {
    let names = ["name", "uri", "arguments"];
    json!(names.map(|name| params.get(name)))
}
