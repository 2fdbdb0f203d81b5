//! `svcctl cards explain`: which kind of card a file is, and what to change to make it valid.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::api::CardReport;
use crate::card::{self, Change, Dialect, Evidence, Finding, ValidationReport};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, escape};

/// Show which kind of card a file is, and what to change to make it valid
///
/// Recognises the current and the legacy variant, official A2A cards of versions 0.2, 0.3 and 1.x, and mixtures
/// of them. Exits with 0 if the card is valid, 1 if it is not.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards explain .well-known/agent-card.json
")]
pub(crate) struct Args {
    /// File with the card, or - for standard input
    #[arg(default_value = super::STDIN)]
    file: PathBuf,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let bytes = super::read_one(&args.file)?;
    let (dialect, evidence) =
        card::dialect(&bytes).unwrap_or_else(|| (Dialect::NoCard, Vec::new()));
    let report = card::check(&bytes);
    let exit = if report.is_valid() { Exit::Done } else { Exit::Failed };
    match output.format() {
        Format::Table => {
            let text = told(&args.file.to_string_lossy(), dialect, &evidence, &report);
            output.raw(text.as_bytes())?;
        }
        Format::Json | Format::Ndjson => output.json(&document(dialect, &evidence, report))?,
    }
    Ok(exit)
}

fn told(name: &str, dialect: Dialect, evidence: &[Evidence], report: &ValidationReport) -> String {
    let verdict = if report.is_valid() { "valid" } else { "not valid" };
    let mut text = format!("{}: {}, {verdict}\n", escape(name), dialect.title());
    let mut add = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for sign in evidence {
        let (line, column) = (sign.place.line, sign.place.column);
        add(format!("  {line}:{column} {}: {}", sign.pointer, sign.says));
    }
    for change in Change::ALL.iter().copied() {
        let meant: Vec<&Finding> =
            report.findings.iter().filter(|finding| finding.change == change).collect();
        if !meant.is_empty() {
            add(format!("\n{}:", heading(change)));
            meant.into_iter().for_each(|finding| add(line(finding)));
        }
    }
    if !report.is_valid()
        && !matches!(dialect, Dialect::Current | Dialect::Legacy | Dialect::NoCard)
    {
        add(format!("\nto convert it: svcctl cards convert --to current --lossy {name}"));
    }
    text
}

const fn heading(change: Change) -> &'static str {
    match change {
        Change::Rename => "to rename",
        Change::Reshape => "to write in another form",
        Change::Add => "to add",
        Change::Remove => "to remove, because this format has no equivalent",
        Change::Correct => "to correct",
    }
}

fn line(finding: &Finding) -> String {
    let (line, column) = (finding.place.line, finding.place.column);
    let mut text = format!("  {line}:{column} {}", escape(&finding.message));
    if let Some(suggestion) = &finding.suggestion {
        write!(text, "; {}", escape(suggestion)).expect("writing to a string does not fail");
    }
    text
}

fn document(dialect: Dialect, evidence: &[Evidence], report: ValidationReport) -> Value {
    let sign = |sign: &Evidence| {
        json!({
            "pointer": sign.pointer,
            "line": sign.place.line,
            "column": sign.place.column,
            "says": sign.says,
        })
    };
    let group = |change: Change| {
        let findings = report.findings.iter().filter(|finding| finding.change == change);
        let pointers: Vec<&str> = findings.map(|finding| finding.pointer.as_str()).collect();
        (change.as_str().to_owned(), json!(pointers))
    };
    json!({
        "dialect": dialect.as_str(),
        "evidence": evidence.iter().map(sign).collect::<Vec<_>>(),
        "changes": Change::ALL.iter().copied().map(group).collect::<serde_json::Map<_, _>>(),
        "report": CardReport::new(report, None),
    })
}
