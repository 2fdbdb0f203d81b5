//! How a release run ends: its status and its attempt's, the conclusion the forge is told, and the
//! message that tells it, all in the transaction that ends it. And how the end is confirmed.
//!
//! See `docs/decisions/21-showing-the-end.md`.

use crate::domain::dead_letter::Resolution;
use crate::domain::id::AttemptId;
use crate::domain::lease::Fence;
use crate::domain::outbox::{CheckRunStatus, Effect, EffectKind};
use crate::domain::release::Ending;
use crate::store::error::Error;
use crate::store::rows::target::Target;
use crate::store::rows::{attempts, dead_letters, outbox};
use crate::store::sql::{Row, Tx, params};

/// Ends the release run whose current attempt this is. It must not have ended.
pub(in crate::store) fn end_release(
    tx: &mut Tx<'_>,
    attempt: AttemptId,
    ending: Ending,
) -> Result<(), Error> {
    let conclusion = ending.conclusion();
    tx.execute(
        "UPDATE release_run_attempts SET status = :status, failure_reason = :reason, \
         updated_at = :now WHERE attempt_id = :attempt",
        params! {
            ":attempt": attempt,
            ":status": ending.status(),
            ":reason": ending.failure_reason(),
            ":now": tx.now,
        },
    )?;
    let has_own_check_run = attempts::has_own_check_run(tx, attempt)?;
    let target = tx.query_one(
        // Triggers keep the conclusion that the forge was told first: `docs/decisions/22-first-conclusion.md`.
        "UPDATE release_runs SET status = :status, decision = :decision, \
            conclusion = :conclusion, forge_conclusion = :conclusion, \
            failure_reason = :reason, finished_at = :now, updated_at = :now \
         WHERE current_attempt_id = :attempt AND finished_at IS NULL \
         RETURNING forge_installation_id, repository_id, release_run_id",
        params! {
            ":attempt": attempt,
            ":status": ending.status(),
            ":decision": ending.decision(),
            ":conclusion": conclusion,
            ":reason": ending.failure_reason(),
            ":now": tx.now,
        },
        // A row that does not read ends all the same; nothing can be addressed by it.
        |row| Ok(target(row, attempt).ok()),
    )?;
    // No row means that the release had ended or the attempt is old; the error also undoes the update above.
    let target = target.ok_or(Error::Row("current_attempt_id"))?;
    // Also without a check run: a dispatch that is still held must not start a workflow for a release that has ended.
    outbox::supersede_held(tx, attempt)?;
    // If the attempt has no check run of its own, the end cannot be published.
    let Some(target) = target.filter(|_| has_own_check_run) else { return Ok(()) };
    dead_letters::resolve_of_attempt(
        tx,
        attempt,
        Some(EffectKind::CheckRunUpdate),
        Resolution::Superseded,
    )?;
    outbox::supersede_idle_updates(tx, attempt)?;
    let unconfirmed = ending.is_unconfirmed();
    let status = CheckRunStatus::Completed { conclusion, completed_at: tx.now, unconfirmed };
    outbox::add(tx, target, &Effect::CheckRunUpdate { status })
}

fn target(row: &Row<'_>, attempt: AttemptId) -> Result<Target, Error> {
    Ok(Target {
        installation: row.get("forge_installation_id")?,
        repository: row.get("repository_id")?,
        release_run: row.get("release_run_id")?,
        attempt,
    })
}

/// Records that the forge shows the end of the release run if `fence`'s message is the one that published it.
pub(in crate::store) fn mark_published(
    tx: &Tx<'_>,
    fence: Fence,
    attempt: AttemptId,
) -> Result<(), Error> {
    let confirmed = tx.execute(
        "UPDATE release_runs SET forge_check_published_at = :now, updated_at = :now \
         WHERE current_attempt_id = :attempt AND forge_check_published_at IS NULL \
            AND EXISTS (SELECT 1 FROM outbox WHERE id = :id \
                AND effect_key = :final_key)",
        params! {
            ":attempt": attempt,
            ":id": fence.row,
            ":final_key": Effect::final_update_key(attempt),
            ":now": tx.now,
        },
    )?;
    // An update other than the final one confirms nothing about the end.
    if confirmed > 0 { clear_publication_error(tx, attempt) } else { Ok(()) }
}

/// Records that an observation confirmed the end of the release run at the forge: what would still tell it is not
/// needed any more, unless it is under way.
pub(in crate::store) fn confirm(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.execute(
        "UPDATE release_runs SET forge_check_published_at = :now, updated_at = :now \
         WHERE current_attempt_id = :attempt AND forge_check_published_at IS NULL",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    clear_publication_error(tx, attempt)?;
    dead_letters::resolve_of_attempt(
        tx,
        attempt,
        Some(EffectKind::CheckRunUpdate),
        Resolution::Completed,
    )?;
    outbox::supersede_idle_updates(tx, attempt)
}

/// Clears what kept the end of the attempt from being shown, when a failure was noted beside its result.
fn clear_publication_error(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.execute(
        "UPDATE release_run_results SET last_publication_error = NULL, updated_at = :now \
         WHERE release_run_id = \
                (SELECT release_run_id FROM release_runs WHERE current_attempt_id = :attempt) \
            AND attempt_id = :attempt AND last_publication_error IS NOT NULL",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    Ok(())
}
