//! MCP over HTTP: what the protocol says becomes statuses, headers and streams of events. What it means is decided in
//! `mcp`, which knows nothing of this.

mod channel;

use std::borrow::Cow;
use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::header::{ACCEPT, ALLOW, CONTENT_ENCODING, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};

use crate::api::McpStatus;
use crate::auth::access_token::Scope;
use crate::http::gate::{self, Authorized, Challenge, Gate};
use crate::http::long_lived::{LongLived, NoRoom};
use crate::http::message::{Answer, Head, Request, Response, Work};
use crate::http::{caller, error, json};
use crate::mcp::era::Header;
use crate::mcp::rpc;
use crate::mcp::stream::Channel;
use crate::mcp::{self, Begin, Headers, SESSION_HEADER, Server, Status};
use crate::metrics::Counted;
use crate::runtime::keyed_semaphore::{KeyedPermit, KeyedSemaphore};
use crate::runtime::mutex::lock;
use crate::runtime::semaphore::{Permit, Semaphore};
use channel::{Beginning, EventChannel, LateChannel, event};

const EVENTS: &str = "text/event-stream";
/// The last event of a stream when the server stops: a client comes back after a second, when another one may be there.
const LAST: &str = "retry: 1000\n\n";

/// One owner of tokens has at most one of so many shares of the streams.
const SHARES: usize = 4;

/// What a client is told that takes no stream where the answer is one.
const STREAM: &str = "the answer is a stream: accept text/event-stream";

/// The protocol behind `/mcp`.
pub struct McpEndpoint {
    server: Arc<Server>,
    /// A permit for each stream.
    streams: Semaphore,
    /// The same for each owner of tokens.
    streams_of: KeyedSemaphore<String>,
    streams_max: usize,
    /// Longest message, in bytes.
    pub(super) body_bytes_max: usize,
}

impl McpEndpoint {
    /// Returns the endpoint of a server, with at most so many streams and messages of so many bytes.
    #[must_use]
    pub fn new(server: Arc<Server>, streams_max: usize, body_bytes_max: usize) -> Self {
        let (streams, streams_of) = (Semaphore::new(streams_max), KeyedSemaphore::default());
        Self { server, streams, streams_of, streams_max, body_bytes_max }
    }

    /// Says whether a tool needs a token with this scope.
    #[must_use]
    pub fn needs(&self, scope: Scope) -> bool {
        self.server.needs(scope)
    }

    /// Ends idle sessions, and lets go of streams whose clients have gone.
    pub fn sweep(&self) {
        self.server.sweep();
    }

    /// Ends everything that lasts, so that no client waits for it.
    pub fn stop(&self) {
        self.server.stop();
    }

    /// Takes a permit for a stream. When there is none, streams whose clients have gone are looked for.
    fn stream_permit(&self, caller: &mcp::Caller) -> Option<StreamPermit> {
        // Without tokens, callers cannot be told apart.
        let is_known = !caller.subject.is_empty();
        let own_max = if is_known { self.streams_max.div_ceil(SHARES) } else { self.streams_max };
        let take = || {
            // If the second permit cannot be had, `?` drops the first one, which gives it back.
            let own = self.streams_of.take(caller.subject.clone(), own_max)?;
            let of_all = self.streams.take(Duration::ZERO)?;
            let counted = self.server.metrics().mcp_streams.count();
            Some(StreamPermit { _own: own, _of_all: of_all, _counted: counted })
        };
        take().or_else(|| {
            // A stream whose client has gone holds its permit until a send fails or a sweep detaches it.
            self.server.sweep();
            take()
        })
    }
}

/// The right to a stream, for as long as it lasts.
struct StreamPermit {
    _own: KeyedPermit<String>,
    _of_all: Permit,
    _counted: Counted,
}

/// Returns the media type and the body of what the gate refuses. It has no id, because no message was read
/// (`docs/decisions/48-mcp-refusal-ids.md`).
#[must_use]
pub fn describe(refused: &gate::Refused) -> (&'static str, Vec<u8>) {
    let error = rpc::Error::new(rpc::Code::InvalidRequest, refused.to_string());
    (json::MEDIA_TYPE, error.to_message().into_bytes())
}

/// Tells how the protocol is set up, and by which headers of proxies requests arrive.
pub(super) fn status(status: &McpStatus, gate: Option<&Gate>) -> Response {
    let names = gate.and_then(Gate::last_forwarded);
    let forwarding_headers = names.map(|names| names.map(Cow::Borrowed).collect());
    let status = McpStatus { forwarding_headers, ..status.clone() };
    json::answer(StatusCode::OK, &status)
}

pub(super) fn post(
    endpoint: &Arc<McpEndpoint>,
    authorized: Option<Authorized<'_>>,
    request: &Request,
) -> Work {
    let head = &request.head;
    if !is_json(head) {
        let message = "a message is sent as application/json in UTF-8, without a content encoding";
        // What is encoded is not JSON, whatever it looks like.
        let is_encoded = head.headers.contains_key(CONTENT_ENCODING);
        let json = if is_encoded { &[][..] } else { &request.body };
        return refuse(endpoint, Status::UnsupportedMediaType, message, json);
    }
    let accepts = Accepts::read(head);
    if !accepts.json && !accepts.events {
        let message = "answers are application/json or text/event-stream";
        return refuse(endpoint, Status::NotAcceptable, message, &request.body);
    }
    handle(endpoint, authorized, request, accepts, |server, context| {
        server.post(&request.body, context)
    })
}

pub(super) fn get(
    endpoint: &Arc<McpEndpoint>,
    authorized: Option<Authorized<'_>>,
    request: &Request,
) -> Work {
    // A GET is answered by a stream or refused; that the client takes JSON changes nothing.
    let accepts = Accepts { json: false, ..Accepts::read(&request.head) };
    handle(endpoint, authorized, request, accepts, Server::get)
}

pub(super) fn delete(
    endpoint: &Arc<McpEndpoint>,
    authorized: Option<Authorized<'_>>,
    request: &Request,
) -> Work {
    handle(endpoint, authorized, request, Accepts { json: true, events: false }, Server::delete)
}

fn handle(
    endpoint: &Arc<McpEndpoint>,
    authorized: Option<Authorized<'_>>,
    request: &Request,
    accepts: Accepts,
    ask: impl FnOnce(&Server, mcp::Context<'_>) -> mcp::Reply,
) -> Work {
    let caller = caller::of(authorized, request.head.peer);
    let headers = HttpHeaders(&request.head.headers);
    let session = headers.get(SESSION_HEADER);
    match ask(&endpoint.server, mcp::Context { caller: &caller, session, headers: Some(&headers) })
    {
        mcp::Reply::Ready(answer) => {
            let scope = answer.scope;
            Work::Done(challenged(response(answer, accepts), scope, authorized).into())
        }
        // Without a challenge: scopes are compared before work is handed out, so this answer never refuses one.
        mcp::Reply::Blocking(run) => Work::blocking(move |_| response(run(), accepts).into()),
        mcp::Reply::Stream(_) if !accepts.events => {
            refuse(endpoint, Status::NotAcceptable, STREAM, &request.body)
        }
        mcp::Reply::Late(begin) if accepts.json => {
            // The only message is the answer, so a client that takes JSON needs no stream
            // (docs/decisions/75-relay-tools.md).
            let accepts = Accepts { events: false, ..accepts };
            begun(endpoint, caller, accepts, begin)
        }
        mcp::Reply::Open(begin) | mcp::Reply::Late(begin) | mcp::Reply::Stream(begin) => {
            begun(endpoint, caller, accepts, begin)
        }
    }
}

/// Lets the server use a channel to the client, on a thread that may block.
fn begun(endpoint: &Arc<McpEndpoint>, caller: mcp::Caller, accepts: Accepts, begin: Begin) -> Work {
    let endpoint = Arc::clone(endpoint);
    Work::blocking(move |request| {
        open(&endpoint, &caller, request, accepts, begin).unwrap_or_else(|NoRoom| {
            let message = "the maximum number of streams is open; try later";
            let refused = endpoint.server.refuse(Status::Unavailable, message, &request.body);
            response(refused, accepts).into()
        })
    })
}

/// Opens a channel to the client and lets the server use it. A client that takes no events gets the last message alone.
fn open(
    endpoint: &McpEndpoint,
    caller: &mcp::Caller,
    request: &Request,
    accepts: Accepts,
    begin: impl FnOnce(Box<dyn Channel>),
) -> Result<Answer, NoRoom> {
    // Absent on the control socket alone, where no route of MCP is.
    let long_lived: &LongLived = request.long_lived.as_ref().ok_or(NoRoom)?;
    let permit = endpoint.stream_permit(caller).ok_or(NoRoom)?;
    if accepts.events {
        let (sender, events) = long_lived.events(LAST)?;
        let beginning = Arc::new(Mutex::new(Beginning::Open));
        let said = Arc::clone(&beginning);
        begin(Box::new(EventChannel { sender, beginning: said, _permit: permit }));
        // From here on a refusal can only be an event: the head of the answer is fixed.
        let begun = mem::replace(&mut *lock(&beginning), Beginning::Stream);
        Ok(match begun {
            Beginning::Refused(refusal) => refusal.into(),
            Beginning::Open | Beginning::Stream => Response::events(events).into(),
        })
    } else {
        let (sender, late) = long_lived.late()?;
        begin(Box::new(LateChannel { sender: Mutex::new(Some(sender)), _permit: permit }));
        Ok(Answer::Late(late))
    }
}

/// What a client takes.
#[derive(Clone, Copy)]
struct Accepts {
    json: bool,
    events: bool,
}

impl Accepts {
    /// Reads `Accept`. Clients are not strict about it, so whatever does not exclude a form allows it.
    fn read(head: &Head) -> Self {
        let mut accepts = Self { json: false, events: false };
        let values = head.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let mut is_empty = true;
        for range in values.flat_map(|value| value.split(',')) {
            is_empty = false;
            let (range, parameters) = range.split_once(';').unwrap_or((range, ""));
            let is_excluded = parameters.split(';').any(|it| {
                let weight = it.trim().strip_prefix("q=").and_then(|it| it.parse::<f32>().ok());
                // RFC 9110, section 12.4.2: a weight of 0 means "not acceptable".
                weight == Some(0.0)
            });
            match range.trim().to_ascii_lowercase().as_str() {
                _ if is_excluded => {}
                "*/*" => accepts = Self { json: true, events: true },
                json::MEDIA_TYPE | "application/*" => accepts.json = true,
                EVENTS | "text/*" => accepts.events = true,
                _ => {}
            }
        }
        // RFC 9110, section 12.5.1: without the header every media type is acceptable.
        if is_empty { Self { json: true, events: true } } else { accepts }
    }
}

/// Says whether the body is declared as JSON in the only encoding that JSON has.
fn is_json(head: &Head) -> bool {
    let declared = head.single(&http::header::CONTENT_TYPE).unwrap_or_default();
    let charset = declared.split(';').skip(1).filter_map(|it| it.trim().split_once('='));
    let mut charsets = charset.filter(|(name, _)| name.eq_ignore_ascii_case("charset"));
    head.is_of_type(json::MEDIA_TYPE)
        && charsets.all(|(_, value)| value.trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

fn response(answer: mcp::Answer, accepts: Accepts) -> Response {
    let status = status_code(answer.status);
    let response = match answer.message {
        // A refusal is JSON in any case: clients read events only from an answer with status 200.
        Some(message) if accepts.json || answer.status != Status::Ok => {
            Response::new(status, json::MEDIA_TYPE, message)
        }
        // The client takes events alone, so the message is the only one.
        Some(message) => Response::new(status, EVENTS, event(&message, None)),
        None => Response::empty(status),
    };
    let response = match answer.status {
        Status::MethodNotAllowed => response.with(ALLOW, HeaderValue::from_static("POST, OPTIONS")),
        Status::Unavailable => error::retry_later(response),
        _ => response,
    };
    match answer.session.map(HeaderValue::try_from) {
        Some(Ok(session)) => response.with(HeaderName::from_static(SESSION_HEADER), session),
        _ => response,
    }
}

const fn status_code(status: Status) -> StatusCode {
    match status {
        Status::Ok => StatusCode::OK,
        Status::Accepted => StatusCode::ACCEPTED,
        Status::Ended => StatusCode::NO_CONTENT,
        Status::BadRequest => StatusCode::BAD_REQUEST,
        Status::Forbidden => StatusCode::FORBIDDEN,
        Status::NotFound => StatusCode::NOT_FOUND,
        Status::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Status::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Status::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Status::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Returns an answer with how its client comes by a token that has the scope it lacks.
fn challenged(
    response: Response,
    scope: Option<Scope>,
    authorized: Option<Authorized<'_>>,
) -> Response {
    match (scope, authorized) {
        (Some(scope), Some(Authorized { rules, .. })) => {
            let challenge = rules.challenge(Challenge::InsufficientScope(scope));
            response.with(WWW_AUTHENTICATE, challenge)
        }
        _ => response,
    }
}

/// Refuses a request before its message is looked at. `json` is the message, if it may be one.
fn refuse(endpoint: &McpEndpoint, status: Status, message: &'static str, json: &[u8]) -> Work {
    let accepts = Accepts { json: true, events: false };
    Work::Done(response(endpoint.server.refuse(status, message, json), accepts).into())
}

/// Headers of HTTP, each as the protocol may read it.
struct HttpHeaders<'a>(&'a HeaderMap);

impl Headers for HttpHeaders<'_> {
    fn get(&self, name: &str) -> Header<'_> {
        let mut values = self.0.get_all(name).iter();
        let Some(value) = values.next() else { return Header::Absent };
        let text = value.to_str().ok().map(str::trim).filter(|text| !text.is_empty());
        match text {
            Some(text) if values.next().is_none() => Header::Is(text),
            _ => Header::Unreadable,
        }
    }
}
