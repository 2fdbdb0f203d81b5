//! Audit events: written in the transaction that does what they tell of, and never again.

use rusqlite::named_params;

use crate::domain::audit;
use crate::domain::dead_letter::ReplayRequest;
use crate::domain::id::{AttemptId, AuditEventId, InstallationId, ReleaseRunId};
use crate::domain::reconcile::Code;
use crate::domain::result::Refusal;
use crate::store::error::Error;
use crate::store::sqlite::writer::Tx;

/// Records that the check run of a release run could not be brought to its end.
pub(super) fn check_run_reconciliation_failed(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    release_run: ReleaseRunId,
    code: Code,
) -> Result<(), Error> {
    let id = AuditEventId::from(tx.ids.uuid(tx.now));
    tx.connection
        .prepare_cached(
            "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, item_type, \
                item_id, reason_code, created_at) \
             VALUES (:id, :installation, :event, :actor, 'release_run', :item, :code, :now)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":installation": installation.get(),
            ":event": audit::FORGE_CHECK_RUN_RECONCILIATION_FAILED,
            ":actor": audit::ACTOR_SELF,
            ":item": release_run.to_string(),
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// Records that a result whose credential held was refused.
pub(super) fn release_result_refused(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    attempt: AttemptId,
    refusal: Refusal,
) -> Result<(), Error> {
    let id = AuditEventId::from(tx.ids.uuid(tx.now));
    tx.connection
        .prepare_cached(
            "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, item_type, \
                item_id, reason_code, created_at) \
             VALUES (:id, :installation, :event, :actor, 'attempt', :item, :code, :now)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":installation": installation.get(),
            ":event": audit::RELEASE_RESULT_REFUSED,
            ":actor": audit::ACTOR_SELF,
            ":item": attempt.to_string(),
            ":code": refusal.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// Records a replay and the operator's key for it.
pub(super) fn dead_letter_replayed(
    tx: &mut Tx<'_>,
    request: &ReplayRequest,
) -> Result<AuditEventId, Error> {
    let id = AuditEventId::from(tx.ids.uuid(tx.now));
    let params = named_params! {
        ":id": id.to_string(),
        ":installation": request.installation.get(),
        ":event": audit::DEAD_LETTER_REPLAYED,
        ":actor": request.actor,
        ":operation": request.operation.as_str(),
        ":item_type": request.item.item_type().as_str(),
        ":item": request.item.to_string(),
        ":now": tx.now.micros(),
    };
    tx.connection
        .prepare_cached(
            "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, operation_id, \
                item_type, item_id, created_at) \
             VALUES (:id, :installation, :event, :actor, :operation, :item_type, :item, :now)",
        )?
        .execute(params)?;
    tx.connection
        .prepare_cached(
            "INSERT INTO operator_operations (operation_id, installation_id, item_type, item_id, \
                audit_event_id, created_at) \
             VALUES (:operation, :installation, :item_type, :item, :id, :now)",
        )?
        .execute(named_params! {
            ":id": id.to_string(),
            ":installation": request.installation.get(),
            ":operation": request.operation.as_str(),
            ":item_type": request.item.item_type().as_str(),
            ":item": request.item.to_string(),
            ":now": tx.now.micros(),
        })?;
    Ok(id)
}
