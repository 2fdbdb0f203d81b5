//! The legacy era: a session begins with `initialize`, and every other message belongs to one.

mod sessions;
mod streams;

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::auth::access_token::Scope;
use crate::json::Object;
use crate::mcp::call::Call;
use crate::mcp::era::{self, Header};
use crate::mcp::result::{Dialect, server_info};
use crate::mcp::revision;
use crate::mcp::rpc::{self, Code, Error, Id, Incoming, Message, Request};
use crate::mcp::stream::Position;
use crate::mcp::tools::{Called, Run, Tools, check_first_page};
use crate::mcp::{
    Answer, Begin, Caller, Context, LAST_EVENT_HEADER, Reply, Status, VERSION_HEADER, late,
};
use sessions::Session;

pub use sessions::{Limits, Sessions};

/// Answers messages of sessions.
pub struct LegacyServer {
    tools: Arc<Tools>,
    /// Answers to `tools/list`, one for each revision.
    lists: Vec<(revision::Legacy, String)>,
    offered: revision::Legacy,
    instructions: &'static str,
    sessions: Arc<Sessions>,
}

/// What answers a call in its own time.
type OpenCall = Box<dyn FnOnce(Call) + Send>;

/// The answer to a request, or who will give it.
enum Done {
    Now(Result<String, Error>),
    Blocking(Box<dyn FnOnce() -> String + Send>),
    Open(OpenCall),
    Late(OpenCall),
    Forbidden(Scope),
}

impl LegacyServer {
    pub(super) fn new(
        tools: Arc<Tools>,
        offered: revision::Legacy,
        instructions: &'static str,
        sessions: Arc<Sessions>,
    ) -> Self {
        let list = |revision: &revision::Legacy| {
            let list = json!({ "tools": tools.list(Dialect::Legacy(*revision)) });
            (*revision, list.to_string())
        };
        let lists = revision::Legacy::ALL.iter().map(list).collect();
        Self { tools, lists, offered, instructions, sessions }
    }

    pub(super) fn post(&self, incoming: Incoming<'_>, context: Context<'_>) -> Reply {
        match incoming {
            Incoming::One(Message::Request(request)) if request.method == "initialize" => {
                self.initialize(&request, context).into()
            }
            Incoming::One(message) => match self.session(context) {
                Ok(session) => self.message(message, &session, context.caller),
                Err((status, error)) => {
                    let id = message.request_id().cloned();
                    Answer::error(status, &Error { id, ..error }).into()
                }
            },
            Incoming::Batch(batch) => match self.session(context) {
                Ok(session) => self.batch(batch, &session, context.caller),
                Err((status, error)) => Answer::error(status, &error).into(),
            },
        }
    }

    /// Opens the stream of a session, or goes on with one that broke.
    pub(super) fn get(&self, context: Context<'_>) -> Reply {
        let session = match self.session(context) {
            Ok(session) => session,
            Err((status, error)) => return Answer::error(status, &error).into(),
        };
        let resumed = match context.header(LAST_EVENT_HEADER) {
            Header::Is(event_id) if session.revision.has_resumption() => Position::read(event_id)
                .and_then(|position| Some((session.stream(position.stream)?, position)))
                // A client that has everything waits for what the session hears.
                .filter(|(stream, position)| stream.has_more(*position)),
            _ => None,
        };
        Reply::Stream(Box::new(move |channel| match resumed {
            Some((stream, position)) => {
                stream.resume(position, channel);
                session.forget_finished();
            }
            None => session.open_standalone(channel),
        }))
    }

    /// Ends a session.
    pub(super) fn delete(&self, context: Context<'_>) -> Answer {
        match self.session(context) {
            Ok(session) => {
                self.sessions.remove(&session.id);
                Answer::empty(Status::Ended)
            }
            Err((status, error)) => Answer::error(status, &error),
        }
    }

    fn initialize(&self, request: &Request<'_>, context: Context<'_>) -> Answer {
        let refuse = |status, error: Error| Answer::error(status, &error.of(&request.id));
        if context.session != Header::Absent {
            return match self.session(context) {
                Ok(_) => refuse(
                    Status::BadRequest,
                    Error::new(Code::InvalidRequest, "this session has begun already"),
                ),
                Err((status, error)) => refuse(status, error),
            };
        }
        let Some(wanted) = request.params.and_then(wanted_version) else {
            let message = "initialize needs protocolVersion, a string, capabilities, an object, and clientInfo \
                           with name and version, each once";
            return refuse(Status::BadRequest, Error::new(Code::InvalidParams, message));
        };
        // The legacy revisions ask for a counter-offer; the client decides whether it goes on with that.
        let revision = revision::Legacy::from_word(&wanted).unwrap_or(self.offered);
        let Some(session) = self.sessions.begin(context.caller, revision) else {
            let error =
                Error::new(Code::Internal, "there is no room for another session; try later");
            return refuse(Status::Unavailable, error);
        };
        let result = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities(),
            "serverInfo": server_info(),
            "instructions": self.instructions,
        });
        let message = rpc::result(&request.id, &result.to_string());
        Answer { session: Some(session.id.clone()), ..Answer::message(Status::Ok, message) }
    }

    /// Returns the session of a message.
    fn session(&self, context: Context<'_>) -> Result<Arc<Session>, (Status, Error)> {
        let Header::Is(id) = context.session else {
            let message = "the header Mcp-Session-Id is missing; start with initialize";
            return Err((Status::BadRequest, Error::new(Code::InvalidRequest, message)));
        };
        let session = self.sessions.find(id, context.caller).ok_or_else(|| {
            let message = "there is no such session, or it has ended; start again with initialize";
            (Status::NotFound, Error::new(Code::InvalidRequest, message))
        })?;
        match context.header(VERSION_HEADER) {
            Header::Is(version) if version != session.revision.as_str() => {
                let data = json!({
                    "supported": [session.revision.as_str()], "requested": era::repeated(version),
                });
                let message = "MCP-Protocol-Version is not the version of this session";
                Err((Status::BadRequest, Error::new(Code::InvalidParams, message).with(data)))
            }
            // Revisions before 2025-06-18 have no such header.
            _ => Ok(session),
        }
    }

    fn message(&self, message: Message<'_>, session: &Arc<Session>, caller: &Caller) -> Reply {
        let Message::Request(request) = message else {
            take_in(&message, session);
            return Answer::empty(Status::Accepted).into();
        };
        let id = request.id.clone();
        match self.request(&request, session, caller) {
            Done::Now(done) => Answer::message(Status::Ok, written(&id, done)).into(),
            Done::Blocking(run) => {
                let in_use = session.in_use();
                Reply::Blocking(Box::new(move || {
                    let result = run();
                    drop(in_use);
                    Answer::message(Status::Ok, rpc::result(&id, &result))
                }))
            }
            Done::Open(run) => Reply::Open(begin(&request, session, caller, run)),
            Done::Late(run) => late(request.params, begin(&request, session, caller, run)),
            Done::Forbidden(scope) => Answer::forbidden(Some(id), scope).into(),
        }
    }

    /// Answers the requests of a batch together, one after another. The token must allow all of them: there is one
    /// status, and a client that gets a better token sends the batch again.
    fn batch(
        &self,
        batch: Vec<Result<Message<'_>, Error>>,
        session: &Arc<Session>,
        caller: &Caller,
    ) -> Reply {
        if !session.revision.has_batches() {
            let message = "a message must not be an array in this version of the protocol";
            let error = Error::new(Code::InvalidRequest, message);
            return Answer::error(Status::BadRequest, &error).into();
        }
        type Part = Box<dyn FnOnce() -> String + Send>;
        let mut parts: Vec<Part> = Vec::new();
        let mut others = Vec::new();
        for message in batch {
            match message {
                Ok(Message::Request(request)) => {
                    let id = request.id.clone();
                    parts.push(match self.request(&request, session, caller) {
                        Done::Now(done) => Box::new(move || written(&id, done)),
                        Done::Blocking(run) => Box::new(move || rpc::result(&id, &run())),
                        Done::Open(_) | Done::Late(_) => {
                            let message =
                                "this tool sends more than one result; do not call it in a batch";
                            let error = Error::new(Code::InvalidRequest, message).of(&id);
                            Box::new(move || error.to_message())
                        }
                        Done::Forbidden(scope) => return Answer::forbidden(None, scope).into(),
                    });
                }
                Ok(other) => others.push(other),
                Err(error) => parts.push(Box::new(move || error.to_message())),
            }
        }
        // After all requests were looked at: a batch that is refused as a whole must have no effect.
        for other in others {
            take_in(&other, session);
        }
        if parts.is_empty() {
            return Answer::empty(Status::Accepted).into();
        }
        let in_use = session.in_use();
        Reply::Blocking(Box::new(move || {
            let answers: Vec<String> = parts.into_iter().map(|part| part()).collect();
            drop(in_use);
            Answer::message(Status::Ok, format!("[{}]", answers.join(",")))
        }))
    }

    fn request(&self, request: &Request<'_>, session: &Session, caller: &Caller) -> Done {
        let dialect = Dialect::Legacy(session.revision);
        match request.method.as_ref() {
            "initialize" => {
                let message = "initialize must not be part of a batch, and must be sent only once";
                Done::Now(Err(Error::new(Code::InvalidRequest, message)))
            }
            "ping" => Done::Now(Ok("{}".to_owned())),
            "tools/list" => Done::Now(self.list(request.params, session)),
            "tools/call" => match self.tools.call(request.params, caller) {
                Err(error) => Done::Now(Err(error)),
                Ok(Called::Forbidden(scope)) => Done::Forbidden(scope),
                Ok(Called::Done(result)) => Done::Now(Ok(result.to_value(dialect).to_string())),
                Ok(Called::Run(tool, arguments)) => run(&tool.run, caller, arguments, dialect),
            },
            #[cfg(feature = "fixture")]
            method if crate::mcp::fixture::has(method, dialect) => {
                let method = method.to_owned();
                Done::Open(Box::new(move |call| crate::mcp::fixture::answer(&method, call)))
            }
            _ => {
                let message = "there is no such method in this version of the protocol";
                Done::Now(Err(Error::new(Code::MethodNotFound, message)))
            }
        }
    }

    fn list(&self, params: Option<&RawValue>, session: &Session) -> Result<String, Error> {
        check_first_page(params)?;
        let list = self.lists.iter().find(|(revision, _)| *revision == session.revision);
        Ok(list.map(|(_, list)| list.clone()).unwrap_or_default())
    }
}

fn run(run: &Run, caller: &Caller, arguments: Map<String, Value>, dialect: Dialect) -> Done {
    match run {
        Run::Prompt(run) => Done::Now(Ok(run(&arguments).to_value(dialect).to_string())),
        Run::Blocking(run) => {
            let (run, caller) = (Arc::clone(run), caller.clone());
            Done::Blocking(Box::new(move || run(&caller, &arguments).to_value(dialect).to_string()))
        }
        Run::Open(run) => {
            let run = Arc::clone(run);
            Done::Open(Box::new(move |call| run(call, &arguments)))
        }
        Run::Late(run) => {
            let run = Arc::clone(run);
            Done::Late(Box::new(move |call| run(call, &arguments)))
        }
    }
}

/// Returns the version that the parameters of `initialize` ask for, if they are complete.
fn wanted_version(params: &RawValue) -> Option<String> {
    let names = ["protocolVersion", "capabilities", "clientInfo"];
    let params = Object::read_members(params.get().as_bytes(), &names).ok()?;
    params.object("capabilities").ok()?;
    let client = params.object("clientInfo").ok()?;
    client.member::<String>("name").and(client.member::<String>("version"))?;
    params.member("protocolVersion")
}

/// Returns what begins a call that is answered through a channel.
fn begin(request: &Request<'_>, session: &Arc<Session>, caller: &Caller, run: OpenCall) -> Begin {
    let (id, params) = (request.id.clone(), request.params.map(ToOwned::to_owned));
    let (session, caller) = (Arc::clone(session), caller.clone());
    Box::new(move |channel| {
        let Some(stream) = session.open(&id, channel) else { return };
        let asks = Some(Arc::clone(&session.asks));
        let dialect = Dialect::Legacy(session.revision);
        run(Call::new(dialect, caller, id, params.as_deref(), stream, asks));
        session.forget_finished();
    })
}

/// Takes in what has no answer.
fn take_in(message: &Message<'_>, session: &Session) {
    match message {
        Message::Request(_) => {}
        Message::Notification(notification) => {
            if let Some(id) = notification.cancelled_request() {
                session.cancel(&id);
            }
        }
        Message::Response(response) => session.asks.answer(response),
    }
}

fn written(id: &Id, done: Result<String, Error>) -> String {
    match done {
        Ok(result) => rpc::result(id, &result),
        Err(error) => error.of(id).to_message(),
    }
}

fn capabilities() -> Value {
    #[cfg(feature = "fixture")]
    return crate::mcp::fixture::legacy_capabilities();
    #[cfg(not(feature = "fixture"))]
    json!({ "tools": {} })
}
