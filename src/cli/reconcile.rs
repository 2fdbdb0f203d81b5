//! `svcctl reconcile`: what is being repaired, and until when.

mod close;
mod list;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show reconciliations and their deadlines, and close those that svcd has given up on
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Close(close::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Close(args) => close::run(args, global, output),
    }
}
