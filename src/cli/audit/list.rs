//! `svcctl audit list`.

use crate::api::{AuditEvent, AuditFilter};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages::{self, InstallationScope, Part, Table, Tenant};
use crate::cli::when::Period;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List the audit events of an installation, newest first
///
/// IDEMPOTENCY KEY is that of the request (operationId in JSON): requests that were repeated with the same key have one
/// event. For an item of a plan, the key begins with the ID of the plan.
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
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(0, "CREATED", |it, times| times.ago(it.created_at)),
        Column::new(4, "ID", |it, _| it.audit_event_id.to_string()),
        Column::new(0, "EVENT", |it, _| it.event.clone()),
        Column::new(2, "TYPE", |it, _| it.item_type.clone()),
        Column::new(1, "ITEM", |it, _| it.item_id.clone()),
        Column::free(3, "REASON", |it, _| or_dash(it.reason.as_ref().or(it.reason_code.as_ref()))),
        Column::new(0, "ACTOR", |it, _| it.actor.clone()),
        Column::new(5, "IDEMPOTENCY KEY", |it, _| or_dash(it.operation_id.as_ref())),
    ];
}

impl Tenant for AuditEvent {
    fn instant(&self) -> Timestamp {
        self.created_at
    }
}
