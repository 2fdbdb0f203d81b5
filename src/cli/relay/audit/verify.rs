//! `svcctl relay audit verify`.

use crate::api::relay::{RelayAuditCheck, RelaySignatureCheck};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::relay::PATH;

/// Verify the hashes and signatures of the events in the relay's audit log
///
/// Each event contains a hash, which covers the hash of the previous event. This command recomputes all hashes. It
/// also verifies the signatures with which devices confirmed pairings, decided about proposals, and allowed reads in
/// advance. An attacker who rewrites the whole log can make its hashes valid, but cannot forge signatures.
///
/// The head is the hash of the newest event. Store it on another machine: it shows later whether events were removed at the end of
/// the log, or the log was rewritten without the signed events. New events change the head, so look for the stored hash
/// among the hashes of all events, as in the examples. If the log is valid but no event has the stored hash, events
/// were removed or rewritten.
///
/// The signatures of events that an older svcd wrote cannot be verified;
/// these events are counted as not checkable, and do not change the exit status. Exits with 0 if all hashes are valid
/// and no signature is missing or invalid, 1 otherwise.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay audit verify
  svcctl relay audit verify -o json | jq -r .head > head.txt       # then store head.txt on another machine
  svcctl relay audit list --all -o ndjson | jq -r .hash | grep -x \"$(cat head.txt)\"     # later: is that event still there?
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
