//! The list of audit events of one installation.

use crate::api::{AuditEvent, ListRequest};
use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::listing;
use crate::store::sql::{Row, params};
use crate::store::{List, Store};

const FIND: &str = "SELECT id FROM audit_events \
    WHERE audit_event_id = :before AND installation_id = :installation";

const COLUMNS: &str = "audit_event_id, event, actor, operation_id, item_type, item_id, reason_code, reason, created_at";

impl List for AuditEvent {
    fn page(
        store: &Store,
        installation: InstallationId,
        wanted: &ListRequest<Self>,
        _: Timestamp,
    ) -> Result<Option<Page<Self, AuditEventId>>, Error> {
        let (since, until) = (wanted.filter.since, wanted.filter.until);
        store.read(|db| {
            // INDEXED BY makes a missing index an error here, not a slow walk of a table that is never swept.
            listing::page(db, FIND, installation, wanted, |bound| {
                let sql = match (since, until) {
                    (None, None) => format!(
                        "SELECT {COLUMNS} FROM audit_events INDEXED BY audit_events_of_installation \
                         WHERE installation_id = :installation AND id < :bound \
                            AND created_at >= :since AND created_at < :until \
                         ORDER BY id DESC LIMIT +:limit"
                    ),
                    // By time, and only then as they were added: otherwise a clock that was set back would hide events.
                    (Some(_), _) | (_, Some(_)) => format!(
                        "SELECT {COLUMNS} FROM audit_events INDEXED BY audit_events_of_time \
                         WHERE installation_id = :installation \
                            AND created_at >= :since AND created_at < :until \
                            AND (created_at, id) < (coalesce((SELECT created_at FROM audit_events \
                                WHERE id = :bound), 9223372036854775807), :bound) \
                         ORDER BY created_at DESC, id DESC LIMIT +:limit"
                    ),
                };
                db.query(
                    &sql,
                    params! {
                        ":installation": installation,
                        ":bound": bound,
                        ":since": since.unwrap_or(Timestamp::MIN),
                        ":until": until.unwrap_or(Timestamp::MAX),
                        ":limit": i64::from(wanted.limit) + 1,
                    },
                    event,
                )
            })
        })
    }
}

fn event(row: &Row<'_>) -> Result<AuditEvent, Error> {
    Ok(AuditEvent {
        audit_event_id: row.get("audit_event_id")?,
        event: row.get("event")?,
        actor: row.get("actor")?,
        operation_id: row.get("operation_id")?,
        item_type: row.get("item_type")?,
        item_id: row.get("item_id")?,
        reason_code: row.get("reason_code")?,
        reason: row.get("reason")?,
        created_at: row.get("created_at")?,
    })
}
