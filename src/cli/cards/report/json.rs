//! Reports as JSON: one document, or one a line.

use serde::Serialize;

use super::{Checked, Counts, Reporter};
use crate::api::CardReport;

/// One document.
pub(super) struct Json;

/// A line for each card.
pub(super) struct Ndjson;

/// A card with where it stands.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    report: &'a CardReport,
}

/// A file that could not be read.
#[derive(Serialize)]
struct Unreadable<'a> {
    file: &'a str,
    error: &'a str,
}

impl Reporter for Json {
    fn head(&self) -> String {
        "{\"cards\":[\n".to_owned()
    }

    fn card(&self, card: &Checked<'_>, out: &mut String) {
        out.push_str(self.separator());
        out.push_str(&told(card));
    }

    fn unreadable(&self, name: &str, why: &str, out: &mut String) {
        out.push_str(self.separator());
        out.push_str(&json(&Unreadable { file: name, error: why }));
    }

    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn tail(&self, total: &Counts) -> String {
        let summary = serde_json::json!({
            "cards": total.cards,
            "valid": total.cards - total.invalid,
            "invalid": total.invalid,
            "findings": total.findings,
            "fixable": total.fixable,
            "unreadable": total.unreadable.len(),
            "unwritten": total.unwritten.len(),
        });
        format!("\n],\"summary\":{summary}}}\n")
    }
}

impl Reporter for Ndjson {
    fn card(&self, card: &Checked<'_>, out: &mut String) {
        out.push_str(&told(card));
        out.push('\n');
    }

    fn unreadable(&self, name: &str, why: &str, out: &mut String) {
        out.push_str(&json(&Unreadable { file: name, error: why }));
        out.push('\n');
    }
}

fn told(card: &Checked<'_>) -> String {
    json(&Line { file: card.name, report: card.report })
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers become JSON")
}
