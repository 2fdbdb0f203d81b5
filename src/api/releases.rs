//! Release runs, their attempts, and what happens next. Tags and commit ids are shown, because they are
//! how an operator knows which release is meant; nothing of what is in a commit is.
//!
//! See `docs/decisions/27-what-operators-see.md`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::list::{ListRow, ReleaseFilter};
use crate::domain::id::{
    AttemptId, CheckRunId, OutboxId, ReconciliationId, ReleaseRunId, WorkflowRunId,
};
use crate::domain::time::Timestamp;

/// One release run: metadata only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRun {
    /// UUID.
    pub release_run_id: ReleaseRunId,
    /// `owner/name`; null when the repository is not known, or no longer the installation's.
    pub repository: Option<String>,
    /// The tag: `refs/tags/…`.
    pub git_ref: String,
    /// The commit.
    pub head_sha: String,
    /// Where it stands.
    pub status: Cow<'static, str>,
    /// What the signed result said; null until there is one.
    pub decision: Option<String>,
    /// What the forge is told; null until it has ended.
    pub conclusion: Option<String>,
    /// Why it ended badly.
    pub failure_reason: Option<String>,
    /// Number of the current attempt, from 1.
    pub attempt_number: u32,
    /// Why the current attempt ended badly.
    pub attempt_failure_reason: Option<String>,
    /// The forge's number, in decimal, of the current attempt's workflow run; null until known.
    pub workflow_run_id: Option<WorkflowRunId>,
    /// The forge's number, in decimal, of the current attempt's check run; null until known.
    pub check_run_id: Option<CheckRunId>,
    /// When the forge confirmed the final check run.
    pub forge_check_published_at: Option<Timestamp>,
    /// Why it could not be published.
    pub last_publication_error: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl ListRow for ReleaseRun {
    const LIST: &'static str = "releases";
    type Filter = ReleaseFilter;
    type Cursor = ReleaseRunId;
    const CURSOR: &'static str = "the id of an item in this list, such as nextBefore";

    fn read_cursor(text: &str) -> Option<ReleaseRunId> {
        text.parse().ok()
    }

    fn cursor(&self) -> ReleaseRunId {
        self.release_run_id
    }
}

/// One release run on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseRunDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub release_run: ReleaseRun,
    /// Newest first, at most the newest hundred.
    pub attempts: Vec<Attempt>,
    /// What happens next.
    pub next: Outlook,
    /// What happened, oldest first, as far as it is kept.
    #[serde(default)]
    pub steps: Vec<ReleaseStep>,
}

/// A step of a release run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStep {
    /// When.
    pub at: Timestamp,
    /// Stable code.
    pub step: Cow<'static, str>,
    /// Number of the attempt; null for what concerns the release run as a whole.
    pub attempt_number: Option<u32>,
    /// Why, or how it ended; null where the step says it all.
    pub code: Option<String>,
    /// UUID of the outbox item; its dead letter, if the step is about one, has this id too.
    pub outbox_id: Option<OutboxId>,
    /// UUID of the reconciliation item.
    pub reconciliation_id: Option<ReconciliationId>,
}

impl ReleaseStep {
    /// Every stable code that this version writes, as a release usually goes.
    pub const CODES: [&'static str; 15] = [
        "created",
        "attempt_started",
        "check_run_created",
        "workflow_dispatched",
        "check_run_updated",
        "died",
        "replayed",
        "closed",
        "completed",
        "superseded",
        "reconciliation_opened",
        "reconciliation_ended",
        "result_recorded",
        "ended",
        "published",
    ];
}

/// One attempt of a release run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// UUID.
    pub attempt_id: AttemptId,
    /// From 1.
    pub number: u32,
    /// Where it stands, or stood.
    pub status: String,
    /// Why it ended badly.
    pub failure_reason: Option<String>,
    /// The forge's number, in decimal; null until known.
    pub workflow_run_id: Option<WorkflowRunId>,
    /// The forge's number, in decimal; null until known.
    pub check_run_id: Option<CheckRunId>,
    /// When a webhook last said to look at its workflow run.
    pub hinted_at: Option<Timestamp>,
}

/// What happens next, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// Stable code.
    pub code: Cow<'static, str>,
    /// When it happens; null when that is not planned.
    pub at: Option<Timestamp>,
    /// Until when it may stay like this; null when nothing ends it.
    pub deadline_at: Option<Timestamp>,
    /// UUID of the outbox item whose dead letter stands in the way.
    pub dead_letter_id: Option<OutboxId>,
    /// Why that item died.
    pub reason_code: Option<String>,
    /// How many tries of the effect that is sent next have failed; 0 from a service that does not count them.
    #[serde(default)]
    pub failed_tries: u32,
}
