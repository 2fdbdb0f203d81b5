//! Which era a message belongs to: every claim, by every way it can be made, and what comes of it.
//!
//! A row is `flag METHOD header meta message session -> status code, what was made`. `*` stands for every session
//! where it makes no difference.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc::mcp::backend::Backend;
use svc::mcp::era::Header;
use svc::mcp::legacy::Limits;
use svc::mcp::revision::{Legacy, MODERN};
use svc::mcp::{Answer, Caller, Context, Headers, Reply, Server, ServerSettings};
use svc::metrics::Metrics;
use svc::runtime::clock::SystemClock;
use svc::runtime::random::{Ids, SystemEntropy};

use super::check;
use crate::support::NoBackend;

fn server(modern: bool) -> Server {
    let limits = Limits { max: 50_000, per_subject_max: 50_000, idle: Duration::from_hours(1) };
    let settings =
        ServerSettings { modern, offered: Legacy::DEFAULT, limits, relay_wait: Duration::ZERO };
    let backend: Arc<dyn Backend> = Arc::new(NoBackend);
    let (clock, metrics) = (Arc::new(SystemClock::new()), Arc::new(Metrics::default()));
    let ids = Ids::new(Box::new(SystemEntropy::new()));
    Server::new(&settings, &backend, None, clock, ids, metrics)
}

/// The version header, and a method for the modern era, which each request names truly.
struct Sent<'a>(Header<'a>);

impl Headers for Sent<'_> {
    fn get(&self, name: &str) -> Header<'_> {
        match name {
            "mcp-protocol-version" => self.0,
            "mcp-method" => Header::Is("tools/list"),
            _ => Header::Absent,
        }
    }
}

/// Three sessions of 2025-11-25: the caller's, another caller's, and one that has ended.
struct Sessions {
    own: String,
    foreign: String,
    ended: String,
}

fn caller(subject: &str) -> Caller {
    Caller { subject: subject.to_owned(), client: "client".to_owned(), ..Caller::local() }
}

impl Sessions {
    fn begin(server: &Server) -> Self {
        let begin = |caller: &Caller| {
            let message = message("initialize legacy", &Value::Null).unwrap().to_string();
            let headers = Sent(Header::Absent);
            let context = Context { caller, session: Header::Absent, headers: Some(&headers) };
            let Reply::Ready(answer) = server.post(message.as_bytes(), context) else { panic!() };
            answer.session.unwrap()
        };
        let (me, other) = (caller("me"), caller("other"));
        let (own, foreign, ended) = (begin(&me), begin(&other), begin(&me));
        let headers = Sent(Header::Absent);
        let context = Context { caller: &me, session: Header::Is(&ended), headers: Some(&headers) };
        drop(server.delete(context));
        Self { own, foreign, ended }
    }

    fn named(&self) -> [(&'static str, Header<'_>); 4] {
        [
            ("none", Header::Absent),
            ("own", Header::Is(&self.own)),
            ("foreign", Header::Is(&self.foreign)),
            ("ended", Header::Is(&self.ended)),
        ]
    }
}

fn headers() -> Vec<(String, Header<'static>)> {
    let legacy = Legacy::ALL.iter().map(|it| (it.as_str().to_owned(), Header::Is(it.as_str())));
    let others = [
        ("absent", Header::Absent),
        (MODERN, Header::Is(MODERN)),
        ("later", Header::Is("2027-01-01")),
        ("earlier", Header::Is("2025-01-01")),
        ("no-date", Header::Is("v999.0.0")),
        // Empty, twice, or not ASCII: the reader of headers says so of all three.
        ("unreadable", Header::Unreadable),
    ];
    legacy.chain(others.map(|(name, header)| (name.to_owned(), header))).collect()
}

/// Envelopes by their names in the table.
pub(crate) fn metas() -> [(&'static str, Value); 6] {
    let version = |version: Value| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    [
        ("absent", Value::Null),
        ("modern", version(json!(MODERN))),
        ("legacy", version(json!("2025-11-25"))),
        ("unknown", version(json!("2027-01-01"))),
        ("wrong-type", version(json!(20_260_728))),
        ("incomplete", json!({ "io.modelcontextprotocol/protocolVersion": MODERN })),
    ]
}

const MESSAGES: [&str; 8] = [
    "initialize legacy",
    "initialize modern",
    "initialize unknown",
    "initialize nothing",
    "request",
    "notification",
    "response",
    "batch",
];

/// Returns a message by its name in the table; nothing where the kind of message has no place for an envelope.
pub(crate) fn message(name: &str, meta: &Value) -> Option<Value> {
    let (kind, version) = name.split_once(' ').unwrap_or((name, ""));
    let mut params = json!({});
    if !meta.is_null() {
        params["_meta"] = meta.clone();
    }
    let version = match version {
        "legacy" => Some("2025-11-25"),
        "modern" => Some(MODERN),
        "unknown" => Some("2025-01-01"),
        _ => None,
    };
    if let Some(version) = version {
        params["protocolVersion"] = version.into();
        params["capabilities"] = json!({});
        params["clientInfo"] = json!({ "name": "client", "version": "1" });
    }
    let request =
        |method: &str| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    match kind {
        "initialize" => Some(request("initialize")),
        "request" => Some(request("tools/list")),
        "notification" => Some(
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": params }),
        ),
        "response" if !meta.is_null() => None,
        "response" => Some(json!({ "jsonrpc": "2.0", "id": 7, "result": {} })),
        _ => Some(json!([request("tools/list")])),
    }
}

/// Says what came of a request; checks what must hold of every answer.
fn outcome(server: &Server, before: usize, reply: Reply, is_request: bool) -> String {
    let answer = match reply {
        Reply::Ready(answer) => answer,
        Reply::Blocking(run) => run(),
        Reply::Open(_) | Reply::Late(_) | Reply::Stream(_) => return "stream".to_owned(),
    };
    let Answer { status, message, session, .. } = answer;
    let made = server.session_count().saturating_sub(before);
    assert_eq!(session.is_some(), made == 1, "a session is told when it is made, and only then");
    let mut told = status.as_str().to_owned();
    let message: Option<Value> = message.map(|it| serde_json::from_str(&it).unwrap());
    if let Some(error) = message.as_ref().and_then(|it| it.get("error")) {
        write!(told, " {}", error["code"]).unwrap();
        assert_eq!(made, 0, "what is refused makes nothing");
        let id = message.as_ref().and_then(|it| it.get("id"));
        assert_eq!(id, is_request.then_some(&json!(7)), "the id of a request is echoed");
        if error["data"].get("eras").is_some() {
            write!(told, " supported={}", error["data"]["supported"]).unwrap();
        }
    }
    if made == 1 {
        told.push_str(", session made");
    }
    told
}

#[test]
fn mcp_era() {
    let mut table = String::new();
    for modern in [false, true] {
        let server = server(modern);
        let flag = if modern { "on" } else { "off" };
        for (header_name, header) in headers() {
            for (meta_name, meta) in metas() {
                for name in MESSAGES {
                    let Some(message) = message(name, &meta) else { continue };
                    let is_request = message.get("id").is_some() && message.get("method").is_some();
                    let ask =
                        |context: Context<'_>| server.post(message.to_string().as_bytes(), context);
                    let case = format!("{flag} POST {header_name} {meta_name} {name}");
                    rows(&mut table, &case, &server, header, is_request, ask);
                }
            }
            for method in ["GET", "DELETE"] {
                let case = format!("{flag} {method} {header_name} - -");
                rows(&mut table, &case, &server, header, false, |context| match method {
                    "GET" => server.get(context),
                    _ => server.delete(context),
                });
            }
        }
    }
    check("mcp-era", &table);
}

fn rows(
    table: &mut String,
    case: &str,
    server: &Server,
    header: Header<'_>,
    is_request: bool,
    ask: impl Fn(Context<'_>) -> Reply,
) {
    let (me, sessions) = (caller("me"), Sessions::begin(server));
    let mut outcomes = Vec::new();
    for (name, session) in sessions.named() {
        let before = server.session_count();
        let headers = Sent(header);
        let reply = ask(Context { caller: &me, session, headers: Some(&headers) });
        let mut told = outcome(server, before, reply, is_request);
        if server.session_count() < before {
            told.push_str(", session ended");
        }
        outcomes.push((name, told));
    }
    if outcomes.iter().all(|(_, it)| *it == outcomes[0].1) {
        writeln!(table, "{case} * -> {}", outcomes[0].1).unwrap();
    } else {
        for (name, outcome) in outcomes {
            writeln!(table, "{case} {name} -> {outcome}").unwrap();
        }
    }
}
