//! Dead letters: added when an item dies, closed when it is not needed any more, and reclassified when
//! something is proved about it.

use crate::domain::dead_letter::{
    self, DeadLetterReason, ErrorClass, FailureCause, ItemId, ReplayClass,
};
use crate::domain::id::{AttemptId, InstallationId};
use crate::domain::outbox::EffectKind;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Tx, params};

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
    tx.execute(
        "INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, repository, \
            reason_code, error_class, cause, attempt_count, replay_class, replay_safe) \
         VALUES (:installation, :failed_at, :item_type, :item, :repository, :reason, :class, \
            :cause, :attempts, :replay_class, :replay_safe)",
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
        },
    )?;
    Ok(())
}

/// Closes the dead letters of an attempt's messages, of one kind or of all: they are not needed any
/// more. The status is compared twice: the list of words is what lets the index of unfinished messages be
/// used.
pub(in crate::store) fn close(
    tx: &Tx<'_>,
    attempt: AttemptId,
    kind: Option<EffectKind>,
    resolution: &str,
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

pub(in crate::store) fn resolve(tx: &Tx<'_>, item: ItemId, resolution: &str) -> Result<(), Error> {
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
