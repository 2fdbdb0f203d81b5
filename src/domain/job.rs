//! A lifecycle job: what one delivery asks for, decided from facts and applied in one transaction.
//!
//! `decide` never waits and never calls the forge; effects at the forge leave through the outbox.

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass, ReplayClass};
use crate::domain::event::{
    AccountName, Action, CommitSha, GitRef, InstallationState, RepositoryState,
};
use crate::domain::id::{AppId, InstallationId, JobId, OwnerId, ReleaseRunId, WorkflowRunId};
use crate::domain::release::ReleaseFacts;
use crate::domain::repository::RepositoryRef;

words! {
    /// Status of a job. Authoritative for its inbox row.
    JobStatus {
        /// Waits to be claimed.
        Available => "available",
        /// Claimed; the lease runs.
        Leased => "leased",
        /// Done.
        Completed => "completed",
        /// Given up; an operator may replay it.
        DeadLetter => "dead_letter",
    }
}

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: JobId,
    /// The tenant.
    pub installation: InstallationId,
    /// The repository, when the delivery named one.
    pub repository: Option<RepositoryRef>,
    /// What is asked; `None` when the stored action cannot be read.
    pub action: Option<Action>,
    /// Tries so far, this one included.
    pub attempt: u32,
}

/// What is known when a job is decided. Read in the same transaction that applies the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// State of the tenant; `None` when no webhook told us yet.
    pub installation: Option<InstallationState>,
    /// A release run of the same commit under the same tag.
    pub same_release: Option<ReleaseRunId>,
    /// The release run whose current check run was clicked.
    pub clicked_release: Option<ReleaseFacts>,
    /// The app we are.
    pub own_app: AppId,
}

/// What a job changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Start a release run with its first attempt.
    StartRelease {
        /// Where.
        repository: RepositoryRef,
        /// Tag.
        git_ref: GitRef,
        head_sha: CommitSha,
        /// Whose repository it is, when that is known.
        owner: Option<OwnerId>,
    },
    /// Start the next attempt of a release run; the one before is superseded.
    StartAttempt {
        /// What is known of the release run.
        release: ReleaseFacts,
    },
    /// Look at a workflow run soon, if it is ours.
    HintWorkflowRun(WorkflowRunId),
    /// Remember what an installation is.
    RecordInstallation {
        /// Its state; nothing leaves it as it is.
        state: Option<InstallationState>,
        /// Login of its owner, when named.
        account: Option<AccountName>,
        /// Repositories it may reach.
        added: Vec<RepositoryRef>,
        /// Repositories it may no longer reach.
        removed: Vec<RepositoryRef>,
    },
    /// Remember what a repository is.
    RecordRepository { repository: RepositoryRef, state: RepositoryState },
}

/// What becomes of a job that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobOutcome {
    /// Apply the change and complete.
    Apply(Change),
    /// Complete without a change.
    Nothing(NothingToDo),
    /// Give up at once: trying again would end the same way.
    DeadLetter(DeadLetterReason, ErrorClass),
}

words! {
    /// Why a job completes without a change.
    NothingToDo {
        /// That commit was released under that tag before.
        ReleasedBefore => "released_before",
        /// The check run is not the current one of a release run of ours.
        NotOurCheckRun => "not_our_check_run",
        /// The release run has not ended, and its dispatch is not dead.
        StillRunning => "still_running",
    }
}

/// Decides what a job does.
#[must_use]
pub fn decide(job: &Job, facts: &Facts) -> JobOutcome {
    let unreadable =
        JobOutcome::DeadLetter(DeadLetterReason::ActionsUnreadable, ErrorClass::Protocol);
    let Some(action) = &job.action else { return unreadable };
    let starts = matches!(action, Action::Release { .. } | Action::Rerequest { .. });
    // Only what starts something: an installation that is unsuspended must still be recorded.
    if starts && let Some(reason) = barred(facts.installation) {
        return JobOutcome::DeadLetter(reason, ErrorClass::State);
    }
    match (action, &job.repository) {
        (Action::Release { .. }, Some(_)) if facts.same_release.is_some() => {
            JobOutcome::Nothing(NothingToDo::ReleasedBefore)
        }
        (Action::Release { git_ref, head_sha, owner }, Some(repository)) => {
            JobOutcome::Apply(Change::StartRelease {
                repository: repository.clone(),
                git_ref: git_ref.clone(),
                head_sha: head_sha.clone(),
                owner: *owner,
            })
        }
        (Action::Rerequest { app, .. }, Some(_)) => match facts.clicked_release {
            Some(release) if *app == facts.own_app => {
                // The only way on for a dispatch that is uncertain: `docs/decisions/19-rerequest.md`.
                if release.status.is_terminal() || release.dispatch_dead {
                    JobOutcome::Apply(Change::StartAttempt { release })
                } else {
                    JobOutcome::Nothing(NothingToDo::StillRunning)
                }
            }
            Some(_) | None => JobOutcome::Nothing(NothingToDo::NotOurCheckRun),
        },
        (Action::Repository { state }, Some(repository)) => {
            JobOutcome::Apply(Change::RecordRepository {
                repository: repository.clone(),
                state: *state,
            })
        }
        (Action::Release { .. } | Action::Rerequest { .. } | Action::Repository { .. }, None) => {
            unreadable
        }
        // Not checked here whose run it is: the statement that marks it compares the installation.
        (Action::LookAtWorkflowRun { workflow_run }, _) => {
            JobOutcome::Apply(Change::HintWorkflowRun(*workflow_run))
        }
        (Action::Installation { state, account, added, removed }, _) => {
            JobOutcome::Apply(Change::RecordInstallation {
                state: *state,
                account: account.clone(),
                added: added.clone(),
                removed: removed.clone(),
            })
        }
    }
}

/// Returns why nothing may be started for an installation. One that is not known may: a signed delivery is
/// proof enough that it exists.
const fn barred(installation: Option<InstallationState>) -> Option<DeadLetterReason> {
    match installation {
        Some(InstallationState::Suspended) => Some(DeadLetterReason::InstallationSuspended),
        Some(InstallationState::Deleted) => Some(DeadLetterReason::InstallationDeleted),
        Some(InstallationState::Active) | None => None,
    }
}

/// Returns why a dead job may, or may not, be replayed: its whole work is one transaction that did not
/// happen, unless what it is to do cannot be read.
#[must_use]
pub const fn replay_class(reason: DeadLetterReason) -> ReplayClass {
    match reason {
        DeadLetterReason::ActionsUnreadable => ReplayClass::Unreadable,
        _ => ReplayClass::JobTransaction,
    }
}
