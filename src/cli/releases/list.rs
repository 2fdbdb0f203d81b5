//! `svcctl releases list`.

use crate::api::{Page, ReleaseRun};
use crate::cli::again::Again;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::pages::{Paging, Wanted};
use crate::cli::word::one_of;
use crate::cli::{Global, installations};
use crate::domain::release::ReleaseStatus;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Characters of a commit's id in the table; `show` has all of them.
const COMMIT_SHORT: usize = 12;

/// List release runs, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases list
  svcctl releases list --status running
  svcctl releases list --all -o ndjson | jq -r 'select(.failureReason).releaseRunId'
")]
pub(crate) struct Args {
    /// Show only release runs of this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReleaseStatus::ALL, ReleaseStatus::as_str))]
    status: Option<ReleaseStatus>,

    #[command(flatten)]
    wanted: Wanted,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = super::path(installations::meant(&client, global)?);
    let status = args.status.map(ReleaseStatus::as_str);
    let page: Page<ReleaseRun> = args.wanted.gather(&client, &path, status)?;
    match output.format() {
        Format::Json => output.json(&page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", "no release runs"),
        Format::Table => output.table(&HEADER, rows(&page.items, args.wanted.paging))?,
    }
    let again = Again::new("releases list", global).with_some("--status", status);
    args.wanted.tell_next(&page, again, output);
    Ok(Exit::Done)
}

const HEADER: [&str; 8] =
    ["CREATED", "ID", "STATUS", "ATTEMPT", "COMMIT", "REASON", "TAG", "REPOSITORY"];

fn rows(items: &[ReleaseRun], paging: Paging) -> Vec<Vec<String>> {
    let now = SystemClock::new().now();
    let row = |item: &ReleaseRun| {
        vec![
            paging.age(now, &item.created_at),
            item.release_run_id.clone(),
            item.status.to_string(),
            item.attempt_number.to_string(),
            item.head_sha.chars().take(COMMIT_SHORT).collect(),
            or_dash(item.failure_reason.as_deref().or(item.last_publication_error.as_deref())),
            super::tag(&item.git_ref).to_owned(),
            or_dash(item.repository.as_deref()),
        ]
    };
    items.iter().map(row).collect()
}
