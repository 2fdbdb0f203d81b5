//! `svcctl audit list`.

use crate::api::{AuditEvent, Page};
use crate::cli::again::Again;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::pages::{Paging, Wanted};
use crate::cli::{Global, installations};
use crate::runtime::clock::{Clock as _, SystemClock};

/// List the audit events of an installation, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl audit list
  svcctl audit list --all -o ndjson | jq -r 'select(.actor == \"ops:oncall\").itemId'
")]
pub(crate) struct Args {
    #[command(flatten)]
    wanted: Wanted,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let path = format!("/api/v1/operator/installations/{installation}/audit-events");
    let page: Page<AuditEvent> = args.wanted.gather(&client, &path, None)?;
    match output.format() {
        Format::Json => output.json(&page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", "no audit events"),
        Format::Table => output.table(&HEADER, rows(&page.items, args.wanted.paging))?,
    }
    args.wanted.tell_next(&page, Again::new("audit list", global), output);
    Ok(Exit::Done)
}

/// The columns of no fixed width stand last.
const HEADER: [&str; 8] =
    ["CREATED", "ID", "EVENT", "TYPE", "ITEM", "REASON", "ACTOR", "OPERATION"];

fn rows(items: &[AuditEvent], paging: Paging) -> Vec<Vec<String>> {
    let now = SystemClock::new().now();
    let row = |item: &AuditEvent| {
        vec![
            paging.age(now, &item.created_at),
            item.audit_event_id.clone(),
            item.event.clone(),
            item.item_type.clone(),
            item.item_id.clone(),
            or_dash(item.reason_code.as_deref()),
            item.actor.clone(),
            or_dash(item.operation_id.as_deref()),
        ]
    };
    items.iter().map(row).collect()
}
