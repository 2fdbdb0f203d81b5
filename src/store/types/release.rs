//! Release runs and their attempts, as operators see them: metadata only.

use crate::domain::id::{AttemptId, CheckRunId, ReleaseRunId, WorkflowRunId};
use crate::domain::release::ReleaseStatus;
use crate::domain::release::outlook::Facts;
use crate::domain::time::Timestamp;

/// One release run: metadata only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRun {
    /// Its id.
    pub id: ReleaseRunId,
    /// `owner/name`; nothing when the repository is not known, or no longer the installation's.
    pub repository: Option<String>,
    /// The tag, `refs/tags/...`.
    pub git_ref: String,
    /// The commit.
    pub head_sha: String,
    /// Its status.
    pub status: ReleaseStatus,
    /// What the signed result said.
    pub decision: Option<String>,
    /// What the forge was told.
    pub conclusion: Option<String>,
    /// Stable code: why it ended badly.
    pub failure_reason: Option<String>,
    /// Its current attempt.
    pub attempt: AttemptId,
    /// The number of that attempt, from 1.
    pub attempt_number: u32,
    /// The workflow run of that attempt, once known.
    pub workflow_run: Option<WorkflowRunId>,
    /// The check run of that attempt, once known.
    pub check_run: Option<CheckRunId>,
    /// When the forge confirmed the final check run.
    pub published_at: Option<Timestamp>,
    /// Stable code: why it could not be published; nothing once it is.
    pub last_publication_error: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// One attempt of a release run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Its number, from 1.
    pub number: u32,
    /// A word of [`ReleaseStatus`], or `superseded`.
    pub status: String,
    /// Stable code: why it ended badly.
    pub failure_reason: Option<String>,
    /// Its workflow run, once known.
    pub workflow_run: Option<WorkflowRunId>,
    /// Its check run, once known.
    pub check_run: Option<CheckRunId>,
    /// When a webhook last said to look at its workflow run.
    pub hinted_at: Option<Timestamp>,
}

/// One release run with everything an operator may know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRunDetail {
    /// What the list shows.
    pub release: ReleaseRun,
    /// Its attempts, newest first; at most the newest hundred.
    pub attempts: Vec<Attempt>,
    /// What decides about what happens next.
    pub facts: Facts,
    /// Stable code: why the message that holds up the others died.
    pub dead_letter_reason: Option<String>,
}
