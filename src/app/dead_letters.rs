//! What an operator does with a dead letter: look, replay, close, reconciliations too; and the installations there are. Every function asks for the
//! principal, so none can be reached without the check.

use crate::api::{DeadLetterDetail, DeadLetterSummary, Installation};
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::audit::RECONCILIATION_ITEM;
use crate::domain::dead_letter::ItemId;
use crate::domain::id::{AuditEventId, InstallationId, ReconciliationId};
use crate::domain::operation::{self, NotOpen, OperationId, OperatorReason, OperatorRequest};
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store;

/// What an operator asked for under a key, and holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// This request changed state; otherwise it was applied before.
    pub now: bool,
    /// The one audit event of the operation.
    pub audit_event: AuditEventId,
}

impl App {
    /// Returns the open dead letter of one item.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none in this installation.
    pub fn dead_letter(
        &self,
        _: &Principal,
        installation: InstallationId,
        item: ItemId,
    ) -> Result<DeadLetterDetail, Error> {
        self.store.dead_letter(installation, item)?.ok_or(Error::NotFound)
    }

    /// Returns how many dead letters of an installation are open.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letter_summary(
        &self,
        _: &Principal,
        installation: InstallationId,
    ) -> Result<DeadLetterSummary, Error> {
        Ok(self.store.dead_letter_summary(installation)?)
    }

    /// Replays one dead letter; if an instant of death is named, only that of this instant.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotReplayable`], [`Error::OperationConflict`], or
    /// [`Error::Unavailable`]: then ask again with the same key.
    pub fn replay(
        &self,
        principal: &Principal,
        installation: InstallationId,
        item: ItemId,
        death: Option<Timestamp>,
        operation: OperationId,
    ) -> Result<Applied, Error> {
        let request = request(principal, installation, item, operation);
        let answer = answer(self.store.replay(request, death), Error::NotReplayable);
        let label = match &answer {
            Ok(Applied { now: true, audit_event }) => {
                // A dead letter is of a job or of an effect; a needless notification costs one poll.
                self.worker_notify.jobs.notify();
                self.worker_notify.outbox.notify();
                log::info!(event = "operator.replayed", item_type = item.item_type().as_str(), item_id:% = item, audit_event_id:% = audit_event; "an operator replayed a dead letter");
                "replayed"
            }
            Ok(Applied { now: false, .. }) => "already_applied",
            Err(Error::OperationConflict) => "operation_conflict",
            Err(Error::NotFound) => "not_found",
            Err(Error::NotReplayable(_)) => "not_replayable",
            Err(_) => "unavailable",
        };
        self.metrics.replays.count([("outcome", label)]);
        answer
    }

    /// Closes one dead letter without sending anything; if an instant of death is named, only that of this instant.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOpen`], [`Error::OperationConflict`], or
    /// [`Error::Unavailable`]: then ask again with the same key.
    pub fn close_dead_letter(
        &self,
        principal: &Principal,
        installation: InstallationId,
        item: ItemId,
        death: Option<Timestamp>,
        operation: OperationId,
        reason: OperatorReason,
    ) -> Result<Applied, Error> {
        let request = request(principal, installation, item, operation);
        let closed = self.store.close_dead_letter(request, death, reason);
        let closed = answer(closed, |NotOpen| Error::NotOpen)?;
        if closed.now {
            log::info!(event = "operator.closed", item_type = item.item_type().as_str(), item_id:% = item, audit_event_id:% = closed.audit_event; "an operator closed a dead letter");
        }
        Ok(closed)
    }

    /// Closes one reconciliation that was given up: an operator has seen it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotOpen`], [`Error::OperationConflict`], or
    /// [`Error::Unavailable`]: then ask again with the same key.
    pub fn close_reconciliation(
        &self,
        principal: &Principal,
        installation: InstallationId,
        item: ReconciliationId,
        operation: OperationId,
        reason: OperatorReason,
    ) -> Result<Applied, Error> {
        let request = request(principal, installation, item, operation);
        let closed =
            answer(self.store.close_reconciliation(request, reason), |NotOpen| Error::NotOpen)?;
        if closed.now {
            log::info!(event = "operator.closed", item_type = RECONCILIATION_ITEM, item_id:% = item, audit_event_id:% = closed.audit_event; "an operator closed a reconciliation that was given up");
        }
        Ok(closed)
    }

    /// Returns a page of the installations this service knows, by rising number.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn installations(
        &self,
        _: &Principal,
        after: Option<InstallationId>,
        limit: u32,
    ) -> Result<Page<Installation, InstallationId>, Error> {
        Ok(self.store.installations(after, limit)?)
    }
}

fn request<I>(
    principal: &Principal,
    installation: InstallationId,
    item: I,
    operation: OperationId,
) -> OperatorRequest<I> {
    OperatorRequest { installation, item, operation, actor: principal.actor().to_owned() }
}

/// Returns the answer to a request under a key.
fn answer<R>(
    outcome: Result<operation::Outcome<R>, store::Error>,
    refused: impl FnOnce(R) -> Error,
) -> Result<Applied, Error> {
    match outcome? {
        operation::Outcome::Applied(audit_event) => Ok(Applied { now: true, audit_event }),
        operation::Outcome::AlreadyApplied(audit_event) => Ok(Applied { now: false, audit_event }),
        operation::Outcome::OperationConflict => Err(Error::OperationConflict),
        operation::Outcome::NotFound => Err(Error::NotFound),
        operation::Outcome::Refused(why) => Err(refused(why)),
    }
}
