//! The MCP server of the real `svcd` over real sockets: both eras, bad input, and what it costs. What needs a clock
//! that is moved asks `svc::mcp::Server` itself.
#![expect(clippy::string_slice, reason = "a helper of a test fails like the test it helps")]

pub(crate) mod service;
mod wire;

mod bad_input;
mod era_table;
mod fake_relay;
mod in_process;
mod initialize;
mod late;
mod limits;
mod modern;
mod properties;
mod relay_input;
mod relay_isolation;
mod relay_outcomes;
mod relay_site;
mod relay_task_streams;
mod relay_tasks;
mod relay_tools;
mod relay_waits;
mod resources;
mod rollback;
mod rounds;
mod schemas;
mod scopes;
mod sessions;
mod streams;

use serde_json::{Value, json};
use svc::mcp::revision::MODERN;

/// Prefix of the members of the modern envelope.
const META: &str = "io.modelcontextprotocol/";

/// Returns a request.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// Returns a call of a tool.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// Returns an `initialize` that offers a version.
pub(crate) fn initialize(version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    request("begin", "initialize", &params)
}

/// Returns parameters with the modern envelope.
pub(crate) fn enveloped(mut params: Value, capabilities: &Value) -> Value {
    params["_meta"][format!("{META}protocolVersion")] = MODERN.into();
    params["_meta"][format!("{META}clientCapabilities")] = capabilities.clone();
    params
}
