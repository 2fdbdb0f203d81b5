//! `svcctl completions`: what a shell needs to complete the command line. Sends no request.

use clap_complete::Shell;

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Print the completion script for a shell
///
/// Packages install the scripts for bash, zsh and fish.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl completions bash > ~/.local/share/bash-completion/completions/svcctl
  svcctl completions fish > ~/.config/fish/completions/svcctl.fish
")]
pub(crate) struct Args {
    /// Shell to print the script for
    shell: Shell,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "svcctl", &mut script);
    output.raw(&script)?;
    Ok(Exit::Done)
}
