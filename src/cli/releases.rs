//! `svcctl releases`: which releases there are, where each stands, and what happens next.

mod list;
mod next;
mod show;
mod wait;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show the state of releases and what happens next, and wait for their end
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Wait(wait::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Wait(args) => wait::run(args, global, output),
    }
}

/// Returns the tag of a full ref, as people write it.
pub(crate) fn tag(git_ref: &str) -> &str {
    git_ref.strip_prefix("refs/tags/").unwrap_or(git_ref)
}
