//! The list of audit events of one installation.

use crate::domain::audit::AuditEvent;
use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::page::Page;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::listing;
use crate::store::sql::{Row, params};

const FIND: &str = "SELECT id FROM audit_events \
    WHERE audit_event_id = :before AND installation_id = :installation";

impl Store {
    /// Returns audit events of one installation that were written before `before`, newest first;
    /// nothing when `before` names none of them.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn audit_events(
        &self,
        installation: InstallationId,
        before: Option<AuditEventId>,
        limit: u32,
    ) -> Result<Option<Page<AuditEvent, AuditEventId>>, Error> {
        self.read(|db| {
            let Some(bound) = listing::bound(db, FIND, installation, before)? else {
                return Ok(None);
            };
            let found = db.query(
                "SELECT audit_event_id, event, actor, operation_id, item_type, item_id, \
                    reason_code, created_at \
                 FROM audit_events INDEXED BY audit_events_of_installation \
                 WHERE installation_id = :installation AND id < :bound \
                 ORDER BY id DESC LIMIT +:limit",
                params! {
                    ":installation": installation,
                    ":bound": bound,
                    ":limit": i64::from(limit) + 1,
                },
                event,
            )?;
            Ok(Some(Page::cut(found, limit, |event| event.id)))
        })
    }
}

fn event(row: &Row<'_>) -> Result<AuditEvent, Error> {
    Ok(AuditEvent {
        id: row.get("audit_event_id")?,
        event: row.get("event")?,
        actor: row.get("actor")?,
        operation: row.get("operation_id")?,
        item_type: row.get("item_type")?,
        item: row.get("item_id")?,
        reason: row.get("reason_code")?,
        created_at: row.get("created_at")?,
    })
}
