//! What an operator does with a dead letter: look, replay; and the installations there are. Every function asks for the
//! principal, so none can be reached without the check.

use crate::api::{DeadLetterDetail, DeadLetterSummary, Installation};
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::domain::dead_letter::{ItemId, OperationId, ReplayOutcome, ReplayRequest};
use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::page::Page;

/// A replay that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
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

    /// Replays one dead letter.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotReplayable`], [`Error::OperationConflict`], or
    /// [`Error::Unavailable`]: then ask again with the same key.
    pub fn replay(
        &self,
        principal: &Principal,
        installation: InstallationId,
        item: ItemId,
        operation: OperationId,
    ) -> Result<Replayed, Error> {
        let actor = principal.actor().to_owned();
        let outcome = self.store.replay(ReplayRequest { installation, item, operation, actor });
        let (label, answer) = match outcome {
            Ok(ReplayOutcome::Replayed(audit_event)) => {
                // A dead letter is of a job or of an effect; a needless notification costs one poll.
                self.worker_notify.jobs.notify();
                self.worker_notify.outbox.notify();
                log::info!(event = "operator.replayed", item_type = item.item_type().as_str(), item_id:% = item, audit_event_id:% = audit_event; "an operator replayed a dead letter");
                ("replayed", Ok(Replayed { now: true, audit_event }))
            }
            Ok(ReplayOutcome::AlreadyApplied(audit_event)) => {
                ("already_applied", Ok(Replayed { now: false, audit_event }))
            }
            Ok(ReplayOutcome::OperationConflict) => {
                ("operation_conflict", Err(Error::OperationConflict))
            }
            Ok(ReplayOutcome::NotFound) => ("not_found", Err(Error::NotFound)),
            Ok(ReplayOutcome::NotReplayable(why)) => {
                ("not_replayable", Err(Error::NotReplayable(why)))
            }
            Err(error) => ("unavailable", Err(error.into())),
        };
        self.metrics.replays.count([("outcome", label)]);
        answer
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
