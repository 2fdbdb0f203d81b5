//! `--watch`: what a command shows, again and again. On a terminal it is redrawn in place; elsewhere each change is a
//! line of JSON.
//!
//! What a change is, and how a watch ends: `docs/decisions/126-watching.md`.

mod changes;
mod screen;

use std::time::Duration;

use changes::Changes;
use screen::Screen;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, FormatArg, Output};
use crate::cli::poll::{self, Notes, Polled, Schedule};
use crate::cli::when;

/// Whether a command watches, and how often it asks.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct WatchArgs {
    /// Show changes until interrupted: redraw on a terminal, otherwise print one line of JSON for each change
    #[arg(short, long)]
    watch: bool,

    /// With --watch, time between two requests; at least 1s
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = when::duration)]
    interval: Duration,
}

/// What is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Watched {
    /// A list; these fields of a row name it.
    List(&'static [&'static str]),
    /// One document.
    Document,
}

impl WatchArgs {
    /// Of a command that cannot be watched.
    pub(crate) const OFF: Self = Self { watch: false, interval: Duration::ZERO };

    /// Shows it once, or, as a watch, until a signal ends the process. `command` is what a person typed, without
    /// options.
    pub(crate) fn run(
        self,
        watched: Watched,
        command: &str,
        output: Output,
        mut show: impl FnMut(Output) -> Result<Exit, Error>,
    ) -> Result<Exit, Error> {
        if !self.watch {
            return show(output);
        }
        let schedule = Schedule::every(self.interval);
        let ended: Polled<()> = if output.format() == Format::Table && output.is_terminal() {
            let mut screen = Screen::open(output, command, self.interval)?;
            poll::until(schedule, &mut screen, |screen| {
                Ok(screen.show(output.collect(&mut show)?)?)
            })?
        } else {
            let mut changes = Changes::of(watched);
            let lines = output.wanting(match watched {
                Watched::List(_) => FormatArg::Ndjson,
                Watched::Document => FormatArg::Json,
            });
            poll::until(schedule, &mut Notes::new(output), |_| {
                let changed = changes.since_last(&lines.collect(&mut show)?).map_err(|error| {
                    Error::new(Exit::Malformed, "cannot compare the responses").caused_by(error)
                })?;
                Ok(output.part(changed.as_bytes())?)
            })?
        };
        // Nothing is read any more of what it prints.
        let (Polled::End(()) | Polled::TimedOut) = ended;
        Ok(Exit::Done)
    }
}
