//! Dead letters, as operators see them: listed from a covering index alone; replayed or
//! closed in one transaction that checks scope, item and key, changes the item and writes the audit event.

use crate::api::{DeadLetter, ListRequest, ListRow as _};
use crate::domain::audit::{DEAD_LETTER_CLOSED, DEAD_LETTER_REPLAYED};
use crate::domain::dead_letter::{ItemId, ItemRequest, ItemType, ReplayOutcome, Resolution};
use crate::domain::delivery::InboxState;
use crate::domain::id::InstallationId;
use crate::domain::job::JobStatus;
use crate::domain::lease::RowHandle;
use crate::domain::operation::{CloseOutcome, OperatorReason};
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::audit::Event;
use crate::store::rows::{dead_letters, inbox, operations};
use crate::store::sql::{Tx, params};
use crate::store::{List, Store};

/// Columns of the covering index.
const COLUMNS: &str = "failed_at, item_type, item_id, repository, reason_code, error_class, \
    cause, attempt_count, replay_class, effect_kind, release_run_id";

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
                dead_letters::listed,
            )?;
            Ok(Some(Page::cut(found, wanted.limit, Self::cursor)))
        })
    }
}

impl Store {
    /// Replays one dead letter, or says why not. With the same key the answer is the same for ever. If an instant of death is
    /// named, only the dead letter of that instant is replayed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not known to be on disk; ask again with the same key.
    pub fn replay(
        &self,
        request: ItemRequest,
        death: Option<Timestamp>,
    ) -> Result<ReplayOutcome, Error> {
        self.write(move |tx| {
            let event = Event::of(&request, DEAD_LETTER_REPLAYED, item_type(&request), None);
            let facts =
                |tx: &Tx<'_>| dead_letters::facts(tx, request.installation, request.item, death);
            operations::carry_out(
                tx,
                (&event, death),
                |tx| Ok(facts(tx)?.map(|(_, item)| item.replayable())),
                |tx| {
                    reset(tx, request.item)?;
                    dead_letters::resolve(tx, request.item, Resolution::Replayed)
                },
            )
        })
    }

    /// Closes one dead letter without sending anything, or says why not. With the same key the answer is the same for
    /// ever. If an instant of death is named, only the dead letter of that instant is closed.
    ///
    /// What becomes of the item: `docs/decisions/118-closed-dead-letters.md`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not known to be on disk; ask again with the same key.
    pub fn close_dead_letter(
        &self,
        request: ItemRequest,
        death: Option<Timestamp>,
        reason: OperatorReason,
    ) -> Result<CloseOutcome, Error> {
        self.write(move |tx| {
            let event = Event::of(&request, DEAD_LETTER_CLOSED, item_type(&request), Some(&reason));
            let facts =
                |tx: &Tx<'_>| dead_letters::facts(tx, request.installation, request.item, death);
            operations::carry_out(
                tx,
                (&event, death),
                |tx| Ok(facts(tx)?.map(|(_, item)| item.closable())),
                |tx| {
                    forget(tx, request.item)?;
                    dead_letters::resolve(tx, request.item, Resolution::Closed)
                },
            )
        })
    }
}

fn item_type(request: &ItemRequest) -> &'static str {
    request.item.item_type().as_str()
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

/// Clears what a dead item would do. It stays dead, so that nothing behind it goes on.
fn forget(tx: &Tx<'_>, item: ItemId) -> Result<(), Error> {
    let sql = match item.item_type() {
        ItemType::Job => {
            "UPDATE webhook_inbox SET normalized_actions = NULL, updated_at = :now \
             WHERE inbox_id = \
                (SELECT inbox_id FROM control_plane_jobs WHERE job_id = :item)"
        }
        ItemType::Outbox => {
            // Without its check run or dispatch a release does not go on, and ends a deadline later.
            "UPDATE outbox SET payload = '', updated_at = :now, \
                closed_at = iif(kind = 'check_run_update', NULL, :now) \
             WHERE outbox_id = :item AND status = 'dead_letter'"
        }
    };
    let cleared = tx.execute(sql, params! { ":item": item, ":now": tx.now })?;
    if cleared == 1 { Ok(()) } else { Err(Error::Row("status")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::dead_letter::ReplayClass;

    #[test]
    fn the_safe_classes_of_the_filter_are_those_of_the_rule() {
        let safe = ReplayClass::ALL.iter().filter(|class| class.is_safe());
        let words: Vec<String> = safe.map(|class| format!("'{class}'")).collect();
        assert_eq!(SAFE, words.join(", "));
    }
}
