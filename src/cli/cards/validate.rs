//! `svcctl cards validate`: are these cards valid, and if not, what is wrong and where?

use std::fs::File;
use std::io::{self, Read};
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::{Checker, Done, Work};
use super::fix::{FixArgs, Fixer};
use super::inputs::{CardPath, Finder, Input};
use super::lines::Pieces;
use super::pool;
use super::progress::Progress;
use super::report::{self, Counts, Reporter};
use super::selection::Selection;
use super::several;
use super::validator::Validator;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{FormatArg, Output};
use crate::cli::value_parser::between;

/// Check whether agent cards are valid, and show what is wrong and where
///
/// By default, svcd checks the cards. With --offline, svcctl uses its own copy of the validator, and svcd
/// does not have to be running. Exits with 0 if all cards are valid, 1 if one is not, and 74 if an input could not
/// be read or there is no card; the other inputs are checked anyway. With --fix, the exit status says whether the cards
/// are valid afterwards; 74 can also mean that a file could not be written, or that another program changed it in the meantime.
/// Folders are searched for .json, .ndjson and .jsonl files, except in .git and node_modules, and except files that
/// .gitignore and .ignore files exclude. Line and column numbers start at 1; columns are counted in characters.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards validate agent-card.json
  svcctl cards validate --offline agents/ 'more/**/*.json' --exclude drafts
  svcctl cards validate -o ndjson < cards.ndjson --ndjson | jq -r 'select(.valid | not).line'
  svcctl cards validate --offline -o sarif . > cards.sarif
  svcctl cards validate --diff agents/ > cards.patch
  svcctl cards validate --fix agents/
  svcctl cards validate --fix < draft.json > agent-card.json
")]
pub(crate) struct Args {
    /// Files, folders, patterns, or - for standard input
    #[arg(value_name = "FILE|DIR|-", default_value = super::STDIN)]
    names: Vec<PathBuf>,

    /// Check with the validator that is built into svcctl, not with svcd
    #[arg(long)]
    offline: bool,

    /// Read one card per line from every file, not only from .ndjson and .jsonl files
    #[arg(long)]
    ndjson: bool,

    #[command(flatten)]
    selection: Selection,

    /// Maximum size of a card in bytes; a larger card is reported as not valid; values above the default require
    /// --offline
    #[arg(long, value_name = "N", default_value_t = super::BYTES_MAX)]
    #[arg(value_parser = between(1_u64, 1 << 30))]
    max_bytes: u64,

    #[command(flatten)]
    fix: FixArgs,

    /// Format of the report
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: FormatArg,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let has_stdin = args.names.iter().any(|name| name.as_os_str() == super::STDIN);
    let fixer = Fixer::new(args.fix, has_stdin, output)?;
    let out = output;
    let is_aside = fixer.is_some_and(|fixer| fixer.takes_stdout(has_stdin));
    let output = if is_aside { output.aside() } else { output };
    let reporter: Arc<dyn Reporter> = Arc::from(report::reporter(output));
    let validator = validator(args, global)?;
    let threads = validator.threads();
    let source = Source::new(args, validator.piece_bytes(), fixer.is_some())?;
    let bytes_max = args.max_bytes;
    let checker = Checker { reporter: Arc::clone(&reporter), validator, fixer, bytes_max };
    let counted = finder(args)?;
    let progress = Progress::new(output, move || counted.cards());
    let mut printer = Printer::new(output, out, Arc::clone(&reporter), progress);
    pool::in_order(
        threads,
        source,
        move |work| checker.check(work),
        |mut done| {
            let failed = done.failed.take();
            let goes_on = printer.print(done)?;
            failed.map_or(Ok(goes_on), Err)
        },
    )?;
    let total = printer.end()?;
    match (total.unreadable.len() + total.unwritten.len(), total.invalid) {
        // A run that has checked nothing must not pass, or a misspelt path would go unnoticed.
        (0, 0) if total.cards == 0 => Err(nothing_read(args)),
        (0, 0) => Ok(Exit::Done),
        (0, _) => Ok(Exit::Failed),
        _ => Ok(Exit::LocalFile),
    }
}

fn finder(args: &Args) -> Result<Finder, Error> {
    Finder::new(args.ndjson, &args.names, &args.selection)
}

fn nothing_read(args: &Args) -> Error {
    let error = several::no_card();
    if args.selection.excludes() {
        return error.hint("--exclude also applies to files that are named on the command line");
    }
    error
}

fn validator(args: &Args, global: &Global) -> Result<Validator, Error> {
    if args.offline {
        return Ok(Validator::BuiltIn);
    }
    if args.max_bytes > super::BYTES_MAX {
        let message = format!("svcd accepts cards of at most {} bytes", super::BYTES_MAX);
        return Err(Error::new(Exit::Usage, message).hint("add --offline"));
    }
    Client::anonymous(global).map(Validator::Service)
}

/// What is to be checked, piece by piece.
struct Source {
    inputs: Peekable<Finder>,
    piece_bytes: usize,
    bytes_max: usize,
    is_fixing: bool,
    ignores: bool,
    /// The stream that is being read.
    stream: Option<(Arc<str>, Pieces<Stream>)>,
}

type Stream = Box<dyn Read + Send>;

/// Files that make one piece of work.
const FILES: usize = 16;

impl Source {
    fn new(args: &Args, piece_bytes: usize, is_fixing: bool) -> Result<Self, Error> {
        let inputs = finder(args)?.peekable();
        let bytes_max = usize::try_from(args.max_bytes).unwrap_or(usize::MAX);
        let ignores = args.selection.ignores();
        Ok(Self { inputs, piece_bytes, bytes_max, is_fixing, ignores, stream: None })
    }

    fn open(&mut self, path: &Path) -> Option<Work> {
        let name: Arc<str> = path.to_string_lossy().into();
        let stream: io::Result<Stream> = if path.as_os_str() == super::STDIN {
            Ok(Box::new(io::stdin()))
        } else {
            File::open(path).map(|file| -> Stream { Box::new(file) })
        };
        match stream {
            Ok(stream) => {
                self.stream = Some((name, Pieces::new(stream, self.piece_bytes, self.bytes_max)));
            }
            Err(error) => return Some(Work::Unreadable(name.to_string(), error.to_string())),
        }
        self.is_fixing.then(|| {
            Work::Note(format!(
                "{} is only checked: files with a card on each line are not fixed",
                path.display()
            ))
        })
    }

    /// Takes the files that follow along.
    fn with_neighbours(&mut self, card: CardPath) -> Vec<CardPath> {
        let mut cards = vec![card];
        while cards.len() < FILES
            && let Some(Input::Card(card)) =
                self.inputs.next_if(|input| matches!(input, Input::Card(_)))
        {
            cards.push(card);
        }
        cards
    }

    fn no_card(&self, folder: &Path) -> Work {
        let hint = if self.ignores { "; to read ignored files too, add --no-ignore" } else { "" };
        let why = format!("no card was found in it{hint}");
        Work::Unreadable(folder.to_string_lossy().into_owned(), why)
    }
}

impl Iterator for Source {
    type Item = Work;

    fn next(&mut self) -> Option<Work> {
        loop {
            if let Some((name, pieces)) = &mut self.stream {
                let name = Arc::clone(name);
                match pieces.next() {
                    Ok(Some(piece)) => return Some(Work::Lines(name, piece)),
                    Ok(None) => self.stream = None,
                    Err(error) => {
                        self.stream = None;
                        return Some(Work::Unreadable(name.to_string(), error.to_string()));
                    }
                }
            }
            let work = match self.inputs.next()? {
                Input::Card(card) => Some(Work::Cards(self.with_neighbours(card))),
                Input::Lines(path) => self.open(&path),
                Input::Unreadable(name, why) => Some(Work::Unreadable(name, why)),
                Input::NoCard(folder) => Some(self.no_card(&folder)),
                Input::AlreadyWalked(folder) => {
                    Some(Work::Note(format!("{} has already been searched", folder.display())))
                }
            };
            if work.is_some() {
                return work;
            }
        }
    }
}

/// Prints what comes of the pieces, and counts.
struct Printer {
    output: Output,
    /// Where cards and diffs go.
    out: Output,
    reporter: Arc<dyn Reporter>,
    progress: Progress,
    total: Counts,
    has_head: bool,
}

impl Printer {
    fn new(output: Output, out: Output, reporter: Arc<dyn Reporter>, progress: Progress) -> Self {
        Self { output, out, reporter, progress, total: Counts::default(), has_head: false }
    }

    /// Prints what stands in front, once something came of the run.
    fn head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        self.output.raw(self.reporter.head().as_bytes())
    }

    fn print(&mut self, mut done: Done) -> io::Result<ControlFlow<()>> {
        // Even if the report cannot be printed, it is told which files were written.
        let printed = self.parts(&done);
        for (name, why) in &done.counts.unreadable {
            self.output.remark("not checked", &format!("{name}: {why}"));
        }
        for (name, why) in &done.counts.unwritten {
            self.output.remark("cannot write", &format!("{name}: {why}"));
        }
        for fixed in done.counts.fixed.drain(..) {
            self.output.remark("fixed", &fixed);
        }
        for note in done.counts.notes.drain(..) {
            self.output.remark("note", &note);
        }
        self.total.add(done.counts);
        self.progress.show(self.total.cards, self.total.invalid);
        printed
    }

    /// Prints what belongs to the report, and the cards and diffs.
    fn parts(&mut self, done: &Done) -> io::Result<ControlFlow<()>> {
        let text = if self.has_head {
            &done.text
        } else {
            done.text.strip_prefix(self.reporter.separator()).unwrap_or(&done.text)
        };
        let mut goes_on = ControlFlow::Continue(());
        if !text.is_empty() {
            self.head()?;
            goes_on = self.output.part(text.as_bytes())?;
        }
        if !done.out.is_empty() && self.out.part(&done.out)?.is_break() {
            goes_on = ControlFlow::Break(());
        }
        Ok(goes_on)
    }

    fn end(mut self) -> io::Result<Counts> {
        self.head()?;
        self.progress.end();
        self.output.raw(self.reporter.tail(&self.total).as_bytes())?;
        Ok(self.total)
    }
}
