//! What operators ask for: carried out once for each key, with its audit event, in one transaction.

use crate::domain::id::AuditEventId;
use crate::domain::operation::{self, SameRequest};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::audit::{self, Event};
use crate::store::sql::{Tx, params};

/// Carries out a request, or says why not: `event` is the audit event it gets, with the instant of the death that it
/// names, `item` whether its item allows it, and `apply` what it changes. With the same key the answer is the same for
/// ever.
pub(in crate::store) fn carry_out<'a, R>(
    tx: &mut Tx<'a>,
    (event, death): (&Event<'_>, Option<Timestamp>),
    item: impl FnOnce(&Tx<'a>) -> Result<Option<Result<(), R>>, Error>,
    apply: impl FnOnce(&mut Tx<'a>) -> Result<(), Error>,
) -> Result<operation::Outcome<R>, Error> {
    // The key first: a repeated request gets its old answer even when the item is gone.
    let known = known(tx, event, death)?;
    match operation::decide(known, item(tx)?) {
        operation::Decision::Answer(outcome) => Ok(outcome),
        operation::Decision::Apply => {
            apply(tx)?;
            // Change, key and audit event are one transaction: nothing is done without its record.
            Ok(operation::Outcome::Applied(audit::requested(tx, event)?))
        }
    }
}

/// Looks the caller's key up. What it was used for is in its audit event, and in the dead letter that it ended.
fn known(
    tx: &Tx<'_>,
    event: &Event<'_>,
    death: Option<Timestamp>,
) -> Result<Option<(SameRequest, AuditEventId)>, Error> {
    tx.query_one(
        "SELECT o.installation_id = :installation AND o.item_type = :item_type \
            AND o.item_id = :item AND e.event = :event AND e.reason IS :reason \
            AND NOT EXISTS (SELECT 1 FROM dead_letters d INDEXED BY dead_letters_of_item \
                WHERE d.installation_id = o.installation_id AND d.item_type = o.item_type \
                    AND d.item_id = o.item_id AND d.resolved_at = e.created_at \
                    AND d.failed_at <> :death) AS same, \
            o.audit_event_id \
         FROM operator_operations o JOIN audit_events e USING (audit_event_id) \
         WHERE o.operation_id = :operation",
        params! {
            ":operation": event.operation,
            ":installation": event.installation,
            ":item_type": event.item_type,
            ":item": event.item,
            ":event": event.event,
            ":reason": event.reason,
            ":death": death,
        },
        |row| {
            let same = if row.get("same")? { SameRequest::Yes } else { SameRequest::No };
            Ok((same, row.get("audit_event_id")?))
        },
    )
}
