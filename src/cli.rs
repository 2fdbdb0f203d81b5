//! The command line of operators: the tree of commands and its dispatch.
//!
//! `svcctl` is an HTTP client of the daemon, and checks agent cards; it never opens the database. Each
//! command is one file with one `Args` and one `run`. What every command needs is in `Global`.
//! Answers go to standard output in one of three formats, everything else to standard error, and
//! the exit code alone says how it went.

mod audit;
mod cards;
mod client;
mod completions;
mod dead_letters;
mod demo;
mod endpoint;
mod error;
mod exit;
mod ids;
mod installations;
mod keyed;
mod mcp;
mod next_command;
mod output;
mod pages;
mod poll;
mod reconcile;
mod relay;
mod releases;
mod reload;
mod replay;
mod retry;
mod schema;
mod slo;
mod status;
mod token;
mod usage;
mod value_parser;
mod watch;
mod when;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

pub use completions::{complete, script};
pub use error::Error;
pub use exit::Exit;
pub use output::Output;
pub use usage::usage;

use crate::domain::id::InstallationId;
use output::{Color, FormatArg};

const EXAMPLES: &str = "\
Examples:
  svcctl demo                                 # see everything work, without any setup
  svcctl status                               # is svcd ready?
  svcctl slo                                  # which signals are firing, and what should be checked next?
  svcctl releases list                        # what is the state of the releases?
  svcctl releases show ID                     # what happens next with this release?
  svcctl reconcile list                       # what is being reconciled, and what is the deadline?
  svcctl dead-letters summary -A              # how many dead letters are there, and why?
  svcctl dead-letters list --since 2h         # which ones failed lately?
  svcctl dead-letters show outbox ID          # why did it fail, and may it be replayed?
  svcctl replay outbox ID --dry-run           # check whether a replay would be accepted
  svcctl replay outbox ID                     # replay it
  svcctl dead-letters close outbox ID --reason 'not needed any more'   # or close it without a replay
  svcctl dead-letters plan -A --file plan.json   # write all that can be replayed to a plan
  svcctl dead-letters apply plan.json         # and replay each item of the plan once
  svcctl audit list -o wide                   # who replayed what?
  svcctl dead-letters list -o ndjson --all | jq -r .itemId
  svcctl cards validate agent-card.json       # is the agent card valid, and if not, why?
  svcctl cards push agent-card.json           # register it, so that others can find it
  svcctl relay pair 7K2M-9QXV                 # let your agent work on your open design file
";

/// Operate svcd: show its health, releases and dead letters, replay dead letters, and manage agent cards
///
/// Data goes to standard output, everything else to standard error. With --output json or ndjson,
/// errors are printed as JSON objects too.
///
/// The forge is GitHub or a server with the same API. An effect is a call that changes something there; in commands,
/// its type is outbox. A dead letter is a job or an effect that svcd has given up on. An installation is an account or
/// organisation that has installed your app on the forge.
///
/// Each replay and each close has an idempotency key: however often a request is sent with the same key, it takes effect
/// at most once. The audit log shows the key; in JSON, its name there is operationId.
#[derive(Debug, Parser)]
#[command(
    name = "svcctl",
    version,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n{}", exit::table()),
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command understands.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    #[arg(
        help = "Address of svcd: unix:/PATH, https://HOST, or http://HOST for this machine only",
        long,
        global = true,
        value_name = "URL",
        env = "SVC_URL",
        hide_env_values = true,
        default_value = URL_DEFAULT
    )]
    url: String,

    /// Number of the installation [default: the only one, if there is exactly one]
    #[arg(long, global = true, value_name = "NUMBER", env = "SVC_INSTALLATION")]
    #[arg(hide_env_values = true)]
    installation: Option<InstallationId>,

    // The environment's file is not read here: `relay pair` has an option of this name for another token, and clap would
    // hand it the operator's.
    /// File with the operator token [env: SVC_OPERATOR_API_TOKEN_FILE] [default: /etc/svc/operator.token]
    ///
    /// If neither this option nor SVC_OPERATOR_API_TOKEN_FILE names a file, the token is the value of
    /// SVC_OPERATOR_API_TOKEN. If that variable is not set either, the token is in the default file. A file that
    /// users outside its group can read is refused. The token is never taken from the command line.
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Output format
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "table")]
    #[arg(value_parser = output::answers())]
    output: FormatArg,

    /// On a terminal, show times in UTC instead of ages such as 3h ago; elsewhere, times are always in UTC
    #[arg(long, global = true)]
    utc: bool,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// Maximum time for one request, or for the whole wait of replay --wait and releases wait: a number of seconds, or with a unit: 90s, 10m, 2h
    ///
    /// The default is 30 seconds for a request, and no limit for a wait.
    #[arg(long, global = true, value_name = "DURATION", value_parser = when::duration)]
    timeout: Option<Duration>,
}

impl Global {
    /// Returns the longest time for one request.
    fn request_timeout(&self) -> Duration {
        self.timeout.unwrap_or(REQUEST_TIMEOUT)
    }

    /// Returns the options for the requests of a command that waits: its timeout is for the whole wait.
    fn waiting(&self) -> Self {
        Self { timeout: Some(self.request_timeout().min(REQUEST_TIMEOUT)), ..self.clone() }
    }
}

/// Longest time for one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Where packages put the control socket.
const URL_DEFAULT: &str = "unix:/run/svc/svcd.sock";

// A new command is a line here, a line in `run`, and a file.
#[derive(Debug, Subcommand)]
enum Command {
    Status(status::Args),
    #[command(subcommand)]
    DeadLetters(dead_letters::Command),
    Replay(replay::Args),
    #[command(subcommand)]
    Releases(releases::Command),
    #[command(subcommand)]
    Reconcile(reconcile::Command),
    #[command(subcommand)]
    Audit(audit::Command),
    #[command(subcommand)]
    Installations(installations::Command),
    Slo(slo::Args),
    #[command(subcommand)]
    Cards(cards::Command),
    #[command(subcommand)]
    Mcp(mcp::Command),
    #[command(subcommand)]
    Relay(relay::Command),
    Reload(reload::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Demo(demo::Args),
}

impl Cli {
    /// Returns what prints the answer, or the error.
    #[must_use]
    pub fn output(&self) -> Output {
        Output::new(self.global.output, self.global.color, self.global.utc)
    }
}

/// Returns the whole tree of commands, for manual pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command that was typed.
///
/// # Errors
/// When it does not come to what it was typed for; [`Error::exit`] says how the process ends.
pub fn run(cli: &Cli) -> Result<Exit, Error> {
    let (global, output) = (&cli.global, cli.output());
    match &cli.command {
        Command::Status(args) => status::run(args, global, output),
        Command::DeadLetters(command) => dead_letters::run(command, global, output),
        Command::Replay(args) => replay::run(args, global, output),
        Command::Releases(command) => releases::run(command, global, output),
        Command::Reconcile(command) => reconcile::run(command, global, output),
        Command::Audit(command) => audit::run(command, global, output),
        Command::Installations(command) => installations::run(command, global, output),
        Command::Slo(args) => slo::run(args, global, output),
        Command::Cards(command) => cards::run(command, global, output),
        Command::Mcp(command) => mcp::run(command, global, output),
        Command::Relay(command) => relay::run(command, global, output),
        Command::Reload(args) => reload::run(args, global, output),
        Command::Schema(args) => schema::run(args, output),
        Command::Completions(args) => completions::run(args, output),
        Command::Demo(args) => demo::run(args, output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_holds_together() {
        command().debug_assert();
    }
}
