//! The forge, in our words: the few verbs we need of it, and what each can come to.
//!
//! Every answer is put into one of the classes of [`SendResult`] here and nowhere else. The rule
//! behind them: what is not a definite "no effect" is uncertain, and this module sends a `POST` again
//! only after an answer that proves there was none. Nothing the forge says in free text leaves it.

pub mod signature;

pub mod payload;

pub mod client;

pub mod settings;

pub mod issuer;

pub mod result;

pub mod reach;

pub mod inspection;

mod answer;
mod credentials;
mod failure;
mod lookups;
mod open;
mod repository;
mod session;
mod token;
mod webhook_deliveries;
mod wire;

pub use lookups::RUN_TITLE;
pub use reach::Clearance;
pub use token::{APP_PERMISSIONS, is_refused_by_clock};

use crate::domain::dead_letter::{ErrorClass, FailureCause};
use crate::domain::digest::Digest;
use crate::domain::id::{AttemptId, CheckRunId, HookDeliveryId, InstallationId, ReleaseRunId};
use crate::domain::outbox::{CheckRunStatus, SendResult};
use crate::domain::reconcile::{self, task, uncertain, workflow};
use crate::domain::redelivery::FailedDelivery;
use crate::domain::repository::RepositoryRef;

/// What a session may do: the least permission that does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read workflow runs.
    ActionsRead,
    /// Dispatch workflows.
    ActionsWrite,
    /// Read and write check runs.
    ChecksWrite,
}

/// Which token a session uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// One that is minted for it and dropped with it.
    Own,
    /// One that serves each session of the same installation, repository and permission, one after the other or at once.
    Shared,
}

/// What a session asks before each exchange, and tells of each failure, those for its token included.
pub trait Gate {
    /// Says whether the exchange may be made, first or repeated: another session may have been told meanwhile that
    /// the installation has to wait.
    ///
    /// # Errors
    /// The exchange is not made, and the error is its result.
    fn check(&self) -> Result<(), SendResult>;

    /// Is told that a call failed, and why. Beside its result, because nothing is decided by it
    /// (docs/decisions/93-failure-causes.md).
    fn call_failed(&self, _cause: FailureCause) {}
}

impl<F: Fn() -> Result<(), SendResult>> Gate for F {
    fn check(&self) -> Result<(), SendResult> {
        self()
    }
}

/// A forge. One implementation speaks the real API; tests have another.
pub trait Forge: Send + Sync {
    /// Opens a session on one repository with one permission. It costs one short-lived token, which lives in memory only,
    /// unless it may use one that is there.
    ///
    /// # Errors
    /// [`SendResult::TokenRefused`], [`SendResult::NotSent`], [`SendResult::RateLimited`] or the error of
    /// the gate: nothing was done.
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        token: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult>;

    /// Returns the leave to begin something that can wait; `None` while no connection to the forge can be made, except for one
    /// caller at a time, who finds out whether that is still so.
    fn clearance(&self) -> Option<Clearance<'_>> {
        Some(Clearance::default())
    }
}

/// The app's webhooks at a forge: what did not arrive, and asking for it again.
pub trait WebhookDeliveries: Send + Sync {
    /// Lists one page of the deliveries that failed, newest first: the first page, or the one after a
    /// cursor.
    ///
    /// # Errors
    /// The forge did not tell.
    fn failed_deliveries(
        &self,
        after: Option<&DeliveryCursor>,
    ) -> Result<FailedDeliveries, reconcile::Unavailable>;

    /// Asks for a delivery to be sent again; at most once.
    ///
    /// # Errors
    /// The forge refused, or did not tell: it may be sent again or not.
    fn redeliver(&self, delivery: HookDeliveryId) -> Result<(), reconcile::Unavailable>;
}

/// One page of the deliveries that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedDeliveries {
    /// Those of the page that can be read.
    pub deliveries: Vec<FailedDelivery>,
    /// The cursor of the next page, if there is one.
    pub next: Option<DeliveryCursor>,
}

/// The cursor of a page. Shape: safe in a query. Source: the forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryCursor(pub String);

/// The verbs, on the repository the session was opened for.
pub trait Session {
    /// Starts at most one workflow run.
    fn dispatch_workflow(&mut self, dispatch: &Dispatch<'_>) -> SendResult;

    /// Looks for the check run of an attempt by its external id; `None` when there is none.
    ///
    /// # Errors
    /// The forge did not tell.
    fn find_check_run(
        &mut self,
        wanted: &NewCheckRun<'_>,
    ) -> Result<Option<CheckRunId>, reconcile::Unavailable>;

    /// Creates the check run of an attempt, queued; at most one.
    fn create_check_run(&mut self, check_run: &NewCheckRun<'_>) -> SendResult;

    /// Looks at a workflow run. What is about another run, repository, workflow, commit or event is
    /// never an answer.
    fn workflow_run(&mut self, wanted: &task::WorkflowRun) -> workflow::Lookup;

    /// Looks for the one workflow run whose title names the attempt.
    fn find_workflow_run(&mut self, wanted: &task::Dispatch) -> uncertain::Observation;

    /// Looks at exactly this check run.
    fn check_run(&mut self, wanted: &task::CheckRun) -> CheckRunLookup;

    /// Sets the status of a check run. An answer that shows another check run or another state is
    /// [`SendResult::CheckRunMismatch`].
    fn update_check_run(&mut self, update: &CheckRunUpdate<'_>) -> SendResult;
}

/// A workflow dispatch.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// File name of the workflow.
    pub workflow: &'a str,
    /// Tag to run it on, without `refs/tags/`.
    pub tag: &'a str,
    /// The release run; input `release_run_id`.
    pub release_run: ReleaseRunId,
    /// The attempt; input `attempt_id`.
    pub attempt: AttemptId,
    /// Binds the result to the attempt; input `nonce`.
    pub nonce: &'a str,
}

/// A check run to be made, or one that may have been made.
#[derive(Clone, Copy)]
pub struct NewCheckRun<'a> {
    /// Name shown beside the commit.
    pub name: &'a str,
    /// The commit.
    pub head_sha: &'a str,
    /// The attempt; external id at the forge.
    pub attempt: AttemptId,
}

/// A check run to be set to a status, and what must be true of it.
#[derive(Clone, Copy)]
pub struct CheckRunUpdate<'a> {
    /// Its number.
    pub check_run: CheckRunId,
    /// The attempt; external id at the forge.
    pub attempt: AttemptId,
    /// The commit.
    pub head_sha: &'a str,
    /// Its name; `None` if an older version created it and did not record it.
    pub name: Option<&'a str>,
    /// What it is set to.
    pub status: CheckRunStatus,
}

/// Says why nothing was told, when a call came to that.
#[must_use]
pub fn unavailable(result: SendResult) -> reconcile::Unavailable {
    reconcile::Unavailable {
        class: answer::class_of(result).unwrap_or(ErrorClass::Unavailable),
        wait_until: result.pause_until(),
    }
}

/// The result of looking up a check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckRunLookup {
    /// It is not the one that was made for the attempt.
    BindingMismatch,
    /// It shows what it must show.
    Expected,
    /// It is the one, and shows something else: the digest of its state.
    Different(Digest),
    /// The forge does not know it.
    NotFound,
    /// The forge did not tell.
    Unavailable(reconcile::Unavailable),
}
