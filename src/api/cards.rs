//! What is said about cards, in JSON: the same bytes from every surface.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::card::{self, ValidationReport};
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;
use crate::domain::time::Timestamp;

/// A registered card: what is known of it beside its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    pub name: CardName,
    /// `current` or `legacy`.
    pub variant: String,
    /// As the card names it.
    pub protocol_version: String,
    /// SHA-256 of the bytes, in hexadecimal; quoted, it is the entity tag.
    pub digest: Digest,
    /// Bytes.
    pub size: u32,
    /// From 1; one more with every change.
    pub revision: u32,
    /// When the name was registered.
    pub created_at: Timestamp,
    /// When the card was changed last.
    pub updated_at: Timestamp,
    /// Configured actor who changed it last.
    pub updated_by: String,
}

/// Verdict on one card, with everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CardReport {
    /// Line of the card, from 1; only where each line is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
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
    /// Bytes of what the place begins; 0 when there is nothing.
    pub length: usize,
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
    /// The suggestion as an exact change, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<CardEdit>,
}

/// An exact change of a card: part of its text, and what to write in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardEdit {
    /// Bytes of the card in front of the part.
    pub offset: usize,
    /// Bytes of the part, at least one.
    pub length: usize,
    /// Empty to remove the part.
    pub text: String,
}

impl CardReport {
    /// Tells a report: on a card of its own, or on one that is a line of something.
    #[must_use]
    pub fn new(report: ValidationReport, line: Option<u64>) -> Self {
        let told = Self {
            line: None,
            valid: report.is_valid(),
            variant: report.variant.map(|variant| variant.as_str().into()),
            findings: report.findings.into_iter().map(CardFinding::new).collect(),
            truncated: report.truncated,
        };
        match line {
            Some(line) => told.moved_to(line),
            None => told,
        }
    }

    /// Returns the report of the same card on another line.
    #[must_use]
    pub fn moved_to(mut self, line: u64) -> Self {
        let before = self.line.unwrap_or(1);
        for finding in &mut self.findings {
            finding.line = finding.line.saturating_add(line).saturating_sub(before);
        }
        self.line = Some(line);
        self
    }
}

impl CardFinding {
    fn new(finding: card::Finding) -> Self {
        Self {
            code: finding.code.as_str().into(),
            pointer: finding.pointer,
            line: finding.place.line,
            column: finding.place.column,
            offset: finding.place.offset,
            length: finding.length,
            message: finding.message,
            found: finding.found,
            allowed: finding.allowed,
            suggestion: finding.suggestion,
            edit: finding.edit.map(|card::Edit { offset, length, text }| CardEdit {
                offset,
                length,
                text,
            }),
        }
    }
}
