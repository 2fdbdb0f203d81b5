//! A request and a response as plain values. The two servers make the one and send the other;
//! handlers know neither server.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use crate::http::long_lived::{Events, Late, LongLived, NoRoom, WebSocket};

/// Tells nginx to pass on each part of an answer as it comes.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

words! {
    /// Which listener a request came through.
    Surface {
        /// The Unix socket of the operators on this machine.
        Control => "control",
        /// The operator's TCP address; off unless configured.
        Operator => "operator",
        /// The TCP address strangers reach through a TLS proxy.
        Public => "public",
    }
}

/// Everything of a request but its body.
#[derive(Clone)]
pub struct Head {
    /// The listener.
    pub surface: Surface,
    /// Method as sent.
    pub method: Method,
    /// Path as sent: starts with `/`, not decoded, without the query.
    pub path: String,
    /// Query as sent, without the `?`; `None` when there was none.
    pub query: Option<String>,
    /// Headers as sent, exactly one `Host` among them.
    pub headers: HeaderMap,
    /// Whom it is charged to, behind trusted proxies too: the client's address, the /64 of an IPv6
    /// address; `None` on the Unix socket.
    pub peer: Option<IpAddr>,
}

/// Shown without what may be a secret or a tenant's content: query and headers.
impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { surface, method, path, .. } = self;
        write!(f, "{method} {path} on {}", surface.as_str())
    }
}

impl Head {
    /// Returns the value of a header that must stand exactly once and be visible ASCII.
    #[must_use]
    pub fn single(&self, name: &HeaderName) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    }

    /// Says whether the body is declared as this media type, with any parameters and as it is: without a
    /// content encoding.
    #[must_use]
    pub fn is_of_type(&self, media_type: &str) -> bool {
        let declared = self.single(&CONTENT_TYPE).unwrap_or_default();
        let essence = declared.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case(media_type) && !self.headers.contains_key(CONTENT_ENCODING)
    }
}

/// A whole request.
pub struct Request {
    /// Everything but the body.
    pub head: Head,
    /// The whole body, within the limit its route allows.
    pub body: Vec<u8>,
    /// What makes answers that outlast the handler; nothing on the control socket, which has none.
    pub long_lived: Option<LongLived>,
}

/// Shown without the body.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} bytes", self.head, self.body.len())
    }
}

/// What a handler answers with.
#[derive(Debug)]
pub enum Answer {
    Ready(Response),
    /// One that is handed in later.
    Late(Late<Response>),
}

impl From<Response> for Answer {
    fn from(response: Response) -> Self {
        Self::Ready(response)
    }
}

/// An answer's head, and what follows it.
pub struct Response {
    pub status: StatusCode,
    /// Headers; the servers add `Content-Length` and `Date`.
    pub headers: HeaderMap,
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// All of its bytes.
    Whole(Vec<u8>),
    /// Events, one after another.
    Events(Events),
    /// None: with this answer, whose status is 101, the connection becomes a WebSocket.
    WebSocket(WebSocket),
}

impl Body {
    /// Returns its bytes, as far as they are there: none of a stream.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Events(_) | Self::WebSocket(_) => &[],
        }
    }
}

/// Shown without headers and body.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.status, self.body)
    }
}

/// Shown by its kind and length.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Events(_) => f.write_str("events"),
            Self::WebSocket(_) => f.write_str("a WebSocket"),
        }
    }
}

impl Response {
    /// Returns an answer with a body of a media type.
    #[must_use]
    pub fn new(status: StatusCode, media_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: Body::Whole(body.into()), ..Self::empty(status) }
            .with(CONTENT_TYPE, HeaderValue::from_static(media_type))
    }

    /// Returns a stream of server-sent events, which no proxy should hold back.
    #[must_use]
    pub fn events(events: Events) -> Self {
        Self { body: Body::Events(events), ..Self::empty(StatusCode::OK) }
            .with(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"))
            // A proxy that compresses a stream collects events first.
            .with(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"))
            .with(BUFFERING, HeaderValue::from_static("no"))
    }

    /// Returns an answer without a body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Body::Whole(Vec::new()) }
    }

    /// Returns the answer with one more header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }
}

/// What the servers serve.
pub trait Service: Send + Sync + 'static {
    /// Decides from the head alone whether the request may have an answer of its handler. Quick, and
    /// never blocks.
    ///
    /// # Errors
    /// The answer to send instead of reading on.
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>>;

    /// Returns the largest body that any request with this method may have on a surface. One with a
    /// larger body is refused, whatever else it is.
    fn body_max(&self, surface: Surface, method: &Method) -> usize;

    /// Answers what went wrong with a request before it could be handled.
    fn refuse(&self, refusal: Refusal) -> Response;

    /// Hears the status of each answer, once. Called by the server, which alone knows that status: an answer of a
    /// handler may be replaced by a refusal.
    fn answered(&self, _surface: Surface, _status: StatusCode) {}
}

/// A request that was admitted, with everything that was decided about it: to answer it, nothing is
/// looked up or checked again.
pub struct Admitted {
    head: Head,
    body_max: usize,
    begin: Box<dyn FnOnce(&Request) -> Work + Send>,
    way_out: Option<Arc<dyn WayOut>>,
}

/// What every answer to a request passes that has one, wherever it was made.
pub trait WayOut: Send + Sync {
    /// Answers what a server found wrong by itself, or what took too long.
    fn refuse(&self, refusal: Refusal) -> Response;

    /// Puts on an answer what all of them carry.
    fn finish(&self, response: Response) -> Response;
}

impl Admitted {
    /// Returns an admitted request whose body has at most `body_max` bytes. The handler may block.
    #[must_use]
    pub fn new<A: Into<Answer>>(
        head: Head,
        body_max: usize,
        handler: impl FnOnce(&Request) -> A + Send + 'static,
    ) -> Self {
        Self::prompt(head, body_max, |_| Work::blocking(|request| handler(request).into()))
    }

    /// Returns an admitted request that is begun without a thread of its own: `begin` never blocks, and answers or says
    /// what is left to do.
    #[must_use]
    pub fn prompt(
        head: Head,
        body_max: usize,
        begin: impl FnOnce(&Request) -> Work + Send + 'static,
    ) -> Self {
        Self { head, body_max, begin: Box::new(begin), way_out: None }
    }

    /// Has all answers to the request pass a way out.
    #[must_use]
    pub fn through(self, way_out: Arc<dyn WayOut>) -> Self {
        Self { way_out: Some(way_out), ..self }
    }

    /// Returns the way out that all answers pass, if there is one.
    #[must_use]
    pub fn way_out(&self) -> Option<Arc<dyn WayOut>> {
        self.way_out.clone()
    }

    /// Returns the listener that the request came through.
    #[must_use]
    pub const fn surface(&self) -> Surface {
        self.head.surface
    }

    /// Returns the most bytes that the body may have.
    #[must_use]
    pub const fn body_max(&self) -> usize {
        self.body_max
    }

    /// Begins the request: returns it with its answer, or with what is left to do. Never blocks.
    #[must_use]
    pub fn begin(self, body: Vec<u8>, long_lived: Option<LongLived>) -> (Request, Work) {
        let request = Request { head: self.head, body, long_lived };
        let work = (self.begin)(&request);
        (request, work)
    }

    /// Answers the request. May block; never runs on the async threads.
    #[must_use]
    pub fn answer(self, body: Vec<u8>, long_lived: Option<LongLived>) -> Answer {
        let (request, work) = self.begin(body, long_lived);
        work.finish(&request)
    }
}

/// What is to be done for a request.
pub enum Work {
    /// Nothing more.
    Done(Answer),
    /// Something that may block.
    Blocking(Box<dyn FnOnce(&Request) -> Answer + Send>),
}

impl Work {
    /// Returns work that may block.
    #[must_use]
    pub fn blocking(work: impl FnOnce(&Request) -> Answer + Send + 'static) -> Self {
        Self::Blocking(Box::new(work))
    }

    /// Does it, and returns the answer.
    #[must_use]
    pub fn finish(self, request: &Request) -> Answer {
        match self {
            Self::Done(answer) => answer,
            Self::Blocking(work) => work(request),
        }
    }
}

/// Shown as its head is.
impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, at most {} bytes", self.head, self.body_max)
    }
}

/// Why a server answers a request itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request cannot be read as one (400).
    BadRequest,
    /// The body has a transfer encoding instead of a length (411).
    LengthRequired,
    /// The body did not arrive in time (408).
    Timeout,
    /// The body is larger than its route allows (413).
    PayloadTooLarge,
    /// The route is only for WebSockets (426).
    UpgradeRequired,
    /// The handler panicked (500).
    Internal,
    /// Too many requests are under way (503).
    Overloaded,
}

impl From<NoRoom> for Refusal {
    fn from(_: NoRoom) -> Self {
        Self::Overloaded
    }
}
