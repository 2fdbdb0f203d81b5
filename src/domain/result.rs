//! The result of a release as its own workflow run tells it: what it must be bound to, and what becomes
//! of one whose credential holds. Whether the credential holds is found out in `auth`.
//!
//! A result counts once, for the attempt it was made for, while that attempt is the release run's
//! current one and has not ended. The same credential with the same body gets the same answer again.

use crate::domain::digest::Digest;
use crate::domain::event::CommitSha;
use crate::domain::id::{AttemptId, OwnerId, ReleaseRunId, RepositoryId, WorkflowRunId};
use crate::domain::reconcile::AttemptStanding;
use crate::domain::release;

/// What the credential of an attempt's result must say. Source: the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// What binds the result to the attempt.
    pub nonce: String,
    /// The repository the workflow was dispatched in.
    pub repository: RepositoryId,
    /// Whose it was when the release was asked for; `None` when an older version did not note it.
    pub owner: Option<OwnerId>,
    /// Full ref it was dispatched on.
    pub git_ref: String,
    /// The commit of the release.
    pub head_sha: String,
    /// File name of the workflow; `None` when an older version did not note it, and then no run can
    /// be told to be the attempt's.
    pub workflow: Option<String>,
    /// The workflow run, once known.
    pub workflow_run: Option<WorkflowRunId>,
    /// The forge's re-run counter the attempt is bound to.
    pub run_attempt: u32,
}

/// What the body of a result says, as far as anything is decided by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultReport {
    /// What was decided about the release.
    pub decision: release::Decision,
    /// The commit it was decided about.
    pub head_commit: CommitSha,
}

/// A result whose credential holds.
#[derive(Clone)]
pub struct NewResult {
    /// The release run it was sent for.
    pub release_run: ReleaseRunId,
    /// The attempt it is bound to.
    pub attempt: AttemptId,
    /// The workflow run that sent it.
    pub workflow_run: WorkflowRunId,
    /// Names the one use of the credential.
    pub credential: Digest,
    /// What it says.
    pub report: ResultReport,
    /// The exact body. Source: the tenant.
    pub body: String,
    /// Digest of the exact body.
    pub body_sha256: Digest,
}

words! {
    /// Why a credential is not believed. For our own eyes: the sender gets the same answer for each.
    ResultProblem {
        /// There is none, or more than one.
        Missing => "missing",
        /// It does not have the one shape that is read.
        Malformed => "malformed",
        /// It is larger than any.
        TooLarge => "too_large",
        /// It is not signed the one way that is taken.
        Algorithm => "algorithm",
        /// Its issuer is not one of ours.
        Issuer => "issuer",
        /// Its issuer has no such key.
        Key => "key",
        /// The signature does not hold.
        Signature => "signature",
        /// There is no such attempt of such a release run.
        Attempt => "attempt",
        /// It was made for another audience, for another attempt, or for another body.
        Audience => "audience",
        /// It holds from later on.
        NotYetValid => "not_yet_valid",
        /// It has ended.
        Expired => "expired",
        /// It was made too long ago.
        TooOld => "too_old",
        /// It is of another repository.
        Repository => "repository",
        /// It is of another workflow run, or of another try of it.
        WorkflowRun => "workflow_run",
        /// The run was not dispatched.
        Event => "event",
        /// It is of another workflow, or on another ref.
        Workflow => "workflow",
        /// It is on another commit.
        Commit => "commit",
    }
}

words! {
    /// Why a result whose credential holds is not recorded. Stable: audit events name it.
    ResultRefusal {
        /// The credential came before, with another body.
        CredentialReused => "credential_reused",
        /// The attempt has ended.
        AlreadyEnded => "already_ended",
        /// A newer attempt has taken the place of this one.
        AttemptSuperseded => "attempt_superseded",
        /// The body is about another commit.
        OtherCommit => "other_commit",
        /// Nothing was dispatched for the attempt.
        NotDispatched => "not_dispatched",
        /// The attempt has another workflow run.
        OtherWorkflowRun => "other_workflow_run",
        /// The workflow run belongs to another attempt.
        WorkflowRunTaken => "workflow_run_taken",
    }
}

impl ResultRefusal {
    /// Returns what the sender is told.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::CredentialReused => "its credential was used for another result",
            Self::AlreadyEnded => "the attempt has ended",
            Self::AttemptSuperseded => "a newer attempt has replaced this one",
            Self::OtherCommit => "headCommit is not the commit of the release",
            Self::NotDispatched => "nothing was dispatched for the attempt",
            Self::OtherWorkflowRun => "the attempt has another workflow run",
            Self::WorkflowRunTaken => "the workflow run belongs to another attempt",
        }
    }
}

/// Whether the credential came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// It did not.
    New,
    /// It did, for the same attempt with the same body.
    SameBody,
    /// It did, with another body or for another attempt.
    OtherBody,
}

/// What is known of the workflow run that sent the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunFacts {
    /// It is the attempt's.
    Known,
    /// The attempt has none yet, and no other attempt has this one.
    Unknown,
    /// The attempt has another.
    Other,
    /// The attempt has none yet, and another attempt has this one.
    Taken,
}

/// What the store knows when a result comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether the credential came before.
    pub credential: Credential,
    /// Where the attempt stands.
    pub standing: AttemptStanding,
    /// The body names the commit of the release.
    pub same_commit: bool,
    /// The attempt's dispatch has left.
    pub dispatched: bool,
    /// What is known of the workflow run.
    pub run: RunFacts,
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ends the release. `proves_run` says that it also tells which workflow run is the attempt's.
    Record {
        /// The dispatch is proved by it.
        proves_run: bool,
    },
    /// It was recorded before: the same answer again.
    Repeat,
    /// It changes nothing.
    Refuse(ResultRefusal),
}

/// Decides about a result whose credential holds.
#[must_use]
pub const fn decide(facts: &Facts) -> Outcome {
    // The credential first, so that the same request gets the same answer after the release has ended, too.
    match facts.credential {
        Credential::SameBody => return Outcome::Repeat,
        Credential::OtherBody => return Outcome::Refuse(ResultRefusal::CredentialReused),
        Credential::New => {}
    }
    match facts.standing {
        AttemptStanding::Ended => return Outcome::Refuse(ResultRefusal::AlreadyEnded),
        AttemptStanding::Superseded => return Outcome::Refuse(ResultRefusal::AttemptSuperseded),
        AttemptStanding::Current => {}
    }
    if !facts.same_commit {
        return Outcome::Refuse(ResultRefusal::OtherCommit);
    }
    if !facts.dispatched {
        return Outcome::Refuse(ResultRefusal::NotDispatched);
    }
    match facts.run {
        RunFacts::Known => Outcome::Record { proves_run: false },
        RunFacts::Unknown => Outcome::Record { proves_run: true },
        RunFacts::Other => Outcome::Refuse(ResultRefusal::OtherWorkflowRun),
        RunFacts::Taken => Outcome::Refuse(ResultRefusal::WorkflowRunTaken),
    }
}

/// What the store made of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedResult {
    /// The release has ended by it.
    Now,
    /// It had been recorded before.
    Before,
    /// It changed nothing.
    Refused(ResultRefusal),
}
