//! `svcctl completions`: what a shell needs to complete the command line. Sends no request.

mod live;

use std::io;

use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// Print the completion script for a shell
///
/// Packages install the scripts for bash, zsh and fish. Installations, IDs and repositories are completed with those
/// that svcd knows, if it answers within 200 ms.
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
    output.raw(&script(args.shell)?)?;
    Ok(Exit::Done)
}

/// Set by the scripts, with the name of the shell, when svcctl is to complete a command line and do nothing else.
const VARIABLE: &str = "_SVCCTL_COMPLETE";

/// Returns the script for a shell. It asks svcctl itself what to complete.
///
/// # Errors
/// When the engine knows no such shell.
pub fn script(shell: Shell) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer =
        shells.completer(&shell.to_string()).ok_or_else(|| io::Error::other("unknown shell"))?;
    completer.write_registration(VARIABLE, "svcctl", "svcctl", "svcctl", &mut script)?;
    Ok(script)
}

/// Completes the command line and ends the process, if a script of [`script`] asks for that.
pub fn complete() {
    CompleteEnv::with_factory(|| live::with_values(super::command())).var(VARIABLE).complete();
}
