//! How an outbox payload is stored: JSON, written and read only here. It is never shown.

use serde::{Deserialize, Serialize};

use crate::domain::outbox::{CheckRunStatus, Effect};

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Stored {
    WorkflowDispatch { workflow: String, tag: String, nonce: String },
    CheckRunCreate { name: String, head_sha: String },
    CheckRunUpdate { status: String },
}

/// Writes an effect.
pub(super) fn encode(effect: &Effect) -> String {
    let stored = match effect.clone() {
        Effect::WorkflowDispatch { workflow, tag, nonce } => {
            Stored::WorkflowDispatch { workflow, tag, nonce }
        }
        Effect::CheckRunCreate { name, head_sha } => Stored::CheckRunCreate { name, head_sha },
        Effect::CheckRunUpdate { status } => {
            Stored::CheckRunUpdate { status: status.as_str().to_owned() }
        }
    };
    serde_json::to_string(&stored).expect("strings always serialize")
}

/// Reads an effect; nothing when it does not read as one.
pub(super) fn decode(json: &str) -> Option<Effect> {
    Some(match serde_json::from_str(json).ok()? {
        Stored::WorkflowDispatch { workflow, tag, nonce } => {
            Effect::WorkflowDispatch { workflow, tag, nonce }
        }
        Stored::CheckRunCreate { name, head_sha } => Effect::CheckRunCreate { name, head_sha },
        Stored::CheckRunUpdate { status } if status == CheckRunStatus::InProgress.as_str() => {
            Effect::CheckRunUpdate { status: CheckRunStatus::InProgress }
        }
        Stored::CheckRunUpdate { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_reads_back() {
        for effect in [
            Effect::WorkflowDispatch {
                workflow: "release.yml".into(),
                tag: "v1".into(),
                nonce: "n".into(),
            },
            Effect::CheckRunCreate { name: "release".into(), head_sha: "a".repeat(40) },
            Effect::CheckRunUpdate { status: CheckRunStatus::InProgress },
        ] {
            assert_eq!(decode(&encode(&effect)), Some(effect));
        }
        assert_eq!(decode(r#"{"kind":"check_run_update","status":"x"}"#), None);
    }
}
