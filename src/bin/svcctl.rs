//! `svcctl`: parse, run, say how it went.

use std::process::ExitCode;

use clap::Parser as _;
use svc::cli::{self, Cli};

fn main() -> ExitCode {
    cli::complete();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::usage(error, std::env::args_os()).into(),
    };
    let exit = cli::run(&cli).unwrap_or_else(|error| {
        cli.output().failure(&error);
        error.exit()
    });
    exit.into()
}
