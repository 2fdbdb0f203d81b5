//! Tools, resources and prompts that the protocol's conformance suite asks for, with the methods that only they need.
//! Behind the feature `fixture`, which nothing that is installed has.

mod input;
mod samples;
mod task_tools;
mod tasks;
mod tools;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::mcp::call::Call;
use crate::mcp::changes::Changes;
use crate::mcp::result::{Dialect, cacheable};
use crate::mcp::rpc::{Code, Error};
use crate::mcp::tasks::Tasks;
use crate::mcp::tools::Tool;
use crate::runtime::clock::Clock;
use samples::{PNG, prompts, resources};
use tasks::FixtureTasks;

/// Adds these tools to ours, and what stands behind their tasks.
pub(super) fn extend(
    ours: &mut Vec<Tool>,
    tasks: &mut Vec<Arc<dyn Tasks>>,
    changes: &Changes,
    clock: &Arc<dyn Clock>,
) {
    ours.extend(tools::all(changes));
    ours.extend(input::tools());
    let fixture = Arc::new(FixtureTasks::new(Arc::clone(clock)));
    ours.extend(task_tools::all(&fixture));
    tasks.push(fixture);
}

pub(super) fn legacy_capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true },
        "prompts": { "listChanged": true },
        "logging": {},
        "completions": {},
    })
}

pub(super) fn modern_capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": {},
        "prompts": { "listChanged": true },
        "completions": {},
    })
}

/// Says whether a method is answered here.
pub(super) fn has(method: &str, dialect: Dialect) -> bool {
    let is_legacy = dialect != Dialect::Modern;
    match method {
        "resources/list"
        | "resources/templates/list"
        | "resources/read"
        | "prompts/list"
        | "prompts/get"
        | "completion/complete" => true,
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => is_legacy,
        _ => false,
    }
}

/// Returns the member of the parameters that `Mcp-Name` repeats.
pub(super) fn named(method: &str) -> Option<&'static str> {
    match method {
        "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

/// Answers a method that is answered here.
pub(super) fn answer(method: &str, call: Call) {
    let text = |name: &str| call.params().get(name).and_then(Value::as_str).unwrap_or_default();
    match method {
        "resources/list" => cached(call, json!({ "resources": resources() })),
        "resources/templates/list" => cached(
            call,
            json!({ "resourceTemplates": [{
                "uriTemplate": "test://template/{id}/data", "name": "template",
                "description": "Data by its id", "mimeType": "application/json",
            }] }),
        ),
        "resources/read" => match read(text("uri")) {
            Some(contents) => cached(call, json!({ "contents": [contents] })),
            None => {
                let error = Error::new(Code::InvalidParams, "there is no such resource");
                let error = error.with(json!({ "uri": text("uri") }));
                call.fail(error);
            }
        },
        "prompts/list" => cached(call, json!({ "prompts": prompts() })),
        "prompts/get" => prompt(call),
        "completion/complete" => call.answer(json!({ "completion": { "values": [] } })),
        _ => call.answer(json!({})),
    }
}

fn cached(call: Call, result: Value) {
    let result = match call.dialect() {
        Dialect::Modern => cacheable(result),
        Dialect::Legacy(_) => result,
    };
    call.answer(result);
}

fn read(uri: &str) -> Option<Value> {
    let template = uri.strip_prefix("test://template/").and_then(|it| it.strip_suffix("/data"));
    Some(match (uri, template) {
        ("test://static-text", _) => json!({
            "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PNG }),
        ("test://watched-resource", _) => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "It never changes." })
        }
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
        _ => return None,
    })
}

fn prompt(call: Call) {
    let argument = |name: &str| {
        let arguments = call.params().get("arguments");
        arguments.and_then(|it| it.get(name)).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let user = |content: Value| json!({ "role": "user", "content": content });
    let says = |text: &str| user(json!({ "type": "text", "text": text }));
    let messages = match call.params().get("name").and_then(Value::as_str).unwrap_or_default() {
        "test_simple_prompt" => vec![says("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![says(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(json!({ "type": "resource", "resource": {
                "uri": argument("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            } })),
            says("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            user(json!({ "type": "image", "data": PNG, "mimeType": "image/png" })),
            says("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => return input::prompt(call),
        _ => return call.fail(Error::new(Code::InvalidParams, "there is no such prompt")),
    };
    call.answer(json!({ "messages": messages }));
}
