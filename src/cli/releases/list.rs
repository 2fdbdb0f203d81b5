//! `svcctl releases list`.

use crate::api::{ReleaseFilter, ReleaseRun};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash};
use crate::cli::pages::{self, Paging, Part, Table};
use crate::cli::value_parser::one_of;
use crate::domain::release::ReleaseStatus;
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;

/// Characters of a commit's id in the table; `show` has all of them.
const COMMIT_SHORT: usize = 12;

/// List release runs, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases list
  svcctl releases list --status running
  svcctl releases list --repository acme/site
  svcctl releases list --all -o ndjson | jq -r 'select(.failureReason).releaseRunId'
")]
pub(crate) struct Args {
    /// Show only release runs with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReleaseStatus::OCCURRING, ReleaseStatus::as_str))]
    status: Option<ReleaseStatus>,

    /// Show only release runs of this repository
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    repository: Option<RepositoryName>,

    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let filter = ReleaseFilter { status: args.status, repository: args.repository.clone() };
    pages::show::<ReleaseRun>(args.part, &filter, global, output)
}

fn repository(text: &str) -> Result<RepositoryName, &'static str> {
    text.parse().map_err(|_| "not the name of a repository such as acme/site")
}

impl Table for ReleaseRun {
    const COMMAND: &'static str = "releases list";
    const NOTHING: &'static str = "no release runs";
    const HEADER: &'static [&'static str] =
        &["CREATED", "ID", "STATUS", "ATTEMPT", "COMMIT", "REASON", "TAG", "REPOSITORY"];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        let reasons =
            [&self.failure_reason, &self.attempt_failure_reason, &self.last_publication_error];
        vec![
            paging.age(now, self.created_at),
            self.release_run_id.to_string(),
            self.status.to_string(),
            self.attempt_number.to_string(),
            self.head_sha.chars().take(COMMIT_SHORT).collect(),
            or_dash(reasons.into_iter().flatten().next()),
            super::tag(&self.git_ref).to_owned(),
            or_dash(self.repository.as_ref()),
        ]
    }
}
