//! The inbox against its jobs. A job that exists is authoritative, and its inbox row follows; an inbox
//! row that waits without a job gets one again. The forge is not asked.

use crate::domain::delivery::InboxState;
use crate::domain::job::JobStatus;
use crate::domain::reconcile::{ReconcileCode, ReconcileReason};
use crate::domain::time::Timestamp;

/// What is known of an inbox row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub inbox: InboxState,
    /// The status of its job, if there is one.
    pub job: Option<JobStatus>,
    /// End of the observation window that began when it was received.
    pub window_ends_at: Timestamp,
}

/// What is to be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Close(ReconcileCode),
    /// The inbox row moves to the state its job gives it.
    Project(InboxState),
    /// The job is made again.
    Recreate,
}

/// Decides about an inbox row at `now`.
#[must_use]
pub fn decide(facts: &Facts, now: Timestamp) -> Outcome {
    match facts.job.map(InboxState::of_job) {
        Some(wanted) if wanted == facts.inbox => Outcome::Close(ReconcileCode::AlreadyRepaired),
        // No window here: row and status change in one transaction, so a difference is never on its way.
        Some(wanted) => Outcome::Project(wanted),
        None => match facts.inbox {
            InboxState::Accepted | InboxState::Processing if now >= facts.window_ends_at => {
                Outcome::Recreate
            }
            InboxState::Accepted
            | InboxState::Processing
            | InboxState::Processed
            | InboxState::DeadLetter
            | InboxState::Ignored => Outcome::Close(ReconcileCode::AlreadyRepaired),
        },
    }
}

impl Outcome {
    /// Returns why an item is opened for it; `None` when there is nothing to repair.
    #[must_use]
    pub const fn reason(self) -> Option<ReconcileReason> {
        match self {
            Self::Close(_) => None,
            Self::Project(_) => Some(ReconcileReason::LifecycleInboxStateDrift),
            Self::Recreate => Some(ReconcileReason::LifecycleJobMissing),
        }
    }
}
