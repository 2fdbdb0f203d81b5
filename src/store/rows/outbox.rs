//! Messages of an attempt: added, let go one after another, and taken out of circulation.

use crate::domain::id::{AttemptId, OutboxId};
use crate::domain::lease::Fence;
use crate::domain::outbox;
use crate::store::error::Error;
use crate::store::rows::effect;
use crate::store::rows::target::Target;
use crate::store::sql::{Tx, params};

/// Adds an effect of an attempt. It is held while one before it is unfinished, a dead one too. A dead
/// dispatch holds none: only the final check run update can follow it, and that must still be sent.
pub(in crate::store) fn add(
    tx: &mut Tx<'_>,
    target: Target,
    effect: &outbox::Effect,
) -> Result<(), Error> {
    let id = OutboxId::from(tx.ids.uuid(tx.now));
    tx.execute(
        "INSERT INTO outbox (outbox_id, effect_key, installation_id, repository_id, \
            release_run_id, attempt_id, kind, payload, status, available_at, created_at, \
            updated_at) \
         VALUES (:id, :key, :installation, :repository, :release, :attempt, :kind, :payload, \
            iif(EXISTS (SELECT 1 FROM outbox WHERE attempt_id = :attempt \
                AND status IN ('held', 'available', 'leased', 'dead_letter') \
                AND NOT (kind = 'workflow_dispatch' AND status = 'dead_letter')), \
                'held', 'available'), \
            :now, :now, :now)",
        params! {
            ":id": id,
            ":key": effect.key(target.attempt),
            ":installation": target.installation,
            ":repository": target.repository,
            ":release": target.release_run,
            ":attempt": target.attempt,
            ":kind": effect.kind(),
            ":payload": effect::encode(effect),
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// Lets the first unfinished message of an attempt go, when it is held.
pub(in crate::store) fn advance(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.execute(
        "UPDATE outbox SET status = 'available', available_at = :now, updated_at = :now \
         WHERE status = 'held' AND id = (SELECT min(id) FROM outbox WHERE attempt_id = :attempt \
            AND status IN ('held', 'available', 'leased', 'dead_letter') \
            AND NOT (kind = 'workflow_dispatch' AND status = 'dead_letter'))",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    Ok(())
}

/// Takes what an old attempt still had to send out of circulation, even if it is claimed.
pub(in crate::store) fn supersede(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    // A holder that is sending one finds its claim gone when it settles; what it did at the forge stays there.
    tx.execute(
        "UPDATE outbox SET status = 'superseded', payload = '', lease_owner = NULL, \
            claim_id = NULL, lease_expires_at = NULL, finished_at = :now, updated_at = :now \
         WHERE attempt_id = :attempt AND status IN ('held', 'available', 'leased', 'dead_letter')",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    Ok(())
}

/// Takes what waits behind a dead message of an attempt out of circulation: nothing is started any more.
pub(in crate::store) fn supersede_held(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    // The status is compared twice: the list of words is what lets the index of unfinished messages be used.
    tx.execute(
        "UPDATE outbox SET status = 'superseded', payload = '', finished_at = :now, \
            updated_at = :now \
         WHERE attempt_id = :attempt \
            AND status IN ('held', 'available', 'leased', 'dead_letter') AND status = 'held'",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    Ok(())
}

/// Takes updates of an attempt's check run out of circulation that are not being sent: a later one says
/// all there is to say.
pub(in crate::store) fn supersede_idle_updates(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE outbox SET status = 'superseded', payload = '', finished_at = :now, \
            updated_at = :now \
         WHERE attempt_id = :attempt AND kind = 'check_run_update' \
            AND status IN ('held', 'available', 'leased', 'dead_letter') AND status <> 'leased'",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    Ok(())
}

/// Says whether this message of an attempt would open the check run of a release run that has ended: the end says all there is
/// to say, and has perhaps been told already.
pub(in crate::store) fn is_overtaken(
    tx: &Tx<'_>,
    fence: Fence,
    attempt: AttemptId,
) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM outbox m \
            JOIN release_runs r ON r.current_attempt_id = m.attempt_id \
         WHERE m.id = :id AND m.kind = 'check_run_update' AND r.finished_at IS NOT NULL \
            AND m.effect_key <> :final_key)",
        params! { ":id": fence.row, ":final_key": outbox::Effect::final_update_key(attempt) },
    )
}
