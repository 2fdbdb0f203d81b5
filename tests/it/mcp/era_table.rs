//! Every row of the table of eras against the real daemon: `tests/data/outcomes/mcp-era.txt`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use svc::mcp::revision::MODERN;

use super::initialize;
use super::service::{Issuer, Service};
use super::wire::EventStream;
use crate::daemon::ask::{Answer, Ask};
use crate::outcomes::mcp_era::{message, metas};

const TABLE: &str = include_str!("../../data/outcomes/mcp-era.txt");
const SESSIONS: [&str; 4] = ["none", "own", "foreign", "ended"];

/// A row: what is sent, and what comes of it.
#[derive(Clone, Copy)]
struct Row<'a> {
    line: &'a str,
    method: &'a str,
    header: &'a str,
    meta: &'a str,
    message: &'a str,
    session: &'a str,
    outcome: &'a str,
}

impl<'a> Row<'a> {
    /// Reads a row for a daemon with the flag `on` or `off`; `None` for those of the other one.
    fn read(line: &'a str, flag: &str) -> Option<Self> {
        let (case, outcome) = line.split_once(" -> ")?;
        let (case, session) = case.rsplit_once(' ')?;
        let mut words = case.splitn(5, ' ');
        let mut next = || words.next().unwrap();
        let is_wanted = next() == flag;
        let (method, header, meta, message) = (next(), next(), next(), next());
        is_wanted.then_some(Self { line, method, header, meta, message, session, outcome })
    }

    /// Returns the lines of the version header: one way to send it, or several.
    fn headers(&self) -> Vec<Vec<&'a [u8]>> {
        match self.header {
            "absent" => vec![vec![]],
            "later" => vec![vec![b"2027-01-01"]],
            "earlier" => vec![vec![b"2025-01-01"]],
            "no-date" => vec![vec![b"v999.0.0"]],
            "unreadable" => {
                vec![vec![b""], vec![b"2025-11-25", b"2025-11-25"], vec![b"2025-11-25\xff"]]
            }
            version => vec![vec![version.as_bytes()]],
        }
    }
}

/// A daemon, two owners of tokens, and the sessions that rows name.
struct Site {
    service: Service,
    me: String,
    sessions: [Option<String>; 4],
    other: String,
}

impl Site {
    fn start(flag: &str) -> Self {
        let modern = if flag == "on" { "true" } else { "false" };
        let (service, issuer): (Service, Issuer) = Service::with_tokens(&[
            ("MCP_V2_EXPERIMENTAL", modern),
            ("SVC_MCP_SESSIONS_MAX", "100000"),
            ("SVC_MCP_SESSIONS_PER_SUBJECT", "100000"),
        ]);
        let (me, other) = (issuer.bearer("me"), issuer.bearer("other"));
        let mut site = Self { service, me, sessions: Default::default(), other };
        site.begin_all();
        site
    }

    fn begin_all(&mut self) {
        let begin = |bearer: &str| {
            let ask = self.service.post(&initialize("2025-11-25"));
            self.service.begin_as(ask.header("Authorization", bearer))
        };
        let (own, foreign, ended) = (begin(&self.me), begin(&self.other), begin(&self.me));
        let delete = self.service.to_mcp("DELETE").header("Mcp-Session-Id", &ended);
        let deleted = self.service.ask(&delete.header("Authorization", &self.me));
        assert_eq!(deleted.status, 204);
        self.sessions = [None, Some(own), Some(foreign), Some(ended)];
    }

    /// Sends what a row says within one of the sessions, with the version header in one form.
    fn send(&mut self, row: Row<'_>, session: &str, version: &[&[u8]]) {
        let at = SESSIONS.iter().position(|name| *name == session).unwrap();
        let body = (row.method == "POST").then(|| {
            let metas = metas();
            let meta = &metas.iter().find(|(name, _)| *name == row.meta).unwrap().1;
            message(row.message, meta).unwrap()
        });
        let ask = match &body {
            Some(message) => self.service.post(message),
            None => self.service.to_mcp(row.method),
        };
        let ask = ask.header("Authorization", &self.me).header("Mcp-Method", "tools/list");
        let ask = version.iter().fold(ask, |ask, it| ask.header("MCP-Protocol-Version", it));
        let ask = match &self.sessions[at] {
            Some(session) => ask.header("Mcp-Session-Id", session),
            None => ask,
        };
        let is_request =
            body.is_some_and(|it| it.get("id").is_some() && it.get("method").is_some());
        self.check(row, &ask, is_request);
        if row.outcome.ends_with("session ended") {
            self.begin_all();
        }
    }

    fn check(&self, row: Row<'_>, ask: &Ask, is_request: bool) {
        if row.outcome == "stream" {
            let stream = EventStream::open(self.service.address(), ask);
            assert_eq!(stream.status, 200, "{}", row.line);
            return assert_eq!(stream.header("content-type"), "text/event-stream", "{}", row.line);
        }
        let answer = self.service.ask(ask);
        assert_eq!(told(&answer, row.outcome, is_request), row.outcome, "{}: {answer:?}", row.line);
    }
}

/// Returns what came of a request in the words of the table. What only the daemon itself can see is taken over.
fn told(answer: &Answer, wanted: &str, is_request: bool) -> String {
    let status = match answer.status {
        200 => "ok",
        202 => "accepted",
        204 => "ended",
        400 => "bad_request",
        404 => "not_found",
        405 => "method_not_allowed",
        other => panic!("{other}: {answer:?}"),
    };
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let mut told = status.to_owned();
    if let Some(error) = body.get("error") {
        write!(told, " {}", error["code"]).unwrap();
        assert_eq!(body.get("id"), is_request.then_some(&json!(7)), "{answer:?}");
        if error["data"].get("eras").is_some() {
            write!(told, " supported={}", error["data"]["supported"]).unwrap();
        }
    }
    if !answer.header("mcp-session-id").is_empty() {
        told.push_str(", session made");
    }
    if status == "ended" && wanted.ends_with(", session ended") {
        told.push_str(", session ended");
    }
    told
}

#[test]
fn every_row_of_the_table_holds_over_sockets() {
    for flag in ["off", "on"] {
        let mut site = Site::start(flag);
        let rows: Vec<Row<'_>> = TABLE.lines().filter_map(|line| Row::read(line, flag)).collect();
        assert!(rows.len() > 500 && rows.iter().any(|row| row.header == MODERN), "{}", rows.len());
        for row in rows {
            let sessions = if row.session == "*" { &SESSIONS[..] } else { &[row.session][..] };
            for session in sessions {
                for version in row.headers() {
                    site.send(row, session, &version);
                }
            }
        }
    }
}
