//! The protocol's server without a socket, at a time that the test sets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use svc::mcp::backend::Backend;
use svc::mcp::era::Header;
use svc::mcp::legacy::Limits;
use svc::mcp::relay::RelayBackend;
use svc::mcp::revision::Legacy;
use svc::mcp::stream::Channel;
use svc::mcp::{Answer, Caller, Context, Headers, Reply, Server, ServerSettings, Status};
use svc::metrics::Metrics;
use svc::runtime::random::Ids;

use super::initialize;
use crate::support::{ManualClock, NoBackend, SeededRandom, World};

/// How long a session is kept that is not used.
pub(super) const IDLE: Duration = Duration::from_mins(30);

pub(super) struct InProcess {
    pub(super) server: Server,
    pub(super) clock: Arc<ManualClock>,
    _world: Option<World>,
}

/// Headers that a test sends, by their names in lower case.
pub(super) struct Sent<'a>(pub(super) &'a [(&'a str, &'a str)]);

impl Headers for Sent<'_> {
    fn get(&self, name: &str) -> Header<'_> {
        let mut values = self.0.iter().filter(|(known, _)| *known == name);
        match (values.next(), values.next()) {
            (None, _) => Header::Absent,
            (Some((_, value)), None) if !value.is_empty() => Header::Is(value),
            _ => Header::Unreadable,
        }
    }
}

/// A client at the other end of a channel. Clones are the same one.
#[derive(Clone, Default)]
pub(super) struct Client(Arc<Mutex<Received>>);

#[derive(Default)]
struct Received {
    messages: Vec<String>,
    has_gone: bool,
    /// The channel was dropped.
    is_over: bool,
}

struct ToClient(Client);

impl Client {
    pub(super) fn channel(&self) -> Box<dyn Channel> {
        Box::new(ToClient(self.clone()))
    }

    pub(super) fn messages(&self) -> Vec<String> {
        self.0.lock().unwrap().messages.clone()
    }

    /// Takes a message that came without a channel.
    pub(super) fn take(&self, message: String) {
        self.0.lock().unwrap().messages.push(message);
    }

    pub(super) fn leave(&self) {
        self.0.lock().unwrap().has_gone = true;
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.lock().unwrap().is_over
    }
}

impl Channel for ToClient {
    fn send(&self, message: &str, _event_id: Option<&str>) -> bool {
        let mut received = self.0.0.lock().unwrap();
        if !received.has_gone && !message.is_empty() {
            received.messages.push(message.to_owned());
        }
        !received.has_gone
    }

    fn finish(self: Box<Self>, _status: Status, message: &str, event_id: Option<&str>) -> bool {
        self.send(message, event_id)
    }

    fn is_closed(&self) -> bool {
        self.0.0.lock().unwrap().has_gone
    }
}

impl Drop for ToClient {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().is_over = true;
    }
}

/// Returns who calls: a subject, and after a slash its client where that matters.
pub(super) fn caller(who: &str) -> Caller {
    let (subject, client) = who.split_once('/').unwrap_or((who, "client"));
    Caller { subject: subject.to_owned(), client: client.to_owned(), ..Caller::local() }
}

fn server(
    settings: &ServerSettings,
    backend: &Arc<dyn Backend>,
    relay: Option<Arc<dyn RelayBackend>>,
    clock: &Arc<ManualClock>,
    metrics: Arc<Metrics>,
) -> Server {
    let ids = Ids::new(Box::new(SeededRandom(7)));
    Server::new(settings, backend, relay, Arc::<ManualClock>::clone(clock), ids, metrics)
}

impl InProcess {
    /// Returns a server with at most so many sessions of all callers, and of one.
    pub(super) fn new(modern: bool, max: usize, per_subject_max: usize) -> Self {
        let world = World::new();
        let limits = Limits { max, per_subject_max, idle: IDLE };
        let settings =
            ServerSettings { modern, offered: Legacy::DEFAULT, limits, relay_wait: Duration::ZERO };
        let backend: Arc<dyn Backend> = Arc::<svc::app::App>::clone(&world.app);
        let metrics = Arc::clone(&world.app.metrics);
        let server = server(&settings, &backend, None, &world.clock, metrics);
        Self { server, clock: Arc::clone(&world.clock), _world: Some(world) }
    }

    /// Returns a server whose calls wait so long for a person at a relay. It has no other tools that can be called.
    pub(super) fn with_relay(relay: Arc<dyn RelayBackend>, relay_wait: Duration) -> Self {
        let limits = Limits { max: 1_000, per_subject_max: 1_000, idle: IDLE };
        let settings =
            ServerSettings { modern: true, offered: Legacy::DEFAULT, limits, relay_wait };
        let backend: Arc<dyn Backend> = Arc::new(NoBackend);
        let clock = Arc::new(ManualClock::new());
        let server = server(&settings, &backend, Some(relay), &clock, Arc::default());
        Self { server, clock, _world: None }
    }

    /// Sends a message as a caller.
    pub(super) fn send(
        &self,
        who: &str,
        session: Option<&str>,
        headers: &[(&str, &str)],
        message: &[u8],
    ) -> Reply {
        self.send_as(&caller(who), session, headers, message)
    }

    /// Sends a message as this caller.
    pub(super) fn send_as(
        &self,
        caller: &Caller,
        session: Option<&str>,
        headers: &[(&str, &str)],
        message: &[u8],
    ) -> Reply {
        let (session, headers) = (session.map_or(Header::Absent, Header::Is), Sent(headers));
        let context = Context { caller, session, headers: Some(&headers) };
        self.server.post(message, context)
    }

    /// Opens the stream of a session.
    pub(super) fn open(&self, who: &str, session: &str) -> Client {
        let caller = caller(who);
        let headers = Sent(&[]);
        let session = Header::Is(session);
        let context = Context { caller: &caller, session, headers: Some(&headers) };
        let Reply::Stream(begin) = self.server.get(context) else { panic!("no stream") };
        let client = Client::default();
        begin(client.channel());
        client
    }

    /// Begins a session.
    pub(super) fn begin(&self, who: &str) -> Answer {
        let message = initialize("2025-11-25").to_string();
        match self.send(who, None, &[], message.as_bytes()) {
            Reply::Ready(answer) => answer,
            _ => panic!("not at once"),
        }
    }

    /// Begins a session; returns its id.
    pub(super) fn session(&self, who: &str) -> String {
        self.begin(who).session.unwrap()
    }

    /// Says whether a session is there, by using it.
    pub(super) fn has(&self, who: &str, session: &str) -> bool {
        let ping = super::request(1, "ping", &Value::from(serde_json::Map::new()));
        match self.send(who, Some(session), &[], ping.to_string().as_bytes()) {
            Reply::Ready(answer) => answer.status == Status::Ok,
            _ => panic!("not at once"),
        }
    }
}
