//! Audit events: written in the transaction that does what they tell of, and never again.

use crate::domain::audit;
use crate::domain::dead_letter::ReplayRequest;
use crate::domain::id::{AttemptId, AuditEventId, InstallationId, ReleaseRunId};
use crate::domain::reconcile::ReconcileCode;
use crate::domain::result::ResultRefusal;
use crate::store::error::Error;
use crate::store::sql::{Tx, params};

/// What one event tells.
struct Event<'a> {
    installation: InstallationId,
    event: &'static str,
    actor: &'a str,
    operation: Option<&'a str>,
    item_type: &'static str,
    item: String,
    reason: Option<&'static str>,
}

fn add(tx: &mut Tx<'_>, event: &Event<'_>) -> Result<AuditEventId, Error> {
    let id = AuditEventId::from(tx.ids.uuid(tx.now));
    tx.execute(
        "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, operation_id, \
            item_type, item_id, reason_code, created_at) \
         VALUES (:id, :installation, :event, :actor, :operation, :item_type, :item, :reason, \
            :now)",
        params! {
            ":id": id,
            ":installation": event.installation,
            ":event": event.event,
            ":actor": event.actor,
            ":operation": event.operation,
            ":item_type": event.item_type,
            ":item": event.item,
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
        reason: Some(code.as_str()),
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
        reason: Some(refusal.as_str()),
    };
    add(tx, &event).map(|_| ())
}

/// Records a replay and the operator's key for it.
pub(in crate::store) fn dead_letter_replayed(
    tx: &mut Tx<'_>,
    request: &ReplayRequest,
) -> Result<AuditEventId, Error> {
    let item_type = request.item.item_type().as_str();
    let event = Event {
        installation: request.installation,
        event: audit::DEAD_LETTER_REPLAYED,
        actor: &request.actor,
        operation: Some(request.operation.as_str()),
        item_type,
        item: request.item.to_string(),
        reason: None,
    };
    let id = add(tx, &event)?;
    tx.execute(
        "INSERT INTO operator_operations (operation_id, installation_id, item_type, item_id, \
            audit_event_id, created_at) \
         VALUES (:operation, :installation, :item_type, :item, :id, :now)",
        params! {
            ":id": id,
            ":installation": request.installation,
            ":operation": request.operation,
            ":item_type": item_type,
            ":item": event.item,
            ":now": tx.now,
        },
    )?;
    Ok(id)
}
