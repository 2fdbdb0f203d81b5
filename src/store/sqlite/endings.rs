//! How a release run ends: its status and its attempt's, the conclusion the forge is told, and the
//! message that tells it, all in the transaction that ends it. And how the end is confirmed.

use rusqlite::{Row, named_params};

use crate::domain::id::AttemptId;
use crate::domain::lease::Fence;
use crate::domain::outbox::{CheckRunStatus, Effect, EffectKind};
use crate::domain::release::{Decision, Ending};
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::releases::Target;
use crate::store::sqlite::{dead_letters, outbox, releases, row};

/// Ends the release run whose current attempt this is. It must not have ended.
pub(super) fn end(tx: &mut Tx<'_>, attempt: AttemptId, ending: Ending) -> Result<(), Error> {
    let conclusion = ending.conclusion();
    tx.connection
        .prepare_cached(
            "UPDATE release_run_attempts SET status = :status, failure_reason = :reason, \
                updated_at = :now WHERE attempt_id = :attempt",
        )?
        .execute(named_params! {
            ":attempt": attempt.to_string(),
            ":status": ending.status().as_str(),
            ":reason": ending.failure_reason(),
            ":now": tx.now.micros(),
        })?;
    let has_own_check_run = releases::has_own_check_run(tx, attempt)?;
    let target = {
        let mut statement = tx.connection.prepare_cached(
            "UPDATE release_runs SET status = :status, decision = :decision, \
                conclusion = :conclusion, forge_conclusion = :conclusion, \
                failure_reason = :reason, finished_at = :now, updated_at = :now \
             WHERE current_attempt_id = :attempt AND finished_at IS NULL \
             RETURNING forge_installation_id, repository_id, release_run_id",
        )?;
        let mut rows = statement.query(named_params! {
            ":attempt": attempt.to_string(),
            ":status": ending.status().as_str(),
            ":decision": ending.decision().map(Decision::as_str),
            ":conclusion": conclusion.as_str(),
            ":reason": ending.failure_reason(),
            ":now": tx.now.micros(),
        })?;
        let row = rows.next()?.ok_or(Error::Row("current_attempt_id"))?;
        // A row that does not read ends all the same; nothing can be addressed by it.
        target(row).ok()
    };
    outbox::supersede_held(tx, attempt)?;
    // If the attempt has no check run of its own, the end cannot be published.
    let Some(target) = target.filter(|_| has_own_check_run) else { return Ok(()) };
    dead_letters::close(tx, attempt, Some(EffectKind::CheckRunUpdate), "superseded")?;
    outbox::supersede_idle_updates(tx, attempt)?;
    let unconfirmed = ending.is_unconfirmed();
    let status = CheckRunStatus::Completed { conclusion, completed_at: tx.now, unconfirmed };
    outbox::add(tx, target, attempt, &Effect::CheckRunUpdate { status })
}

fn target(row: &Row<'_>) -> Result<Target, Error> {
    Ok(Target {
        installation: row::number(row, "forge_installation_id")?,
        repository: row::number(row, "repository_id")?,
        release_run: row::id(row, "release_run_id")?,
    })
}

/// Notes that the forge shows the end of the release run, when `fence`'s message is what told it.
pub(super) fn told(tx: &Tx<'_>, fence: Fence, attempt: AttemptId) -> Result<(), Error> {
    let confirmed = tx
        .connection
        .prepare_cached(
            "UPDATE release_runs SET forge_check_published_at = :now, updated_at = :now \
             WHERE current_attempt_id = :attempt AND forge_check_published_at IS NULL \
                AND EXISTS (SELECT 1 FROM outbox WHERE id = :id \
                    AND effect_key = 'check_run_update.completed:' || :attempt)",
        )?
        .execute(named_params! {
            ":attempt": attempt.to_string(),
            ":id": fence.row,
            ":now": tx.now.micros(),
        })?;
    if confirmed > 0 { clear_publication_error(tx, attempt) } else { Ok(()) }
}

/// Notes that a look confirmed the end of the release run at the forge: what would still tell it is not
/// needed any more, unless it is under way.
pub(super) fn confirm(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE release_runs SET forge_check_published_at = :now, updated_at = :now \
             WHERE current_attempt_id = :attempt AND forge_check_published_at IS NULL",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    clear_publication_error(tx, attempt)?;
    dead_letters::close(tx, attempt, Some(EffectKind::CheckRunUpdate), "completed")?;
    outbox::supersede_idle_updates(tx, attempt)
}

/// Clears what kept the end of the attempt from being shown, when a failure was noted beside its result.
fn clear_publication_error(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE release_run_results SET last_publication_error = NULL, updated_at = :now \
             WHERE release_run_id = \
                    (SELECT release_run_id FROM release_runs WHERE current_attempt_id = :attempt) \
                AND attempt_id = :attempt AND last_publication_error IS NOT NULL",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    Ok(())
}
