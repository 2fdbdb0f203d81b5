//! Dead letters.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::list::{DeadLetterFilter, ListRow};
use crate::domain::id::{AttemptId, AuditEventId, ReleaseRunId};
use crate::domain::time::Timestamp;

/// One dead letter: metadata only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// `job` or `outbox`.
    pub item_type: Cow<'static, str>,
    /// UUID.
    pub item_id: String,
    /// `owner/name`; null when the delivery named none.
    pub repository: Option<String>,
    /// Why it died.
    pub reason_code: Cow<'static, str>,
    /// What kind of failure it was.
    pub error_class: Cow<'static, str>,
    /// Why the last call to the forge failed; null when none did, or an older version wrote the row.
    pub cause: Option<Cow<'static, str>>,
    /// Tries it had.
    pub attempt_count: u32,
    /// When it died.
    pub failed_at: Timestamp,
    /// May it be replayed.
    pub replay_safe: bool,
    /// Why it may, or may not, be replayed.
    #[serde(default)]
    pub replay_class: Cow<'static, str>,
    /// What an outbox item does; null for a job.
    pub effect_kind: Option<Cow<'static, str>>,
    /// UUID of the release run of an outbox item; null for a job.
    pub release_run_id: Option<ReleaseRunId>,
}

/// The story of one item: its last death, what it is, all that happened to it, and what may be done now. It is kept as
/// long as the audit log, also after a replay or a close.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub dead_letter: DeadLetter,
    /// What a job does; null for an outbox item, and where the job cannot be read.
    pub job_action: Option<String>,
    /// UUID of the attempt of an outbox item; null for a job.
    pub attempt_id: Option<AttemptId>,
    /// Its number, from 1; null for a job, and once the release run was deleted.
    pub attempt_number: Option<u32>,
    /// The tag of its release run: `refs/tags/…`; null for a job, and once the release run was deleted.
    pub git_ref: Option<String>,
    /// Where the item stands now; null once it was deleted.
    pub status: Option<String>,
    /// What may be done now: `replay`, `close`.
    #[serde(default)]
    pub allowed: Vec<Cow<'static, str>>,
    /// Every death and how it ended, oldest first; at most the newest hundred deaths.
    #[serde(default)]
    pub history: Vec<DeadLetterEvent>,
}

/// Something that happened to an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterEvent {
    /// `died`, or how a death ended: `replayed`, `closed`, `completed` or `superseded`.
    pub event: Cow<'static, str>,
    /// When.
    pub at: Timestamp,
    /// Why it died; null for an end.
    pub reason_code: Option<String>,
    /// Tries it had; null for an end.
    pub attempt_count: Option<u32>,
    /// Who replayed or closed it.
    pub actor: Option<String>,
    /// Why it was closed, in the operator's own words.
    pub reason: Option<String>,
    /// UUID of the audit event of a replay or a close.
    pub audit_event_id: Option<AuditEventId>,
}

/// How many dead letters of an installation are open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterSummary {
    /// How many were counted.
    pub count: u32,
    /// How many of them may be replayed.
    pub replay_safe_count: u32,
    /// When the oldest one died; null when there is none.
    pub oldest_failed_at: Option<Timestamp>,
    /// There are more than are counted; the oldest ones were.
    pub truncated: bool,
    /// By reason code, the greatest count first, as in the other two.
    pub reasons: Vec<DeadLetterCount>,
    /// By repository: those with the most, at most [`DeadLetterSummary::REPOSITORIES_MAX`].
    pub repositories: Vec<DeadLetterCount>,
    /// In how many repositories they are.
    pub repository_count: u32,
    /// By replay class.
    pub replay_classes: Vec<DeadLetterCount>,
}

impl DeadLetterSummary {
    /// Most repositories that are named.
    pub const REPOSITORIES_MAX: usize = 100;

    /// Returns the repositories that are named.
    #[must_use]
    pub fn foremost(mut repositories: Vec<DeadLetterCount>) -> Vec<DeadLetterCount> {
        repositories.truncate(Self::REPOSITORIES_MAX);
        repositories
    }
}

/// How many open dead letters have a reason, a repository or a replay class in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterCount {
    /// What they have in common; null for a repository that no delivery named.
    pub name: Option<String>,
    /// How many.
    pub count: u32,
    /// How many of them may be replayed.
    pub replay_safe_count: u32,
    /// When the oldest one died.
    pub oldest_failed_at: Timestamp,
}

impl ListRow for DeadLetter {
    const LIST: &'static str = "dead-letters";
    type Filter = DeadLetterFilter;
    /// Unique within an installation.
    type Cursor = Timestamp;
    const CURSOR: &'static str =
        "an ISO 8601 time with an offset, such as nextBefore; encode + as %2B";

    fn read_cursor(text: &str) -> Option<Timestamp> {
        Timestamp::parse_rounding_up(text)
    }

    fn cursor(&self) -> Timestamp {
        self.failed_at
    }
}
