//! The tool that checks an agent card.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Annotations, Run, Tool};
use crate::auth::access_token::Scope;
use crate::mcp::backend::Backend;
use crate::mcp::result::ToolResult;

/// Returns the tool.
#[must_use]
pub fn tool(backend: Arc<dyn Backend>) -> Tool {
    Tool {
        name: "validate_agent_card",
        title: "Validate an agent card",
        description: "Checks the text of an A2A agent card (JSON) and returns every finding with \
        its line, column, JSON Pointer, what is allowed there and, where one is known, a \
        suggestion; an exact suggestion also as an edit of the text. Nothing is stored."
            .into(),
        input_schema: input_schema(),
        output_schema: Some(output_schema()),
        annotations: Annotations::READ_ONLY,
        is_open_world: false,
        scope: Scope::Read,
        needs: None,
        run: Run::Blocking(Arc::new(move |_, arguments| {
            let card = arguments.get("card").and_then(Value::as_str).unwrap_or_default();
            match backend.validate_agent_card(card) {
                Ok(report) => ToolResult::of(&report),
                Err(unavailable) => ToolResult::failure(&unavailable.to_string()),
            }
        })),
    }
}

fn input_schema() -> Value {
    json!({
        "$schema": super::SCHEMA,
        "type": "object",
        "properties": {
            "card": {
                "type": "string",
                "minLength": 1,
                "description": "The complete text of the card, exactly as in its file: lines and \
                columns refer to it."
            }
        },
        "required": ["card"],
        "additionalProperties": false
    })
}

fn output_schema() -> Value {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer", "minimum": 0 });
    let edit = json!({
        "type": "object",
        "description": "Replaces length bytes of the card, from offset on, with text.",
        "properties": { "offset": count, "length": count, "text": text },
        "required": ["offset", "length", "text"],
        "additionalProperties": false
    });
    json!({
        "$schema": super::SCHEMA,
        "type": "object",
        "properties": {
            "valid": { "type": "boolean", "description": "There are no findings." },
            "variant": {
                "enum": ["current", "legacy", null],
                "description": "What the card is, or was compared with; null when it is no JSON object."
            },
            "findings": {
                "type": "array",
                "maxItems": 100,
                "description": "By place.",
                "items": {
                    "type": "object",
                    "properties": {
                        "code": { "type": "string", "pattern": "^card/" },
                        "pointer": text, "line": count, "column": count, "offset": count, "length": count,
                        "message": text, "found": text, "allowed": text, "suggestion": text,
                        "edit": edit
                    },
                    "required": ["code", "pointer", "line", "column", "offset", "length", "message"],
                    "additionalProperties": false
                }
            },
            "truncated": { "type": "boolean", "description": "There were more findings." }
        },
        "required": ["valid", "variant", "findings", "truncated"],
        "additionalProperties": false
    })
}
