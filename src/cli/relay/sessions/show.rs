//! `svcctl relay sessions show`.

use uuid::Uuid;

use crate::api::relay::RelaySession;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, Times};
use crate::domain::time::Timestamp;

/// Show one session: its subject (the account that paired it), its state, and how long agents may still read without approval
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay sessions show 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// ID of the session, as shown in the list
    #[arg(value_name = "ID")]
    session: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::show(args.session, facts, global, output)
}

/// Returns the lines for people; what does not apply is left out.
fn facts(session: &RelaySession, times: Times) -> Vec<(&'static str, String)> {
    let time = |at: Timestamp| times.both(at);
    let state = match session.state.as_str() {
        "suspended" => "suspended: the plugin does not answer; its tab may be frozen".to_owned(),
        state => state.to_owned(),
    };
    let known = [
        ("session", Some(session.session.to_string())),
        ("subject", Some(session.subject.clone())),
        ("device", Some(session.device.to_string())),
        ("tool", Some(session.tool.clone())),
        ("state", Some(state)),
        ("may be read until", session.allowance_until.map(|until| until.to_string())),
        ("opened", Some(time(session.created_at))),
        ("last seen", Some(time(session.last_seen_at))),
        ("ended", session.ended_at.map(time)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
