//! `svcctl reconcile list`.

use crate::api::{ReconciliationFilter, ReconciliationItem, Yes};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash, relative};
use crate::cli::pages::{self, InstallationScope, Paging, Part, Table, Tenant};
use crate::cli::value_parser::one_of;
use crate::cli::when::Period;
use crate::domain::reconcile::{ReconcileReason, ReconcileStatus};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// List reconciliations, newest first
///
/// Without --status, lists only open and leased items, not those that were given up.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl reconcile list
  svcctl reconcile list --status dead_letter --closed=false
  svcctl reconcile list --reason running_stale --all -o ndjson | jq -r .subjectId
  svcctl reconcile list --stuck
")]
pub(crate) struct Args {
    /// Show only items with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReconcileStatus::ALL, ReconcileStatus::as_str))]
    status: Option<ReconcileStatus>,

    /// Show only items with this reason
    #[arg(long, value_name = "REASON", value_parser = one_of(ReconcileReason::ALL, ReconcileReason::as_str))]
    reason: Option<ReconcileReason>,

    /// Show only open and leased items whose deadline has passed
    #[arg(long)]
    stuck: bool,

    /// Show only given-up items that an operator closed; with =false, only items that are not closed
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
    const HEADER: &'static [&'static str] = &[
        "DETECTED", "ID", "STATUS", "TRIES", "NEXT", "DEADLINE", "LEASE", "KIND", "REASON",
        "OUTCOME", "SUBJECT",
    ];

    fn columns(&self, now: Timestamp, paging: Paging) -> Vec<String> {
        let ahead = |at: Timestamp| {
            if paging.exact_times { at.to_string() } else { relative(now, at) }
        };
        // What has ended is looked at no more, whatever was planned.
        let planned = |at| or_dash(self.finished_at.is_none().then(|| ahead(at)));
        vec![
            paging.age(now, self.created_at),
            self.reconciliation_id.to_string(),
            // The signal and the status count only what was not closed.
            format!("{}{}", self.status, self.closed_at.map_or("", |_| ", closed")),
            self.attempt_count.to_string(),
            planned(self.next_check_at),
            planned(self.deadline_at),
            or_dash(self.lease_expires_at.map(ahead)),
            self.kind.clone(),
            self.reason.clone(),
            or_dash(self.outcome_code.as_ref()),
            self.subject_id.clone(),
        ]
    }
}

impl Tenant for ReconciliationItem {
    fn instant(&self) -> Timestamp {
        self.created_at
    }
}
