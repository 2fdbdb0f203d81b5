//! `svcctl cards validate`: are these cards valid, and if not, what is wrong and where?

use std::fs::File;
use std::io::{self, Read};
use std::iter::Peekable;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::{Checker, Done, Work};
use super::inputs::{Finder, Input};
use super::lines::Pieces;
use super::pool;
use super::progress::Progress;
use super::report::{self, Counts, Reporter};
use super::validator::Validator;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, Wanted};

/// Check whether agent cards are valid, and if not, show what is wrong and where
///
/// The service checks the cards. With --offline, svcctl uses its own copy of the validator and needs no service.
/// Exits with 0 if all cards are valid, 1 if one is not, and 74 if an input could not be read; the others are
/// checked in any case. Folders are searched for .json, .ndjson and .jsonl files. Lines and columns are counted
/// from 1, columns in characters.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards validate agent-card.json
  svcctl cards validate --offline agents/ 'more/**/*.json'
  svcctl cards validate -o ndjson < cards.ndjson --ndjson | jq -r 'select(.valid | not).line'
  svcctl cards validate --offline -o sarif . > cards.sarif
")]
pub(crate) struct Args {
    /// Files, folders, patterns, or - for standard input
    #[arg(value_name = "FILE|DIR|-", default_value = super::STDIN)]
    names: Vec<PathBuf>,

    /// Check without the service, with the validator in svcctl
    #[arg(long)]
    offline: bool,

    /// Read one card per line from every file, not only from .ndjson and .jsonl files
    #[arg(long)]
    ndjson: bool,

    /// Maximum size of a card in bytes; a larger card is a finding. The service accepts at most the default
    #[arg(long, value_name = "N", default_value_t = super::BYTES_MAX)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    max_bytes: u64,

    /// Format of the report
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Wanted,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let reporter: Arc<dyn Reporter> = Arc::from(report::reporter(output));
    let validator = validator(args, global)?;
    let threads = validator.threads();
    let source = Source::new(args, validator.piece_bytes());
    let checker = Checker { reporter: Arc::clone(&reporter), validator, bytes_max: args.max_bytes };
    let mut printer = Printer::new(output, Arc::clone(&reporter));
    pool::in_order(
        threads,
        source,
        move |work| checker.check(work),
        |done| done.and_then(|done| Ok(printer.print(done)?)),
    )?;
    let total = printer.end()?;
    match (total.unreadable.len(), total.invalid) {
        // A run that has checked nothing must not pass, or a misspelt path would go unnoticed.
        (0, 0) if total.cards == 0 => {
            Err(Error::new(Exit::LocalFile, "there is no card in the files and folders given"))
        }
        (0, 0) => Ok(Exit::Done),
        (0, _) => Ok(Exit::Failed),
        _ => Ok(Exit::LocalFile),
    }
}

fn validator(args: &Args, global: &Global) -> Result<Validator, Error> {
    if args.offline {
        return Ok(Validator::BuiltIn);
    }
    if args.max_bytes > super::BYTES_MAX {
        let message = format!("the service accepts cards of at most {} bytes", super::BYTES_MAX);
        return Err(Error::new(Exit::Usage, message).hint("add --offline"));
    }
    Client::anonymous(global).map(Validator::Service)
}

/// What is to be checked, piece by piece.
struct Source {
    inputs: Peekable<Finder>,
    piece_bytes: usize,
    bytes_max: usize,
    /// The stream that is being read.
    stream: Option<(Arc<str>, Pieces<Stream>)>,
}

type Stream = Box<dyn Read + Send>;

/// Files that make one piece of work.
const FILES: usize = 16;

impl Source {
    fn new(args: &Args, piece_bytes: usize) -> Self {
        let inputs = Finder::new(args.ndjson, &args.names).peekable();
        let bytes_max = usize::try_from(args.max_bytes).unwrap_or(usize::MAX);
        Self { inputs, piece_bytes, bytes_max, stream: None }
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
        None
    }

    /// Takes the files that follow along.
    fn with_neighbours(&mut self, path: PathBuf) -> Vec<PathBuf> {
        let mut paths = vec![path];
        while paths.len() < FILES
            && let Some(Input::Card(path)) =
                self.inputs.next_if(|input| matches!(input, Input::Card(_)))
        {
            paths.push(path);
        }
        paths
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
                Input::Card(path) => Some(Work::Cards(self.with_neighbours(path))),
                Input::Lines(path) => self.open(&path),
                Input::Unreadable(name, why) => Some(Work::Unreadable(name, why)),
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
    reporter: Arc<dyn Reporter>,
    progress: Progress,
    total: Counts,
    has_head: bool,
    is_first: bool,
}

impl Printer {
    fn new(output: Output, reporter: Arc<dyn Reporter>) -> Self {
        let progress = Progress::new();
        Self {
            output,
            reporter,
            progress,
            total: Counts::default(),
            has_head: false,
            is_first: true,
        }
    }

    /// Prints what stands in front, once something came of the run.
    fn head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        self.output.raw(self.reporter.head().as_bytes())
    }

    fn print(&mut self, mut done: Done) -> io::Result<ControlFlow<()>> {
        self.head()?;
        let text = if self.is_first {
            done.text.strip_prefix(self.reporter.separator()).unwrap_or(&done.text)
        } else {
            &done.text
        };
        let mut goes_on = ControlFlow::Continue(());
        if !text.is_empty() {
            self.is_first = false;
            goes_on = self.output.part(text.as_bytes())?;
        }
        for (name, why) in &done.counts.unreadable {
            self.output.remark("cannot read", &format!("{name}: {why}"));
        }
        for note in done.counts.notes.drain(..) {
            self.output.remark("note", &note);
        }
        self.total.add(done.counts);
        self.progress.show(self.total.cards, self.total.invalid);
        Ok(goes_on)
    }

    fn end(mut self) -> io::Result<Counts> {
        self.head()?;
        self.progress.end();
        self.output.raw(self.reporter.tail(&self.total).as_bytes())?;
        Ok(self.total)
    }
}
