//! A release run and its attempts: one commit under one tag, gated by a workflow at the forge.
//! Nothing in this room makes a release succeed: that needs its signed result.

use crate::domain::id::{AttemptId, ReleaseRunId};

/// Status of a release run, and of each attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseStatus {
    /// Recorded; nothing was sent yet.
    Queued,
    /// The dispatch is on its way, was refused, or its fate is not known.
    Dispatching,
    /// The forge accepted the dispatch.
    Running,
    /// The result is in; its publication is on its way.
    Reporting,
    /// Ended well, by its signed result.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Ended because nothing was heard in time.
    TimedOut,
    /// Ended on request.
    Cancelled,
}

impl ReleaseStatus {
    /// Every status.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Dispatching,
        Self::Running,
        Self::Reporting,
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
        Self::Cancelled,
    ];

    /// Returns the stored word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Dispatching => "dispatching",
            Self::Running => "running",
            Self::Reporting => "reporting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }

    /// Says whether a release run in this status has ended for good.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Queued | Self::Dispatching | Self::Running | Self::Reporting => false,
            Self::Succeeded | Self::Failed | Self::TimedOut | Self::Cancelled => true,
        }
    }
}

/// What is known of a release run when somebody asks to run it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseFacts {
    /// The release run.
    pub release_run: ReleaseRunId,
    /// Its status.
    pub status: ReleaseStatus,
    /// Its current attempt.
    pub current_attempt: AttemptId,
    /// The number of that attempt, from 1.
    pub attempt_number: u32,
    /// The dispatch of that attempt is a dead letter: refused, never sent, or in doubt.
    pub dispatch_dead: bool,
}
