//! A workflow run against its attempt. A run that ended well is not a release that succeeded: that
//! takes the signed result. A run that ended otherwise is a release that failed.

use crate::domain::reconcile::{AttemptStanding, ReconcileCode, Rules, Unavailable};
use crate::domain::time::Timestamp;

words! {
    /// How the forge says that a run ended.
    RunConclusion {
        /// Well.
        Success => "success",
        /// Badly.
        Failure => "failure",
        /// Neither.
        Neutral => "neutral",
        /// On request.
        Cancelled => "cancelled",
        /// Without running.
        Skipped => "skipped",
        /// Too late.
        TimedOut => "timed_out",
        /// A person has to act at the forge.
        ActionRequired => "action_required",
        /// The forge gave it up.
        Stale => "stale",
        /// It could not be started.
        StartupFailure => "startup_failure",
        /// In a word that is not known here.
        Unknown => "unknown",
    }
}

/// What an observation of a workflow run showed. Source: the forge, about exactly the run that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// It has not ended.
    Pending,
    /// It has ended.
    Completed(RunConclusion),
    /// The forge does not know it.
    NotFound,
    /// The forge did not tell.
    Unavailable(Unavailable),
}

/// What becomes of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to repair: close the item.
    Close(ReconcileCode),
    /// Look again at that instant. The code says what was seen; `ended_well` that only the result is
    /// missing.
    Recheck {
        /// What was seen.
        code: ReconcileCode,
        /// When to look again.
        at: Timestamp,
        /// The run has ended well.
        ended_well: bool,
    },
    /// The release fails.
    Fail(ReconcileCode),
    /// The release ends for want of an end of the run.
    TimeOut(ReconcileCode),
}

/// Decides about an attempt at `now`, which is read when the outcome is applied.
#[must_use]
pub fn decide(
    standing: AttemptStanding,
    lookup: Lookup,
    deadline: Timestamp,
    now: Timestamp,
    rules: &Rules,
) -> Outcome {
    if let Some(code) = standing.closed() {
        return Outcome::Close(code);
    }
    let in_time = now < deadline;
    let again = |code, wait_until, ended_well| Outcome::Recheck {
        code,
        at: rules.next_check_at(now, deadline, wait_until),
        ended_well,
    };
    match lookup {
        // Success at the forge is not success here: only the signed result is.
        Lookup::Completed(RunConclusion::Success) if in_time => {
            again(ReconcileCode::ForgeResultCallbackPending, None, true)
        }
        // Any other conclusion counts at once, and success too once the deadline has passed.
        Lookup::Completed(conclusion) => ended(conclusion),
        Lookup::Pending if in_time => again(ReconcileCode::WorkflowPending, None, false),
        Lookup::Pending => Outcome::TimeOut(ReconcileCode::ForgeWorkflowDeadlineExceeded),
        Lookup::NotFound if in_time => again(ReconcileCode::ForgeWorkflowNotFound, None, false),
        Lookup::NotFound => Outcome::Fail(ReconcileCode::ForgeWorkflowNotFound),
        Lookup::Unavailable(why) if in_time => {
            again(ReconcileCode::ForgeLookupFailed, why.wait_until, false)
        }
        Lookup::Unavailable(_) => Outcome::Fail(ReconcileCode::ForgeWorkflowLookupFailed),
    }
}

/// Returns the end of a release whose run has ended and whose result did not come.
const fn ended(conclusion: RunConclusion) -> Outcome {
    let code = match conclusion {
        RunConclusion::TimedOut => return Outcome::TimeOut(ReconcileCode::ForgeWorkflowTimedOut),
        RunConclusion::Success => ReconcileCode::ForgeResultCallbackMissing,
        RunConclusion::Failure => ReconcileCode::ForgeWorkflowFailure,
        RunConclusion::Neutral => ReconcileCode::ForgeWorkflowNeutral,
        RunConclusion::Cancelled => ReconcileCode::ForgeWorkflowCancelled,
        RunConclusion::Skipped => ReconcileCode::ForgeWorkflowSkipped,
        RunConclusion::ActionRequired => ReconcileCode::ForgeWorkflowActionRequired,
        RunConclusion::Stale => ReconcileCode::ForgeWorkflowStale,
        RunConclusion::StartupFailure => ReconcileCode::ForgeWorkflowStartupFailure,
        RunConclusion::Unknown => ReconcileCode::ForgeWorkflowUnknown,
    };
    Outcome::Fail(code)
}
