//! What a settlement writes: the message's end or its next try, what was learned, the dead letter; all in
//! the transaction that settles it.

use rusqlite::{ToSql, named_params};

use crate::domain::dead_letter::{ErrorClass, ItemId, Reason, ReplayClass};
use crate::domain::id::{AttemptId, OutboxId};
use crate::domain::lease::Fence;
use crate::domain::outbox::{EffectKind, Learned, OutboxStatus, SendResult, Settlement};
use crate::domain::reconcile::doubt::Proof;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::releases::{NumberColumn, Target};
use crate::store::sqlite::{dead_letters, endings, outbox, releases, row};

/// A message whose effect may have happened.
pub(super) struct InDoubt {
    row: i64,
    id: OutboxId,
    target: Target,
    attempt: AttemptId,
}

/// Finds the message of that kind of an attempt that was given up in doubt. The status stands twice:
/// the list of words is what lets the index of unfinished messages be used.
pub(super) fn in_doubt(
    tx: &Tx<'_>,
    attempt: AttemptId,
    kind: EffectKind,
) -> Result<Option<InDoubt>, Error> {
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE attempt_id = :attempt AND kind = :kind AND send_began_at IS NOT NULL \
            AND status IN ('held', 'available', 'leased', 'dead_letter') AND status = 'dead_letter'";
    let attempt = attempt.to_string();
    find(tx, sql, named_params! { ":attempt": attempt, ":kind": kind.as_str() })
}

/// Finds the unfinished dispatch of an attempt, whoever holds it and however it went.
pub(super) fn unfinished_dispatch(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<Option<InDoubt>, Error> {
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE attempt_id = :attempt AND kind = 'workflow_dispatch' \
            AND status IN ('held', 'available', 'leased', 'dead_letter')";
    find(tx, sql, named_params! { ":attempt": attempt.to_string() })
}

fn find(tx: &Tx<'_>, sql: &str, params: &[(&str, &dyn ToSql)]) -> Result<Option<InDoubt>, Error> {
    let mut statement = tx.connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (target, attempt) = outbox::target(row)?;
    Ok(Some(InDoubt { row: row.get("id")?, id: row::id(row, "outbox_id")?, target, attempt }))
}

/// Ends the doubt: the effect happened. The message completes, its dead letter closes, and what was held
/// behind it goes on. Returns whether what was found can be this attempt's at all.
pub(super) fn prove(tx: &mut Tx<'_>, message: &InDoubt, proof: Proof) -> Result<bool, Error> {
    let attempt = message.attempt;
    let (column, number) = match proof {
        Proof::WorkflowRun(run) => (NumberColumn::WorkflowRun, run.get()),
        Proof::CheckRun(run) => (NumberColumn::CheckRun, run.get()),
    };
    if releases::number_is_taken(tx, column, number, attempt)? {
        return Ok(false);
    }
    dead_letters::resolve(tx, ItemId::Outbox(message.id), "completed")?;
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'completed', send_began_at = NULL, payload = '', \
                lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, \
                finished_at = coalesce(finished_at, :now), updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! { ":id": message.row, ":now": tx.now.micros() })?;
    match proof {
        Proof::WorkflowRun(run) => releases::dispatched(tx, message.target, attempt, Some(run))?,
        Proof::CheckRun(run) => releases::check_run_exists(tx, attempt, run)?,
    }
    outbox::advance(tx, attempt)?;
    Ok(true)
}

/// Ends the doubt: the effect did not happen, and an operator may replay it.
pub(super) fn disprove(tx: &Tx<'_>, message: &InDoubt) -> Result<(), Error> {
    dead_letters::reclassify(tx, ItemId::Outbox(message.id), ReplayClass::ProvedAbsent)
}

/// An answer that came after its lease was lost counts when it names the run of a dispatch that was given
/// up meanwhile.
///
/// # Errors
/// [`Error::LeaseLost`] when it proves nothing, or there is no such doubt.
pub(super) fn prove_late(
    tx: &mut Tx<'_>,
    fence: Fence,
    result: SendResult,
) -> Result<Settlement, Error> {
    let SendResult::Dispatched(Some(run)) = result else { return Err(Error::LeaseLost) };
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE id = :id AND kind = 'workflow_dispatch' \
            AND status = 'dead_letter' AND send_began_at IS NOT NULL";
    let message = find(tx, sql, named_params! { ":id": fence.row })?.ok_or(Error::LeaseLost)?;
    if !prove(tx, &message, Proof::WorkflowRun(run))? {
        return Err(Error::LeaseLost);
    }
    Ok(Settlement::Complete(Learned::Dispatched(Some(run))))
}

/// A number the forge gave to another attempt cannot be this one's: what happened is not known.
pub(super) fn disown_taken_number(
    tx: &Tx<'_>,
    attempt: AttemptId,
    settlement: Settlement,
) -> Result<Settlement, Error> {
    let (column, number, reason, replay) = match settlement {
        Settlement::Complete(Learned::Dispatched(Some(run))) => (
            NumberColumn::WorkflowRun,
            run.get(),
            Reason::ForgeDispatchUncertain,
            ReplayClass::DispatchUncertain,
        ),
        Settlement::Complete(Learned::CheckRun(run)) => (
            NumberColumn::CheckRun,
            run.get(),
            Reason::ForgeCheckRunCreateUncertain,
            ReplayClass::CreateUncertain,
        ),
        other => return Ok(other),
    };
    Ok(if releases::number_is_taken(tx, column, number, attempt)? {
        Settlement::Bury(reason, ErrorClass::Protocol, replay)
    } else {
        settlement
    })
}

/// Writes what becomes of a message; returns it, since a message that a later one replaces is not tried
/// again.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    fence: Fence,
    (target, attempt): (Target, AttemptId),
    settlement: Settlement,
    in_doubt: bool,
) -> Result<Settlement, Error> {
    if matches!(settlement, Settlement::Bury(_, _, ReplayClass::BindingMismatch)) {
        releases::check_run_is_not_ours(tx, attempt)?;
    }
    if !matches!(settlement, Settlement::Complete(_)) && outbox::is_overtaken(tx, fence)? {
        finish(tx, fence, OutboxStatus::Superseded, false)?;
        outbox::advance(tx, attempt)?;
        return Ok(Settlement::Superseded);
    }
    match settlement {
        Settlement::Complete(learned) => {
            finish(tx, fence, OutboxStatus::Completed, false)?;
            match learned {
                Learned::Dispatched(run) => releases::dispatched(tx, target, attempt, run)?,
                Learned::CheckRun(run) => releases::check_run_exists(tx, attempt, run)?,
                Learned::Nothing => endings::told(tx, fence, attempt)?,
            }
            outbox::advance(tx, attempt)?;
        }
        Settlement::RetryAt(instant) => {
            give_back(tx, fence, instant, in_doubt, Uncounted::Nothing)?;
        }
        Settlement::WaitUntil(instant) => give_back(tx, fence, instant, in_doubt, Uncounted::Try)?,
        Settlement::WaitForLag(instant) => give_back(tx, fence, instant, in_doubt, Uncounted::Lag)?,
        Settlement::Bury(reason, class, replay_class) => {
            finish(tx, fence, OutboxStatus::DeadLetter, replay_class.is_uncertain())?;
            bury(tx, fence, reason, class, replay_class)?;
            // Another holder may have seen a check run that is not ours while this one wrote to it.
            if releases::is_check_run_foreign(tx, attempt)? {
                dead_letters::reclassify_updates(tx, attempt, ReplayClass::BindingMismatch)?;
            }
        }
        Settlement::Superseded => finish(tx, fence, OutboxStatus::Superseded, false)?,
    }
    Ok(settlement)
}

/// What a message that is given back is not counted for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Uncounted {
    /// Its try counts.
    Nothing,
    /// Its try does not count.
    Try,
    /// Its try does not count, but as a return because of lag.
    Lag,
}

fn give_back(
    tx: &Tx<'_>,
    fence: Fence,
    available_at: Timestamp,
    in_doubt: bool,
    uncounted: Uncounted,
) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE outbox SET status = 'available', available_at = :available, \
                attempt_count = attempt_count - :uncounted, lag_count = lag_count + :lag, \
                send_began_at = iif(:in_doubt, send_began_at, NULL), lease_owner = NULL, \
                claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id AND claim_id = :claim",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":available": available_at.micros(),
            ":uncounted": uncounted != Uncounted::Nothing,
            ":lag": uncounted == Uncounted::Lag,
            ":in_doubt": in_doubt,
            ":now": tx.now.micros(),
        })?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn finish(tx: &Tx<'_>, fence: Fence, status: OutboxStatus, in_doubt: bool) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE outbox SET status = :status, \
                send_began_at = iif(:in_doubt, coalesce(send_began_at, :now), NULL), \
                payload = iif(:status = 'dead_letter', payload, ''), \
                lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now, \
                finished_at = :now \
             WHERE id = :id AND claim_id = :claim",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":status": status.as_str(),
            ":in_doubt": in_doubt,
            ":now": tx.now.micros(),
        })?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn bury(
    tx: &Tx<'_>,
    fence: Fence,
    reason: Reason,
    error_class: ErrorClass,
    replay_class: ReplayClass,
) -> Result<(), Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT o.outbox_id, o.installation_id, p.full_name, o.attempt_count FROM outbox o \
         LEFT JOIN repositories p ON p.repository_id = o.repository_id \
            AND p.installation_id = o.installation_id \
         WHERE o.id = :id",
    )?;
    let mut rows = statement.query(named_params! { ":id": fence.row })?;
    let row = rows.next()?.ok_or(Error::Row("outbox_id"))?;
    dead_letters::add(
        tx,
        row::number(row, "installation_id")?,
        &dead_letters::Burial {
            item: ItemId::Outbox(row::id(row, "outbox_id")?),
            repository: row.get("full_name")?,
            reason,
            error_class,
            attempt_count: row.get("attempt_count")?,
            replay_class,
        },
    )
}
