//! A server whose tools ask a relay that does as the test says, and its clients in both eras.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use svc::mcp::Reply;
use svc::mcp::revision::MODERN;

use super::fake_relay::FakeRelay;
use super::in_process::{Client, InProcess, caller};
use super::{enveloped, initialize, request};

/// How long calls wait in these tests.
pub(super) const WAIT: Duration = Duration::from_secs(20);

/// The era in which a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// That of sessions, by its revision.
    Legacy(&'static str),
    Modern,
}

pub(super) const ERAS: [Era; 2] = [Era::Legacy("2025-11-25"), Era::Modern];

/// A server with a relay, and its clients.
pub(super) struct Site {
    pub(super) server: InProcess,
    pub(super) relay: Arc<FakeRelay>,
}

/// A request that was sent.
pub(super) struct Sent {
    pub(super) client: Client,
    /// It is answered with one message and not with a stream.
    pub(super) is_late: bool,
}

impl Sent {
    /// Returns the answer, which has come.
    pub(super) fn answer(&self) -> Value {
        let messages = self.client.messages();
        let last = messages.last().unwrap_or_else(|| panic!("no answer yet"));
        serde_json::from_str(last).unwrap()
    }

    /// Returns the result, which has come.
    pub(super) fn result(&self) -> Value {
        let answer = self.answer();
        assert_eq!(answer["id"], 7, "{answer}");
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    pub(super) fn is_answered(&self) -> bool {
        self.client.messages().iter().any(|message| message.contains("\"id\":7"))
    }
}

impl Site {
    pub(super) fn new() -> Self {
        let relay = Arc::new(FakeRelay::default());
        let server = InProcess::with_relay(Arc::<FakeRelay>::clone(&relay), WAIT);
        Self { server, relay }
    }

    /// Calls a tool.
    pub(super) fn call(&self, era: Era, who: &str, tool: &str, arguments: &Value) -> Sent {
        self.call_with(era, who, json!({ "name": tool, "arguments": arguments }), &json!({}))
    }

    /// Calls a tool with these parameters, as a client with these capabilities.
    pub(super) fn call_with(&self, era: Era, who: &str, params: Value, can: &Value) -> Sent {
        match era {
            Era::Modern => self.standalone(who, "tools/call", params, can),
            Era::Legacy(revision) => {
                let session = self.begin(who, revision);
                self.within(who, &session, params)
            }
        }
    }

    /// Begins a session of the legacy era.
    pub(super) fn begin(&self, who: &str, revision: &str) -> String {
        let message = initialize(revision).to_string();
        match self.server.send(who, None, &[], message.as_bytes()) {
            Reply::Ready(answer) => answer.session.unwrap(),
            _ => panic!("not at once"),
        }
    }

    /// Calls a tool within a session.
    pub(super) fn within(&self, who: &str, session: &str, params: Value) -> Sent {
        let message = request(7, "tools/call", &params).to_string();
        received(self.server.send(who, Some(session), &[], message.as_bytes()))
    }

    /// Sends a request of the modern era.
    pub(super) fn standalone(&self, who: &str, method: &str, params: Value, can: &Value) -> Sent {
        let name = ["name", "taskId"].iter().find_map(|it| params[it].as_str().map(str::to_owned));
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", method)];
        let name = name.as_deref().map(|name| ("mcp-name", name));
        let headers: Vec<(&str, &str)> = headers.into_iter().chain(name).collect();
        let message = request(7, method, &enveloped(params, can)).to_string();
        received(self.server.send_as(&caller(who), None, &headers, message.as_bytes()))
    }
}

/// Takes what a request is answered with.
fn received(reply: Reply) -> Sent {
    let client = Client::default();
    let is_late = matches!(reply, Reply::Late(_));
    match reply {
        Reply::Ready(answer) => client.take(answer.message.unwrap_or_default()),
        Reply::Blocking(run) => client.take(run().message.unwrap_or_default()),
        Reply::Open(begin) | Reply::Late(begin) | Reply::Stream(begin) => begin(client.channel()),
    }
    Sent { client, is_late }
}
