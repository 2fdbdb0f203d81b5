//! Dead letters, as operators see them: listed from a covering index alone, replayed in one
//! transaction that checks scope, class and key, resets the item and writes the audit event.

use crate::api::{DeadLetter, DeadLetterDetail, ListRequest, ListRow as _};
use crate::domain::dead_letter::{
    self, ItemFacts, ItemId, ItemType, ReplayClass, ReplayDecision, ReplayFacts, ReplayOutcome,
    ReplayRequest, SameRequest,
};
use crate::domain::delivery::InboxState;
use crate::domain::id::{AuditEventId, InstallationId};
use crate::domain::job::JobStatus;
use crate::domain::lease::RowHandle;
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::{audit, dead_letters, inbox, row};
use crate::store::sql::{Row, Tx, params};
use crate::store::{List, Store};

/// Columns of the covering index, in the order both queries read them.
const COLUMNS: &str = "failed_at, item_type, item_id, repository, reason_code, error_class, \
    cause, attempt_count, replay_class";

/// The classes of which [`ReplayClass::is_safe`] is true: the index holds the class.
const SAFE: &str = "'job_transaction', 'not_sent', 'refused', 'repeatable', 'proved_absent'";

impl List for DeadLetter {
    fn page(
        store: &Store,
        installation: InstallationId,
        wanted: &ListRequest<Self>,
        _: Timestamp,
    ) -> Result<Option<Page<Self, Timestamp>>, Error> {
        let filter = &wanted.filter;
        let [before, until] =
            [wanted.before, filter.until].map(|end| end.unwrap_or(Timestamp::MAX));
        store.read(|db| {
            // No lookup of the cursor: an instant that is unique within the installation reveals nothing of another.
            let sql = format!(
                "SELECT {COLUMNS} FROM dead_letters INDEXED BY dead_letters_open \
                 WHERE installation_id = :installation AND resolution IS NULL \
                    AND failed_at >= :since AND failed_at < :before \
                    AND (:item_type IS NULL OR item_type = :item_type) \
                    AND (:reason IS NULL OR reason_code = :reason) \
                    AND (:repository IS NULL OR repository = :repository COLLATE NOCASE) \
                    AND (:replay_safe IS NULL OR (replay_class IN ({SAFE})) = :replay_safe) \
                 ORDER BY failed_at DESC LIMIT +:limit"
            );
            let found = db.query(
                &sql,
                params! {
                    ":installation": installation,
                    ":since": filter.since.unwrap_or(Timestamp::MIN),
                    ":before": before.min(until),
                    ":item_type": filter.item_type,
                    ":reason": filter.reason,
                    ":repository": filter.repository,
                    ":replay_safe": filter.replay_safe,
                    ":limit": i64::from(wanted.limit) + 1,
                },
                |row| Ok(dead_letter(row)?.dead_letter),
            )?;
            Ok(Some(Page::cut(found, wanted.limit, Self::cursor)))
        })
    }
}

impl Store {
    /// Returns the open dead letter of one item, within an installation.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letter(
        &self,
        installation: InstallationId,
        item: ItemId,
    ) -> Result<Option<DeadLetterDetail>, Error> {
        self.read(|db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM dead_letters \
                 WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL \
                    AND installation_id = :installation"
            );
            db.query_one(
                &sql,
                params! {
                    ":installation": installation,
                    ":item_type": item.item_type(),
                    ":item": item,
                },
                dead_letter,
            )
        })
    }

    /// Replays one dead letter, or says why not. With the same key the answer is the same for ever.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not known to be on disk; ask again with the same key.
    pub fn replay(&self, request: ReplayRequest) -> Result<ReplayOutcome, Error> {
        self.write(move |tx| {
            let facts = ReplayFacts {
                // The key first: a repeated request gets its old answer even when the item is gone.
                operation: operation(tx, &request)?,
                item: item_facts(tx, request.installation, request.item)?,
            };
            // Reset, key and audit event are one transaction: a replay is never without its record.
            match dead_letter::decide_replay(&facts) {
                ReplayDecision::Answer(outcome) => Ok(outcome),
                ReplayDecision::Replay => {
                    reset(tx, request.item)?;
                    dead_letters::resolve(tx, request.item, "replayed")?;
                    Ok(ReplayOutcome::Replayed(audit::dead_letter_replayed(tx, &request)?))
                }
            }
        })
    }
}

/// Looks the caller's key up.
fn operation(
    tx: &Tx<'_>,
    request: &ReplayRequest,
) -> Result<Option<(SameRequest, AuditEventId)>, Error> {
    tx.query_one(
        "SELECT installation_id = :installation AND item_type = :item_type \
            AND item_id = :item AS same, audit_event_id \
         FROM operator_operations WHERE operation_id = :operation",
        params! {
            ":operation": request.operation,
            ":installation": request.installation,
            ":item_type": request.item.item_type(),
            ":item": request.item,
        },
        |row| {
            let same = if row.get("same")? { SameRequest::Yes } else { SameRequest::No };
            Ok((same, row.get("audit_event_id")?))
        },
    )
}

/// Looks the item up within the installation: one statement, whether it is another's or does not exist.
fn item_facts(
    tx: &Tx<'_>,
    installation: InstallationId,
    item: ItemId,
) -> Result<Option<ItemFacts>, Error> {
    let sql = match item.item_type() {
        ItemType::Job => {
            "SELECT j.status, d.replay_class FROM control_plane_jobs j \
             LEFT JOIN dead_letters d ON d.item_type = 'job' AND d.item_id = j.job_id \
                AND d.resolution IS NULL \
             WHERE j.job_id = :item AND j.installation_id = :installation"
        }
        ItemType::Outbox => {
            "SELECT o.status, d.replay_class FROM outbox o \
             LEFT JOIN dead_letters d ON d.item_type = 'outbox' AND d.item_id = o.outbox_id \
                AND d.resolution IS NULL \
             WHERE o.outbox_id = :item AND o.installation_id = :installation"
        }
    };
    tx.query_one(sql, params! { ":installation": installation, ":item": item }, |row| {
        // Jobs and messages have the same word for this status.
        if row.get::<String>("status")? != JobStatus::DeadLetter.as_str() {
            return Ok(ItemFacts::NotDead);
        }
        let class: Option<String> = row.get("replay_class")?;
        // A class that a newer version wrote is unknown here, and what is unknown is not replayed.
        Ok(ItemFacts::Dead(class.as_deref().and_then(ReplayClass::from_word)))
    })
}

/// Makes a dead item available again, with all its tries.
fn reset(tx: &Tx<'_>, item: ItemId) -> Result<(), Error> {
    let sql = match item.item_type() {
        ItemType::Job => {
            "UPDATE control_plane_jobs SET status = 'available', attempt_count = 0, \
                available_at = :now, finished_at = NULL, updated_at = :now \
             WHERE job_id = :item AND status = 'dead_letter' RETURNING inbox_id"
        }
        ItemType::Outbox => {
            "UPDATE outbox SET status = 'available', attempt_count = 0, lag_count = 0, \
                available_at = :now, finished_at = NULL, updated_at = :now \
             WHERE outbox_id = :item AND status = 'dead_letter' RETURNING NULL AS inbox_id"
        }
    };
    let reset = tx.query_one(sql, params! { ":item": item, ":now": tx.now }, |row| {
        row.get::<Option<RowHandle>>("inbox_id")
    })?;
    let state = InboxState::of_job(JobStatus::Available);
    let inbox = reset.ok_or(Error::Row("status"))?;
    inbox.map_or(Ok(()), |inbox| inbox::set_state(tx, inbox, state))
}

fn dead_letter(row: &Row<'_>) -> Result<DeadLetterDetail, Error> {
    let item = row::item(row)?;
    let replay_class: String = row.get("replay_class")?;
    Ok(DeadLetterDetail {
        dead_letter: DeadLetter {
            item_type: item.item_type().as_str().into(),
            item_id: item.to_string(),
            repository: row.get("repository")?,
            reason_code: row.get::<String>("reason_code")?.into(),
            error_class: row.get::<String>("error_class")?.into(),
            cause: row.get::<Option<String>>("cause")?.map(Into::into),
            attempt_count: row.get("attempt_count")?,
            failed_at: row.get("failed_at")?,
            replay_safe: dead_letter::is_replay_safe(&replay_class),
        },
        replay_class: replay_class.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_safe_classes_of_the_filter_are_those_of_the_rule() {
        let safe = ReplayClass::ALL.iter().filter(|class| class.is_safe());
        let words: Vec<String> = safe.map(|class| format!("'{class}'")).collect();
        assert_eq!(SAFE, words.join(", "));
    }
}
