//! `svcctl audit`: what was decided, and by whom.

mod list;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show the audit events: what was done, and by whom
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
    }
}
