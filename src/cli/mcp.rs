//! `svcctl mcp`: the Model Context Protocol over standard input and output, and a look at how it is set up.

mod backend;
mod doctor;
mod stdio;

use clap::Subcommand;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Serve the Model Context Protocol to a program on this machine, and diagnose the MCP setup
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Stdio(stdio::Args),
    Doctor(doctor::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::Stdio(args) => stdio::run(args, global, output),
        Command::Doctor(args) => doctor::run(args, global, output),
    }
}
