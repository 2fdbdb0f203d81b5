//! The modern era: every request stands for itself. Nothing is remembered from one to the next, and a stream that its
//! client closes ends what it was for.

mod headers;
mod subscriptions;
mod tasks;
mod watch;

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::mcp::backend::Backend;
use crate::mcp::call::Call;
use crate::mcp::capabilities::{self, Capability};
use crate::mcp::era::modern_error;
use crate::mcp::result::{Dialect, ToolResult, cacheable};
use crate::mcp::revision::MODERN;
use crate::mcp::rounds::Rounds;
use crate::mcp::rpc::{self, Code, Error, Id, Message, Request};
use crate::mcp::stream::Stream;
use crate::mcp::tasks::{AllTasks, CAPABILITY, EXTENSION, Method};
use crate::mcp::tools::{Called, Run, Tools, check_first_page};
use crate::mcp::{Answer, Begin, Context, Reply, Status, late};
use crate::runtime::clock::Clock;

pub use subscriptions::Subscriptions;

/// Answers requests that stand for themselves.
pub struct Modern {
    tools: Arc<Tools>,
    /// The answer to `server/discover`.
    discovery: String,
    /// The answer to `tools/list`.
    list: String,
    subscriptions: Arc<Subscriptions>,
    tasks: AllTasks,
    backend: Arc<dyn Backend>,
    clock: Arc<dyn Clock>,
}

/// Why a request is refused before it is begun: an error, and whether the status says that the method is unknown.
struct Refusal(Status, Error);

impl Modern {
    pub(super) fn new(
        tools: Arc<Tools>,
        instructions: &str,
        subscriptions: Arc<Subscriptions>,
        tasks: AllTasks,
        backend: Arc<dyn Backend>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let mut capabilities = capabilities();
        if let Some(members) = capabilities.as_object_mut().filter(|_| !tasks.is_empty()) {
            members.insert("extensions".to_owned(), json!({ EXTENSION: {} }));
        }
        let discovery = cacheable(json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities,
            "instructions": instructions,
        }));
        let list = cacheable(json!({ "tools": tools.list(Dialect::Modern) }));
        let (discovery, list) = (discovery.to_string(), list.to_string());
        Self { tools, discovery, list, subscriptions, tasks, backend, clock }
    }

    pub(super) fn post(&self, message: Message<'_>, context: Context<'_>) -> Reply {
        let request = match message {
            Message::Request(request) => request,
            Message::Notification(notification) => {
                // Over HTTP a client cancels by closing its stream.
                if context.headers.is_none()
                    && let Some(id) = notification.cancelled_request()
                {
                    self.subscriptions.cancel(&id);
                }
                return Answer::empty(Status::Accepted).into();
            }
            // They were rejected.
            Message::Response(_) => return Answer::empty(Status::Accepted).into(),
        };
        let id = request.id.clone();
        self.request(&request, context)
            .unwrap_or_else(|Refusal(status, error)| Answer::error(status, &error.of(&id)).into())
    }

    fn request(&self, request: &Request<'_>, context: Context<'_>) -> Result<Reply, Refusal> {
        let mismatch = |error| Refusal(Status::BadRequest, modern_error(error));
        headers::check_method(request, context).map_err(mismatch)?;
        match request.method.as_ref() {
            "server/discover" => Ok(ready(&request.id, &self.discovery)),
            "tools/list" => {
                check_first_page(request.params).map_err(in_band)?;
                Ok(ready(&request.id, &self.list))
            }
            "tools/call" => {
                headers::check_name(request, "name", context).map_err(mismatch)?;
                self.call(request, context)
            }
            "subscriptions/listen" => {
                // Before the stream begins, while the status can still be 400.
                self.check_listener(request.params)?;
                let (subscriptions, tasks) = (Arc::clone(&self.subscriptions), self.tasks.clone());
                let (caller, request) = (context.caller.clone(), OwnedRequest::of(request));
                Ok(Reply::Stream(Box::new(move |channel| {
                    let OwnedRequest { id, params, .. } = request;
                    let stream = Stream::new(channel, None);
                    subscriptions.open(caller, &id, params.as_deref(), stream, &tasks);
                })))
            }
            method if let Some(method) = self.task_method(method) => {
                tasks::answer(&self.tasks, method, request, context)
            }
            #[cfg(feature = "fixture")]
            method if crate::mcp::fixture::has(method, Dialect::Modern) => {
                if let Some(name) = crate::mcp::fixture::named(method) {
                    headers::check_name(request, name, context).map_err(mismatch)?;
                }
                let method = method.to_owned();
                let run = move |call| crate::mcp::fixture::answer(&method, call);
                Ok(Reply::Open(self.begin(request, context, run)))
            }
            _ => {
                let message = "there is no such method in this version of the protocol";
                let error = modern_error(Error::new(Code::MethodNotFound, message));
                Err(Refusal(Status::NotFound, error))
            }
        }
    }

    fn call(&self, request: &Request<'_>, context: Context<'_>) -> Result<Reply, Refusal> {
        let (run, arguments) =
            match self.tools.call(request.params, context.caller).map_err(in_band)? {
                Called::Forbidden(scope) => {
                    return Ok(Answer::forbidden(Some(request.id.clone()), scope).into());
                }
                Called::Done(result) => return Ok(finished(&request.id, result)),
                Called::Run(tool, arguments) => {
                    let agreed = headers::check_arguments(tool, &arguments, context);
                    agreed.map_err(|error| Refusal(Status::BadRequest, modern_error(error)))?;
                    check_client(tool.needs, request.params)?;
                    (&tool.run, arguments)
                }
            };
        match run {
            Run::Prompt(run) => Ok(finished(&request.id, run(&arguments))),
            Run::Blocking(run) => {
                let (id, run) = (request.id.clone(), Arc::clone(run));
                let caller = context.caller.clone();
                Ok(Reply::Blocking(Box::new(move || {
                    let result = run(&caller, &arguments).to_value(Dialect::Modern);
                    let result = Dialect::Modern.complete(result);
                    Answer::message(Status::Ok, rpc::result(&id, &result.to_string()))
                })))
            }
            Run::Open(run) => {
                let run = Arc::clone(run);
                let begin = self.begin(request, context, move |call| run(call, &arguments));
                Ok(Reply::Open(begin))
            }
            Run::Late(run) => {
                let run = Arc::clone(run);
                let begin = self.begin(request, context, move |call| run(call, &arguments));
                Ok(late(request.params, begin))
            }
        }
    }
}

impl Modern {
    /// Checks that a client that wants to hear of tasks declares that it takes them.
    fn check_listener(&self, params: Option<&RawValue>) -> Result<(), Refusal> {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let params: Map<String, Value> = params.unwrap_or_default();
        let asked = params.get("notifications").and_then(Value::as_object);
        if self.tasks.is_empty() || !asked.is_some_and(watch::is_asked_for) {
            return Ok(());
        }
        let checked = capabilities::check(&params, CAPABILITY);
        checked.map_err(|error| Refusal(Status::BadRequest, error))
    }

    /// Returns a method of the extension, where that is served.
    fn task_method(&self, method: &str) -> Option<Method> {
        Method::from_word(method).filter(|_| !self.tasks.is_empty())
    }

    /// Begins a call that says more than its result, or takes several rounds.
    fn begin(
        &self,
        request: &Request<'_>,
        context: Context<'_>,
        run: impl FnOnce(Call) + Send + 'static,
    ) -> Begin {
        let (request, caller) = (OwnedRequest::of(request), context.caller.clone());
        let (backend, clock) = (Arc::clone(&self.backend), Arc::clone(&self.clock));
        Box::new(move |channel| {
            let OwnedRequest { id, method, params } = request;
            let stream = Stream::new(channel, None);
            let call =
                Call::new(Dialect::Modern, caller.clone(), id, params.as_deref(), stream, None);
            // The store may have to be asked, so not before.
            match Rounds::open(&method, call.params(), caller, backend, clock) {
                Ok(rounds) => run(call.with_rounds(rounds)),
                Err(error) => call.fail(error),
            }
        })
    }
}

/// A request for as long as it takes.
struct OwnedRequest {
    id: Id,
    method: String,
    params: Option<Box<RawValue>>,
}

impl OwnedRequest {
    fn of(request: &Request<'_>) -> Self {
        let (id, method) = (request.id.clone(), request.method.clone().into_owned());
        Self { id, method, params: owned(request.params) }
    }
}

/// Checks that the client has declared what a tool needs.
fn check_client(needs: Option<Capability>, params: Option<&RawValue>) -> Result<(), Refusal> {
    let Some(capability) = needs else { return Ok(()) };
    let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
    let checked = capabilities::check(&params.unwrap_or_default(), capability);
    checked.map_err(|error| Refusal(Status::BadRequest, error))
}

fn owned(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    params.map(ToOwned::to_owned)
}

fn ready(id: &Id, result: &str) -> Reply {
    Answer::message(Status::Ok, rpc::result(id, result)).into()
}

fn finished(id: &Id, result: ToolResult) -> Reply {
    let result = Dialect::Modern.complete(result.to_value(Dialect::Modern));
    ready(id, &result.to_string())
}

/// A request that was understood and cannot be done has the status of an answer.
fn in_band(error: Error) -> Refusal {
    Refusal(Status::Ok, error)
}

fn capabilities() -> Value {
    #[cfg(feature = "fixture")]
    return crate::mcp::fixture::modern_capabilities();
    #[cfg(not(feature = "fixture"))]
    json!({ "tools": {} })
}
