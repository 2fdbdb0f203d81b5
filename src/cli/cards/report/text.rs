//! Reports for people: what is wrong, the line it stands on with a marker below it, and what to do.
//! Text of the card is escaped, and of a long line only what is near is shown.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style as Color};

use super::{Checked, Counts, Reporter};
use crate::api::CardFinding;
use crate::cli::output::escape;

/// Characters of a line that are shown in front of a place, and from it on.
const BEFORE: usize = 40;
const BEHIND: usize = 60;

/// A longer list of what is allowed is shown only when nothing better can be said.
const ALLOWED_MAX: usize = 60;

pub(in crate::cli::cards) struct Text {
    error: Color,
    frame: Color,
}

impl Text {
    pub(in crate::cli::cards) fn new(is_colored: bool) -> Self {
        if !is_colored {
            return Self { error: Color::new(), frame: Color::new() };
        }
        let colored = |color: AnsiColor| Color::new().bold().fg_color(Some(color.into()));
        Self { error: colored(AnsiColor::Red), frame: colored(AnsiColor::Blue) }
    }
}

impl Reporter for Text {
    fn card(&self, card: &Checked<'_>, out: &mut String) {
        let good = match std::str::from_utf8(card.bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = card.bytes.get(..error.valid_up_to()).unwrap_or_default();
                std::str::from_utf8(good).unwrap_or_default()
            }
        };
        for finding in &card.report.findings {
            self.finding(card.name, good, finding, out).expect("writing to a string does not fail");
        }
        if card.report.truncated {
            out.push_str(&escape(card.name));
            out.push_str(": there are more findings; correct these first\n\n");
        }
    }

    fn unreadable(&self, _name: &str, _why: &str, _out: &mut String) {}

    fn tail(&self, total: &Counts) -> String {
        let (cards, invalid) = (total.cards, total.invalid);
        let noun = if cards == 1 { "card" } else { "cards" };
        match invalid {
            0 => format!("{cards} {noun}, valid\n"),
            _ => format!("{cards} {noun}: {} valid, {invalid} not valid\n", cards - invalid),
        }
    }
}

impl Text {
    fn finding(
        &self,
        name: &str,
        text: &str,
        finding: &CardFinding,
        out: &mut String,
    ) -> std::fmt::Result {
        let (error, frame) = (self.error, self.frame);
        let (code, message) = (escape(&finding.code), escape(&finding.message));
        let (name, line, column) = (escape(name), finding.line, finding.column);
        writeln!(out, "{error}error[{code}]{error:#}: {message}")?;
        let number = line.to_string();
        let gap = " ".repeat(number.len());
        writeln!(out, "{gap}{frame}-->{frame:#} {name}:{line}:{column}")?;
        let (shown, marker) = excerpt(text, finding);
        writeln!(out, "{gap} {frame}|{frame:#}")?;
        writeln!(out, "{frame}{number} |{frame:#} {shown}")?;
        writeln!(out, "{gap} {frame}|{frame:#} {error}{marker}{error:#}")?;
        // What to write says more than a long list of what may be written.
        let is_short = |allowed: &&String| {
            finding.suggestion.is_none() || allowed.chars().count() <= ALLOWED_MAX
        };
        let allowed = finding.allowed.as_ref().filter(is_short);
        for (label, text) in [("allowed", allowed), ("help", finding.suggestion.as_ref())] {
            if let Some(text) = text {
                writeln!(out, "{gap} {frame}={frame:#} {label}: {}", escape(text))?;
            }
        }
        writeln!(out)
    }
}

/// Returns what is shown of the line, and the marker below it.
fn excerpt(text: &str, finding: &CardFinding) -> (String, String) {
    let offset = finding.offset;
    let before = text.get(..offset).unwrap_or(text);
    // Takes one character more than is shown, to know whether the line is cut.
    let mut near: Vec<char> =
        before.chars().rev().take_while(|char| *char != '\n').take(BEFORE + 1).collect();
    let is_cut = near.len() > BEFORE;
    near.truncate(BEFORE);
    let mut shown = String::from(if is_cut { "…" } else { "" });
    shown.push_str(&plain(near.iter().rev().copied()));
    let indent = shown.chars().count();
    let rest = text.get(offset..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let behind: String = line.chars().take(BEHIND).collect();
    shown.push_str(&plain(behind.chars()));
    if behind.len() < line.len() {
        shown.push('…');
    }
    let end = finding.length.min(behind.len());
    // Escapes are longer than what they stand for, so the marker is measured in what is shown.
    let marked = behind.get(..end).map_or(1, |marked| plain(marked.chars()).chars().count());
    (shown.trim_end().to_owned(), format!("{}{}", " ".repeat(indent), "^".repeat(marked.max(1))))
}

/// Returns text without what would move the marker or the terminal.
fn plain(chars: impl Iterator<Item = char>) -> String {
    let spaced: String = chars.map(|char| if char == '\t' { ' ' } else { char }).collect();
    escape(&spaced)
}
