//! `svcctl relay audit`: who proposed, decided and did what, in a log that is only ever added to.

mod list;
mod verify;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show the audit log of the relay, and verify that it was not changed
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Verify(verify::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Verify(args) => verify::run(args, global, output),
    }
}
