//! What `svcd` can be told on its command line, and the few lines it says itself before logging starts.

use std::error::Error as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::config::{self, SettingProblem};
use crate::daemon::Error;
use crate::logging;
use crate::runtime::stdout;

/// Exit status for a wrong command line, as clap has it.
const EXIT_USAGE: u8 = 2;
/// Exit status for output that cannot be written. As sysexits(3) has it.
const EXIT_OUTPUT: u8 = 74;

/// The daemon of the svc control plane.
///
/// Stores signed webhooks from the forge in a durable inbox, turns them into jobs, sends effects to the forge through
/// an outbox, and serves operators. The forge is GitHub or a server with the same API; an effect is a call that
/// changes something there, and an installation is an account that has installed the app there. All settings are
/// environment variables: see svcd.env(5).
#[derive(Debug, Parser)]
#[command(name = "svcd", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do; without one, run the daemon.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What the daemon's binary does besides running.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Check the configuration and report every problem
    ///
    /// Exits with 0 if the configuration is valid, and with 78 if a problem was found or if svcd would start but never
    /// become ready. Without --env-file, the settings in the environment are checked or, if there are none, those in
    /// /etc/svc/svcd.env, if that file exists. The output says what was read.
    CheckConfig {
        /// Check the settings that a unit gets from this file, read as systemd reads an `EnvironmentFile=`
        #[arg(long, value_name = "FILE")]
        env_file: Option<PathBuf>,
    },
    /// Ask the forge whether the app is set up as svcd needs it
    ///
    /// Reads the settings as check-config does, and asks the forge whether the key belongs to the app, which permissions
    /// and events the app has, where its webhook goes, whether the last webhooks arrived, how far apart the clocks are, and
    /// who has installed the app. For each installation, it requests a token and revokes it; it changes nothing else on the
    /// forge. For each problem, the output says what to change, and on which page of the app's settings. The output contains
    /// no secret.
    ///
    /// Exits with 0 if no problem is found (warnings do not count), 1 if there are problems, 69 if the forge does not answer,
    /// and 78 if the settings are wrong or the connection to the forge is off. Takes at most two minutes.
    CheckForge {
        /// Check with the settings that a unit gets from this file, read as systemd reads an `EnvironmentFile=`
        #[arg(long, value_name = "FILE")]
        env_file: Option<PathBuf>,
        /// The output format: a table for people, or a JSON document
        #[arg(short, long, value_name = "FORMAT", default_value = "table")]
        output: Format,
    },
}

/// A format of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Table,
    /// One document.
    Json,
}

/// Returns the command line, for the manual page.
#[must_use]
pub fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

/// Says what is wrong with a configuration, and where it was read if that may surprise.
pub fn show_problems(place: Option<&str>, problems: &[SettingProblem]) {
    let place = place.map_or_else(String::new, |place| format!(" of {place}"));
    let count = problems.len();
    logging::show_error(&format!("svcd: the configuration{place} has {count} problem(s):"));
    for problem in problems {
        logging::show_error(&format!("  {problem}"));
    }
}

/// Says what is wrong with the environment of a start; under systemd, also how to find the file and the line.
pub fn show_problems_of_start(problems: &[SettingProblem]) {
    show_problems(None, problems);
    if let (Some(_), Some(first)) = (config::journal_stream(), problems.first()) {
        let find = format!("grep -rns {} /etc/svc/svcd.env /etc/systemd/system", first.name);
        logging::show_error(&format!("  to find where a setting is set: {find}"));
    }
}

/// Prints what the parser has to say: the help that was asked for, or what is wrong with the command line.
pub fn show_usage(error: &clap::Error) -> ExitCode {
    let printed = stdout::flushed(error.print());
    match printed {
        // When even this cannot be printed, there is no reader to tell.
        _ if error.use_stderr() => ExitCode::from(EXIT_USAGE),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => show_unprinted(&error),
    }
}

/// Says that what was asked for cannot be printed, and ends with the code for that.
pub fn show_unprinted(error: &io::Error) -> ExitCode {
    // Not `eprintln!`, which panics when standard error cannot be written either.
    drop(writeln!(io::stderr(), "svcd: cannot write the output: {error}"));
    ExitCode::from(EXIT_OUTPUT)
}

/// Says why the daemon did not start, with every cause once.
pub fn show_error(error: &Error) {
    let mut line = format!("svcd: {error}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        line.push_str(": ");
        line.push_str(&inner.to_string());
        cause = inner.source();
    }
    logging::show_error(&line);
}
