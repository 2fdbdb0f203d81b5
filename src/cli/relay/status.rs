//! `svcctl relay status`.

use crate::api::relay::{RelayCounts, RelayStatus};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::cli::relay::PATH;

/// Show whether the relay is on, and how busy it is
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay status
  svcctl relay status -o json | jq .proposalsWaiting
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let status: RelayStatus = Client::operator(global)?.get(PATH)?;
    match output.format() {
        Format::Table => {
            let relay = if status.enabled { "on" } else { "off (SVC_RELAY is not set to true)" };
            let counts = status.counts;
            let RelayCounts { sessions_connected, sessions_suspended, sessions_away, .. } = counts;
            output.facts(vec![
                ("relay", relay.to_owned()),
                (
                    "sessions",
                    format!(
                        "{sessions_connected} connected, {sessions_suspended} suspended (connected, but not answering), {sessions_away} away (disconnected)"
                    ),
                ),
                ("proposals", format!("{} waiting for a person", counts.proposals_waiting)),
                ("invocations", format!("{} running", counts.invocations_running)),
            ])?;
        }
        Format::Json | Format::Ndjson => output.json(&status)?,
    }
    Ok(Exit::Done)
}
