//! `svcctl reconcile list`.

use crate::api::{ReconciliationFilter, ReconciliationItem};
use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, or_dash, relative};
use crate::cli::pages::{self, Paging, Part, Table};
use crate::cli::value_parser::one_of;
use crate::domain::reconcile::ReconcileStatus;
use crate::domain::time::Timestamp;

/// List reconciliations, newest first
///
/// Without --status, lists only the items that have not ended.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl reconcile list
  svcctl reconcile list --status dead_letter
  svcctl reconcile list --all -o ndjson | jq -r 'select(.reason == \"running_stale\").subjectId'
")]
pub(crate) struct Args {
    /// Show only items with this status
    #[arg(long, value_name = "STATUS", value_parser = one_of(ReconcileStatus::ALL, ReconcileStatus::as_str))]
    status: Option<ReconcileStatus>,

    #[command(flatten)]
    part: Part,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let filter = ReconciliationFilter { status: args.status };
    pages::show::<ReconciliationItem>(args.part, &filter, global, output)
}

impl Table for ReconciliationItem {
    const COMMAND: &'static str = "reconcile list";
    const NOTHING: &'static str = "no reconciliations";
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
            self.status.clone(),
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
