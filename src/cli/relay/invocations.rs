//! `svcctl relay invocations`: what agents have proposed, and what became of it.

mod deny;
mod list;
mod show;

use clap::Subcommand;

use crate::api::relay::RelayInvocation;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, Times};
use crate::domain::time::Timestamp;

/// Show invocations, which are the steps that agents proposed, and deny those that have not begun
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Deny(deny::Args),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::List(args) => list::run(args, global, output),
        Command::Show(args) => show::run(args, global, output),
        Command::Deny(args) => deny::run(args, global, output),
    }
}

/// Returns the lines about an invocation for people; what does not apply is left out.
fn facts(invocation: &RelayInvocation, times: Times) -> Vec<(&'static str, String)> {
    let time = |at: Timestamp| times.both(at);
    let state = match invocation.state.as_str() {
        "unknown" => "unknown: check the design file; the step is never sent again".to_owned(),
        state => state.to_owned(),
    };
    let late = invocation.settled_late.then(|| "yes: it was unknown before".to_owned());
    let known = [
        ("invocation", Some(invocation.invocation.to_string())),
        ("proposal", Some(format!("{}, step {}", invocation.proposal, invocation.step + 1))),
        ("session", Some(invocation.session.to_string())),
        ("subject", Some(invocation.subject.clone())),
        ("client", Some(invocation.client.clone())),
        ("action", Some(format!("{} ({})", invocation.action, invocation.effect))),
        ("arguments", Some(format!("SHA-256 {}", invocation.arguments_sha256))),
        ("state", Some(state)),
        ("reason", invocation.reason.clone()),
        ("settled late", late),
        ("decided by", invocation.decided_by.clone()),
        ("decision due", Some(invocation.expires_at.to_string())),
        ("proposed", Some(time(invocation.created_at))),
        ("changed", Some(time(invocation.updated_at))),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
