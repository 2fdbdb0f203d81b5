//! `svcctl dead-letters`: what was given up, and what may be done about it.

mod apply;
mod close;
mod list;
mod plan;
pub(crate) mod show;
mod summary;

use clap::Subcommand;

pub(crate) use close::reason;

use crate::api::DeadLetter;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::pages;
use crate::domain::id::InstallationId;

/// Show, replay and close dead letters: jobs and effects that svcd has given up on
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Summary(summary::Args),
    Close(close::Args),
    Plan(plan::Args),
    Apply(apply::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Summary(args) => summary::run(args, global, output),
        Command::Close(args) => close::run(args, global, output),
        Command::Plan(args) => plan::run(args, global, output),
        Command::Apply(args) => apply::run(args, global, output),
    }
}

/// Returns how tables name what happened to an item or a release; JSON has the word as svcd sends it.
pub(crate) fn event_text(word: &str) -> &str {
    if word == "died" { "dead_lettered" } else { word }
}

const fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// Returns the path of an installation's dead letters.
pub(crate) fn path(installation: InstallationId) -> String {
    pages::path::<DeadLetter>(installation)
}
