//! `svcctl releases list`.

use crate::api::{ReleaseFilter, ReleaseRun, Tag, Yes};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages::{self, InstallationScope, Part, Table, Tenant};
use crate::cli::value_parser::{one_of, repository};
use crate::cli::when::Period;
use crate::domain::release::ReleaseStatus;
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Characters of a commit's id in the table; `show` has all of them.
const COMMIT_SHORT: usize = 12;

/// List release runs, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl releases list
  svcctl releases list --status running
  svcctl releases list --repository acme/site --since 2026-11-21
  svcctl releases list --tag v1.3.0
  svcctl releases list --stuck
  svcctl releases list --all -o ndjson | jq -r 'select(.failureReason).releaseRunId'
")]
pub(crate) struct Args {
    /// Select only release runs with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReleaseStatus::OCCURRING, ReleaseStatus::as_str))]
    status: Option<ReleaseStatus>,

    /// Select only release runs of this repository
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    repository: Option<RepositoryName>,

    /// Select only release runs of this tag
    #[arg(long, value_name = "TAG", value_parser = tag)]
    tag: Option<Tag>,

    /// Select only release runs that have not ended, and have not changed for so long that a reconciliation should have begun
    /// and ended
    ///
    /// That is longer than SVC_RECONCILIATION_OBSERVATION_SECONDS plus SVC_RECONCILIATION_DEADLINE_SECONDS: by default, 35
    /// minutes.
    #[arg(long)]
    stuck: bool,

    #[command(flatten)]
    period: Period,

    #[command(flatten)]
    scope: InstallationScope,

    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let (since, until) = args.period.instants(SystemClock::new().now());
    let filter = ReleaseFilter {
        status: args.status,
        repository: args.repository.clone(),
        tag: args.tag.clone(),
        stuck: args.stuck.then_some(Yes),
        since,
        until,
    };
    pages::show::<ReleaseRun>(&args.part.of(filter), args.scope, global, output)
}

fn tag(text: &str) -> Result<Tag, &'static str> {
    Tag::parse(text).ok_or("not a tag such as v1.3.0")
}

impl Table for ReleaseRun {
    const COMMAND: &'static str = "releases list";
    const NOTHING: &'static str = "no release runs";
    const ID: &'static [&'static str] = &["releaseRunId"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(0, "CREATED", |it, times| times.ago(it.created_at)),
        Column::new(0, "ID", |it, _| it.release_run_id.to_string()),
        Column::state(0, "STATUS", |it, _| it.status.to_string()),
        Column::new(3, "ATTEMPT", |it, _| it.attempt_number.to_string()),
        Column::new(4, "COMMIT", |it, _| it.head_sha.chars().take(COMMIT_SHORT).collect()),
        Column::new(2, "REASON", |it, _| or_dash(reason(it))),
        Column::new(0, "TAG", |it, _| super::tag(&it.git_ref).to_owned()),
        Column::new(1, "REPOSITORY", |it, _| or_dash(it.repository.as_ref())),
    ];
}

/// Returns why a release failed, or its current attempt, or why its end could not be published.
fn reason(release: &ReleaseRun) -> Option<&String> {
    let ReleaseRun { failure_reason, attempt_failure_reason, last_publication_error, .. } = release;
    [failure_reason, attempt_failure_reason, last_publication_error].into_iter().flatten().next()
}

impl Tenant for ReleaseRun {
    fn instant(&self) -> Timestamp {
        self.created_at
    }
}
