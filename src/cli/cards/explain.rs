//! `svcctl cards explain`: which kind of card a file is, and what to change to make it valid.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::inputs;
use super::lines::{Lines, Piece, Pieces};
use super::several::Outcome;
use crate::api::CardReport;
use crate::card::{self, Evidence, ValidationReport, Variant};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::quoted;
use crate::cli::output::{Format, Output, escape};

/// Bytes that are read at once of a file with a card on each line.
const PIECE_BYTES: usize = 256 * 1024;

/// Show what kind of card a file contains, and what to change to make it valid
///
/// Recognises the current and the legacy variant, official A2A cards of versions 0.2, 0.3 and 1.x, and mixtures
/// of them. Exits with 0 if all cards are valid, 1 if one is not, and 74 if an input could not be read; the other
/// inputs are explained anyway. Folders are searched for .json, .ndjson and .jsonl files, except in .git and node_modules,
/// and except files that .gitignore and .ignore files exclude; a file or folder that is named on the command line is always read. With -o json, the answer for
/// one file is one object; for several files, and for folders, patterns and NDJSON, it is {"cards": [...]}.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards explain .well-known/agent-card.json
  svcctl cards explain -o ndjson agents/ | jq -r .dialect | sort | uniq -c
")]
pub(crate) struct Args {
    /// Files, folders, patterns, or - for standard input
    #[arg(value_name = "FILE|DIR|-", default_value = super::STDIN)]
    names: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    if let Some(file) = inputs::one_file(&args.names) {
        let bytes = super::read_one(file)?;
        let explained = Explained::new(file, None, &bytes);
        match output.format() {
            Format::Table => output.raw(explained.text(&bytes).as_bytes())?,
            Format::Json | Format::Ndjson => output.json(&explained.document())?,
        }
        return Ok(explained.exit());
    }
    let mut several =
        Several { output, outcome: Outcome::new(output), is_first: true, documents: Vec::new() };
    for file in several.outcome.files(&args.names)? {
        let shown =
            if file.has_lines { several.lines(&file.path) } else { several.file(&file.path) };
        if shown?.is_break() {
            break;
        }
    }
    if output.format() == Format::Json {
        output.json(&json!({ "cards": several.documents }))?;
    }
    several.outcome.end()
}

/// Explains one card after the other, until the answer is not read any more.
struct Several {
    output: Output,
    outcome: Outcome,
    is_first: bool,
    /// For the one document of JSON.
    documents: Vec<Value>,
}

impl Several {
    fn file(&mut self, path: &Path) -> io::Result<ControlFlow<()>> {
        match super::read_one(path) {
            Ok(bytes) => self.show(&Explained::new(path, None, &bytes), &bytes),
            Err(error) => {
                self.outcome.failed(&error);
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// Explains the cards of a file with one on each line.
    fn lines(&mut self, path: &Path) -> io::Result<ControlFlow<()>> {
        let shown = path.display();
        let bytes_max = usize::try_from(super::BYTES_MAX).unwrap_or(usize::MAX);
        let opened = File::open(path).map(|file| Pieces::new(file, PIECE_BYTES, bytes_max));
        let mut pieces = match opened {
            Ok(pieces) => pieces,
            Err(error) => return Ok(self.unreadable(path, error)),
        };
        loop {
            let Piece { first, lines } = match pieces.next() {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(ControlFlow::Continue(())),
                Err(error) => return Ok(self.unreadable(path, error)),
            };
            let Lines::Whole(text) = lines else {
                let message = format!(
                    "line {first} of {shown} is larger than {bytes_max} bytes, the limit for a card"
                );
                self.outcome.failed(&Error::new(Exit::LocalFile, message));
                continue;
            };
            for (number, card) in card::lines(&text) {
                let explained = Explained::new(path, Some(number + first - 1), card);
                if self.show(&explained, card)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    fn unreadable(&mut self, path: &Path, error: io::Error) -> ControlFlow<()> {
        let message = format!("cannot read {}", path.display());
        self.outcome.failed(&Error::new(Exit::LocalFile, message).caused_by(error));
        ControlFlow::Continue(())
    }

    fn show(&mut self, explained: &Explained<'_>, card: &[u8]) -> io::Result<ControlFlow<()>> {
        self.outcome.add(explained.exit());
        let space = if std::mem::replace(&mut self.is_first, false) { "" } else { "\n" };
        let named = || {
            let mut document = explained.document();
            if let Some(members) = document.as_object_mut() {
                members.insert("file".to_owned(), json!(explained.path.to_string_lossy()));
            }
            document
        };
        match self.output.format() {
            Format::Table => {
                self.output.part(format!("{space}{}", explained.text(card)).as_bytes())
            }
            Format::Ndjson => self.output.part(format!("{}\n", named()).as_bytes()),
            Format::Json => {
                self.documents.push(named());
                Ok(ControlFlow::Continue(()))
            }
        }
    }
}

/// What is known of one card.
struct Explained<'a> {
    path: &'a Path,
    /// Of a file with a card on each line.
    line: Option<u64>,
    dialect: card::Dialect,
    evidence: Vec<Evidence>,
    report: ValidationReport,
}

impl<'a> Explained<'a> {
    fn new(path: &'a Path, line: Option<u64>, bytes: &[u8]) -> Self {
        let (dialect, evidence) =
            card::dialect(bytes).unwrap_or_else(|| (card::Dialect::NoCard, Vec::new()));
        Self { path, line, dialect, evidence, report: card::check(bytes) }
    }

    fn exit(&self) -> Exit {
        if self.report.is_valid() { Exit::Done } else { Exit::Failed }
    }

    fn text(&self, bytes: &[u8]) -> String {
        let mut text = self.told();
        // There is no command that converts one line.
        if self.line.is_none()
            && !self.report.is_valid()
            && let Some(advice) = advice(self.path, self.dialect, bytes)
        {
            text.push_str(&advice);
        }
        text
    }

    fn told(&self) -> String {
        let (evidence, report) = (&self.evidence, &self.report);
        let verdict = if report.is_valid() { "valid" } else { "not valid" };
        let mut name = escape(&self.path.to_string_lossy());
        if let Some(line) = self.line {
            name.push_str(&format_line(line));
        }
        let mut text = format!("{name}: {}, {verdict}\n", self.dialect.title());
        let mut add = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        for (heading, supports) in [("evidence for this", true), ("evidence against it", false)] {
            let signs: Vec<&Evidence> =
                evidence.iter().filter(|sign| sign.supports == supports).collect();
            if !signs.is_empty() {
                add(format!("{heading}:"));
            }
            for sign in signs {
                let place = self.place(sign.place);
                add(format!("  {place} {}: {}", sign.pointer, sign.says));
            }
        }
        for change in card::Change::ALL.iter().copied() {
            let meant: Vec<&card::Finding> =
                report.findings.iter().filter(|finding| finding.change == change).collect();
            if !meant.is_empty() {
                add(format!("\n{}:", heading(change)));
                meant.into_iter().for_each(|finding| add(self.line_about(finding)));
            }
        }
        text
    }

    /// Writes a place, in lines of the file.
    fn place(&self, place: card::Position) -> String {
        let line = place.line + self.line.unwrap_or(1) - 1;
        format!("{line}:{}", place.column)
    }

    fn line_about(&self, finding: &card::Finding) -> String {
        let mut text = format!("  {} {}", self.place(finding.place), escape(&finding.message));
        if let Some(suggestion) = &finding.suggestion {
            write!(text, "; {}", escape(suggestion)).expect("writing to a string does not fail");
        }
        text
    }

    fn document(&self) -> Value {
        let sign = |sign: &Evidence| {
            json!({
                "pointer": sign.pointer,
                "line": sign.place.line + self.line.unwrap_or(1) - 1,
                "column": sign.place.column,
                "says": sign.says,
                "supports": sign.supports,
            })
        };
        let group = |change: card::Change| {
            let findings = self.report.findings.iter().filter(|finding| finding.change == change);
            let pointers: Vec<&str> = findings.map(|finding| finding.pointer.as_str()).collect();
            (change.as_str().to_owned(), json!(pointers))
        };
        json!({
            "dialect": self.dialect.as_str(),
            "evidence": self.evidence.iter().map(sign).collect::<Vec<_>>(),
            "changes": card::Change::ALL.iter().copied().map(group).collect::<serde_json::Map<_, _>>(),
            "report": CardReport::new(self.report.clone(), self.line),
        })
    }
}

/// Says what `svcctl cards convert` makes of a card, which is tried.
fn advice(file: &Path, dialect: card::Dialect, bytes: &[u8]) -> Option<String> {
    let is_ours = matches!(dialect, card::Dialect::Current | card::Dialect::Legacy);
    let to = if dialect == card::Dialect::Legacy { Variant::Legacy } else { Variant::Current };
    if dialect == card::Dialect::NoCard {
        return None;
    }
    let conversion = card::convert(bytes, to)?;
    let (name, to) = (escape(&operand(file)), to.as_str());
    let losses = conversion.losses.len();
    Some(match conversion.report.findings.first() {
        // The findings above say it already.
        Some(_) if is_ours => return None,
        Some(finding) => {
            let message = escape(&finding.message);
            format!("\nto convert it, first correct what converting does not: {message}\n")
        }
        None if losses == 0 => format!("\nto convert it: svcctl cards convert --to {to} {name}\n"),
        None => {
            let noun = if losses == 1 { "part" } else { "parts" };
            format!(
                "\nto convert it, which omits {losses} {noun}: svcctl cards convert --to {to} --lossy {name}\n"
            )
        }
    })
}

/// Returns a file as a shell must see it behind a command.
pub(super) fn operand(file: &Path) -> String {
    let name = file.to_string_lossy();
    // A name that begins with a hyphen would be an option; a single one is standard input.
    let is_option = name.len() > 1 && name.starts_with('-');
    quoted(&if is_option { format!("./{name}") } else { name.into_owned() }).into_owned()
}

const fn heading(change: card::Change) -> &'static str {
    match change {
        card::Change::Rename => "to rename",
        card::Change::Reshape => "to write in another form",
        card::Change::Add => "to add",
        card::Change::Remove => "to remove, because this format has no equivalent",
        card::Change::Correct => "to correct",
    }
}

fn format_line(line: u64) -> String {
    format!(", line {line}")
}
