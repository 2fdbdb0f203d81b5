//! The tool that tells how the service is.

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
        name: "service_status",
        title: "Status of the service",
        description: "Returns whether the service is ready, when its reconcilers last polled and \
        succeeded, the state of its store, and which of its signals fire. Contains no tenant content.".into(),
        input_schema: json!({
            "$schema": super::SCHEMA, "type": "object", "properties": {}, "additionalProperties": false
        }),
        output_schema: Some(output_schema()),
        annotations: Annotations::READ_ONLY,
        is_open_world: false,
        scope: Scope::Read,
        needs: None,
        run: Run::Blocking(Arc::new(move |_, _| match backend.service_status() {
            Ok(readiness) => ToolResult::of(&readiness),
            Err(unavailable) => ToolResult::failure(&unavailable.to_string()),
        })),
    }
}

fn output_schema() -> Value {
    let instant = json!({ "type": ["string", "null"], "description": "RFC 3339 time; null if it \
    has not happened yet." });
    json!({
        "$schema": super::SCHEMA,
        "type": "object",
        "properties": {
            "status": { "enum": ["ready", "not_ready"] },
            "reconciliationConfigurationValid": { "type": "boolean" },
            "lastWorkflowReconciliationPollAt": instant,
            "lastSuccessfulWorkflowReconciliationAt": instant,
            "lastCheckRunReconciliationPollAt": instant,
            "lastSuccessfulCheckRunReconciliationAt": instant,
            "lastLifecycleReconciliationPollAt": instant,
            "lastSuccessfulLifecycleReconciliationAt": instant,
            "store": { "type": "string", "description": "`ok`, or a stable code for what is wrong with it." },
            "schemaVersion": { "type": "integer", "minimum": 0 },
            "draining": { "type": "boolean", "description": "The service is stopping." },
            "sloHealth": { "enum": ["healthy", "degraded", "critical", null] },
            "sloActiveSignals": { "type": "array", "items": { "type": "string" } }
        },
        "required": [
            "status", "reconciliationConfigurationValid",
            "lastWorkflowReconciliationPollAt", "lastSuccessfulWorkflowReconciliationAt",
            "lastCheckRunReconciliationPollAt", "lastSuccessfulCheckRunReconciliationAt",
            "lastLifecycleReconciliationPollAt", "lastSuccessfulLifecycleReconciliationAt",
            "store", "schemaVersion", "draining", "sloHealth", "sloActiveSignals"
        ],
        "additionalProperties": false
    })
}
