//! `svcctl reconcile list`.

use crate::api::{Page, ReconciliationItem};
use crate::cli::again::Again;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash, relative};
use crate::cli::pages::{Paging, Wanted};
use crate::cli::word::one_of;
use crate::cli::{Global, installations};
use crate::domain::reconcile::Status;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List what is being repaired, newest first
///
/// Without --status, the items that have not ended.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl reconcile list
  svcctl reconcile list --status dead_letter
  svcctl reconcile list --all -o ndjson | jq -r 'select(.reason == \"running_stale\").subjectId'
")]
pub(crate) struct Args {
    /// Show only items of this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(Status::ALL, Status::as_str))]
    status: Option<Status>,

    #[command(flatten)]
    wanted: Wanted,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let installation = installations::meant(&client, global)?;
    let path = format!("/api/v1/operator/installations/{installation}/reconciliation-items");
    let status = args.status.map(Status::as_str);
    let page: Page<ReconciliationItem> = args.wanted.gather(&client, &path, status)?;
    match output.format() {
        Format::Json => output.json(&page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", "nothing to reconcile"),
        Format::Table => {
            let now = SystemClock::new().now();
            let paging = args.wanted.paging;
            output
                .table(&HEADER, page.items.iter().map(|item| row(item, now, paging)).collect())?;
        }
    }
    let again = Again::new("reconcile list", global).with_some("--status", status);
    args.wanted.tell_next(&page, again, output);
    Ok(Exit::Done)
}

const HEADER: [&str; 11] = [
    "DETECTED", "ID", "STATUS", "TRIES", "NEXT", "DEADLINE", "LEASE", "KIND", "REASON", "OUTCOME",
    "SUBJECT",
];

fn row(item: &ReconciliationItem, now: Timestamp, paging: Paging) -> Vec<String> {
    let ahead = |at: &str| if paging.exact_times { at.to_owned() } else { relative(now, at) };
    // What has ended is looked at no more, whatever was planned.
    let planned = |at: &str| if item.finished_at.is_none() { ahead(at) } else { or_dash(None) };
    vec![
        paging.age(now, &item.created_at),
        item.reconciliation_id.clone(),
        item.status.clone(),
        item.attempt_count.to_string(),
        planned(&item.next_check_at),
        planned(&item.deadline_at),
        item.lease_expires_at.as_deref().map_or_else(|| or_dash(None), ahead),
        item.kind.clone(),
        item.reason.clone(),
        or_dash(item.outcome_code.as_deref()),
        item.subject_id.clone(),
    ]
}
