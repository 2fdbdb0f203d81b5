//! A side effect at the forge, as it is planned: what to send, under which key.

use std::fmt;

use crate::domain::id::AttemptId;
use crate::domain::release::Conclusion;
use crate::domain::time::Timestamp;

words! {
    /// Kind of a side effect.
    EffectKind {
        /// Start a workflow run. Not idempotent at the forge.
        WorkflowDispatch => "workflow_dispatch",
        /// Create a check run. Not idempotent at the forge, but findable.
        CheckRunCreate => "check_run_create",
        /// Set a check run's state. Repeatable.
        CheckRunUpdate => "check_run_update",
    }
}

/// What to send.
#[derive(Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start the release workflow on a tag.
    WorkflowDispatch {
        /// File name of the workflow in the repository.
        workflow: String,
        /// Tag without `refs/tags/`.
        tag: String,
        /// Binds the run's result to the attempt.
        nonce: String,
    },
    /// Create the check run of an attempt, queued.
    CheckRunCreate {
        /// Name shown beside the commit.
        name: String,
        /// The commit.
        head_sha: String,
    },
    /// Move the check run of an attempt to a status.
    CheckRunUpdate {
        /// Where to.
        status: CheckRunStatus,
    },
}

/// Status a check run is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRunStatus {
    /// The workflow was dispatched.
    InProgress,
    /// The release run has ended.
    Completed {
        /// How.
        conclusion: Conclusion,
        /// When.
        completed_at: Timestamp,
        /// Its dispatch was never confirmed: the summary says that a run may exist.
        unconfirmed: bool,
    },
}

/// The forge's word for a check run that has ended.
const COMPLETED: &str = "completed";

impl CheckRunStatus {
    /// Returns the forge's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed { .. } => COMPLETED,
        }
    }
}

/// Shown as its kind alone: the rest is the tenant's, or binds a result.
impl fmt::Debug for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().as_str())
    }
}

impl Effect {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::WorkflowDispatch { .. } => EffectKind::WorkflowDispatch,
            Self::CheckRunCreate { .. } => EffectKind::CheckRunCreate,
            Self::CheckRunUpdate { .. } => EffectKind::CheckRunUpdate,
        }
    }

    /// Returns the key that names this effect of `attempt` in the whole store.
    #[must_use]
    pub fn key(&self, attempt: AttemptId) -> String {
        match self {
            Self::WorkflowDispatch { .. } | Self::CheckRunCreate { .. } => {
                key(self.kind(), None, attempt)
            }
            Self::CheckRunUpdate { status } => key(self.kind(), Some(status.as_str()), attempt),
        }
    }

    /// Returns the key of the update that shows the end of an attempt.
    #[must_use]
    pub fn final_update_key(attempt: AttemptId) -> String {
        key(EffectKind::CheckRunUpdate, Some(COMPLETED), attempt)
    }
}

/// Builds the key of an effect: the only place that knows how one is spelt.
fn key(kind: EffectKind, state: Option<&str>, attempt: AttemptId) -> String {
    match state {
        // One for each attempt and kind, unique in the store: no second dispatch can even be queued.
        None => format!("{kind}:{attempt}"),
        Some(state) => format!("{kind}.{state}:{attempt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_spelt_as_they_always_were() {
        let attempt: AttemptId = "0199f3a0-0000-7000-8000-00000000000a".parse().unwrap();
        let text = String::new;
        let completed = CheckRunStatus::Completed {
            conclusion: Conclusion::Success,
            completed_at: Timestamp::from_micros(0),
            unconfirmed: false,
        };
        for (effect, expected) in [
            (
                Effect::WorkflowDispatch { workflow: text(), tag: text(), nonce: text() },
                "workflow_dispatch",
            ),
            (Effect::CheckRunCreate { name: text(), head_sha: text() }, "check_run_create"),
            (
                Effect::CheckRunUpdate { status: CheckRunStatus::InProgress },
                "check_run_update.in_progress",
            ),
            (Effect::CheckRunUpdate { status: completed }, "check_run_update.completed"),
        ] {
            assert_eq!(effect.key(attempt), format!("{expected}:{attempt}"));
        }
        let end = Effect::CheckRunUpdate { status: completed };
        assert_eq!(Effect::final_update_key(attempt), end.key(attempt));
    }

    #[test]
    fn an_open_check_run_has_the_forge_s_word() {
        assert_eq!(CheckRunStatus::InProgress.as_str(), "in_progress");
        let update = Effect::CheckRunUpdate { status: CheckRunStatus::InProgress };
        assert_eq!(format!("{update:?}"), update.kind().as_str());
    }
}
