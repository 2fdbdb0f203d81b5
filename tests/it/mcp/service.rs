//! A daemon that serves `/mcp`, and its clients.

use std::net::SocketAddr;
use std::sync::LazyLock;

use serde_json::{Value, json};
use svc::mcp::revision::MODERN;
use svc::runtime::clock::{Clock as _, SystemClock};

use super::wire::EventStream;
use super::{enveloped, initialize, request};
use crate::cli_client::canned_server::{CannedServer, Reply};
use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::process::Daemon;
use crate::daemon::site::Site;
use crate::mcp_access::attacks::{ISSUER, Keys, with};

/// A daemon, and what it runs on.
pub(crate) struct Service {
    pub(crate) site: Site,
    pub(crate) daemon: Daemon,
    /// The host that clients name; the address without one.
    host: Option<&'static str>,
}

/// An issuer of tokens, whose keys a daemon has fetched.
pub(crate) struct Issuer {
    keys: Keys,
    _server: CannedServer,
}

impl Issuer {
    /// Returns the header of a good token for an owner.
    pub(crate) fn bearer(&self, subject: &str) -> String {
        self.bearer_by(subject, "a-client")
    }

    /// Returns the header of a good token that an owner has given to a client.
    pub(crate) fn bearer_by(&self, subject: &str, client: &str) -> String {
        self.bearer_with(&[("sub", subject), ("client_id", client)])
    }

    /// Returns the header of a good token with these claims besides or instead.
    pub(crate) fn bearer_with(&self, claims: &[(&str, &str)]) -> String {
        let now = SystemClock::new().now().micros() / 1_000_000;
        let claims = claims
            .iter()
            .fold(self.keys.claims(now), |all, (name, value)| with(all, name, (*value).into()));
        format!("Bearer {}", self.keys.sign("ES256", &claims))
    }
}

impl Service {
    /// Starts one that serves its own machine, without tokens.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let mut site = Site::new();
        site.set("SVC_MCP", "true");
        site.set("SVC_MCP_PEER_RATE", "1000000");
        settings.iter().for_each(|(name, value)| site.set(name, value));
        let daemon = site.start();
        Self { site, daemon, host: None }
    }

    /// Starts one that serves the modern era too.
    pub(crate) fn modern(settings: &[(&str, &str)]) -> Self {
        Self::start(&[&[("MCP_V2_EXPERIMENTAL", "true")], settings].concat())
    }

    /// Starts one that asks for tokens.
    pub(crate) fn with_tokens(settings: &[(&str, &str)]) -> (Self, Issuer) {
        let keys = Keys::new();
        let document = keys.document().to_string();
        // A second answer for a daemon that starts again.
        let server = CannedServer::tcp((0..2).map(|_| Reply::json(200, &document)).collect());
        let jwks_url = format!("{}/keys", server.url);
        let of_tokens = [
            ("SVC_PUBLIC_URL", "https://svc.example"),
            ("SVC_MCP_ISSUER", ISSUER),
            ("SVC_MCP_JWKS_URL", &jwks_url),
            ("SVC_MCP_ORIGINS", "https://app.example"),
            ("SVC_MCP_SUBJECT_RATE", "1000000"),
        ];
        let service = Self::start(&[&of_tokens, settings].concat());
        let service = Self { host: Some("svc.example"), ..service };
        (service, Issuer { keys, _server: server })
    }

    /// Ends it and starts it again on the same store, with these settings besides.
    pub(crate) fn restart(self, settings: &[(&str, &str)]) -> Self {
        let Self { mut site, mut daemon, host } = self;
        assert_eq!(daemon.end(rustix::process::Signal::TERM).code(), Some(0));
        settings.iter().for_each(|(name, value)| site.set(name, value));
        let daemon = site.start();
        Self { site, daemon, host }
    }

    /// Starts another one on the same store, with the settings that make it one of the relay.
    pub(crate) fn beside(&self) -> Self {
        let database = self.site.database();
        Self::start(&[
            ("SVC_DATABASE", database.to_str().unwrap()),
            ("SVC_RELAY", "true"),
            ("SVC_RELAY_LOCAL", "true"),
            ("SVC_RELAY_WAIT_SECONDS", "0"),
        ])
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match &self.daemon.public {
            Endpoint::Tcp(address) => *address,
            Endpoint::Unix(_) => panic!("no TCP"),
        }
    }

    /// Returns a request that the gate lets in, as far as no token is asked for.
    pub(crate) fn to_mcp(&self, method: &str) -> Ask {
        let host = self.host.map_or_else(|| self.address().to_string(), ToOwned::to_owned);
        let ask = Ask::new(method, "/mcp").header("Host", host);
        ask.header("Accept", "application/json, text/event-stream")
    }

    /// Returns a message as a client sends it.
    pub(crate) fn post(&self, message: &Value) -> Ask {
        self.to_mcp("POST")
            .header("Content-Type", "application/json")
            .body(message.to_string().as_bytes())
    }

    /// Sends a request, and returns its answer, which is whole and of a documented status.
    pub(crate) fn ask(&self, ask: &Ask) -> Answer {
        static OPENAPI: LazyLock<Value> = LazyLock::new(|| {
            serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap()
        });
        let answer = self.daemon.public.ask(ask);
        let method = ask.method.to_ascii_lowercase();
        if let Some(operation) = OPENAPI["paths"]["/mcp"].get(&method) {
            let documented = &operation["responses"][answer.status.to_string()];
            assert!(documented.is_object(), "{method}: {answer:?}");
        }
        answer
    }

    /// Sends a request that is answered with a stream of events.
    pub(crate) fn open(&self, ask: &Ask) -> EventStream {
        let stream = EventStream::open(self.address(), ask);
        assert_eq!(stream.status, 200, "{stream:?}");
        assert_eq!(stream.header("content-type"), "text/event-stream", "{stream:?}");
        stream
    }

    /// Begins a session; returns its id.
    pub(crate) fn begin(&self, revision: &str) -> String {
        self.begin_as(self.post(&initialize(revision)))
    }

    /// Begins a session with a request; returns its id.
    pub(crate) fn begin_as(&self, ask: Ask) -> String {
        let answer = self.ask(&ask);
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").to_owned();
        assert!(!session.is_empty(), "{answer:?}");
        session
    }

    /// Returns a message within a session.
    pub(crate) fn within(&self, session: &str, message: &Value) -> Ask {
        self.post(message).header("Mcp-Session-Id", session)
    }

    /// Says whether a session is there.
    pub(crate) fn has(&self, session: &str) -> bool {
        let answer = self.ask(&self.within(session, &request(0, "ping", &json!({}))));
        assert!([200, 404].contains(&answer.status), "{answer:?}");
        answer.status == 200
    }

    /// Returns a request of the modern era by a client that can do nothing further.
    pub(crate) fn standalone(&self, id: impl Into<Value>, method: &str, params: Value) -> Ask {
        self.standalone_by(&json!({}), id, method, params)
    }

    /// Returns a request of the modern era by a client with these capabilities.
    pub(crate) fn standalone_by(
        &self,
        capabilities: &Value,
        id: impl Into<Value>,
        method: &str,
        params: Value,
    ) -> Ask {
        let name = params.get("name").or(params.get("uri")).cloned();
        let ask = self
            .post(&request(id, method, &enveloped(params, capabilities)))
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", method);
        match name {
            Some(name) => ask.header("Mcp-Name", name.as_str().unwrap()),
            None => ask,
        }
    }

    /// Returns the value of a gauge.
    pub(crate) fn gauge(&self, name: &str) -> usize {
        let metrics = self.daemon.metrics();
        let mut values = metrics.lines().filter_map(|line| line.strip_prefix(name));
        values.find_map(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("{metrics}"))
    }

    /// Returns how many messages and requests were counted, whatever came of them.
    pub(crate) fn counted(&self) -> u64 {
        let metrics = self.daemon.metrics();
        let is_ours = |line: &&str| {
            line.starts_with("svc_mcp_requests_total{")
                || line.starts_with("svc_mcp_refusals_total{")
        };
        let values = metrics.lines().filter(is_ours).map(|line| line.rsplit_once(' ').unwrap().1);
        values.map(|value| value.parse::<u64>().unwrap()).sum()
    }
}

/// Checks a refusal: status, code, and the id of its request, or no member for it. It begins no session, and says
/// nothing that a library says.
pub(crate) fn assert_refused(
    answer: &Answer,
    status: u16,
    code: i32,
    id: Option<&Value>,
    sent: &str,
) {
    assert_eq!(answer.status, status, "{sent}: {answer:?} {}", answer.text());
    assert_eq!(answer.header("content-type"), "application/json", "{sent}: {answer:?}");
    assert_eq!(answer.header("mcp-session-id"), "", "{sent}: {answer:?}");
    let body = answer.json();
    assert_eq!(body["jsonrpc"], "2.0", "{sent}: {body}");
    assert_eq!(body["error"]["code"], code, "{sent}: {body}");
    assert_eq!(body.get("id"), id, "{sent}: {body}");
    assert!(body.get("result").is_none(), "{sent}: {body}");
    // A rejection of the modern era names what its client may try instead.
    if [-32_020, -32_022].contains(&code) || (code == -32_601 && status == 404) {
        let data = &body["error"]["data"];
        assert_eq!(data["supported"], json!([MODERN]), "{sent}: {body}");
        assert_eq!(data["eras"]["modern"], json!([MODERN]), "{sent}: {body}");
        assert!(data["eras"]["legacy"].is_array(), "{sent}: {body}");
    }
    let message = body["error"]["message"].as_str().unwrap();
    assert!((10..300).contains(&message.len()), "{sent}: {body}");
    for words in ["at line", "column", "serde", "invalid type", "invalid value", "EOF", "trailing"]
    {
        assert!(!answer.text().contains(words), "{sent}: {body}");
    }
}
