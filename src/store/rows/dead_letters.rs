//! Dead letters: added when an item dies, closed when it is not needed any more, and reclassified when
//! something is proved about it.

use crate::api;
use crate::domain::dead_letter::{
    self, DeadLetterReason, ErrorClass, FailureCause, ItemFacts, ItemId, ItemType, ReplayClass,
    Resolution,
};
use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId};
use crate::domain::job::JobStatus;
use crate::domain::outbox::EffectKind;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::row;
use crate::store::sql::{Db, Row, Tx, params};

/// A dead letter to be added.
pub(in crate::store) struct NewDeadLetter {
    pub(in crate::store) item: ItemId,
    pub(in crate::store) repository: Option<String>,
    pub(in crate::store) reason: DeadLetterReason,
    pub(in crate::store) error_class: ErrorClass,
    /// Why the last call to the forge failed, if one did.
    pub(in crate::store) cause: Option<FailureCause>,
    pub(in crate::store) attempt_count: u32,
    pub(in crate::store) replay_class: ReplayClass,
    pub(in crate::store) work: Work,
}

/// What the item that died would have done.
pub(in crate::store) enum Work {
    /// What a job does; nothing where its action cannot be read.
    Job(Option<&'static str>),
    /// What an effect does, and for which attempt.
    Effect { kind: EffectKind, release_run: ReleaseRunId, attempt: AttemptId },
}

/// Adds a dead letter, at an instant no other of its installation has.
pub(in crate::store) fn add(
    tx: &Tx<'_>,
    installation: InstallationId,
    dead_letter: &NewDeadLetter,
) -> Result<(), Error> {
    let last: Option<Timestamp> = tx.value(
        "SELECT max(failed_at) FROM dead_letters WHERE installation_id = :id",
        params! { ":id": installation },
    )?;
    // Unique and growing within the installation, because the cursor of the list is this instant alone.
    let failed_at = dead_letter::failed_at(tx.now, last);
    let (job_action, effect) = match dead_letter.work {
        Work::Job(action) => (action, None),
        Work::Effect { kind, release_run, attempt } => (None, Some((kind, release_run, attempt))),
    };
    tx.execute(
        "INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, repository, \
            reason_code, error_class, cause, attempt_count, replay_class, replay_safe, \
            job_action, effect_kind, release_run_id, attempt_id) \
         VALUES (:installation, :failed_at, :item_type, :item, :repository, :reason, :class, \
            :cause, :attempts, :replay_class, :replay_safe, \
            :action, :kind, :release, :attempt)",
        params! {
            ":installation": installation,
            ":failed_at": failed_at,
            ":item_type": dead_letter.item.item_type(),
            ":item": dead_letter.item,
            ":repository": dead_letter.repository,
            ":reason": dead_letter.reason,
            ":class": dead_letter.error_class,
            ":cause": dead_letter.cause,
            ":attempts": dead_letter.attempt_count,
            ":replay_class": dead_letter.replay_class,
            ":replay_safe": dead_letter.replay_class.is_safe(),
            ":action": job_action,
            ":kind": effect.map(|(kind, ..)| kind),
            ":release": effect.map(|(_, release_run, _)| release_run),
            ":attempt": effect.map(|(.., attempt)| attempt),
        },
    )?;
    Ok(())
}

/// Ends the open dead letters of an attempt's messages, of one kind or of all: they are not needed any
/// more. The status is compared twice: the list of words is what lets the index of unfinished messages be
/// used.
pub(in crate::store) fn resolve_of_attempt(
    tx: &Tx<'_>,
    attempt: AttemptId,
    kind: Option<EffectKind>,
    resolution: Resolution,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE dead_letters SET resolution = :resolution, resolved_at = :now \
         WHERE item_type = 'outbox' AND resolution IS NULL AND item_id IN \
            (SELECT outbox_id FROM outbox WHERE attempt_id = :attempt \
                AND status IN ('held', 'available', 'leased', 'dead_letter') \
                AND status = 'dead_letter' AND kind = coalesce(:kind, kind))",
        params! {
            ":attempt": attempt,
            ":kind": kind,
            ":resolution": resolution,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Ends the open dead letter of an item, if there is one.
pub(in crate::store) fn resolve(
    tx: &Tx<'_>,
    item: ItemId,
    resolution: Resolution,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE dead_letters SET resolution = :resolution, resolved_at = :now \
         WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL",
        params! {
            ":item_type": item.item_type(),
            ":item": item,
            ":resolution": resolution,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Gives the open dead letters of an attempt's updates another replay class. The status is compared twice: the
/// list of words is what lets the index of unfinished messages be used.
pub(in crate::store) fn reclassify_updates(
    tx: &Tx<'_>,
    attempt: AttemptId,
    class: ReplayClass,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE dead_letters SET replay_class = :class, replay_safe = :safe \
         WHERE item_type = 'outbox' AND resolution IS NULL AND item_id IN \
            (SELECT outbox_id FROM outbox WHERE attempt_id = :attempt \
                AND status IN ('held', 'available', 'leased', 'dead_letter') \
                AND status = 'dead_letter' AND kind = 'check_run_update')",
        params! {
            ":attempt": attempt,
            ":class": class,
            ":safe": class.is_safe(),
        },
    )?;
    Ok(())
}

/// Gives an open dead letter another replay class: something was proved about it.
pub(in crate::store) fn reclassify(
    tx: &Tx<'_>,
    item: ItemId,
    class: ReplayClass,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE dead_letters SET replay_class = :class, replay_safe = :safe \
         WHERE item_type = :item_type AND item_id = :item AND resolution IS NULL",
        params! {
            ":item_type": item.item_type(),
            ":item": item,
            ":class": class,
            ":safe": class.is_safe(),
        },
    )?;
    Ok(())
}

/// Looks an item up within its installation, with its status, for a request about its death at an instant, if one is named:
/// one statement, whether it is another's or does not exist.
pub(in crate::store) fn facts(
    db: &Db<'_>,
    installation: InstallationId,
    item: ItemId,
    death: Option<Timestamp>,
) -> Result<Option<(String, ItemFacts)>, Error> {
    let sql = match item.item_type() {
        ItemType::Job => {
            "SELECT j.status, d.replay_class, d.failed_at FROM control_plane_jobs j \
             LEFT JOIN dead_letters d ON d.item_type = 'job' AND d.item_id = j.job_id \
                AND d.resolution IS NULL \
             WHERE j.job_id = :item AND j.installation_id = :installation"
        }
        ItemType::Outbox => {
            "SELECT o.status, d.replay_class, d.failed_at FROM outbox o \
             LEFT JOIN dead_letters d ON d.item_type = 'outbox' AND d.item_id = o.outbox_id \
                AND d.resolution IS NULL \
             WHERE o.outbox_id = :item AND o.installation_id = :installation"
        }
    };
    db.query_one(sql, params! { ":installation": installation, ":item": item }, |row| {
        let status: String = row.get("status")?;
        let class: Option<String> = row.get("replay_class")?;
        let facts = match class {
            // Jobs and messages have the same word for this status.
            _ if status != JobStatus::DeadLetter.as_str() => ItemFacts::NotDead,
            // Only closing leaves an item dead without an open dead letter.
            None => ItemFacts::Closed,
            // A class that a newer version wrote is unknown here, and what is unknown is not replayed.
            Some(class) => {
                ItemFacts::dead(ReplayClass::from_word(&class), row.get("failed_at")?, death)
            }
        };
        Ok((status, facts))
    })
}

/// Reads a dead letter as lists show it.
pub(in crate::store) fn listed(row: &Row<'_>) -> Result<api::DeadLetter, Error> {
    let item = row::item(row)?;
    let replay_class: String = row.get("replay_class")?;
    Ok(api::DeadLetter {
        item_type: item.item_type().as_str().into(),
        item_id: item.to_string(),
        repository: row.get("repository")?,
        reason_code: row.get::<String>("reason_code")?.into(),
        error_class: row.get::<String>("error_class")?.into(),
        cause: row.get::<Option<String>>("cause")?.map(Into::into),
        attempt_count: row.get("attempt_count")?,
        failed_at: row.get("failed_at")?,
        replay_safe: dead_letter::is_replay_safe(&replay_class),
        replay_class: replay_class.into(),
        effect_kind: row.get::<Option<String>>("effect_kind")?.map(Into::into),
        release_run_id: row.get("release_run_id")?,
    })
}
