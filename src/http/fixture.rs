//! Answers that outlast their handlers, for tests and benchmarks of the server. Behind the feature `fixture`,
//! which nothing that is installed has.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderValue, Method, StatusCode};

use crate::auth::access_token::Scope;
use crate::http::gate::{Authorized, Caller, Gate, GateRules, Refused, TokenRules, Tokens};
use crate::http::long_lived::{Close, LateSender, LongLived, Message, Sender, Session, Terms};
use crate::http::message::{
    Admitted, Answer, Head, Refusal, Request, Response, Service, Surface, Work,
};
use crate::http::web_socket::Handshake;
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;
use crate::runtime::rate_limiter::Rate;
use crate::runtime::thread;

const PREFIX: &str = "/fixture/";
/// It stands in the table of routes, behind [`gate`].
const GATED: &str = "/fixture/gated";
/// Longest message a socket takes in.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// The same once a session is told to be strict.
const STRICT_BYTES_MAX: usize = 16 << 10;
/// From one event of a stream that ticks to its next.
const TICK: Duration = Duration::from_secs(1);
/// Bytes of an event of a flood: its queue full of them is more than systems keep between two processes.
const FLOOD_BYTES: usize = 1 << 20;
/// How long a session takes that is told to wait.
const WAIT: Duration = Duration::from_secs(2);
/// The last event of a stream that the server ends.
const LAST: &str = "event: stopped\ndata: \n\n";

/// Serves these routes, and passes everything else on:
///
/// | route | answer |
/// |---|---|
/// | `GET /fixture/events` | one event, and then none |
/// | `GET /fixture/ticks` | an event each second |
/// | `GET /fixture/flood` | as many events as wait for their peer |
/// | `GET /fixture/late` | one that `GET /fixture/release` hands in |
/// | `GET /fixture/forget` | an end of all streams and late answers by their senders |
/// | `GET /fixture/socket` | a WebSocket that sends back what it takes in, or does as it is told |
/// | `GET /fixture/open` | how many of these last |
struct Fixture {
    inner: Arc<dyn Service>,
    lasting: Arc<Lasting>,
}

/// What has not ended yet.
#[derive(Default)]
struct Lasting {
    quiet: Mutex<Vec<Sender<String>>>,
    ticking: Mutex<Vec<Sender<String>>>,
    late: Mutex<Vec<LateSender<Response>>>,
    sockets: Mutex<Vec<Sender<Message>>>,
}

/// Returns a service with these routes, and those of `inner`.
///
/// # Panics
/// When the system gives no thread.
#[must_use]
pub fn over(inner: Arc<dyn Service>) -> Arc<dyn Service> {
    let lasting = Arc::new(Lasting::default());
    let ticking = Arc::clone(&lasting);
    let tick = move || {
        while Notify::new().pause(TICK) {
            ticking.tick();
        }
    };
    drop(thread::spawn("fixture", tick).expect("one more thread"));
    Arc::new(Fixture { inner, lasting })
}

impl Service for Fixture {
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
        let is_ours = head.path.starts_with(PREFIX) && head.path != GATED;
        if !is_ours || head.surface == Surface::Control {
            return self.inner.admit(head);
        }
        let lasting = Arc::clone(&self.lasting);
        let refuse = Arc::clone(&self.inner);
        Ok(Admitted::new(head, 0, move |request| {
            lasting.answer(request).unwrap_or_else(|refusal| refuse.refuse(refusal).into())
        }))
    }

    fn body_max(&self, surface: Surface, method: &Method) -> usize {
        self.inner.body_max(surface, method)
    }

    fn refuse(&self, refusal: Refusal) -> Response {
        self.inner.refuse(refusal)
    }

    fn answered(&self, surface: Surface, status: StatusCode) {
        self.inner.answered(surface, status);
    }
}

impl Lasting {
    fn answer(&self, request: &Request) -> Result<Answer, Refusal> {
        let long_lived = request.long_lived.as_ref().ok_or(Refusal::BadRequest)?;
        if request.head.method != Method::GET {
            return Err(Refusal::BadRequest);
        }
        match request.head.path.strip_prefix(PREFIX) {
            Some("events") => Self::stream(long_lived, &self.quiet, |_| ()),
            Some("ticks") => Self::stream(long_lived, &self.ticking, |_| ()),
            Some("flood") => Self::stream(long_lived, &self.quiet, |sender| {
                while sender.send(format!("data: {}\n\n", "x".repeat(FLOOD_BYTES))).is_ok() {}
            }),
            Some("late") => {
                let (sender, late) = long_lived.late()?;
                lock(&self.late).push(sender);
                Ok(Answer::Late(late))
            }
            Some("socket") => {
                let handshake = Handshake::read(request, None)?;
                let socket = long_lived.web_socket(MESSAGE_BYTES_MAX, |sender| {
                    lock(&self.sockets).push(sender.clone());
                    Ok(Echo(sender, Terms::default()))
                })?;
                Ok(handshake.accept(socket).into())
            }
            Some("release") => {
                let waiting = std::mem::take(&mut *lock(&self.late));
                let released = waiting.into_iter().map(|it| it.send(text("released")));
                Ok(text(&released.filter(|it| *it).count().to_string()).into())
            }
            Some("forget") => {
                lock(&self.quiet).clear();
                lock(&self.late).clear();
                Ok(text("forgotten").into())
            }
            Some("open") => Ok(text(&self.count().to_string()).into()),
            _ => Err(Refusal::BadRequest),
        }
    }

    fn stream(
        long_lived: &LongLived,
        senders: &Mutex<Vec<Sender<String>>>,
        then: impl FnOnce(&Sender<String>),
    ) -> Result<Answer, Refusal> {
        let (sender, events) = long_lived.events(LAST)?;
        let sent = sender.send("data: hello\n\n".to_owned());
        sent.map_err(|_| Refusal::Overloaded)?;
        then(&sender);
        lock(senders).push(sender);
        Ok(Response::events(events).into())
    }

    /// Sends an event to each stream that ticks, and lets go of those that do not take it.
    fn tick(&self) {
        lock(&self.ticking).retain(|it| it.send("data: tick\n\n".to_owned()).is_ok());
    }

    fn count(&self) -> usize {
        let streams = [&self.quiet, &self.ticking].map(|senders| {
            let mut senders = lock(senders);
            senders.retain(|it| !it.is_closed());
            senders.len()
        });
        lock(&self.late).retain(|it| !it.is_closed());
        lock(&self.sockets).retain(|it| !it.is_closed());
        streams.iter().sum::<usize>() + lock(&self.late).len() + lock(&self.sockets).len()
    }
}

fn text(body: &str) -> Response {
    Response::new(StatusCode::OK, "text/plain", body)
}

/// Sends back what it takes in on these terms.
struct Echo(Sender<Message>, Terms);

impl Session for Echo {
    #[expect(clippy::panic, reason = "the server survives a session that does")]
    fn receive(&mut self, message: &str) -> Result<(), Close> {
        match message {
            "panic" => panic!("the session was asked to"),
            "wait" => {
                let _over = Notify::new().pause(WAIT);
                Ok(())
            }
            "strict" => {
                let too_slow = Some(Close::TOO_SLOW);
                self.1 = Terms { bytes_max: STRICT_BYTES_MAX, too_slow, ..Terms::default() };
                Ok(())
            }
            "end" => {
                let farewell = self.0.send(Message::Text("farewell".to_owned()));
                Err(farewell.map_or(Close::OVERLOADED, |()| Close { code: 4_000, reason: "asked" }))
            }
            _ => {
                let sent = self.0.send(Message::Text(message.to_owned()));
                sent.map_err(|_| Close::OVERLOADED)
            }
        }
    }

    fn terms(&self) -> Terms {
        self.1
    }
}

/// Returns a gate that goes by `fixture.test` and lets pages of `https://page.test` call.
///
/// It takes two tokens: `good` has the scope that is needed, `poor` has not. Keys are unavailable for the token
/// `later`.
#[must_use]
pub fn gate(clock: Arc<dyn Clock>) -> Gate {
    let rules = GateRules {
        hosts: vec!["fixture.test".to_owned(), "fixture.test:8443".to_owned()],
        origins: vec!["https://page.test".to_owned()],
        refuses_forwarded: false,
        is_https: true,
        request_headers: HeaderValue::from_static("authorization, content-type"),
        response_headers: HeaderValue::from_static("retry-after, www-authenticate"),
        peer_rate: Rate::per_second(1, 40),
        subject_rate: Rate::per_second(1, 4),
        tokens: Some(TokenRules {
            resource: "https://fixture.test/gated".to_owned(),
            issuer: "https://issuer.test".to_owned(),
            resource_metadata: "https://fixture.test/metadata".to_owned(),
            scope: Scope::Read,
            all_scopes: vec![Scope::Read, Scope::Invoke],
            tokens: Arc::new(Owners::default()),
        }),
        describe: |refused| ("text/plain", refused.to_string().into_bytes()),
    };
    Gate::new(rules, clock, Arc::default())
}

/// Answers a caller with its name, late if it says so.
pub(super) fn gated(caller: Option<Authorized<'_>>, request: &Request) -> Work {
    let name = caller.map_or("no one", |it| &it.caller.subject);
    let late = request.long_lived.as_ref().filter(|_| request.body == b"late");
    match late.map(LongLived::late) {
        Some(Ok((sender, late))) => {
            sender.send(text(name));
            Work::Done(Answer::Late(late))
        }
        _ => Work::Done(text(name).into()),
    }
}

/// The owners of tokens; each token is remembered once it was checked.
#[derive(Default)]
struct Owners(Mutex<Vec<String>>);

impl Tokens for Owners {
    fn known(&self, token: &str) -> Option<Arc<Caller>> {
        let is_known = lock(&self.0).iter().any(|known| known == token);
        is_known.then(|| owner(Scope::Read))
    }

    fn check(&self, token: &str, _peer: Option<IpAddr>) -> Result<Arc<Caller>, Refused> {
        match token {
            "good" => {
                lock(&self.0).push(token.to_owned());
                Ok(owner(Scope::Read))
            }
            "poor" => Ok(owner(Scope::Invoke)),
            "later" => Err(Refused::KeysUnavailable { retry_after: Duration::from_secs(7) }),
            _ => Err(Refused::InvalidToken),
        }
    }
}

fn owner(scope: Scope) -> Arc<Caller> {
    Arc::new(Caller {
        subject: "https://issuer.test someone".to_owned(),
        client: "a-client".to_owned(),
        scopes: vec![scope],
    })
}
