//! The task of a reconciler: a claimed item with all that is needed to address its subject today.

use crate::domain::digest::Digest;
use crate::domain::event::CommitSha;
use crate::domain::id::{
    AttemptId, CheckRunId, InstallationId, ReconciliationId, ReleaseRunId, RepositoryId,
    WorkflowRunId,
};
use crate::domain::lease::RowHandle;
use crate::domain::reconcile::{ReconcileCode, ReconcileReason};
use crate::domain::release::Conclusion;
use crate::domain::repository::RepositoryRef;
use crate::domain::time::Timestamp;

/// A claimed item.
#[derive(Clone, Debug)]
pub struct ReconcileTask {
    /// Its id; safe to log.
    pub id: ReconciliationId,
    /// Why it was opened.
    pub reason: ReconcileReason,
    /// Until when its subject may stay ambiguous.
    pub deadline: Timestamp,
    /// The tenant.
    pub installation: InstallationId,
    /// Where; `None` when the installation is not active, or the repository is unknown or deleted.
    pub repository: Option<RepositoryRef>,
    /// What it is about.
    pub subject: Subject,
}

/// What the task is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The workflow run of an attempt.
    WorkflowRun(WorkflowRun),
    /// A dispatch that started a run whose number is not known.
    UnknownRun(Dispatch),
    /// A dispatch that may have started a run.
    Dispatch(Dispatch),
    /// A creation that may have made a check run.
    Creation(Creation),
    /// The check run of a release run that has ended.
    CheckRun(CheckRun),
    /// An inbox row.
    Inbox(RowHandle),
}

/// A workflow run, and what must be true of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowRun {
    pub attempt: AttemptId,
    pub run: WorkflowRunId,
    /// The forge's re-run counter the attempt is bound to.
    pub run_attempt: u32,
    /// The repository it runs in.
    pub repository: RepositoryId,
    /// The commit it runs on.
    pub head_sha: CommitSha,
    /// File name of the workflow; `None` when an older version did not note it.
    pub workflow: Option<String>,
}

/// A dispatch whose run is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The attempt, which the run's title names.
    pub attempt: AttemptId,
    /// File name of the workflow.
    pub workflow: String,
    /// The commit it was dispatched on.
    pub head_sha: CommitSha,
    /// Not before this, give or take the clocks' difference, was the run created.
    pub began_at: Timestamp,
}

/// A creation that may have made a check run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The attempt; external id at the forge.
    pub attempt: AttemptId,
    pub name: String,
    pub head_sha: CommitSha,
}

/// A check run, what must be true of it, and what it must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    pub release_run: ReleaseRunId,
    /// The attempt; external id at the forge.
    pub attempt: AttemptId,
    pub check_run: CheckRunId,
    /// Its name; `None` when an older version did not note it.
    pub name: Option<String>,
    pub head_sha: CommitSha,
    /// The conclusion the forge was first told.
    pub conclusion: Conclusion,
    /// When the release run ended.
    pub completed_at: Timestamp,
    /// It ended because its dispatch was never confirmed.
    pub unconfirmed: bool,
    /// The state it was in when the forge refused to set it.
    pub refused_state: Option<Digest>,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskOutcome {
    /// What was seen, or done.
    pub code: ReconcileCode,
    /// When the item is checked next; `None` if it is finished.
    pub next_check_at: Option<Timestamp>,
}
