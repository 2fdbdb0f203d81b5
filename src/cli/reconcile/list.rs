//! `svcctl reconcile list`.

use crate::api::{ReconciliationFilter, ReconciliationItem, Yes};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Output, Times, or_dash};
use crate::cli::pages::{self, InstallationScope, Part, Table, Tenant};
use crate::cli::value_parser::one_of;
use crate::cli::when::Period;
use crate::domain::reconcile::{ReconcileReason, ReconcileStatus};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List reconciliations, newest first
///
/// Without --status, lists only open and leased items, not those that were given up (status dead_letter). A leased item is
/// being checked now; LEASE is when its lease ends.
///
/// In the table, NEXT is the time of the next check, DEADLINE the time at which the reconciliation ends in any case, and
/// OUTCOME the result of the last check. SUBJECT is the ID of an attempt or a release run, or the number of a webhook;
/// the reasons about webhooks begin with lifecycle_.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl reconcile list
  svcctl reconcile list --status dead_letter --closed=false
  svcctl reconcile list --reason running_stale --all -o ndjson | jq -r .subjectId
  svcctl reconcile list --stuck
")]
pub(crate) struct Args {
    /// Select only items with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReconcileStatus::ALL, ReconcileStatus::as_str))]
    status: Option<ReconcileStatus>,

    /// Select only items with this reason
    #[arg(long, value_name = "REASON", value_parser = one_of(ReconcileReason::ALL, ReconcileReason::as_str))]
    reason: Option<ReconcileReason>,

    /// Select only open and leased items whose deadline has passed
    #[arg(long)]
    stuck: bool,

    /// With --status dead_letter, select only items that an operator closed; with =false, only items that are not closed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    closed: Option<bool>,

    #[command(flatten)]
    period: Period,

    #[command(flatten)]
    scope: InstallationScope,

    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let (since, until) = args.period.instants(SystemClock::new().now());
    let filter = ReconciliationFilter {
        status: args.status,
        reason: args.reason,
        stuck: args.stuck.then_some(Yes),
        closed: args.closed,
        since,
        until,
    };
    pages::show::<ReconciliationItem>(&args.part.of(filter), args.scope, global, output)
}

impl Table for ReconciliationItem {
    const COMMAND: &'static str = "reconcile list";
    const NOTHING: &'static str = "no reconciliations";
    const ID: &'static [&'static str] = &["reconciliationId"];
    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(3, "DETECTED", |it, times| times.ago(it.created_at)),
        Column::new(0, "ID", |it, _| it.reconciliation_id.to_string()),
        // The signal and the status count only what was not closed.
        Column::state(0, "STATUS", |it, _| {
            format!("{}{}", it.status, it.closed_at.map_or("", |_| ", closed"))
        }),
        Column::new(4, "TRIES", |it, _| it.attempt_count.to_string()),
        Column::new(2, "NEXT", |it, times| planned(it, it.next_check_at, times)),
        Column::new(0, "DEADLINE", |it, times| planned(it, it.deadline_at, times)),
        Column::new(7, "LEASE", |it, times| {
            or_dash(it.lease_expires_at.map(|at| times.relative(at)))
        }),
        Column::new(5, "KIND", |it, _| it.kind.clone()),
        Column::new(0, "REASON", |it, _| it.reason.clone()),
        Column::new(6, "OUTCOME", |it, _| or_dash(it.outcome_code.as_ref())),
        Column::new(8, "SUBJECT", |it, _| it.subject_id.clone()),
    ];
}

/// What has ended is looked at no more, whatever was planned.
fn planned(item: &ReconciliationItem, at: Timestamp, times: Times) -> String {
    or_dash(item.finished_at.is_none().then(|| times.relative(at)))
}

impl Tenant for ReconciliationItem {
    fn instant(&self) -> Timestamp {
        self.created_at
    }
}
