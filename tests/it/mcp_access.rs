//! What stands before `/mcp`: the gate of the daemon, made of settings, over the routes and an issuer whose keys the
//! test has.

pub(crate) mod attacks;
mod local;
mod metadata;
mod protected_only;
mod relay_claim;
mod remote;
mod tokens;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderName, Method};
use serde_json::{Value, json};
use svc::config::{Config, Source};
use svc::daemon::mcp::{endpoint, gate};
use svc::http::message::{Response, Surface};
use svc::runtime::clock::Clock as _;

use crate::support::World;
use crate::support::world::bytes;
use attacks::{ISSUER, Keys};

/// What is sent to whom the gate lets in: it begins a session.
pub(crate) const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
pub(crate) const JWKS_URL: &str = "https://issuer.example/keys";
pub(crate) const HOST: (&str, &str) = ("host", "svc.example");
/// The port of the public address.
const PORT: u16 = 7_080;

/// Settings of a server that others reach. Rates are out of the way of most tests.
const REMOTE: &[(&str, &str)] = &[
    ("SVC_MCP", "true"),
    ("SVC_PUBLIC_URL", "https://svc.example"),
    ("SVC_MCP_ISSUER", ISSUER),
    ("SVC_MCP_JWKS_URL", JWKS_URL),
    ("SVC_MCP_ORIGINS", "https://app.example"),
    ("SVC_MCP_ALGORITHMS", "ES256,RS256,EdDSA"),
    ("SVC_MCP_PEER_RATE", "1000000"),
    ("SVC_MCP_SUBJECT_RATE", "1000000"),
];

/// A service with a gate, and an issuer.
pub(crate) struct Site {
    pub(crate) world: World,
    pub(crate) keys: Keys,
    /// What the issuer publishes; nothing while it is down.
    published: Arc<Mutex<Option<Value>>>,
    fetched: Arc<AtomicUsize>,
}

impl Site {
    /// Starts one that others reach, with these settings besides or instead.
    fn remote(others: &[(&str, &str)]) -> Self {
        Self::with(&[REMOTE, others].concat())
    }

    fn with(settings: &[(&str, &str)]) -> Self {
        Self::around(World::new(), settings)
    }

    fn around(world: World, settings: &[(&str, &str)]) -> Self {
        let variables = settings.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        // Of two lines of one name, the last counts.
        let config = Config::load(Source::of(variables)).unwrap();
        let keys = Keys::new();
        let published = Arc::new(Mutex::new(Some(keys.document())));
        let fetched = Arc::<AtomicUsize>::default();
        let (document, count) = (Arc::clone(&published), Arc::clone(&fetched));
        let document_at = move |url: &str| {
            assert_eq!(url, JWKS_URL);
            count.fetch_add(1, Ordering::Relaxed);
            document.lock().unwrap().as_ref().map(|document| document.to_string().into_bytes())
        };
        let mcp = config.mcp.unwrap();
        let endpoint = endpoint(&mcp, config.protocol, &world.app);
        let gate = gate(&mcp, config.protocol, PORT, &endpoint, document_at, &world.app);
        Self { world: world.with_mcp(gate, endpoint), keys, published, fetched }
    }

    /// The time, in seconds, as the issuer knows it.
    fn now(&self) -> i64 {
        self.world.clock.now().micros() / 1_000_000
    }

    fn publish(&self, document: Option<Value>) {
        *self.published.lock().unwrap() = document;
    }

    /// How often the issuer was asked for its keys.
    fn fetched(&self) -> usize {
        self.fetched.load(Ordering::Relaxed)
    }

    /// Sends a request without a body.
    fn send(&self, method: Method, target: &str, headers: &[(&str, &str)]) -> Response {
        self.world.send(Surface::Public, method, target, headers, Vec::new())
    }

    /// Sends a message with these headers, besides those that say what it is.
    fn post(&self, target: &str, message: &str, headers: &[(&str, &str)]) -> Response {
        let length = message.len().to_string();
        let own = [("content-type", "application/json"), ("content-length", &length)];
        let headers = [&own, headers].concat();
        self.world.send(Surface::Public, Method::POST, target, &headers, message.into())
    }

    /// Sends the message with these headers besides `Host`.
    fn call(&self, headers: &[(&str, &str)]) -> Response {
        self.post("/mcp", MESSAGE, &[&[HOST], headers].concat())
    }

    fn call_with(&self, token: &str) -> Response {
        self.call(&[("authorization", &format!("Bearer {token}"))])
    }

    fn good_token(&self) -> String {
        self.keys.sign("ES256", &self.keys.claims(self.now()))
    }

    fn refusals(&self, gate: &str) -> u64 {
        self.world.app.metrics.mcp_refusals.sum(|[(_, word)]| word == gate)
    }

    fn faults(&self, fault: &str) -> u64 {
        self.world.app.metrics.access_tokens_refused.sum(|[(_, word)]| word == fault)
    }
}

/// A header of an answer; empty if there is none.
fn header<'a>(answer: &'a Response, name: &str) -> &'a str {
    let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// The text of an answer's body.
fn text(answer: &Response) -> &str {
    std::str::from_utf8(bytes(answer)).unwrap()
}

/// The body of a refusal.
pub(crate) fn refusal(message: &str) -> Value {
    json!({"jsonrpc": "2.0", "error": {"code": -32600, "message": message}})
}
