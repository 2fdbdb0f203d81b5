//! Closes an item that was given up: an operator has seen it. Its deadline is applied all the same.

use crate::domain::audit::{RECONCILIATION_CLOSED, RECONCILIATION_ITEM};
use crate::domain::id::ReconciliationId;
use crate::domain::operation::{CloseOutcome, NotOpen, OperatorReason, OperatorRequest};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::audit::Event;
use crate::store::rows::operations;
use crate::store::sql::params;

impl Store {
    /// Closes one item that was given up, or says why not. With the same key the answer is the same for ever.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not known to be on disk; ask again with the same key.
    pub fn close_reconciliation(
        &self,
        request: OperatorRequest<ReconciliationId>,
        reason: OperatorReason,
    ) -> Result<CloseOutcome, Error> {
        self.write(move |tx| {
            let reason = Some(&reason);
            let event = Event::of(&request, RECONCILIATION_CLOSED, RECONCILIATION_ITEM, reason);
            operations::carry_out(
                tx,
                (&event, None),
                |tx| {
                    tx.query_one(
                        "SELECT status = 'dead_letter' AND closed_at IS NULL AS is_open \
                         FROM reconciliation_items \
                         WHERE reconciliation_id = :id AND installation_id = :installation",
                        params! { ":id": request.item, ":installation": request.installation },
                        |row| Ok(if row.get("is_open")? { Ok(()) } else { Err(NotOpen) }),
                    )
                },
                |tx| {
                    tx.execute(
                        "UPDATE reconciliation_items SET closed_at = :now, updated_at = :now \
                         WHERE reconciliation_id = :id",
                        params! { ":id": request.item, ":now": tx.now },
                    )?;
                    Ok(())
                },
            )
        })
    }
}
