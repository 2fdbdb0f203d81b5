//! `svcctl relay audit verify`.

use crate::api::relay::{RelayAuditCheck, RelaySignatureCheck};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::relay::PATH;

/// Verify that no event in the relay's audit log was changed, removed or inserted
///
/// Recomputes the hash of every event, which covers the event before it, and verifies the signature of every
/// confirmation, decision and allowance with the key of the device that made it. Store the head somewhere else:
/// if the newest events are removed, the remaining log is still valid, but has a different head. If the whole log
/// is rewritten, its hashes can be valid, but its signatures are not. Events written before schema step 50 lack
/// the data to verify their signatures, and are counted separately. Exits with 0 if all hashes are valid and no
/// signature is invalid, 1 otherwise.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay audit verify
  svcctl relay audit verify -o json | jq -r .head     to store elsewhere
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let check: RelayAuditCheck = client.get(&format!("{PATH}/audit-events/verify"))?;
    let RelaySignatureCheck { valid, invalid, not_checkable, first_invalid } = check.signatures;
    match output.format() {
        Format::Table => {
            let intact = if check.intact { "yes" } else { "no" };
            output.facts(vec![
                ("intact", intact.to_owned()),
                ("events", check.rows.to_string()),
                ("head", or_dash(check.head)),
                (
                    "signatures",
                    format!("{valid} valid, {invalid} invalid, {not_checkable} not checkable"),
                ),
            ])?;
            if let Some(broken) = check.first_broken {
                let text = format!(
                    "the hash of event {broken} is not valid: it or an earlier event was changed outside svcd; keep the database \
                     file as it is, and compare it with a backup"
                );
                output.alarm("broken", true, &text);
            }
            if let Some(event) = first_invalid {
                let text = format!(
                    "event {event} is not signed by its device: it was written or changed outside svcd; keep the \
                     database file as it is, and compare it with a backup"
                );
                output.alarm("invalid", true, &text);
            }
        }
        Format::Json | Format::Ndjson => output.json(&check)?,
    }
    Ok(if check.intact && invalid == 0 { Exit::Done } else { Exit::Failed })
}
