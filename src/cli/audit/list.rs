//! `svcctl audit list`.

use crate::api::{AuditEvent, NoFilter};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash};
use crate::cli::pages::{self, Paging, Part, Table};
use crate::domain::time::Timestamp;

/// List the audit events of an installation, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl audit list
  svcctl audit list --all -o ndjson | jq -r 'select(.actor == \"ops:oncall\").itemId'
")]
pub(crate) struct Args {
    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    pages::show::<AuditEvent>(args.part, &NoFilter {}, global, output)
}

impl Table for AuditEvent {
    const COMMAND: &'static str = "audit list";
    const NOTHING: &'static str = "no audit events";
    const HEADER: &'static [&'static str] =
        &["CREATED", "ID", "EVENT", "TYPE", "ITEM", "REASON", "ACTOR", "OPERATION"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        vec![
            paging.age(now, self.created_at),
            self.audit_event_id.to_string(),
            self.event.clone(),
            self.item_type.clone(),
            self.item_id.clone(),
            or_dash(self.reason_code.as_ref()),
            self.actor.clone(),
            or_dash(self.operation_id.as_ref()),
        ]
    }
}
