//! `svcctl audit list`.

use crate::api::{AuditEvent, AuditFilter};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash};
use crate::cli::pages::{self, InstallationScope, Paging, Part, Table, Tenant};
use crate::cli::when::Period;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List the audit events of an installation, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl audit list
  svcctl audit list --since 2026-11-21 --until 2026-11-22
  svcctl audit list --all -o ndjson | jq -r 'select(.actor == \"ops:oncall\").itemId'
")]
pub(crate) struct Args {
    #[command(flatten)]
    period: Period,

    #[command(flatten)]
    scope: InstallationScope,

    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let (since, until) = args.period.instants(SystemClock::new().now());
    pages::show::<AuditEvent>(
        &args.part.of(AuditFilter { since, until }),
        args.scope,
        global,
        output,
    )
}

impl Table for AuditEvent {
    const COMMAND: &'static str = "audit list";
    const NOTHING: &'static str = "no audit events";
    const ID: &'static [&'static str] = &["auditEventId"];
    const HEADER: &'static [&'static str] =
        &["CREATED", "ID", "EVENT", "TYPE", "ITEM", "REASON", "ACTOR", "OPERATION"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        vec![
            paging.age(now, self.created_at),
            self.audit_event_id.to_string(),
            self.event.clone(),
            self.item_type.clone(),
            self.item_id.clone(),
            or_dash(self.reason.as_ref().or(self.reason_code.as_ref())),
            self.actor.clone(),
            or_dash(self.operation_id.as_ref()),
        ]
    }
}

impl Tenant for AuditEvent {
    fn instant(&self) -> Timestamp {
        self.created_at
    }
}
