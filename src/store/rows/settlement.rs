//! What a settlement writes: the message's end or its next try, what was learned, the dead letter; all in
//! the transaction that settles it.

use crate::domain::dead_letter::{
    DeadLetterReason, ErrorClass, FailureCause, ItemId, ReplayClass, Resolution,
};
use crate::domain::id::{AttemptId, OutboxId};
use crate::domain::lease::{Fence, RowHandle};
use crate::domain::outbox::{EffectKind, Learned, OutboxStatus, SendResult, Settlement};
use crate::domain::reconcile::uncertain;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::target::Target;
use crate::store::rows::{attempts, dead_letters, outbox, release_end, target};
use crate::store::sql::value::Value;
use crate::store::sql::{Tx, params};

/// A message whose effect may have happened.
pub(in crate::store) struct UncertainEffect {
    row: RowHandle,
    id: OutboxId,
    target: Target,
}

/// Finds the message of that kind of an attempt that was given up with an uncertain effect, and was not closed. The
/// status is compared twice because only the list of words lets SQLite use the index of unfinished messages.
pub(in crate::store) fn find_uncertain(
    tx: &Tx<'_>,
    attempt: AttemptId,
    kind: EffectKind,
) -> Result<Option<UncertainEffect>, Error> {
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE attempt_id = :attempt AND kind = :kind AND send_began_at IS NOT NULL \
            AND status IN ('held', 'available', 'leased', 'dead_letter') AND status = 'dead_letter' \
            AND payload <> ''";
    find(tx, sql, params! { ":attempt": attempt, ":kind": kind })
}

/// Finds the unfinished dispatch of an attempt, claimed or not, and however it went.
pub(in crate::store) fn unfinished_dispatch(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<Option<UncertainEffect>, Error> {
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE attempt_id = :attempt AND kind = 'workflow_dispatch' \
            AND status IN ('held', 'available', 'leased', 'dead_letter')";
    find(tx, sql, params! { ":attempt": attempt })
}

fn find(
    tx: &Tx<'_>,
    sql: &str,
    params: &[(&'static str, Value<'_>)],
) -> Result<Option<UncertainEffect>, Error> {
    tx.query_one(sql, params, |row| {
        let (id, target) = (row.get("outbox_id")?, target::of_message(row)?);
        Ok(UncertainEffect { row: row.get("id")?, id, target })
    })
}

/// Confirms that the effect happened. The message completes, its dead letter closes, and what was held
/// behind it goes on. Returns whether what was found can be this attempt's at all.
pub(in crate::store) fn confirm_effect(
    tx: &mut Tx<'_>,
    message: &UncertainEffect,
    proof: uncertain::Proof,
) -> Result<bool, Error> {
    let attempt = message.target.attempt;
    if attempts::is_taken(tx, proof, attempt)? {
        return Ok(false);
    }
    // A message that is still claimed has no dead letter; nothing is changed then.
    dead_letters::resolve(tx, ItemId::Outbox(message.id), Resolution::Completed)?;
    tx.execute(
        "UPDATE outbox SET status = 'completed', send_began_at = NULL, payload = '', \
         lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, \
         finished_at = coalesce(finished_at, :now), updated_at = :now WHERE id = :id",
        params! { ":id": message.row, ":now": tx.now },
    )?;
    match proof {
        uncertain::Proof::WorkflowRun(run) => attempts::dispatched(tx, message.target, Some(run))?,
        uncertain::Proof::CheckRun(run) => attempts::check_run_exists(tx, attempt, run)?,
    }
    outbox::advance(tx, attempt)?;
    Ok(true)
}

/// Records that the effect did not happen: an operator may replay it.
pub(in crate::store) fn rule_out_effect(
    tx: &Tx<'_>,
    message: &UncertainEffect,
) -> Result<(), Error> {
    dead_letters::reclassify(tx, ItemId::Outbox(message.id), ReplayClass::ProvedAbsent)
}

/// An answer that came after its lease was lost counts when it names the run of a dispatch that was given
/// up meanwhile.
///
/// # Errors
/// [`Error::LeaseLost`] when it proves nothing, or the effect is not uncertain.
pub(in crate::store) fn confirm_late_effect(
    tx: &mut Tx<'_>,
    fence: Fence,
    result: SendResult,
) -> Result<Settlement, Error> {
    // Only the number of a run is evidence; without it nothing ties the late answer to this request.
    let SendResult::Dispatched(Some(run)) = result else { return Err(Error::LeaseLost) };
    let sql = "SELECT id, installation_id, repository_id, release_run_id, attempt_id, outbox_id \
         FROM outbox WHERE id = :id AND kind = 'workflow_dispatch' \
            AND status = 'dead_letter' AND send_began_at IS NOT NULL AND payload <> ''";
    let message = find(tx, sql, params! { ":id": fence.row })?.ok_or(Error::LeaseLost)?;
    // The number belongs to another attempt, so this answer says nothing about the dispatch.
    if !confirm_effect(tx, &message, uncertain::Proof::WorkflowRun(run))? {
        return Err(Error::LeaseLost);
    }
    Ok(Settlement::Complete(Learned::Dispatched(Some(run))))
}

/// A number the forge gave to another attempt cannot be this one's: what happened is not known.
pub(in crate::store) fn disown_taken_number(
    tx: &Tx<'_>,
    attempt: AttemptId,
    settlement: Settlement,
) -> Result<Settlement, Error> {
    let (number, reason, replay) = match settlement {
        Settlement::Complete(Learned::Dispatched(Some(run))) => (
            uncertain::Proof::WorkflowRun(run),
            DeadLetterReason::ForgeDispatchUncertain,
            ReplayClass::DispatchUncertain,
        ),
        Settlement::Complete(Learned::CheckRun(run)) => (
            uncertain::Proof::CheckRun(run),
            DeadLetterReason::ForgeCheckRunCreateUncertain,
            ReplayClass::CreateUncertain,
        ),
        other => return Ok(other),
    };
    Ok(if attempts::is_taken(tx, number, attempt)? {
        Settlement::DeadLetter(reason, ErrorClass::Protocol, replay)
    } else {
        settlement
    })
}

/// Writes what becomes of a message; returns it, since a message that a later one replaces is not tried
/// again.
pub(in crate::store) fn apply(
    tx: &mut Tx<'_>,
    fence: Fence,
    target: Target,
    settlement: Settlement,
    uncertain: bool,
    cause: Option<FailureCause>,
) -> Result<Settlement, Error> {
    let attempt = target.attempt;
    if matches!(settlement, Settlement::DeadLetter(_, _, ReplayClass::BindingMismatch)) {
        attempts::check_run_is_not_ours(tx, attempt)?;
    }
    if !matches!(settlement, Settlement::Complete(_)) && outbox::is_overtaken(tx, fence, attempt)? {
        finish(tx, fence, OutboxStatus::Superseded, false)?;
        outbox::advance(tx, attempt)?;
        return Ok(Settlement::Superseded);
    }
    match settlement {
        Settlement::Complete(learned) => {
            finish(tx, fence, OutboxStatus::Completed, false)?;
            match learned {
                Learned::Dispatched(run) => attempts::dispatched(tx, target, run)?,
                Learned::CheckRun(run) => attempts::check_run_exists(tx, attempt, run)?,
                // Only an update of a check run teaches nothing; whether it was the final one is decided there.
                Learned::Nothing => release_end::mark_published(tx, fence, attempt)?,
            }
            outbox::advance(tx, attempt)?;
        }
        Settlement::RetryAt(instant) => {
            give_back(tx, fence, instant, uncertain, Uncounted::Nothing)?;
        }
        Settlement::WaitUntil(instant) => give_back(tx, fence, instant, uncertain, Uncounted::Try)?,
        Settlement::WaitForLag(instant) => {
            give_back(tx, fence, instant, uncertain, Uncounted::Lag)?;
        }
        Settlement::DeadLetter(reason, class, replay_class) => {
            finish(tx, fence, OutboxStatus::DeadLetter, replay_class.is_uncertain())?;
            dead_letter(tx, fence, reason, class, cause, replay_class)?;
            // Another holder may have seen a check run that is not ours while this one wrote to it.
            if attempts::is_check_run_foreign(tx, attempt)? {
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
    uncertain: bool,
    uncounted: Uncounted,
) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE outbox SET status = 'available', available_at = :available, \
            attempt_count = attempt_count - :uncounted, lag_count = lag_count + :lag, \
            send_began_at = iif(:in_doubt, send_began_at, NULL), lease_owner = NULL, \
            claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
         WHERE id = :id AND claim_id = :claim",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":available": available_at,
            ":uncounted": uncounted != Uncounted::Nothing,
            ":lag": uncounted == Uncounted::Lag,
            ":in_doubt": uncertain,
            ":now": tx.now,
        },
    )?;
    // Compared at the write, not before it: the lease may have ended during the call to the forge.
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn finish(tx: &Tx<'_>, fence: Fence, status: OutboxStatus, uncertain: bool) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE outbox SET status = :status, \
            send_began_at = iif(:in_doubt, coalesce(send_began_at, :now), NULL), \
            payload = iif(:status = 'dead_letter', payload, ''), \
            lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now, \
            finished_at = :now \
         WHERE id = :id AND claim_id = :claim",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":status": status,
            ":in_doubt": uncertain,
            ":now": tx.now,
        },
    )?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

fn dead_letter(
    tx: &Tx<'_>,
    fence: Fence,
    reason: DeadLetterReason,
    error_class: ErrorClass,
    cause: Option<FailureCause>,
    replay_class: ReplayClass,
) -> Result<(), Error> {
    let found = tx.query_one(
        "SELECT o.outbox_id, o.installation_id, p.full_name, o.attempt_count, o.kind, \
            o.release_run_id, o.attempt_id FROM outbox o \
         LEFT JOIN repositories p ON p.repository_id = o.repository_id \
            AND p.installation_id = o.installation_id \
         WHERE o.id = :id",
        params! { ":id": fence.row },
        |row| {
            let dead_letter = dead_letters::NewDeadLetter {
                item: ItemId::Outbox(row.get("outbox_id")?),
                repository: row.get("full_name")?,
                reason,
                error_class,
                cause,
                attempt_count: row.get("attempt_count")?,
                replay_class,
                work: dead_letters::Work::Effect {
                    kind: row.get("kind")?,
                    release_run: row.get("release_run_id")?,
                    attempt: row.get("attempt_id")?,
                },
            };
            Ok((row.get("installation_id")?, dead_letter))
        },
    )?;
    let (installation, dead_letter) = found.ok_or(Error::Row("outbox_id"))?;
    dead_letters::add(tx, installation, &dead_letter)
}
