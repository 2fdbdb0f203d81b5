//! What is said about cards, in JSON: the same bytes from every surface.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::card::{Finding, Report};

/// Verdict on one card, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardReport {
    /// There are no findings.
    pub valid: bool,
    /// `current` or `legacy`: what it is, or was compared with; null when it is no JSON object.
    pub variant: Option<Cow<'static, str>>,
    /// By place, at most 100.
    pub findings: Vec<CardFinding>,
    /// There were more findings.
    pub truncated: bool,
}

/// One fault of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardFinding {
    /// Stable word, `card/…`.
    pub code: Cow<'static, str>,
    /// JSON Pointer.
    pub pointer: String,
    /// Line of the file or body, from 1.
    pub line: u64,
    /// Column in Unicode scalar values, from 1.
    pub column: u64,
    /// Bytes of the card in front of it.
    pub offset: usize,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What stands there, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What may stand there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

impl CardReport {
    /// Tells a report on a card that has so many lines of its file or body in front of it.
    #[must_use]
    pub fn new(report: &Report, lines_before: u64) -> Self {
        let tell = |finding: &Finding| CardFinding {
            code: finding.code.as_str().into(),
            pointer: finding.pointer.clone(),
            line: finding.place.line + lines_before,
            column: finding.place.column,
            offset: finding.place.offset,
            message: finding.message.clone(),
            found: finding.found.clone(),
            allowed: finding.allowed.clone(),
            suggestion: finding.suggestion.clone(),
        };
        Self {
            valid: report.is_valid(),
            variant: report.variant.map(|variant| variant.as_str().into()),
            findings: report.findings.iter().map(tell).collect(),
            truncated: report.truncated,
        }
    }
}
