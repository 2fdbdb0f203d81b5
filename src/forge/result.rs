//! The body of a result, as a release's workflow run sends it: strict, because we published its shape.
//! Unknown and repeated members are refused.

use serde_json::value::RawValue;

use crate::domain::digest::Digest;
use crate::domain::event::CommitSha;
use crate::domain::release;
use crate::domain::result::ResultReport;
use crate::json::Object;

/// Why a body is not a result. Never holds a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body is not a result of version 1")]
pub struct NotAResult;

/// Counts by severity, each from 0; they are kept with the body.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Reads the body of a result.
///
/// # Errors
/// When it does not have the published shape, or accepts a release without naming what was accepted.
pub fn read(body: &str) -> Result<ResultReport, NotAResult> {
    parse(body).ok_or(NotAResult)
}

fn parse(body: &str) -> Option<ResultReport> {
    let body = Object::read(body.as_bytes()).ok()?;
    let findings = body.object("findings").ok()?;
    let decision = release::Decision::from_word(&body.member::<String>("decision")?)?;
    let head_commit = CommitSha::new(&body.member::<String>("headCommit")?)?;
    let artifact_holds = match body.raw("artifact").map(RawValue::get) {
        // What is accepted must be named; of a rejected release there may be no artifact.
        None | Some("null") => decision == release::Decision::Rejected,
        Some(_) => is_artifact(&body.object("artifact").ok()?),
    };
    let holds = body.has_only(&["version", "decision", "headCommit", "findings", "artifact"])
        && body.member::<u32>("version") == Some(1)
        && findings.has_only(&SEVERITIES)
        // Counts without a meaning here; they are checked because the body is kept as evidence.
        && SEVERITIES.iter().all(|severity| findings.member::<u32>(severity).is_some())
        && artifact_holds;
    holds.then_some(ResultReport { decision, head_commit })
}

fn is_artifact(artifact: &Object<'_>) -> bool {
    let digest = artifact.member::<String>("digest");
    let digits = digest.as_deref().and_then(|digest| digest.strip_prefix("sha256:"));
    artifact.has_only(&["digest"]) && digits.is_some_and(|digits| digits.parse::<Digest>().is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn good() -> Value {
        json!({
            "version": 1,
            "decision": "accepted_at_risk",
            "headCommit": "a".repeat(40),
            "findings": {"critical": 0, "high": 1, "medium": 2, "low": 3},
            "artifact": {"digest": format!("sha256:{}", "0".repeat(64))},
        })
    }

    #[test]
    fn a_result_is_read() {
        let report = read(&good().to_string()).unwrap();
        assert_eq!(report.decision, release::Decision::AcceptedAtRisk);
        assert_eq!(report.head_commit.as_str(), "a".repeat(40));
        let mut rejected = good();
        rejected["decision"] = "rejected".into();
        rejected.as_object_mut().unwrap().remove("artifact");
        assert_eq!(read(&rejected.to_string()).unwrap().decision, release::Decision::Rejected);
    }

    #[test]
    fn anything_else_is_not_one() {
        for (pointer, value) in [
            ("/version", json!(2)),
            ("/version", json!("1")),
            ("/version", json!(1.0)),
            ("/decision", json!("Accepted")),
            ("/decision", json!("success")),
            ("/decision", json!(null)),
            ("/headCommit", json!("A".repeat(40))),
            ("/headCommit", json!("a".repeat(39))),
            ("/headCommit", json!("0".repeat(40))),
            ("/findings", json!({})),
            ("/findings/critical", json!(-1)),
            ("/findings/critical", json!("0")),
            ("/findings/low", json!(4_294_967_296_u64)),
            ("/artifact", json!(null)),
            ("/artifact/digest", json!("0".repeat(64))),
            ("/artifact/digest", json!(format!("sha256:{}", "0".repeat(63)))),
            ("/artifact/digest", json!(format!("sha256:{}", "G".repeat(64)))),
            ("/artifact/digest", json!(format!("sha512:{}", "0".repeat(64)))),
        ] {
            let mut body = good();
            *body.pointer_mut(pointer).unwrap() = value;
            assert_eq!(read(&body.to_string()), Err(NotAResult), "{body}");
        }
        let text = good().to_string();
        for body in [
            String::new(),
            "[]".to_owned(),
            "{}".to_owned(),
            format!("{text}x"),
            text.replacen('{', "{\"more\":1,", 1),
            format!("[1,\"accepted\",\"{}\",[0,0,0,0],null]", "a".repeat(40)),
            text.replacen("\"findings\":{", "\"findings\":{\"more\":1,", 1),
            text.replacen('{', "{\"decision\":\"accepted\",", 1),
            "[".repeat(100_000),
        ] {
            assert_eq!(read(&body), Err(NotAResult), "{body:.60}");
        }
    }
}
