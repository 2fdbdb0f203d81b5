//! `svcctl dead-letters list`.

use crate::api::{DeadLetter, DeadLetterFilter};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, or_dash};
use crate::cli::pages::{self, InstallationScope, Paging, Table, Tenant, Wanted};
use crate::cli::value_parser::{one_of, repository};
use crate::cli::when::{Period, When};
use crate::domain::dead_letter::{DeadLetterReason, ItemType};
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List dead letters, newest first
///
/// In the table, REPLAY-SAFE says whether svcctl replay accepts the item; ERROR CLASS is the kind of the last error,
/// and FORGE FAILURE (in JSON, cause) how the last call to the forge failed. In
/// /usr/share/doc/svcd/docs, dead-letters.md explains the reasons and error classes and what to repair, and operate.md the forge
/// failures. TRIES (in JSON, attemptCount) counts the tries of the item, not the attempts of its release.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters list
  svcctl dead-letters list --type outbox --reason forge_dispatch_uncertain
  svcctl dead-letters list --repository acme/site --since 2h
  svcctl dead-letters list --before 2026-11-21T09:00:00Z --limit 10
  svcctl dead-letters list --replay-safe --all -o ndjson | jq -r .itemId
")]
pub(crate) struct Args {
    #[command(flatten)]
    paging: Paging,

    /// Continue a list: select only items that failed before this time
    ///
    /// Give the time of the last item shown; the list prints the command for its next page. To select a period, use
    /// --since and --until.
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    before: Option<When>,

    #[command(flatten)]
    scope: InstallationScope,

    #[command(flatten)]
    selection: Selection,
}

/// Which dead letters are wanted.
#[derive(clap::Args, Debug)]
pub(crate) struct Selection {
    #[command(flatten)]
    period: Period,

    /// Select only items of this type: job, or outbox for an effect
    #[arg(long = "type", value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: Option<ItemType>,

    /// Select only items with this reason code
    #[arg(long, value_name = "CODE", value_parser = one_of(DeadLetterReason::ALL, DeadLetterReason::as_str))]
    reason: Option<DeadLetterReason>,

    /// Select only items of the repository that had this name when they failed
    #[arg(long, value_name = "OWNER/NAME", value_parser = repository)]
    repository: Option<RepositoryName>,

    /// Select only replay-safe items, which svcctl replay accepts; with =false, only the others
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    replay_safe: Option<bool>,
}

impl Selection {
    /// Returns the filter of the list.
    pub(crate) fn filter(&self, now: Timestamp) -> DeadLetterFilter {
        let (since, until) = self.period.instants(now);
        DeadLetterFilter {
            item_type: self.item_type,
            reason: self.reason,
            repository: self.repository.clone(),
            replay_safe: self.replay_safe,
            since,
            until,
        }
    }
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let now = SystemClock::new().now();
    let filter = args.selection.filter(now);
    let before = args.before.map(|before| before.instant(now));
    if before.zip(filter.since).is_some_and(|(before, since)| before < since) {
        let message =
            "before must not be earlier than since; give an earlier since or a later before";
        return Err(Error::new(Exit::Usage, message));
    }
    let before = before.as_ref().map(Timestamp::to_string);
    let wanted = Wanted { paging: args.paging, before, filter };
    pages::show::<DeadLetter>(&wanted, args.scope, global, output)
}

impl Table for DeadLetter {
    const COMMAND: &'static str = "dead-letters list";
    const NOTHING: &'static str = "no dead letters";
    const ID: &'static [&'static str] = &["itemType", "itemId"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(0, "FAILED", |it, times| times.ago(it.failed_at)),
        Column::new(0, "TYPE", |it, _| it.item_type.to_string()),
        Column::new(0, "ID", |it, _| it.item_id.clone()),
        Column::state(1, "REPLAY-SAFE", |it, _| super::yes_or_no(it.replay_safe).to_owned()),
        Column::new(4, "TRIES", |it, _| it.attempt_count.to_string()),
        Column::new(5, "ERROR CLASS", |it, _| it.error_class.to_string()),
        Column::new(3, "FORGE FAILURE", |it, _| or_dash(it.cause.as_deref())),
        Column::new(0, "REASON", |it, _| it.reason_code.to_string()),
        Column::new(2, "REPOSITORY", |it, _| or_dash(it.repository.as_deref())),
    ];
}

impl Tenant for DeadLetter {
    fn instant(&self) -> Timestamp {
        self.failed_at
    }
}
