//! How an outbox payload is stored: JSON, written and read only here. It is never shown.

use serde::{Deserialize, Serialize};

use crate::domain::outbox::{self, CheckRunStatus};
use crate::domain::release::Conclusion;
use crate::domain::time::Timestamp;

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Stored {
    WorkflowDispatch {
        workflow: String,
        tag: String,
        nonce: String,
    },
    CheckRunCreate {
        name: String,
        head_sha: String,
    },
    CheckRunUpdate {
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conclusion: Option<String>,
        /// Microseconds UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        completed_at: Option<i64>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unconfirmed: bool,
    },
}

/// Writes an effect.
pub(in crate::store) fn encode(effect: &outbox::Effect) -> String {
    let stored = match effect.clone() {
        outbox::Effect::WorkflowDispatch { workflow, tag, nonce } => {
            Stored::WorkflowDispatch { workflow, tag, nonce }
        }
        outbox::Effect::CheckRunCreate { name, head_sha } => {
            Stored::CheckRunCreate { name, head_sha }
        }
        outbox::Effect::CheckRunUpdate { status } => {
            let name = status.as_str().to_owned();
            match status {
                CheckRunStatus::InProgress => Stored::CheckRunUpdate {
                    status: name,
                    conclusion: None,
                    completed_at: None,
                    unconfirmed: false,
                },
                CheckRunStatus::Completed { conclusion, completed_at, unconfirmed } => {
                    Stored::CheckRunUpdate {
                        status: name,
                        conclusion: Some(conclusion.as_str().to_owned()),
                        completed_at: Some(completed_at.micros()),
                        unconfirmed,
                    }
                }
            }
        }
    };
    serde_json::to_string(&stored).expect("strings always serialize")
}

/// Reads an effect; `None` when it does not read as one.
pub(in crate::store) fn decode(json: &str) -> Option<outbox::Effect> {
    Some(match serde_json::from_str(json).ok()? {
        Stored::WorkflowDispatch { workflow, tag, nonce } => {
            outbox::Effect::WorkflowDispatch { workflow, tag, nonce }
        }
        Stored::CheckRunCreate { name, head_sha } => {
            outbox::Effect::CheckRunCreate { name, head_sha }
        }
        Stored::CheckRunUpdate { status, conclusion, completed_at, unconfirmed } => {
            let read = match (conclusion, completed_at) {
                (None, None) => CheckRunStatus::InProgress,
                (Some(word), Some(micros)) => CheckRunStatus::Completed {
                    conclusion: Conclusion::from_word(&word)?,
                    completed_at: Timestamp::from_micros(micros),
                    unconfirmed,
                },
                // A conclusion without its time, or the reverse, is half a row; a guess could show a wrong end.
                _ => return None,
            };
            // The stored word must agree with the fields beside it; a row that contradicts itself is not sent.
            (read.as_str() == status).then_some(outbox::Effect::CheckRunUpdate { status: read })?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_reads_back() {
        for effect in [
            outbox::Effect::WorkflowDispatch {
                workflow: "release.yml".into(),
                tag: "v1".into(),
                nonce: "n".into(),
            },
            outbox::Effect::CheckRunCreate { name: "release".into(), head_sha: "a".repeat(40) },
            outbox::Effect::CheckRunUpdate { status: CheckRunStatus::InProgress },
            outbox::Effect::CheckRunUpdate {
                status: CheckRunStatus::Completed {
                    conclusion: Conclusion::Neutral,
                    completed_at: Timestamp::from_micros(7),
                    unconfirmed: false,
                },
            },
            outbox::Effect::CheckRunUpdate {
                status: CheckRunStatus::Completed {
                    conclusion: Conclusion::Failure,
                    completed_at: Timestamp::from_micros(8),
                    unconfirmed: true,
                },
            },
        ] {
            assert_eq!(decode(&encode(&effect)), Some(effect));
        }
        for status in [r#""x""#, r#""completed""#, r#""in_progress","conclusion":"success""#] {
            let json = format!(r#"{{"kind":"check_run_update","status":{status}}}"#);
            assert_eq!(decode(&json), None, "{json}");
        }
    }
}
