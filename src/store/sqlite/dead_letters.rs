//! Dead letters: added when an item dies, listed from a covering index alone, replayed in one
//! transaction that checks scope, class and key, resets the item and writes the audit event.

use rusqlite::{OptionalExtension as _, Row, named_params};

use crate::domain::dead_letter::{
    self, DeadLetter, ErrorClass, ItemFacts, ItemId, ItemType, Reason, ReplayClass, ReplayDecision,
    ReplayFacts, ReplayOutcome, ReplayRequest, SameRequest,
};
use crate::domain::delivery::InboxState;
use crate::domain::id::{AttemptId, AuditEventId, InstallationId};
use crate::domain::job::JobStatus;
use crate::domain::outbox::EffectKind;
use crate::domain::page::Page;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{Store, audit, jobs, listing, row};

/// Columns of the covering index, in the order both queries read them.
const COLUMNS: &str = "failed_at, item_type, item_id, repository, reason_code, error_class, \
    attempt_count, replay_class";

impl Store {
    /// Returns open dead letters of one installation that failed before `before`, newest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letters(
        &self,
        installation: InstallationId,
        before: Option<Timestamp>,
        limit: u32,
    ) -> Result<Page<DeadLetter, Timestamp>, Error> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM dead_letters INDEXED BY dead_letters_open \
                 WHERE installation_id = :installation AND resolution IS NULL \
                    AND failed_at < :before ORDER BY failed_at DESC LIMIT +:limit"
            ))?;
            let rows = statement.query(named_params! {
                ":installation": installation.get(),
                ":before": before.unwrap_or(Timestamp::MAX).micros(),
                ":limit": i64::from(limit) + 1,
            })?;
            listing::page(rows, limit, dead_letter, |last| last.failed_at)
        })
    }

    /// Returns the open dead letter of one item, within an installation.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letter(
        &self,
        installation: InstallationId,
        item: ItemId,
    ) -> Result<Option<DeadLetter>, Error> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM dead_letters \
                 WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL \
                    AND installation_id = :installation"
            ))?;
            let mut rows = statement.query(named_params! {
                ":installation": installation.get(),
                ":item_type": item.item_type().as_str(),
                ":item": item.to_string(),
            })?;
            rows.next()?.map(dead_letter).transpose()
        })
    }

    /// Replays one dead letter, or says why not. With the same key the answer is the same for ever.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not known to be on disk; ask again with the same key.
    pub fn replay(&self, request: ReplayRequest) -> Result<ReplayOutcome, Error> {
        self.write(move |tx| {
            let facts = ReplayFacts {
                operation: operation(tx, &request)?,
                item: item_facts(tx, request.installation, request.item)?,
            };
            match dead_letter::decide_replay(&facts) {
                ReplayDecision::Answer(outcome) => Ok(outcome),
                ReplayDecision::Replay => {
                    reset(tx, request.item)?;
                    resolve(tx, request.item, "replayed")?;
                    Ok(ReplayOutcome::Replayed(audit::dead_letter_replayed(tx, &request)?))
                }
            }
        })
    }
}

/// What is recorded when an item dies.
pub(super) struct Burial {
    pub(super) item: ItemId,
    pub(super) repository: Option<String>,
    pub(super) reason: Reason,
    pub(super) error_class: ErrorClass,
    pub(super) attempt_count: u32,
    pub(super) replay_class: ReplayClass,
}

/// Adds a dead letter, at an instant no other of its installation has.
pub(super) fn add(tx: &Tx<'_>, installation: InstallationId, burial: &Burial) -> Result<(), Error> {
    let last: Option<i64> = tx
        .connection
        .prepare_cached("SELECT max(failed_at) FROM dead_letters WHERE installation_id = :id")?
        .query_row(named_params! { ":id": installation.get() }, |row| row.get(0))?;
    let failed_at = dead_letter::failed_at(tx.now, last.map(Timestamp::from_micros));
    tx.connection
        .prepare_cached(
            "INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, repository, \
                reason_code, error_class, attempt_count, replay_class, replay_safe) \
             VALUES (:installation, :failed_at, :item_type, :item, :repository, :reason, :class, \
                :attempts, :replay_class, :replay_safe)",
        )?
        .execute(named_params! {
            ":installation": installation.get(),
            ":failed_at": failed_at.micros(),
            ":item_type": burial.item.item_type().as_str(),
            ":item": burial.item.to_string(),
            ":repository": burial.repository,
            ":reason": burial.reason.as_str(),
            ":class": burial.error_class.as_str(),
            ":attempts": burial.attempt_count,
            ":replay_class": burial.replay_class.as_str(),
            ":replay_safe": burial.replay_class.is_safe(),
        })?;
    Ok(())
}

/// Closes the dead letters of an attempt's messages, of one kind or of all: they are not needed any
/// more. The status stands twice: the list of words is what lets the index of unfinished messages be
/// used.
pub(super) fn close(
    tx: &Tx<'_>,
    attempt: AttemptId,
    kind: Option<EffectKind>,
    resolution: &str,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE dead_letters SET resolution = :resolution, resolved_at = :now \
             WHERE item_type = 'outbox' AND resolution IS NULL AND item_id IN \
                (SELECT outbox_id FROM outbox WHERE attempt_id = :attempt \
                    AND status IN ('held', 'available', 'leased', 'dead_letter') \
                    AND status = 'dead_letter' AND kind = coalesce(:kind, kind))",
        )?
        .execute(named_params! {
            ":attempt": attempt.to_string(),
            ":kind": kind.map(EffectKind::as_str),
            ":resolution": resolution,
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

pub(super) fn resolve(tx: &Tx<'_>, item: ItemId, resolution: &str) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE dead_letters SET resolution = :resolution, resolved_at = :now \
             WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL",
        )?
        .execute(named_params! {
            ":item_type": item.item_type().as_str(),
            ":item": item.to_string(),
            ":resolution": resolution,
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// Gives the open dead letters of an attempt's updates another replay class. The status stands twice: the
/// list of words is what lets the index of unfinished messages be used.
pub(super) fn reclassify_updates(
    tx: &Tx<'_>,
    attempt: AttemptId,
    class: ReplayClass,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE dead_letters SET replay_class = :class, replay_safe = :safe \
             WHERE item_type = 'outbox' AND resolution IS NULL AND item_id IN \
                (SELECT outbox_id FROM outbox WHERE attempt_id = :attempt \
                    AND status IN ('held', 'available', 'leased', 'dead_letter') \
                    AND status = 'dead_letter' AND kind = 'check_run_update')",
        )?
        .execute(named_params! {
            ":attempt": attempt.to_string(),
            ":class": class.as_str(),
            ":safe": class.is_safe(),
        })?;
    Ok(())
}

/// Gives an open dead letter another replay class: something was proved about it.
pub(super) fn reclassify(tx: &Tx<'_>, item: ItemId, class: ReplayClass) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE dead_letters SET replay_class = :class, replay_safe = :safe \
             WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL",
        )?
        .execute(named_params! {
            ":item_type": item.item_type().as_str(),
            ":item": item.to_string(),
            ":class": class.as_str(),
            ":safe": class.is_safe(),
        })?;
    Ok(())
}

/// Looks the caller's key up.
fn operation(
    tx: &Tx<'_>,
    request: &ReplayRequest,
) -> Result<Option<(SameRequest, AuditEventId)>, Error> {
    let found: Option<(bool, String)> = tx
        .connection
        .prepare_cached(
            "SELECT installation_id = :installation AND item_type = :item_type \
                AND item_id = :item, audit_event_id \
             FROM operator_operations WHERE operation_id = :operation",
        )?
        .query_row(
            named_params! {
                ":operation": request.operation.as_str(),
                ":installation": request.installation.get(),
                ":item_type": request.item.item_type().as_str(),
                ":item": request.item.to_string(),
            },
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((same, audit_event)) = found else { return Ok(None) };
    let audit_event = audit_event.parse().map_err(|_| Error::Row("audit_event_id"))?;
    Ok(Some((if same { SameRequest::Yes } else { SameRequest::No }, audit_event)))
}

/// Looks the item up within the installation: one statement, whether it is another's or nobody's.
fn item_facts(
    tx: &Tx<'_>,
    installation: InstallationId,
    item: ItemId,
) -> Result<Option<ItemFacts>, Error> {
    let mut statement = tx.connection.prepare_cached(match item.item_type() {
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
    })?;
    let mut rows = statement.query(named_params! {
        ":installation": installation.get(),
        ":item": item.to_string(),
    })?;
    let Some(row) = rows.next()? else { return Ok(None) };
    if row.get::<_, String>("status")? != JobStatus::DeadLetter.as_str() {
        return Ok(Some(ItemFacts::NotDead));
    }
    let class: Option<String> = row.get("replay_class")?;
    Ok(Some(ItemFacts::Dead(class.as_deref().and_then(ReplayClass::from_word))))
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
             WHERE outbox_id = :item AND status = 'dead_letter' RETURNING NULL"
        }
    };
    let inbox: Option<i64> =
        tx.connection.prepare_cached(sql)?.query_row(
            named_params! { ":item": item.to_string(), ":now": tx.now.micros() },
            |row| row.get(0),
        )?;
    let state = InboxState::of_job(JobStatus::Available);
    inbox.map_or(Ok(()), |inbox| jobs::set_inbox_state(tx, inbox, state))
}

fn dead_letter(row: &Row<'_>) -> Result<DeadLetter, Error> {
    Ok(DeadLetter {
        item: row::item(row)?,
        repository: row.get("repository")?,
        reason: row.get("reason_code")?,
        error_class: row.get("error_class")?,
        attempt_count: row.get("attempt_count")?,
        failed_at: row::instant(row, "failed_at")?,
        replay_class: row.get("replay_class")?,
    })
}
