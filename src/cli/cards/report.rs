//! What a report of a run consists of, whatever it is written as.

mod excerpt;
mod github;
mod json;
mod junit;
mod sarif;
pub(super) mod text;

use crate::api::CardReport;
use crate::cli::output::{FormatArg, Output};

/// One card that was checked.
pub(super) struct Checked<'a> {
    /// The file, as it was named.
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) report: &'a CardReport,
}

/// Counts of a run, or of a part of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) cards: u64,
    pub(super) invalid: u64,
    pub(super) findings: u64,
    /// Findings with an exact edit, which `--fix` applies.
    pub(super) fixable: u64,
    /// Files that could not be read, and why.
    pub(super) unreadable: Vec<(String, String)>,
    /// Files that could not be written, and why.
    pub(super) unwritten: Vec<(String, String)>,
    /// What was fixed.
    pub(super) fixed: Vec<String>,
    /// Remarks for people.
    pub(super) notes: Vec<String>,
}

impl Counts {
    pub(super) fn count(&mut self, report: &CardReport) {
        self.cards += 1;
        self.invalid += u64::from(!report.valid);
        self.findings += u64::try_from(report.findings.len()).unwrap_or(0);
        let fixable = report.findings.iter().filter(|finding| finding.edit.is_some()).count();
        self.fixable += u64::try_from(fixable).unwrap_or(0);
    }

    pub(super) fn add(&mut self, part: Self) {
        self.cards += part.cards;
        self.invalid += part.invalid;
        self.findings += part.findings;
        self.fixable += part.fixable;
        self.unreadable.extend(part.unreadable);
        self.unwritten.extend(part.unwritten);
        self.fixed.extend(part.fixed);
        self.notes.extend(part.notes);
    }
}

/// A way to write a report. Parts are written by several threads and put together in order.
pub(super) trait Reporter: Send + Sync {
    /// Returns what stands in front.
    fn head(&self) -> String {
        String::new()
    }

    /// Writes one card.
    fn card(&self, card: &Checked<'_>, out: &mut String);

    /// Writes that a file could not be read.
    fn unreadable(&self, name: &str, why: &str, out: &mut String);

    /// Puts together what belongs to one file, or to a part of a long one.
    fn group(&self, _name: &str, _part: &Counts, inside: String) -> String {
        inside
    }

    /// Returns what stands between parts; a part begins with it, and that of the first is cut off.
    fn separator(&self) -> &'static str {
        ""
    }

    /// Returns what stands behind.
    fn tail(&self, _total: &Counts) -> String {
        String::new()
    }
}

/// Returns the reporter of a format.
pub(super) fn reporter(output: Output) -> Box<dyn Reporter> {
    match output.wanted() {
        FormatArg::Table | FormatArg::Wide => Box::new(text::Text::new(output)),
        FormatArg::Json => Box::new(json::Json),
        FormatArg::Ndjson => Box::new(json::Ndjson),
        FormatArg::Sarif => Box::new(sarif::Sarif),
        FormatArg::Junit => Box::new(junit::Junit),
        FormatArg::Github => Box::new(github::Github),
    }
}
