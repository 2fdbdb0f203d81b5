//! The list of reconciliation items of one installation: what is being repaired, until when.

use rusqlite::{Row, named_params};

use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::page::Page;
use crate::domain::reconcile::Status;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::{Store, listing, row};

const COLUMNS: &str = "reconciliation_id, kind, reason, subject_id, status, outcome_code, \
    attempt_count, next_check_at, deadline_at, lease_expires_at, created_at, finished_at";
const FIND: &str = "SELECT id FROM reconciliation_items \
    WHERE reconciliation_id = :before AND installation_id = :installation";

/// One reconciliation item: metadata only. Words are as they were stored, a newer version's too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconciliationItem {
    /// Its id.
    pub id: ReconciliationId,
    /// What kind of thing is repaired.
    pub kind: String,
    /// Stable code: why.
    pub reason: String,
    /// Which one.
    pub subject: String,
    /// Its status.
    pub status: String,
    /// Stable code of the last or final observation.
    pub outcome: Option<String>,
    /// How often it was claimed.
    pub attempt_count: u32,
    /// When it is looked at next.
    pub next_check_at: Timestamp,
    /// Until when it may stay ambiguous.
    pub deadline_at: Timestamp,
    /// When the lease of whoever looks ends.
    pub lease_expires_at: Option<Timestamp>,
    /// When it was detected.
    pub created_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl Store {
    /// Returns reconciliation items of one installation that were detected before `before`, newest
    /// first: those of one status, or those that have not ended. Nothing when `before` names none of
    /// the installation's items.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn reconciliation_items(
        &self,
        installation: InstallationId,
        status: Option<Status>,
        before: Option<ReconciliationId>,
        limit: u32,
    ) -> Result<Option<Page<ReconciliationItem, ReconciliationId>>, Error> {
        self.read(|connection| {
            let before = before.map(|id| id.to_string());
            let Some(bound) = listing::bound(connection, FIND, installation, before)? else {
                return Ok(None);
            };
            // The lists of words are what lets the partial indexes be used.
            let mut statement = connection.prepare_cached(&match status {
                Some(status) if status.is_terminal() => format!(
                    "SELECT {COLUMNS} FROM reconciliation_items \
                     INDEXED BY reconciliation_items_listed_finished \
                     WHERE installation_id = :installation AND id < :bound AND status = :status \
                        AND status IN ('completed', 'dead_letter') \
                     ORDER BY id DESC LIMIT +:limit"
                ),
                Some(_) | None => format!(
                    "SELECT {COLUMNS} FROM reconciliation_items \
                     INDEXED BY reconciliation_items_listed \
                     WHERE installation_id = :installation AND id < :bound \
                        AND status IN ('open', 'leased') AND (:status IS NULL OR status = :status) \
                     ORDER BY id DESC LIMIT +:limit"
                ),
            })?;
            let rows = statement.query(named_params! {
                ":installation": installation.get(),
                ":bound": bound,
                ":status": status.map(Status::as_str),
                ":limit": i64::from(limit) + 1,
            })?;
            listing::page(rows, limit, item, |item| item.id).map(Some)
        })
    }
}

fn item(row: &Row<'_>) -> Result<ReconciliationItem, Error> {
    Ok(ReconciliationItem {
        id: row::id(row, "reconciliation_id")?,
        kind: row.get("kind")?,
        reason: row.get("reason")?,
        subject: row.get("subject_id")?,
        status: row.get("status")?,
        outcome: row.get("outcome_code")?,
        attempt_count: row.get("attempt_count")?,
        next_check_at: row::instant(row, "next_check_at")?,
        deadline_at: row::instant(row, "deadline_at")?,
        lease_expires_at: row::instant_or_null(row, "lease_expires_at")?,
        created_at: row::instant(row, "created_at")?,
        finished_at: row::instant_or_null(row, "finished_at")?,
    })
}
