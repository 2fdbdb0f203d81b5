//! Audit events: written in the transaction that does what they tell of, and never again.

use std::fmt::Display;

use crate::domain::audit;
use crate::domain::id::{AttemptId, AuditEventId, InstallationId, ReleaseRunId};
use crate::domain::operation::{OperationId, OperatorReason, OperatorRequest};
use crate::domain::reconcile::ReconcileCode;
use crate::domain::result::ResultRefusal;
use crate::store::error::Error;
use crate::store::sql::{Tx, params};

/// What one event tells.
pub(in crate::store) struct Event<'a> {
    pub(in crate::store) installation: InstallationId,
    pub(in crate::store) event: &'static str,
    actor: &'a str,
    pub(in crate::store) operation: Option<&'a OperationId>,
    pub(in crate::store) item_type: &'static str,
    pub(in crate::store) item: String,
    reason_code: Option<&'static str>,
    /// Why, in the operator's own words.
    pub(in crate::store) reason: Option<&'a OperatorReason>,
}

impl<'a> Event<'a> {
    /// Returns the event of an operator's request.
    pub(in crate::store) fn of<I: Display>(
        request: &'a OperatorRequest<I>,
        event: &'static str,
        item_type: &'static str,
        reason: Option<&'a OperatorReason>,
    ) -> Self {
        Self {
            installation: request.installation,
            event,
            actor: &request.actor,
            operation: Some(&request.operation),
            item_type,
            item: request.item.to_string(),
            reason_code: None,
            reason,
        }
    }
}

fn add(tx: &mut Tx<'_>, event: &Event<'_>) -> Result<AuditEventId, Error> {
    let id = AuditEventId::from(tx.ids.uuid(tx.now));
    tx.execute(
        "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, operation_id, \
            item_type, item_id, reason_code, reason, created_at) \
         VALUES (:id, :installation, :event, :actor, :operation, :item_type, :item, :code, \
            :reason, :now)",
        params! {
            ":id": id,
            ":installation": event.installation,
            ":event": event.event,
            ":actor": event.actor,
            ":operation": event.operation,
            ":item_type": event.item_type,
            ":item": event.item,
            ":code": event.reason_code,
            ":reason": event.reason,
            ":now": tx.now,
        },
    )?;
    Ok(id)
}

/// Records that the check run of a release run could not be brought to its end.
pub(in crate::store) fn check_run_reconciliation_failed(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    release_run: ReleaseRunId,
    code: ReconcileCode,
) -> Result<(), Error> {
    let event = Event {
        installation,
        event: audit::FORGE_CHECK_RUN_RECONCILIATION_FAILED,
        actor: audit::ACTOR_SELF,
        operation: None,
        item_type: "release_run",
        item: release_run.to_string(),
        reason_code: Some(code.as_str()),
        reason: None,
    };
    add(tx, &event).map(|_| ())
}

/// Records that a result whose credential held was refused.
pub(in crate::store) fn release_result_refused(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    attempt: AttemptId,
    refusal: ResultRefusal,
) -> Result<(), Error> {
    let event = Event {
        installation,
        event: audit::RELEASE_RESULT_REFUSED,
        actor: audit::ACTOR_SELF,
        operation: None,
        item_type: "attempt",
        item: attempt.to_string(),
        reason_code: Some(refusal.as_str()),
        reason: None,
    };
    add(tx, &event).map(|_| ())
}

/// Records what an operator asked for, and their key for it.
pub(in crate::store) fn requested(
    tx: &mut Tx<'_>,
    event: &Event<'_>,
) -> Result<AuditEventId, Error> {
    let id = add(tx, event)?;
    tx.execute(
        "INSERT INTO operator_operations (operation_id, installation_id, item_type, item_id, \
            audit_event_id, created_at) \
         VALUES (:operation, :installation, :item_type, :item, :id, :now)",
        params! {
            ":id": id,
            ":installation": event.installation,
            ":operation": event.operation,
            ":item_type": event.item_type,
            ":item": event.item,
            ":now": tx.now,
        },
    )?;
    Ok(id)
}
