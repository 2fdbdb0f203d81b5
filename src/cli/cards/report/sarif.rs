//! Reports as SARIF 2.1.0, for code scanning.

use serde_json::{Value, json};

use super::json;
use super::{Checked, Counts, Reporter};
use crate::api::CardFinding;
use crate::card::FindingCode;
use crate::crypto::sha256;

pub(super) struct Sarif;

/// Where the schema of the format is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

impl Reporter for Sarif {
    fn head(&self) -> String {
        let rule = |code: &FindingCode| {
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": plain(code.title()) },
                "fullDescription": { "text": plain(&sentence(code.title())) },
                "help": { "text": plain(code.help()) },
                "defaultConfiguration": { "level": "error" },
            })
        };
        let rules: Vec<Value> = FindingCode::ALL.iter().map(rule).collect();
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
        let findings = &card.report.findings;
        // Among the cards of a stream, a card is known only by its text.
        let is_listed = card.report.line.is_some() && !findings.is_empty();
        let known_by = if is_listed { sha256::of(card.bytes).to_string() } else { String::new() };
        for (place, finding) in findings.iter().enumerate() {
            let is_same = |other: &&CardFinding| {
                other.code == finding.code && other.pointer == finding.pointer
            };
            let number = findings.iter().take(place + 1).filter(is_same).count();
            out.push_str(self.separator());
            out.push_str(&json::json(&result(
                card,
                finding,
                &fingerprint(&known_by, finding, number),
            )));
        }
    }

    /// What could not be read is no result; it stands at the end.
    fn unreadable(&self, _name: &str, _why: &str, _out: &mut String) {}

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self, total: &Counts) -> String {
        let notification = |done: &str, (name, why): &(String, String)| {
            json!({
                "level": "error",
                "message": { "text": plain(&format!("cannot be {done}: {why}")) },
                "locations": [{ "physicalLocation": { "artifactLocation": artifact(name) } }],
            })
        };
        let unreadable = total.unreadable.iter().map(|file| notification("read", file));
        let unwritten = total.unwritten.iter().map(|file| notification("written", file));
        let notifications: Vec<Value> = unreadable.chain(unwritten).collect();
        let invocations = json!([{
            "executionSuccessful": notifications.is_empty(),
            "toolExecutionNotifications": notifications,
        }]);
        format!("\n],\"invocations\":{invocations}}}]}}\n")
    }
}

fn result(card: &Checked<'_>, finding: &CardFinding, fingerprint: &str) -> Value {
    let index = FindingCode::ALL.iter().position(|code| code.as_str() == finding.code);
    let mut text = format!("{}.", finding.message);
    if let Some(suggestion) = &finding.suggestion {
        text = format!("{}; {suggestion}.", finding.message);
    }
    let (end_line, end_column) = end(card.bytes, finding);
    json!({
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": "error",
        "message": { "text": plain(&text) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact(card.name),
                "region": {
                    "startLine": finding.line,
                    "startColumn": finding.column,
                    "endLine": end_line,
                    "endColumn": end_column,
                },
            },
            "logicalLocations": [{ "fullyQualifiedName": finding.pointer }],
        }],
        // Code scanning reads the fingerprint of this name only.
        "partialFingerprints": { "primaryLocationLineHash": fingerprint },
    })
}

/// Returns the line and the column behind a finding; those of the finding when it marks nothing.
fn end(card: &[u8], finding: &CardFinding) -> (u64, u64) {
    let end = finding.offset.saturating_add(finding.length);
    let marked = String::from_utf8_lossy(card.get(finding.offset..end).unwrap_or_default());
    marked.chars().fold((finding.line, finding.column), |(line, column), char| match char {
        '\n' => (line + 1, 1),
        _ => (line, column + 1),
    })
}

/// Returns what tells a finding from others of its file, and stays when lines are added or moved: what its card is known
/// by, its code and its pointer, and its number among the findings that have both.
fn fingerprint(known_by: &str, finding: &CardFinding, number: usize) -> String {
    let text = format!("{known_by}\n{}\n{}", finding.code, finding.pointer);
    format!("{}:{number}", sha256::of(text.as_bytes()))
}

/// Escapes a text so that no part of it is a link: `[text](address)` is one in plain text, too (SARIF 2.1.0, 3.11.6).
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        if matches!(char, '\\' | '[' | ']') {
            plain.push('\\');
        }
        plain.push(char);
    }
    plain
}

/// Writes a title as a sentence.
fn sentence(title: &str) -> String {
    let mut chars = title.chars();
    let first = chars.next().map(|char| char.to_ascii_uppercase());
    first.into_iter().chain(chars).chain(['.']).collect()
}

fn artifact(name: &str) -> Value {
    json!({ "uri": if name == crate::cli::cards::STDIN { "stdin".to_owned() } else { uri(name) } })
}

/// Returns a path as a URI reference; an absolute one as a URI, because a reference must not begin with a slash.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::CardReport;
    use crate::card;

    /// Returns the results of a card, as an element of a stream if a line is given.
    fn results(text: &str, line: Option<u64>) -> Vec<Value> {
        let report = CardReport::new(card::check(text.as_bytes()), line);
        let mut out = String::new();
        Sarif.card(
            &Checked { name: "card.json", bytes: text.as_bytes(), report: &report },
            &mut out,
        );
        out.lines()
            .filter_map(|line| serde_json::from_str(line.trim_end_matches(',')).ok())
            .collect()
    }

    fn regions(text: &str) -> Vec<[u64; 4]> {
        let results = results(text, None);
        let at = |result: &Value, name: &str| {
            result["locations"][0]["physicalLocation"]["region"][name].as_u64().unwrap()
        };
        let names = ["startLine", "startColumn", "endLine", "endColumn"];
        results.iter().map(|result| names.map(|name| at(result, name))).collect()
    }

    fn fingerprints(text: &str, line: Option<u64>) -> Vec<String> {
        let named = |result: &Value| {
            result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().to_owned()
        };
        results(text, line).iter().map(named).collect()
    }

    const CARD: &str =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1""#;

    #[test]
    fn a_file_is_named_by_a_uri() {
        for (name, expected) in [
            ("a b/ä%:.json", "a%20b/%C3%A4%25%3A.json"),
            ("/srv/a b.json", "file:///srv/a%20b.json"),
            ("-", "stdin"),
        ] {
            assert_eq!(artifact(name)["uri"], expected);
        }
    }

    #[test]
    fn a_region_ends_behind_what_is_marked_and_columns_are_characters() {
        for (rest, expected) in [
            // Four characters, five UTF-16 code units, seven bytes.
            ("\n, \"𝄞é\":1}", [2, 3, 2, 7]),
            ("\n,\"skills\":\n{\n\"é\":2 }}", [3, 1, 4, 8]),
        ] {
            assert_eq!(regions(&format!("{CARD}{rest}")), [expected], "{rest}");
        }
        assert_eq!(regions(""), [[1, 1, 1, 1]]);
    }

    #[test]
    fn a_fingerprint_stays_when_a_finding_moves() {
        let card = format!("{CARD},\"nmae\":1,\"skills\":{{}}}}");
        let moved = format!("\n\n{}", card.replace("\":", "\" :\n "));
        let known = fingerprints(&card, None);
        assert_eq!((known.len(), &known), (2, &fingerprints(&moved, None)));
        assert!(
            known[0] != known[1] && known.iter().all(|known| known.ends_with(":1")),
            "{known:?}"
        );
        let twice = fingerprints(&format!("{CARD},\"name\":\"n\",\"name\":\"n\"}}"), None);
        assert_eq!(twice[1], twice[0].replace(":1", ":2"));
        // Cards of one stream have the same pointers, and they move, too.
        assert_eq!(fingerprints(&card, Some(3)), fingerprints(&card, Some(7)));
        let other = fingerprints(&card.replace("\"d\"", "\"e\""), Some(7));
        assert_ne!(fingerprints(&card, Some(7)), other);
    }

    #[test]
    fn no_text_of_a_card_becomes_a_link() {
        let results = results(&format!(r#"{CARD},"[x](https://a.example/)\\":1}}"#), None);
        let message = results[0]["message"]["text"].as_str().unwrap();
        assert!(
            message.starts_with(
                r#"the card has an unknown property, "\[x\](https://a.example/)\\\\""#
            ),
            "{message}"
        );
    }
}
