//! Requests as a client of MCP makes them that has no token yet: one each, bounded in time and size.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, DATE, WWW_AUTHENTICATE};
use http::{Method, Request, Response};
use serde_json::json;
use ureq::{Agent, AsSendBody, Body};

use crate::cli::client;
use crate::mcp::VERSION_HEADER;
use crate::mcp::revision::MODERN;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Largest answer that is read, in bytes.
const BODY_BYTES_MAX: u64 = 256 << 10;

/// Asks addresses.
pub(super) struct Probe {
    agent: Agent,
    clock: SystemClock,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Where it went.
    pub(super) url: String,
    /// The answer, or why there is none.
    pub(super) outcome: Result<Answer, String>,
}

impl Exchange {
    /// Returns the answer if it is a document, or why there is none.
    pub(super) fn document(&self) -> Result<&Answer, String> {
        match &self.outcome {
            Ok(answer) if answer.status == 200 => Ok(answer),
            Ok(answer) => Err(format!("HTTP {}", answer.status)),
            Err(cause) => Err(cause.clone()),
        }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// `WWW-Authenticate`
    pub(super) challenge: Option<String>,
    /// By how many seconds its `Date` is ahead of this machine's clock, which it has to the second.
    pub(super) ahead_seconds: Option<i64>,
    pub(super) body: Vec<u8>,
}

impl Probe {
    /// Returns one whose requests take no longer than `timeout` each.
    pub(super) fn new(timeout: Duration) -> Self {
        let agent = Agent::new_with_config(client::config(timeout));
        Self { agent, clock: SystemClock::new() }
    }

    /// Reads a document.
    pub(super) fn get(&self, url: &str) -> Exchange {
        self.send(
            Request::builder().method(Method::GET).header(ACCEPT, "application/json"),
            url,
            (),
        )
    }

    /// Asks for the versions that are spoken, as a client of both eras does first.
    pub(super) fn discover(&self, url: &str) -> Exchange {
        let message = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "server/discover",
            "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        let request = Request::builder()
            .method(Method::POST)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(VERSION_HEADER, MODERN)
            .header("mcp-method", "server/discover");
        self.send(request, url, message.to_string())
    }

    fn send(&self, request: http::request::Builder, url: &str, body: impl AsSendBody) -> Exchange {
        let outcome = request
            .uri(url)
            .body(body)
            .map_err(|error| error.to_string())
            .and_then(|request| self.agent.run(request).map_err(|error| error.to_string()))
            .and_then(|response| self.read(response));
        Exchange { url: url.to_owned(), outcome }
    }

    fn read(&self, mut response: Response<Body>) -> Result<Answer, String> {
        let text = |name| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        // Before the body is read, which may take seconds.
        let ahead_seconds = text(DATE).and_then(|date| self.clock.now().seconds_behind(&date));
        let challenge = text(WWW_AUTHENTICATE);
        let body = response.body_mut().with_config().limit(BODY_BYTES_MAX).read_to_vec();
        Ok(Answer {
            status: response.status().as_u16(),
            challenge,
            ahead_seconds,
            body: body.map_err(|error| error.to_string())?,
        })
    }
}
