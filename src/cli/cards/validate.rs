//! `svcctl cards validate`: are these cards valid, and if not, what is wrong and where?

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::batch::{Checker, Done, Work};
use super::inputs::{Finder, Input};
use super::judge::Judge;
use super::lines::Pieces;
use super::pool::{self, Feeder};
use super::progress::Progress;
use super::report::{self, Style, Tally};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, Wanted};

/// Say whether agent cards are valid, and if not, what is wrong and where
///
/// The service decides; with --offline, the same validator in this program, and no service is needed.
/// Ends with 0 when all are valid, 1 when one is not, and 74 when something could not be read; what
/// can be read is checked in any case. Folders are searched for .json, .ndjson and .jsonl. Lines and
/// columns count from 1, columns in characters.
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

    /// Check without the service, by the validator of this program
    #[arg(long)]
    offline: bool,

    /// Read a card on each line of every file, not only of .ndjson and .jsonl
    #[arg(long)]
    ndjson: bool,

    /// Most bytes of one card; a larger one is a finding. The service takes no more than the default
    #[arg(long, value_name = "N", default_value_t = super::BYTES_MAX)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    max_bytes: u64,

    /// How to print the report
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Wanted,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let style: Arc<dyn Style> = Arc::from(report::style(output));
    let judge = judge(args, global)?;
    let threads = judge.threads();
    let checker = Checker { style: Arc::clone(&style), judge, bytes_max: args.max_bytes };
    let source = Source::new(args);
    let mut printer = Printer::new(output, Arc::clone(&style));
    pool::in_order(
        threads,
        move |feeder| source.feed(feeder),
        move |work| checker.check(work),
        |done| done.and_then(|done| Ok(printer.print(done)?)),
    )?;
    let total = printer.end()?;
    match (total.unreadable.len(), total.invalid) {
        (0, 0) if total.cards == 0 => {
            Err(Error::new(Exit::LocalFile, "there is no card in what was named"))
        }
        (0, 0) => Ok(Exit::Done),
        (0, _) => Ok(Exit::Failed),
        _ => Ok(Exit::LocalFile),
    }
}

fn judge(args: &Args, global: &Global) -> Result<Judge, Error> {
    if args.offline {
        return Ok(Judge::BuiltIn);
    }
    if args.max_bytes > super::BYTES_MAX {
        let message = format!("the service takes cards of at most {} bytes", super::BYTES_MAX);
        return Err(Error::new(Exit::Usage, message).hint("add --offline"));
    }
    Client::anonymous(global).map(Judge::Service)
}

/// What is to be checked.
struct Source {
    names: Vec<PathBuf>,
    ndjson: bool,
    bytes_max: usize,
}

/// Files that make one piece of work.
const FILES: usize = 16;

impl Source {
    fn new(args: &Args) -> Self {
        let bytes_max = usize::try_from(args.max_bytes).unwrap_or(usize::MAX);
        Self { names: args.names.clone(), ndjson: args.ndjson, bytes_max }
    }

    /// Sends everything, in order.
    fn feed(&self, feeder: &mut Feeder<Work>) {
        let mut cards = Vec::new();
        let mut send = |input| {
            if let Input::Card(path) = input {
                cards.push(path);
                if cards.len() == FILES {
                    feeder.send(Work::Cards(std::mem::take(&mut cards)));
                }
                return;
            }
            if !cards.is_empty() {
                feeder.send(Work::Cards(std::mem::take(&mut cards)));
            }
            self.feed_other(input, feeder);
        };
        let mut finder = Finder::new(self.ndjson, &mut send);
        self.names.iter().for_each(|name| finder.find(name));
        if !cards.is_empty() {
            feeder.send(Work::Cards(cards));
        }
    }

    fn feed_other(&self, input: Input, feeder: &mut Feeder<Work>) {
        match input {
            Input::Card(path) => feeder.send(Work::Cards(vec![path])),
            Input::Lines(path) => self.feed_lines(&path, feeder),
            Input::Unreadable(name, why) => feeder.send(Work::Unreadable(name, why)),
            Input::Again(folder) => {
                let note = format!("{} was searched already", folder.display());
                feeder.send(Work::Note(note));
            }
        }
    }

    fn feed_lines(&self, path: &Path, feeder: &mut Feeder<Work>) {
        let name: Arc<str> = path.to_string_lossy().into();
        let stream: io::Result<Box<dyn Read>> = if path.as_os_str() == super::STDIN {
            Ok(Box::new(io::stdin()))
        } else {
            File::open(path).map(|file| -> Box<dyn Read> { Box::new(file) })
        };
        let fed = stream.and_then(|stream| {
            let mut pieces = Pieces::new(stream, self.bytes_max);
            while let Some(piece) = pieces.next()? {
                feeder.send(Work::Lines(Arc::clone(&name), piece));
                if feeder.is_over() {
                    break;
                }
            }
            Ok(())
        });
        if let Err(error) = fed {
            feeder.send(Work::Unreadable(name.to_string(), error.to_string()));
        }
    }
}

/// Prints what comes of the pieces, and counts.
struct Printer {
    output: Output,
    style: Arc<dyn Style>,
    progress: Progress,
    total: Tally,
    has_head: bool,
    is_first: bool,
}

impl Printer {
    fn new(output: Output, style: Arc<dyn Style>) -> Self {
        let progress = Progress::new();
        Self { output, style, progress, total: Tally::default(), has_head: false, is_first: true }
    }

    /// Prints what stands in front, once something came of the run.
    fn head(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        self.output.raw(self.style.head().as_bytes())
    }

    fn print(&mut self, mut done: Done) -> io::Result<ControlFlow<()>> {
        self.head()?;
        let text = if self.is_first {
            done.text.strip_prefix(self.style.separator()).unwrap_or(&done.text)
        } else {
            &done.text
        };
        let mut goes_on = ControlFlow::Continue(());
        if !text.is_empty() {
            self.is_first = false;
            goes_on = self.output.part(text.as_bytes())?;
        }
        for (name, why) in &done.tally.unreadable {
            self.output.remark("cannot read", &format!("{name}: {why}"));
        }
        for note in done.tally.notes.drain(..) {
            self.output.remark("note", &note);
        }
        self.total.add(done.tally);
        self.progress.show(self.total.cards, self.total.invalid);
        Ok(goes_on)
    }

    fn end(mut self) -> io::Result<Tally> {
        self.head()?;
        self.progress.end();
        self.output.raw(self.style.tail(&self.total).as_bytes())?;
        Ok(self.total)
    }
}
