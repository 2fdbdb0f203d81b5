//! `svcctl relay devices`: which plugin installations people have paired.

mod list;
mod revoke;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Show and revoke devices: copies of the plugin that people have paired
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Revoke(revoke::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Revoke(args) => revoke::run(args, global, output),
    }
}
