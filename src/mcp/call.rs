//! A request that is under way, in the hands of the code that answers it: it may say more than its result, and it ends with
//! one, whatever happens.
//!
//! What handlers return, and when that is a stream: `docs/decisions/50-mcp-answers.md`.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::mcp::asks::{Asks, Then};
use crate::mcp::capabilities;
use crate::mcp::result::{Dialect, ToolResult};
use crate::mcp::rounds::Rounds;
use crate::mcp::rpc::{self, Code, Error, Id};
use crate::mcp::stream::Stream;
use crate::mcp::tasks::{self, Task};
use crate::mcp::{Caller, Status};

/// A request that is under way. Dropped without an answer, it answers that the server failed.
pub struct Call {
    dialect: Dialect,
    caller: Caller,
    id: Id,
    params: Map<String, Value>,
    stream: Stream,
    asks: Option<Arc<Asks>>,
    rounds: Option<Rounds>,
    is_answered: bool,
}

impl Call {
    pub(super) fn new(
        dialect: Dialect,
        caller: Caller,
        id: Id,
        params: Option<&RawValue>,
        stream: Stream,
        asks: Option<Arc<Asks>>,
    ) -> Self {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let params = params.unwrap_or_default();
        Self { dialect, caller, id, params, stream, asks, rounds: None, is_answered: false }
    }

    /// Returns it with the rounds that the request may take.
    pub(super) fn with_rounds(mut self, rounds: Rounds) -> Self {
        self.rounds = Some(rounds);
        self
    }

    /// Returns what the round before has kept.
    #[must_use]
    pub fn state(&self) -> Option<&Value> {
        self.rounds.as_ref()?.state()
    }

    /// Returns the era and revision in which it is answered.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns who calls.
    #[must_use]
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns its parameters.
    #[must_use]
    pub const fn params(&self) -> &Map<String, Value> {
        &self.params
    }

    /// Says whether the client asks to be told how far it is.
    #[must_use]
    pub fn wants_progress(&self) -> bool {
        progress_token(&self.params).is_some()
    }

    /// Says whether the client has taken the request back. One of the legacy era that has only gone has not.
    #[must_use]
    pub fn is_taken_back(&self) -> bool {
        match self.dialect {
            Dialect::Legacy(_) => self.stream.is_over(),
            Dialect::Modern => self.stream.is_cancelled(),
        }
    }

    /// Says whether the client no longer wants the result.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stream.is_cancelled()
    }

    /// Sends a notification that belongs to it.
    pub fn notify(&self, method: &str, params: &Value) {
        self.stream.send(rpc::notification(method, params));
    }

    /// Tells how far it is, if the client wants to know. `done` grows from call to call; `total` is absent where the
    /// end is not known.
    pub fn progress(&self, done: u32, total: Option<u32>, message: &str) {
        let Some(token) = progress_token(&self.params) else { return };
        let mut params = Map::from_iter([
            ("progressToken".to_owned(), token.clone()),
            ("progress".to_owned(), done.into()),
        ]);
        if let Some(total) = total {
            params.insert("total".to_owned(), total.into());
        }
        if self.dialect.has_progress_messages() {
            params.insert("message".to_owned(), message.into());
        }
        self.notify("notifications/progress", &params.into());
    }

    /// Asks the client for something, and goes on with its answer: the result or the error, as it sent them. Without an
    /// answer the call ends as one that failed. Only a legacy client can be asked; a modern one is told what is missing.
    pub fn ask(
        self,
        method: &str,
        params: &Value,
        then: impl FnOnce(Self, Result<Value, Value>) + Send + 'static,
    ) {
        let Some(asks) = self.asks.clone() else {
            return self.fail(Error::new(Code::Internal, "this client cannot be asked"));
        };
        // A clone, because `self` moves into what goes on with the answer.
        let stream = self.stream.clone();
        let then: Then = Box::new(move |answer| then(self, answer));
        // Beyond the most that may be asked, the call is dropped with what should have gone on.
        if let Some(id) = asks.register(then) {
            // Registered by now, so that an answer that comes at once finds it.
            stream.send(rpc::request(&id, method, params));
        }
    }

    /// Says whether the client has declared a capability with the request.
    #[must_use]
    pub fn client_can(&self, capability: &str) -> bool {
        capabilities::declare(&self.params, &[capability])
    }

    /// Lets go of the client, which may come back for what is still to be said.
    pub fn disconnect(&self) {
        self.stream.detach();
    }

    /// Ends this round with what the client is to find out before it sends the request again: requests by the client's
    /// own keys for their answers. `state` comes back with it, and only this server can read or change it. A client that
    /// does not declare what it needs for the answers is told so instead.
    pub fn require(self, requests: Map<String, Value>, state: Option<Value>) {
        if matches!(self.dialect, Dialect::Legacy(_)) {
            let message = "clients of this era are asked on the stream of the call";
            return self.fail(Error::new(Code::Internal, message));
        }
        if let Err(error) = capabilities::check_all(&self.params, &requests) {
            return self.fail(error);
        }
        let mut result = Map::from_iter([
            ("resultType".to_owned(), "input_required".into()),
            ("inputRequests".to_owned(), requests.into()),
        ]);
        if let Some(state) = state {
            match self.rounds.as_ref().map(|rounds| rounds.seal(&state)) {
                Some(Ok(sealed)) => drop(result.insert("requestState".to_owned(), sealed.into())),
                _ => {
                    return self.fail(Error::new(
                        Code::Internal,
                        "the server cannot continue now; try later",
                    ));
                }
            }
        }
        self.answer(result.into());
    }

    /// Says whether the client takes a task for a result.
    #[must_use]
    pub fn takes_task(&self) -> bool {
        self.dialect == Dialect::Modern && capabilities::declare(&self.params, tasks::CAPABILITY)
    }

    /// Ends it with a task, by which the client finds the result later. The task is there already.
    pub fn hand_over(self, task: &Task) {
        self.answer(task.created());
    }

    /// Ends it with the result of a tool.
    pub fn finish(self, result: ToolResult) {
        let result = result.to_value(self.dialect);
        self.answer(result);
    }

    /// Ends it with a result.
    pub fn answer(mut self, result: Value) {
        // The drop of `self` at the end of this function must not answer once more.
        self.is_answered = true;
        let result = self.dialect.complete(result).to_string();
        self.stream.finish(rpc::result(&self.id, &result));
    }

    /// Ends it with an error.
    pub fn fail(mut self, error: Error) {
        self.is_answered = true;
        // Of these errors the protocol wants one to be seen by its status.
        let status = match error.code {
            Code::MissingCapability => Status::BadRequest,
            _ => Status::Ok,
        };
        self.stream.finish_with(status, error.of(&self.id).to_message());
    }
}

/// Returns the token by which a client wants to be told how far a request is.
pub(super) fn progress_token(params: &Map<String, Value>) -> Option<&Value> {
    let token = params.get("_meta")?.get("progressToken")?;
    (token.is_string() || token.is_i64()).then_some(token)
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_answered {
            let error = Error::new(Code::Internal, "the server gave up; try again");
            self.stream.finish(error.of(&self.id).to_message());
        }
    }
}
