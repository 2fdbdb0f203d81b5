//! Schemas of the relay's tools, each self-contained. They are made from those of the actions.

use serde_json::{Map, Value, json};

use crate::mcp::tools::SCHEMA;
use crate::relay::action::{DesignAction, STEPS_MAX};

/// Returns the schema of an identifier.
pub(super) fn uuid() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" })
}

/// Returns the schema of arguments with these members.
pub(super) fn input(properties: Value, required: &[&str]) -> Value {
    with(object(properties, required), "$schema", SCHEMA)
}

/// Returns the schema of a tool's arguments: those of its action, and the session.
pub(super) fn action_input(action: DesignAction) -> Value {
    let mut schema = action.arguments_schema().clone();
    let properties = schema.as_object_mut().map(|it| it.entry("properties").or_insert(json!({})));
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        properties.insert("session".to_owned(), session());
    }
    schema
}

/// Returns the schema of a tool's result: the value of its action, or why there is none.
pub(super) fn action_output(action: DesignAction) -> Value {
    let mut value = action.result_schema().clone();
    if action == DesignAction::ExportImage {
        // Its bytes are separate content.
        let mime_type = value.pointer("/properties/mimeType").cloned().unwrap_or_default();
        value = object(json!({ "mimeType": mime_type }), &["mimeType"]);
    }
    let definitions = take_definitions(&mut value);
    output(&one(&value), definitions)
}

/// Returns the schema of the report on an invocation of any action.
pub(super) fn invocation_output() -> Value {
    output(&one(&json!({ "type": "object" })), Map::new())
}

/// Returns the schema of a proposal's steps. Which arguments a step has depends on its action.
pub(super) fn steps_input() -> Value {
    let mut definitions = Map::new();
    let mut cases = Vec::new();
    for action in DesignAction::ALL {
        let mut arguments = action.arguments_schema().clone();
        definitions.extend(take_definitions(&mut arguments));
        definitions.insert(action.to_string(), arguments);
        cases.push(json!({
            "if": { "properties": { "action": { "const": action.as_str() } }, "required": ["action"] },
            "then": { "properties": { "arguments": { "$ref": format!("#/$defs/{action}") } } }
        }));
    }
    let names: Vec<&str> = DesignAction::ALL.iter().map(|action| action.as_str()).collect();
    let step = object(
        json!({
            "action": { "enum": names },
            "arguments": { "type": "object", "description": "The arguments of the tool with the action's name, without session." }
        }),
        &["action", "arguments"],
    );
    let step = with(step, "allOf", cases);
    let steps = json!({ "type": "array", "minItems": 1, "maxItems": STEPS_MAX, "items": step });
    let schema = input(json!({ "session": session(), "steps": steps }), &["steps"]);
    with(schema, "$defs", definitions)
}

/// Returns the schema of the outcomes of a proposal's steps.
pub(super) fn steps_output() -> Value {
    let (properties, required) = step(&json!({ "type": "object" }));
    let items = object(properties.into(), &required);
    let steps = json!({ "type": "array", "maxItems": STEPS_MAX, "items": items });
    let mut properties = pending();
    properties.extend([
        ("proposal".to_owned(), uuid()),
        ("session".to_owned(), uuid()),
        ("file".to_owned(), nullable_text()),
        ("steps".to_owned(), steps),
        ("invocation".to_owned(), uuid()),
    ]);
    let steps = object(properties.into(), &["proposal", "session", "file", "steps"]);
    output(&steps, Map::new())
}

/// Returns the schema of a list of sessions.
pub(super) fn sessions() -> Value {
    let sessions = json!({ "type": "array", "items": design_session() });
    output(&object(json!({ "sessions": sessions }), &["sessions"]), Map::new())
}

/// Returns the schema of a claimed pairing.
pub(super) fn pairing() -> Value {
    let properties = json!({
        "pairing": uuid(),
        "tool": { "type": "string" },
        "file": nullable_text(),
        "expiresAt": instant(),
        "state": { "const": "claimed" }
    });
    let pairing = object(properties, &["pairing", "tool", "file", "expiresAt", "state"]);
    output(&pairing, Map::new())
}

/// Returns the schema of a tool's structured content: its value, or why the relay refuses.
fn output(given: &Value, definitions: Map<String, Value>) -> Value {
    let refusal = object(
        json!({
            "code": { "type": "string" },
            "message": { "type": "string" },
            "sessions": { "type": "array", "items": design_session() },
            "retryAfterSeconds": { "type": "integer", "minimum": 0 }
        }),
        &["code", "message"],
    );
    let schema = json!({ "$schema": SCHEMA, "type": "object", "anyOf": [given, refusal] });
    if definitions.is_empty() { schema } else { with(schema, "$defs", definitions) }
}

/// Returns the schema of one invocation whose value has the schema `value`.
fn one(value: &Value) -> Value {
    let (mut properties, mut required) = step(value);
    properties.extend([("session".to_owned(), uuid()), ("file".to_owned(), nullable_text())]);
    properties.extend(pending());
    required.extend(["session", "file"]);
    object(properties.into(), &required)
}

/// Returns the members of the report on an invocation, and which are always there.
fn step(value: &Value) -> (Map<String, Value>, Vec<&'static str>) {
    let nothing = json!({ "type": "null" });
    let properties = [
        ("invocation", uuid()),
        ("action", json!({ "type": "string" })),
        ("state", json!({ "type": "string" })),
        ("reason", nullable_text()),
        ("settledLate", json!({ "type": "boolean" })),
        ("value", json!({ "anyOf": [value, nothing] })),
        ("valueGone", json!({ "type": "boolean" })),
    ];
    let required = properties.iter().map(|(name, _)| *name).collect();
    let properties = properties.map(|(name, schema)| (name.to_owned(), schema));
    (properties.into_iter().collect(), required)
}

/// Returns the further members for what has not ended.
fn pending() -> Map<String, Value> {
    Map::from_iter([
        ("status".to_owned(), json!({ "enum": ["approval_pending", "running"] })),
        ("expiresAt".to_owned(), instant()),
    ])
}

fn design_session() -> Value {
    let properties = json!({
        "session": uuid(),
        "tool": { "type": "string" },
        "state": { "enum": ["connected", "suspended", "away"] },
        "file": nullable_text(),
        "page": nullable_text(),
        "allowanceUntil": { "anyOf": [instant(), { "type": "null" }] }
    });
    object(properties, &["session", "tool", "state", "file", "page", "allowanceUntil"])
}

fn session() -> Value {
    let description = "The session of the file, from list_design_sessions. May be omitted if exactly one is connected.";
    with(uuid(), "description", description)
}

fn instant() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn nullable_text() -> Value {
    json!({ "type": ["string", "null"] })
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false
    })
}

/// Returns a schema with one more member.
fn with(mut schema: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
    schema
}

/// Takes the definitions out of a schema, for the schema that will contain it.
fn take_definitions(schema: &mut Value) -> Map<String, Value> {
    let Some(members) = schema.as_object_mut() else { return Map::new() };
    members.remove("$schema");
    match members.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    }
}
