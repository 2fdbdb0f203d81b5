//! Reports for people: what is wrong, the lines around it with a marker, and what to do. How much of a line is
//! shown is decided in `excerpt`.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style as Color};

use super::excerpt::{self, Excerpt};
use super::{Checked, Counts, Reporter};
use crate::api::CardFinding;
use crate::cli::output::{Output, escape};

/// A longer list of what is allowed is shown only when nothing better can be said.
const ALLOWED_MAX: usize = 60;

pub(in crate::cli::cards) struct Text {
    error: Color,
    frame: Color,
    /// Columns of an output line.
    width: usize,
}

/// Columns where there is no terminal, so that a report is the same on every machine.
const WIDTH: usize = 100;
/// Fewer columns are not enough for anything.
const WIDTH_MIN: usize = 40;

impl Text {
    pub(in crate::cli::cards) fn new(output: Output) -> Self {
        let width = output.columns().unwrap_or(WIDTH).max(WIDTH_MIN);
        if !output.is_colored() {
            return Self { error: Color::new(), frame: Color::new(), width };
        }
        let colored = |color: AnsiColor| Color::new().bold().fg_color(Some(color.into()));
        Self { error: colored(AnsiColor::Red), frame: colored(AnsiColor::Blue), width }
    }
}

impl Reporter for Text {
    fn card(&self, card: &Checked<'_>, out: &mut String) {
        // Most cards of a long stream have no finding, and are not read again.
        if card.report.findings.is_empty() {
            return;
        }
        // Of what is not UTF-8, at least the places in front of the fault are where they were. Only then, because
        // `from_utf8_lossy` looks at each byte by itself.
        let text = str::from_utf8(card.bytes)
            .map_or_else(|_| String::from_utf8_lossy(card.bytes), Cow::Borrowed);
        for finding in &card.report.findings {
            self.finding(card.name, &text, finding, out)
                .expect("writing to a string does not fail");
        }
        if card.report.truncated {
            out.push_str(&escape(card.name));
            out.push_str(": there are more findings; correct these first\n\n");
        }
    }

    fn unreadable(&self, _name: &str, _why: &str, _out: &mut String) {}

    fn tail(&self, total: &Counts) -> String {
        let (cards, invalid) = (total.cards, total.invalid);
        let (shown, findings) = (counted(cards, "card"), counted(total.findings, "finding"));
        match invalid {
            // That nothing was read is an error, and told as one.
            _ if cards == 0 => String::new(),
            0 => format!("{shown}, valid\n"),
            _ => {
                let valid = cards - invalid;
                let fixable = match total.fixable {
                    0 => String::new(),
                    count => format!(", {count} of which --fix can correct"),
                };
                format!("{shown}: {valid} valid, {invalid} not valid; {findings}{fixable}\n")
            }
        }
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
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
        let near = excerpt::near(text, finding.offset);
        let before = u64::try_from(near.before).unwrap_or(0);
        let lines = u64::try_from(near.lines.len()).unwrap_or(0);
        let first = line.saturating_sub(before);
        let gap = " ".repeat(first.saturating_add(lines).saturating_sub(1).to_string().len());
        writeln!(out, "{gap}{frame}-->{frame:#} {name}:{line}:{column}")?;
        writeln!(out, "{gap} {frame}|{frame:#}")?;
        // In front of the text are the number, a space, the frame and a space.
        let width = self.width.saturating_sub(gap.len() + 3);
        for (place, text) in near.lines.iter().enumerate() {
            let number = first.saturating_add(u64::try_from(place).unwrap_or(0));
            let number = format!("{number:>width$}", width = gap.len());
            if place != near.before {
                let shown = excerpt::beginning(text, width);
                writeln!(out, "{}", format!("{frame}{number} |{frame:#} {shown}").trim_end())?;
                continue;
            }
            let Excerpt { shown, indent, marked } =
                excerpt::around(text, near.at, finding.length, width);
            writeln!(out, "{}", format!("{frame}{number} |{frame:#} {shown}").trim_end())?;
            let (indent, marker) = (" ".repeat(indent), "^".repeat(marked));
            writeln!(out, "{gap} {frame}|{frame:#} {indent}{error}{marker}{error:#}")?;
        }
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
