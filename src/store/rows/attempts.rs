//! Attempts of release runs, moved by what the outbox learned and what reconcilers saw. An attempt that is
//! the current one moves its release run with it.

use crate::domain::dead_letter::ReplayClass;
use crate::domain::id::{AttemptId, CheckRunId, WorkflowRunId};
use crate::domain::outbox::{CheckRunStatus, Effect};
use crate::domain::reconcile::AttemptStanding;
use crate::domain::reconcile::uncertain;
use crate::domain::release::attempt::{AttemptEvent, AttemptStatus};
use crate::store::error::Error;
use crate::store::rows::target::Target;
use crate::store::rows::{dead_letters, outbox};
use crate::store::sql::{Row, Tx, params};
use crate::words::Word as _;

/// A change of status that an event asks for.
struct Step {
    from: AttemptStatus,
    to: AttemptStatus,
}

/// Decides what an event changes about an attempt; returns `None` if it changes nothing, as it does where
/// a newer version wrote a status that is not known here.
fn step(tx: &Tx<'_>, attempt: AttemptId, event: AttemptEvent) -> Result<Option<Step>, Error> {
    let from = tx.query_one(
        "SELECT status FROM release_run_attempts WHERE attempt_id = :attempt",
        params! { ":attempt": attempt },
        status,
    )?;
    // During a rolling upgrade this version leaves a status it does not know alone.
    let Some(from) = from.flatten() else { return Ok(None) };
    Ok(from.after(event).map(|to| Step { from, to }))
}

/// Moves an attempt, and its release run while it is the current one.
fn advance(tx: &Tx<'_>, attempt: AttemptId, event: AttemptEvent) -> Result<(), Error> {
    let Some(Step { from, to }) = step(tx, attempt, event)? else { return Ok(()) };
    for sql in [
        "UPDATE release_run_attempts SET status = :to, updated_at = :now \
         WHERE attempt_id = :attempt AND status = :from",
        "UPDATE release_runs SET status = :to, updated_at = :now \
         WHERE current_attempt_id = :attempt AND status = :from",
    ] {
        let params = params! { ":attempt": attempt, ":from": from, ":to": to, ":now": tx.now };
        tx.execute(sql, params)?;
    }
    Ok(())
}

/// The dispatch of an attempt is about to leave.
pub(in crate::store) fn dispatching(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    advance(tx, attempt, AttemptEvent::DispatchBegan)
}

/// The workflow run of an attempt has ended well, as the forge says: only its result is missing.
pub(in crate::store) fn reporting(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    advance(tx, attempt, AttemptEvent::RunEndedWell)
}

/// The next attempt takes the place of one that is the current one until now.
pub(in crate::store) fn replaced(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    let Some(Step { from, to }) = step(tx, attempt, AttemptEvent::Replaced)? else {
        return Ok(());
    };
    tx.execute(
        "UPDATE release_run_attempts SET status = :to, updated_at = :now \
         WHERE attempt_id = :attempt AND status = :from",
        params! { ":attempt": attempt, ":from": from, ":to": to, ":now": tx.now },
    )?;
    Ok(())
}

/// The forge accepted the dispatch of an attempt.
pub(in crate::store) fn dispatched(
    tx: &mut Tx<'_>,
    target: Target,
    run: Option<WorkflowRunId>,
) -> Result<(), Error> {
    let attempt = target.attempt;
    let Some(Step { from, to }) = step(tx, attempt, AttemptEvent::DispatchAccepted)? else {
        // It has ended meanwhile, which is what its check run shows.
        return Ok(());
    };
    for sql in [
        "UPDATE release_run_attempts SET status = :to, workflow_run_id = :run, updated_at = :now \
         WHERE attempt_id = :attempt AND status = :from",
        "UPDATE release_runs SET status = :to, workflow_run_id = :run, updated_at = :now \
         WHERE current_attempt_id = :attempt AND status = :from",
    ] {
        tx.execute(
            sql,
            params! {
                ":attempt": attempt,
                ":run": run,
                ":from": from,
                ":to": to,
                ":now": tx.now,
            },
        )?;
    }
    let update = Effect::CheckRunUpdate { status: CheckRunStatus::InProgress };
    outbox::add(tx, target, &update)
}

/// The run an attempt was dispatched as is known now. Returns whether it can be this attempt's at all.
pub(in crate::store) fn identify(
    tx: &Tx<'_>,
    attempt: AttemptId,
    run: WorkflowRunId,
) -> Result<bool, Error> {
    if is_taken(tx, uncertain::Proof::WorkflowRun(run), attempt)? {
        return Ok(false);
    }
    // A run that is known already is never replaced by another one.
    for sql in [
        "UPDATE release_run_attempts SET workflow_run_id = :run, updated_at = :now \
         WHERE attempt_id = :attempt AND status = 'running' AND workflow_run_id IS NULL",
        "UPDATE release_runs SET workflow_run_id = :run, updated_at = :now \
         WHERE current_attempt_id = :attempt AND status = 'running' AND workflow_run_id IS NULL",
    ] {
        tx.execute(sql, params! { ":attempt": attempt, ":run": run, ":now": tx.now })?;
    }
    Ok(true)
}

/// The workflow run of an attempt has become known after its dispatch was done.
pub(in crate::store) fn run_is_known(
    tx: &Tx<'_>,
    attempt: AttemptId,
    run: WorkflowRunId,
) -> Result<(), Error> {
    // Only an empty number is filled: a reconciler may have found the run first.
    for sql in [
        "UPDATE release_run_attempts SET workflow_run_id = :run, updated_at = :now \
         WHERE attempt_id = :attempt AND workflow_run_id IS NULL",
        "UPDATE release_runs SET workflow_run_id = :run, updated_at = :now \
         WHERE current_attempt_id = :attempt AND workflow_run_id IS NULL",
    ] {
        tx.execute(sql, params! { ":attempt": attempt, ":run": run, ":now": tx.now })?;
    }
    Ok(())
}

/// The check run of an attempt exists.
pub(in crate::store) fn check_run_exists(
    tx: &Tx<'_>,
    attempt: AttemptId,
    check_run: CheckRunId,
) -> Result<(), Error> {
    for sql in [
        "UPDATE release_run_attempts SET check_run_id = :run, updated_at = :now \
         WHERE attempt_id = :attempt",
        "UPDATE release_runs SET check_run_id = :run, updated_at = :now \
         WHERE current_attempt_id = :attempt",
    ] {
        tx.execute(sql, params! { ":attempt": attempt, ":run": check_run, ":now": tx.now })?;
    }
    Ok(())
}

/// Says whether the forge showed another check run under the number of an attempt's.
pub(in crate::store) fn is_check_run_foreign(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM release_run_attempts \
         WHERE attempt_id = :attempt AND check_run_mismatch_at IS NOT NULL)",
        params! { ":attempt": attempt },
    )
}

/// Says whether an attempt has a check run, and the forge never showed another one under its number.
pub(in crate::store) fn has_own_check_run(tx: &Tx<'_>, attempt: AttemptId) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM release_run_attempts WHERE attempt_id = :attempt \
         AND check_run_id IS NOT NULL AND check_run_mismatch_at IS NULL)",
        params! { ":attempt": attempt },
    )
}

/// The forge showed another check run under the number of an attempt's: nothing is written to it any
/// more, and what was to be must not be replayed.
pub(in crate::store) fn check_run_is_not_ours(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE release_run_attempts SET \
            check_run_mismatch_at = coalesce(check_run_mismatch_at, :now) \
         WHERE attempt_id = :attempt",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    dead_letters::reclassify_updates(tx, attempt, ReplayClass::BindingMismatch)
}

/// Says whether the forge's number belongs to another attempt already: a second owner is never right.
pub(in crate::store) fn is_taken(
    tx: &Tx<'_>,
    number: uncertain::Proof,
    attempt: AttemptId,
) -> Result<bool, Error> {
    match number {
        uncertain::Proof::WorkflowRun(run) => tx.value(
            "SELECT EXISTS (SELECT 1 FROM release_run_attempts \
             WHERE workflow_run_id = :run AND attempt_id <> :attempt)",
            params! { ":run": run, ":attempt": attempt },
        ),
        uncertain::Proof::CheckRun(run) => tx.value(
            "SELECT EXISTS (SELECT 1 FROM release_run_attempts \
             WHERE check_run_id = :run AND attempt_id <> :attempt)",
            params! { ":run": run, ":attempt": attempt },
        ),
    }
}

/// Reads `status` of an attempt; returns `None` for a word that is not known.
pub(in crate::store) fn status(row: &Row<'_>) -> Result<Option<AttemptStatus>, Error> {
    row.read("status", |value| value.text().map(AttemptStatus::of_word))
}

/// Reads `status` of an attempt and `is_current`.
pub(in crate::store) fn standing(row: &Row<'_>) -> Result<AttemptStanding, Error> {
    if !row.get::<bool>("is_current")? {
        return Ok(AttemptStanding::Superseded);
    }
    row.get("status").map(AttemptStatus::standing)
}

/// Returns where an attempt stands now.
pub(in crate::store) fn standing_of(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<AttemptStanding, Error> {
    let found = tx.query_one(
        "SELECT a.status, a.attempt_id = r.current_attempt_id AS is_current \
         FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
         WHERE a.attempt_id = :attempt",
        params! { ":attempt": attempt },
        standing,
    )?;
    found.ok_or(Error::Row("attempt_id"))
}
