//! `svcctl reconcile`: what is being repaired, and until when.

mod list;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show what is being reconciled, and the deadline of each reconciliation
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
    }
}
