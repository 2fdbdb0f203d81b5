//! `svcctl relay audit verify`.

use crate::api::relay::RelayAuditCheck;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::relay::PATH;

/// Check that no event of the relay's audit log was changed, removed or put in between
///
/// Computes the hash of every event anew; each covers the one before it. Note the head somewhere else:
/// a log whose newest events were cut off holds too, and has another head. Ends with 0 when all events
/// hold, 1 when one does not.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay audit verify
  svcctl relay audit verify -o json | jq -r .head     to be noted elsewhere
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let check: RelayAuditCheck = client.get(&format!("{PATH}/audit-events/verify"))?;
    match output.format() {
        Format::Table => {
            let intact = if check.intact { "yes" } else { "no" };
            output.facts(vec![
                ("intact", intact.to_owned()),
                ("events", check.rows.to_string()),
                ("head", or_dash(check.head)),
            ])?;
            if let Some(broken) = check.first_broken {
                let text = format!(
                    "event {broken} does not hold: it, or one before it, was changed outside svcd; keep the database \
                     file as it is, and compare it with a backup"
                );
                output.alarm("broken", true, &text);
            }
        }
        Format::Json | Format::Ndjson => output.json(&check)?,
    }
    Ok(if check.intact { Exit::Done } else { Exit::Failed })
}
