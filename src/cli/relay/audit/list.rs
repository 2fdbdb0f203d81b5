//! `svcctl relay audit list`.

use crate::api::relay::RelayAuditEvent;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash};
use crate::cli::pages::{Paging, Part, Table};
use crate::domain::time::Timestamp;

/// List the events of the relay's audit log, newest first
///
/// The table omits digests, signatures and hashes; -o json has all of them.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay audit list
  svcctl relay audit list --all -o ndjson | jq -r 'select(.event == \"relay.approved\").invocation'
")]
pub(crate) struct Args {
    #[command(flatten)]
    part: Part<i64>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    crate::cli::relay::list::<RelayAuditEvent, _>(&args.part, global, output)
}

impl Table for RelayAuditEvent {
    const COMMAND: &'static str = "relay audit list";
    const NOTHING: &'static str = "no audit events";
    const ID: &'static [&'static str] = &["seq"];
    const HEADER: &'static [&'static str] =
        &["CREATED", "NUMBER", "EVENT", "ABOUT", "BY", "ACTION", "REASON", "CLIENT", "SUBJECT"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        let about = [
            self.invocation.map(|id| id.to_string()),
            self.session.map(|id| id.to_string()),
            self.device.map(|id| id.to_string()),
        ];
        vec![
            paging.age(now, self.created_at),
            self.seq.to_string(),
            self.event.clone(),
            or_dash(about.into_iter().flatten().next()),
            or_dash(self.actor.as_ref().or(self.decided_by.as_ref())),
            or_dash(self.action.as_ref()),
            or_dash(self.reason.as_ref()),
            or_dash(self.client.as_ref()),
            self.subject.clone(),
        ]
    }
}
