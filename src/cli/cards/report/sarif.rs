//! Reports as SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::json;
use super::{Checked, Counts, Reporter};
use crate::api::CardFinding;
use crate::card::Code;

pub(super) struct Sarif;

/// Where the schema of the format is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl Reporter for Sarif {
    fn head(&self) -> String {
        let rule = |code: &Code| {
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": code.title() },
                "fullDescription": { "text": code.help() },
                "defaultConfiguration": { "level": "error" },
            })
        };
        let rules: Vec<Value> = Code::ALL.iter().map(rule).collect();
        let tool = json!({ "driver": {
            "name": "svcctl",
            "version": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        } });
        format!(
            "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{tool},\
             \"columnKind\":\"unicodeCodePoints\",\"results\":[\n"
        )
    }

    fn card(&self, card: &Checked<'_>, out: &mut String) {
        for finding in &card.report.findings {
            out.push_str(self.separator());
            out.push_str(&json::json(&result(card, finding)));
        }
    }

    /// What could not be read is no result; it stands at the end.
    fn unreadable(&self, _name: &str, _why: &str, _out: &mut String) {}

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self, total: &Counts) -> String {
        let notification = |(name, why): &(String, String)| {
            json!({
                "level": "error",
                "message": { "text": format!("cannot be read: {why}") },
                "locations": [{ "physicalLocation": { "artifactLocation": artifact(name) } }],
            })
        };
        let notifications: Vec<Value> = total.unreadable.iter().map(notification).collect();
        let invocations = json!([{
            "executionSuccessful": notifications.is_empty(),
            "toolExecutionNotifications": notifications,
        }]);
        format!("\n],\"invocations\":{invocations}}}]}}\n")
    }
}

fn result(card: &Checked<'_>, finding: &CardFinding) -> Value {
    let index = Code::ALL.iter().position(|code| code.as_str() == finding.code);
    let mut text = format!("{}.", finding.message);
    if let Some(suggestion) = &finding.suggestion {
        text = format!("{}; {suggestion}.", finding.message);
    }
    json!({
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact(card.name),
                "region": {
                    "startLine": finding.line,
                    "startColumn": finding.column,
                },
            },
            "logicalLocations": [{ "fullyQualifiedName": finding.pointer }],
        }],
    })
}

fn artifact(name: &str) -> Value {
    json!({ "uri": if name == crate::cli::cards::STDIN { "stdin".to_owned() } else { relative_uri(name) } })
}

/// Returns a path as a URI reference.
fn relative_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        let char = char::from(byte);
        if char.is_ascii_alphanumeric() || "/-._~".contains(char) {
            uri.push(char);
        } else {
            uri.push_str(&percent(byte));
        }
    }
    uri
}

fn percent(byte: u8) -> String {
    format!("%{byte:02X}")
}
