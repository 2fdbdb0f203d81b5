//! The agent: an MCP client of the legacy era over plain HTTP.

use std::io;
use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::demo;
use crate::demo::stage::unexpected;
use crate::runtime::thread;

/// Longer than any call is held.
const PATIENCE: Duration = Duration::from_secs(30);
const REVISION: &str = "2025-11-25";

/// A client with a session.
#[derive(Clone)]
pub(super) struct Agent {
    address: SocketAddr,
    session: Option<String>,
    last: u64,
}

impl Agent {
    /// Begins a session.
    pub(super) fn begin(address: SocketAddr) -> Result<Self, demo::Error> {
        let mut agent = Self { address, session: None, last: 0 };
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": { "name": "svc-demo", "version": "1" },
        });
        agent.request("initialize", &params)?;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        agent.post(&note)?;
        Ok(agent)
    }

    /// Calls a tool, and returns its structured content.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, demo::Error> {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request("tools/call", &params)?;
        let content = answer.pointer("/result/structuredContent").cloned();
        content.ok_or_else(|| unexpected(tool, &"structured content", &answer.to_string()))
    }

    /// Calls a tool on a thread of its own, while a person decides.
    pub(super) fn call_aside(
        &mut self,
        tool: &'static str,
        arguments: &Value,
    ) -> Result<JoinHandle<Result<Value, demo::Error>>, demo::Error> {
        let (mut agent, arguments) = (self.clone(), arguments.clone());
        // The clone takes the next id for its call, so this client must not.
        self.last += 1;
        thread::spawn("demo-agent", move || agent.call(tool, &arguments))
            .map_err(|error| demo::Error::System("start the agent", error))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, demo::Error> {
        self.last += 1;
        let id = self.last;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.post(&message)?;
        if answer.get("id") == Some(&json!(id)) {
            Ok(answer)
        } else {
            Err(unexpected(method, &id, &answer.to_string()))
        }
    }

    /// Sends a message; returns the answer, which is null for a notification.
    fn post(&mut self, message: &Value) -> Result<Value, demo::Error> {
        let failed = |e: ureq::Error| demo::Error::System("call /mcp", io::Error::other(e));
        let mut request = ureq::post(format!("http://{}/mcp", self.address))
            .config()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request =
                request.header("Mcp-Session-Id", session).header("MCP-Protocol-Version", REVISION);
        }
        let mut answer = request.send(message.to_string().as_bytes()).map_err(failed)?;
        if let Some(session) = answer.headers().get("mcp-session-id") {
            self.session = session.to_str().ok().map(ToOwned::to_owned);
        }
        match answer.status().as_u16() {
            200 => answer.body_mut().read_json().map_err(failed),
            202 => Ok(Value::Null),
            status => Err(unexpected("/mcp", &200, &status)),
        }
    }
}
