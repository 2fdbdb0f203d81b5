//! What a settlement writes: the message's end or its next try, what was learned, the dead letter, the
//! pause of an installation; all in the transaction that settles it.

use rusqlite::named_params;

use crate::domain::dead_letter::{ErrorClass, ItemId, Reason, ReplayClass};
use crate::domain::id::{AttemptId, InstallationId};
use crate::domain::lease::Fence;
use crate::domain::outbox::{Learned, OutboxStatus, SendResult, Settlement};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::releases::{NumberColumn, Target};
use crate::store::sqlite::writer::Tx;
use crate::store::sqlite::{dead_letters, outbox, releases, row};

/// Ends the doubt about a dispatch that was given up: its run is known now. The message completes,
/// its dead letter closes, and what was held behind it goes on.
///
/// # Errors
/// [`Error::LeaseLost`] when it proves nothing, or there is no such doubt.
pub(super) fn prove(
    tx: &mut Tx<'_>,
    fence: Fence,
    result: SendResult,
) -> Result<Settlement, Error> {
    let SendResult::Dispatched(Some(run)) = result else { return Err(Error::LeaseLost) };
    let (target, attempt) = {
        let mut statement = tx.connection.prepare_cached(
            "SELECT installation_id, repository_id, release_run_id, attempt_id, outbox_id \
             FROM outbox WHERE id = :id AND kind = 'workflow_dispatch' \
                AND status = 'dead_letter' AND send_began_at IS NOT NULL",
        )?;
        let mut rows = statement.query(named_params! { ":id": fence.row })?;
        let row = rows.next()?.ok_or(Error::LeaseLost)?;
        let item = ItemId::Outbox(row::id(row, "outbox_id")?);
        dead_letters::resolve(tx, item, "completed")?;
        outbox::target(row)?
    };
    if releases::number_is_taken(tx, NumberColumn::WorkflowRun, run.get(), attempt)? {
        return Err(Error::LeaseLost);
    }
    tx.connection
        .prepare_cached(
            "UPDATE outbox SET status = 'completed', send_began_at = NULL, payload = '', \
                updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! { ":id": fence.row, ":now": tx.now.micros() })?;
    releases::dispatched(tx, target, attempt, Some(run))?;
    outbox::advance(tx, attempt)?;
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

pub(super) fn apply(
    tx: &mut Tx<'_>,
    fence: Fence,
    (target, attempt): (Target, AttemptId),
    settlement: Settlement,
    in_doubt: bool,
) -> Result<(), Error> {
    match settlement {
        Settlement::Complete(learned) => {
            finish(tx, fence, OutboxStatus::Completed, false)?;
            match learned {
                Learned::Dispatched(run) => releases::dispatched(tx, target, attempt, run)?,
                Learned::CheckRun(run) => releases::check_run_exists(tx, attempt, run)?,
                Learned::Nothing => {}
            }
            outbox::advance(tx, attempt)
        }
        Settlement::RetryAt(instant) => give_back(tx, fence, instant, in_doubt, 0),
        Settlement::WaitUntil(instant) => give_back(tx, fence, instant, in_doubt, 1),
        Settlement::Bury(reason, class, replay_class) => {
            finish(tx, fence, OutboxStatus::DeadLetter, !replay_class.is_safe())?;
            bury(tx, fence, reason, class, replay_class)
        }
    }
}

fn give_back(
    tx: &Tx<'_>,
    fence: Fence,
    available_at: Timestamp,
    in_doubt: bool,
    uncounted: u32,
) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE outbox SET status = 'available', available_at = :available, \
                attempt_count = attempt_count - :uncounted, \
                send_began_at = iif(:in_doubt, send_began_at, NULL), lease_owner = NULL, \
                claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id AND claim_id = :claim",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":available": available_at.micros(),
            ":uncounted": uncounted,
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

/// Pauses an installation for every process; a longer pause stands.
pub(super) fn pause(
    tx: &Tx<'_>,
    installation: InstallationId,
    until: Timestamp,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO installation_pauses (installation_id, paused_until, updated_at) \
             VALUES (:id, :until, :now) ON CONFLICT (installation_id) DO UPDATE SET \
                paused_until = max(paused_until, excluded.paused_until), \
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":id": installation.get(),
            ":until": until.micros(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}
