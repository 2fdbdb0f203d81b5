//! A release run and its attempts: one commit under one tag, gated by a workflow at the forge.
//! Only [`Ending::Decided`], which a verified result alone stands for, makes a release succeed.

pub mod attempt;
pub mod next_step;

use crate::domain::id::{AttemptId, ReleaseRunId};
use crate::domain::reconcile::ReconcileCode;

words! {
    /// Status of a release run, and of each attempt.
    ReleaseStatus {
        /// Recorded; nothing was sent yet.
        Queued => "queued",
        /// The dispatch is on its way, was refused, or its fate is not known.
        Dispatching => "dispatching",
        /// The forge accepted the dispatch.
        Running => "running",
        /// The workflow run has ended well, as the forge says; its signed result is awaited.
        Reporting => "reporting",
        /// Ended well, by its signed result.
        Succeeded => "succeeded",
        /// Ended badly.
        Failed => "failed",
        /// Ended because nothing was heard in time.
        TimedOut => "timed_out",
        /// Ended on request.
        Cancelled => "cancelled",
    }
}

impl ReleaseStatus {
    /// The statuses that a release run can have today. Nothing cancels a release run yet.
    pub const OCCURRING: &'static [Self] = &[
        Self::Queued,
        Self::Dispatching,
        Self::Running,
        Self::Reporting,
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
    ];

    /// Says whether a release run in this status has ended for good.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Queued | Self::Dispatching | Self::Running | Self::Reporting => false,
            Self::Succeeded | Self::Failed | Self::TimedOut | Self::Cancelled => true,
        }
    }
}

/// What is known of a release run when a person asks to run it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseFacts {
    pub release_run: ReleaseRunId,
    pub status: ReleaseStatus,
    pub current_attempt: AttemptId,
    /// The number of that attempt, from 1.
    pub attempt_number: u32,
    /// The dispatch of that attempt is a dead letter: refused, never sent, or in doubt.
    pub dispatch_dead: bool,
}

words! {
    /// What the signed result of a release says.
    Decision {
        /// Fit to be released.
        Accepted => "accepted",
        /// Released in spite of findings.
        AcceptedAtRisk => "accepted_at_risk",
        /// Not to be released.
        Rejected => "rejected",
    }
}

words! {
    /// How the end of a release is shown at the forge.
    Conclusion {
        /// Accepted.
        Success => "success",
        /// Accepted at risk.
        Neutral => "neutral",
        /// Rejected, or ended badly.
        Failure => "failure",
        /// Nothing was heard in time.
        TimedOut => "timed_out",
        /// Ended on request.
        Cancelled => "cancelled",
    }
}

impl Conclusion {
    /// Returns the title and the summary a check run shows: the same for every release.
    #[must_use]
    pub const fn text(self) -> (&'static str, &'static str) {
        match self {
            Self::Success => ("Accepted", "The release's signed result was received and verified."),
            Self::Neutral => (
                "Accepted at risk",
                "The release's signed result was received and verified. It has findings that were accepted.",
            ),
            Self::Failure => {
                ("Not accepted", "The release was rejected, or ended without a verified result.")
            }
            Self::TimedOut => ("Timed out", "No verified result arrived in time."),
            Self::Cancelled => ("Cancelled", "The release was ended on request."),
        }
    }
}

/// The title and the summary a check run shows instead when the dispatch of its attempt was never
/// confirmed.
pub const UNCONFIRMED_DISPATCH: (&str, &str) = (
    "Not confirmed",
    "The forge never confirmed that the release's workflow was started. A run may exist, but its \
    result is ignored. Re-run this check to start another one.",
);

/// Why a release ended that was decided against.
const RESULT_REJECTED: &str = "result_rejected";

/// How a release run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By its verified result.
    Decided(Decision),
    /// Badly, for this reason, without a result.
    Failed(ReconcileCode),
    /// For want of an end in time, without a result.
    TimedOut(ReconcileCode),
}

impl Ending {
    /// Returns the status the release run and its attempt get.
    #[must_use]
    pub const fn status(self) -> ReleaseStatus {
        match self {
            Self::Decided(Decision::Accepted | Decision::AcceptedAtRisk) => {
                ReleaseStatus::Succeeded
            }
            Self::Decided(Decision::Rejected) | Self::Failed(_) => ReleaseStatus::Failed,
            Self::TimedOut(_) => ReleaseStatus::TimedOut,
        }
    }

    /// Returns the decision, when there was one.
    #[must_use]
    pub const fn decision(self) -> Option<Decision> {
        match self {
            Self::Decided(decision) => Some(decision),
            Self::Failed(_) | Self::TimedOut(_) => None,
        }
    }

    /// Returns what the forge is told.
    #[must_use]
    pub const fn conclusion(self) -> Conclusion {
        match self {
            Self::Decided(Decision::Accepted) => Conclusion::Success,
            Self::Decided(Decision::AcceptedAtRisk) => Conclusion::Neutral,
            Self::Decided(Decision::Rejected) | Self::Failed(_) => Conclusion::Failure,
            Self::TimedOut(_) => Conclusion::TimedOut,
        }
    }

    /// Says whether it ended because its dispatch was never confirmed, so that a run may exist.
    #[must_use]
    pub const fn is_unconfirmed(self) -> bool {
        matches!(self, Self::Failed(ReconcileCode::ForgeDispatchUnconfirmed))
    }

    /// Returns the stable reason of a bad end.
    #[must_use]
    pub const fn failure_reason(self) -> Option<&'static str> {
        match self {
            Self::Decided(Decision::Accepted | Decision::AcceptedAtRisk) => None,
            Self::Decided(Decision::Rejected) => Some(RESULT_REJECTED),
            Self::Failed(code) | Self::TimedOut(code) => Some(code.as_str()),
        }
    }
}
