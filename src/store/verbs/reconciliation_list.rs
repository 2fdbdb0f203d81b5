//! The list of reconciliation items of one installation: what is being repaired, until when.

use crate::api::{ListRequest, ReconciliationItem};
use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::listing;
use crate::store::sql::{Row, params};
use crate::store::{List, Store};

const COLUMNS: &str = "reconciliation_id, kind, reason, subject_id, status, outcome_code, \
    attempt_count, next_check_at, deadline_at, lease_expires_at, created_at, finished_at, closed_at";
const FIND: &str = "SELECT id FROM reconciliation_items \
    WHERE reconciliation_id = :before AND installation_id = :installation";
/// Looked for among what has not ended, or what retention has left of one status.
const WANTED: &str = "(:reason IS NULL OR reason = :reason) \
    AND (:overdue_at IS NULL OR deadline_at <= :overdue_at) \
    AND (:closed IS NULL OR (closed_at IS NOT NULL) = :closed) \
    AND created_at >= :since AND created_at < :until";

impl List for ReconciliationItem {
    fn page(
        store: &Store,
        installation: InstallationId,
        wanted: &ListRequest<Self>,
        _: Timestamp,
    ) -> Result<Option<Page<Self, ReconciliationId>>, Error> {
        let filter = &wanted.filter;
        let status = filter.status;
        let overdue_at = filter.stuck.map(|_| store.clock.now());
        store.read(|db| {
            listing::page(db, FIND, installation, wanted, |bound| {
                // The lists of words are what lets the partial indexes be used.
                let sql = match status {
                    Some(status) if status.is_terminal() => format!(
                        "SELECT {COLUMNS} FROM reconciliation_items \
                     INDEXED BY reconciliation_items_listed_finished \
                     WHERE installation_id = :installation AND id < :bound AND status = :status \
                        AND status IN ('completed', 'dead_letter') AND {WANTED} \
                     ORDER BY id DESC LIMIT +:limit"
                    ),
                    Some(_) | None => format!(
                        "SELECT {COLUMNS} FROM reconciliation_items \
                     INDEXED BY reconciliation_items_listed \
                     WHERE installation_id = :installation AND id < :bound \
                        AND status IN ('open', 'leased') AND (:status IS NULL OR status = :status) \
                        AND {WANTED} \
                     ORDER BY id DESC LIMIT +:limit"
                    ),
                };
                db.query(
                    &sql,
                    params! {
                        ":installation": installation,
                        ":bound": bound,
                        ":status": status,
                        ":reason": filter.reason,
                        ":overdue_at": overdue_at,
                        ":closed": filter.closed,
                        ":since": filter.since.unwrap_or(Timestamp::MIN),
                        ":until": filter.until.unwrap_or(Timestamp::MAX),
                        ":limit": i64::from(wanted.limit) + 1,
                    },
                    item,
                )
            })
        })
    }
}

fn item(row: &Row<'_>) -> Result<ReconciliationItem, Error> {
    Ok(ReconciliationItem {
        reconciliation_id: row.get("reconciliation_id")?,
        kind: row.get("kind")?,
        reason: row.get("reason")?,
        subject_id: row.get("subject_id")?,
        status: row.get("status")?,
        outcome_code: row.get("outcome_code")?,
        attempt_count: row.get("attempt_count")?,
        next_check_at: row.get("next_check_at")?,
        deadline_at: row.get("deadline_at")?,
        lease_expires_at: row.get("lease_expires_at")?,
        created_at: row.get("created_at")?,
        finished_at: row.get("finished_at")?,
        closed_at: row.get("closed_at")?,
    })
}
