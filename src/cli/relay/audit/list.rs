//! `svcctl relay audit list`.

use crate::api::relay::RelayAuditEvent;
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages::{Part, Table};

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
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(0, "CREATED", |it, times| times.ago(it.created_at)),
        Column::new(2, "NUMBER", |it, _| it.seq.to_string()),
        Column::new(0, "EVENT", |it, _| it.event.clone()),
        Column::new(0, "ITEM", |it, _| or_dash(item(it))),
        Column::new(1, "ACTOR", |it, _| or_dash(it.actor.as_ref().or(it.decided_by.as_ref()))),
        Column::new(3, "ACTION", |it, _| or_dash(it.action.as_ref())),
        Column::new(4, "REASON", |it, _| or_dash(it.reason.as_ref())),
        Column::free(6, "CLIENT", |it, _| or_dash(it.client.as_ref())),
        Column::new(5, "SUBJECT", |it, _| it.subject.clone()),
    ];
}

fn item(event: &RelayAuditEvent) -> Option<String> {
    let invocation = event.invocation.map(|id| id.to_string());
    let session = event.session.map(|id| id.to_string());
    let device = event.device.map(|id| id.to_string());
    invocation.or(session).or(device)
}
