//! What `svcd` can be told on its command line, and the few lines it says itself before logging starts.

use std::error::Error as _;

use clap::{Parser, Subcommand};

use crate::config::{Config, Problem};
use crate::daemon::Error;

/// The daemon of the svc control plane.
///
/// Stores signed forge webhooks in a durable inbox, turns them into lifecycle jobs, performs side
/// effects at the forge through an outbox, and serves operators. All settings are environment
/// variables; svcd(8) lists them.
#[derive(Debug, Parser)]
#[command(name = "svcd", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do; without one, run the daemon.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What the daemon's binary does besides running.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum Command {
    /// Check the configuration and report every problem
    ///
    /// Also exits with 78 if svcd would start but never become ready.
    CheckConfig,
}

/// Returns the command line, for the manual page.
#[must_use]
pub fn command() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

/// Says what is wrong with a configuration.
#[expect(clippy::print_stderr, reason = "logging is not configured yet")]
pub fn show_problems(problems: &[Problem]) {
    eprintln!("svcd: the configuration has {} problem(s):", problems.len());
    for problem in problems {
        eprintln!("  {problem}");
    }
}

/// Says that the daemon starts with a configuration, whether it can become ready, and what is left off.
#[expect(clippy::print_stdout, reason = "this is what was asked for")]
pub fn show_checked(config: &Config) {
    match config.reconciliation {
        Some(_) => println!("the configuration is valid"),
        None => {
            println!(
                "svcd would start with this configuration, but reconcile nothing and never become ready"
            );
        }
    }
    for warning in &config.warnings {
        println!("  note: {warning}");
    }
}

/// Says why the daemon did not start, with every cause once.
#[expect(clippy::print_stderr, reason = "a person started it; the log may go elsewhere")]
pub fn show_error(error: &Error) {
    let mut line = format!("svcd: {error}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        line.push_str(": ");
        line.push_str(&inner.to_string());
        cause = inner.source();
    }
    eprintln!("{line}");
}
