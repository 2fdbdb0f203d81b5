//! The outbox: side effects at the forge, each stored with its key before it is sent. Within an
//! attempt they go one after another; an unfinished one, a dead one too, holds those behind it, unless it
//! is a dead dispatch.
//!
//! The reasons for this order: `docs/decisions/08-effect-order.md`.

use std::time::Duration;

use crate::domain::dead_letter::FailureCause;
use crate::domain::event::CommitSha;
use crate::domain::id::{AttemptId, InstallationId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::outbox::{self, EffectKind, OutboxMessage, SendResult, Settlement, Tries};
use crate::domain::pace::Pace;
use crate::domain::retry::RetryPolicy;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::lease::LeaseQueue;
use crate::store::rows::target::Target;
use crate::store::rows::{attempts, effect, forge_limits, lease, row, settlement, target, turns};
use crate::store::sql::{Row, Tx, params};
use crate::store::types::LeasePolicy;
use crate::store::{Lane, Pending, Store};

/// A message that is due.
struct Due {
    message: OutboxMessage,
    waiting: lease::Waiting,
}

/// Leases that one transaction takes back, at most, so that it does not hold up its group.
const EXPIRED_MAX: u32 = 128;

impl Store {
    /// Claims the message whose turn it is: claims go round the installations that have something due, may
    /// write at that pace, are not paused, and are not among the `full` ones. One whose holder
    /// vanished is due again, or given up.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_message(
        &self,
        owner: &str,
        policy: LeasePolicy,
        pace: Pace,
        full: Vec<InstallationId>,
    ) -> Result<Option<Box<Claim<OutboxMessage>>>, Error> {
        let owner = owner.to_owned();
        let (claim, expired) = self.write(move |tx| {
            let expired = take_back_expired(tx, &policy.retry)?;
            let Some(Due { mut message, waiting }) = next_due(tx, pace, &full)? else {
                return Ok((None, expired));
            };
            let fence = lease::take(tx, LeaseQueue::Outbox, waiting, &owner, policy.lease)?;
            message.try_count = message.try_count.saturating_add(1);
            Ok((Some(Box::new(Claim { item: message, fence })), expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(claim)
    }

    /// Says whether no message waits to be sent, now or later, and none is being sent.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn is_outbox_idle(&self) -> Result<bool, Error> {
        self.read(|db| {
            db.value(
                "SELECT NOT EXISTS (SELECT 1 FROM outbox WHERE status = 'available') \
                    AND NOT EXISTS (SELECT 1 FROM outbox WHERE status = 'leased')",
                params! {},
            )
        })
    }

    /// Notes that the effect is about to leave. A later holder that finds this mark knows that it may have
    /// happened. Or returns when it may be claimed again, because the installation is paused or has used up
    /// its writes, or its check run has turned out not to be ours; then nothing is noted.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when less than `needed` of the lease is left: nothing may be sent.
    pub fn begin_send(
        &self,
        claim: &Claim<OutboxMessage>,
        needed: Duration,
        pace: Pace,
    ) -> Result<Option<Timestamp>, Error> {
        let (fence, installation) = (claim.fence, claim.item.installation);
        let (kind, attempt) = (claim.item.kind, claim.item.attempt);
        self.write(move |tx| {
            if kind == EffectKind::CheckRunUpdate && attempts::is_check_run_foreign(tx, attempt)? {
                // Claimed again at once: the next holder reads that the check run is not ours and gives the message up.
                return Ok(Some(tx.now));
            }
            // Booked first; if the lease turns out to be lost below, the error rolls the booking back.
            match forge_limits::book_write(tx, installation, pace)? {
                Some(until) => Ok(Some(until)),
                None => begin_send(tx, fence, needed).map(|()| None),
            }
        })
    }

    /// Gives back what an owner has claimed and not noted to be about to leave, as if it had not been claimed: its
    /// process ends, and [`Store::begin_send`] fails from now on. Returns how many messages these were.
    ///
    /// Handed over and not waited for, because a stop has one wait for all of its writes.
    pub fn give_back_unsent(&self, owner: &str) -> Pending<usize> {
        let owner = owner.to_owned();
        self.submit(Lane::Urgent, move |tx| {
            let unsent = tx.query(
                "SELECT id, claim_id, fencing_token FROM outbox \
                 WHERE status = 'leased' AND lease_owner = :owner AND send_began_at IS NULL \
                 ORDER BY lease_expires_at, id LIMIT +:limit",
                params! { ":owner": owner, ":limit": EXPIRED_MAX },
                lease::fence,
            )?;
            for fence in &unsent {
                let target = held(tx, *fence)?;
                settlement::apply(tx, *fence, target, Settlement::WaitUntil(tx.now), false, None)?;
            }
            Ok(unsent.len())
        })
    }

    /// Finishes a claimed message by what came of sending it. `uncertain` says that an effect may have
    /// happened and nothing has disproved it; `cause`, why the last call that failed did.
    ///
    /// An answer that names the workflow run counts after the lease was lost, too: it proves a
    /// dispatch that was given up as uncertain meanwhile.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours: nothing was recorded.
    pub fn settle_message(
        &self,
        claim: &Claim<OutboxMessage>,
        result: SendResult,
        uncertain: bool,
        cause: Option<FailureCause>,
        policy: RetryPolicy,
    ) -> Result<Settlement, Error> {
        let (fence, kind) = (claim.fence, claim.item.kind);
        let (count, lag_count) = (claim.item.try_count, claim.item.lag_count);
        self.write(move |tx| {
            let target = match held(tx, fence) {
                Err(Error::LeaseLost) => return settlement::confirm_late_effect(tx, fence, result),
                held => held?,
            };
            // Drawn here, so that the decision itself is a pure function.
            let jitter = tx.ids.fraction();
            let tries = Tries { count, lag_count, uncertain, policy: &policy, jitter };
            let settlement = settlement::disown_taken_number(
                tx,
                target.attempt,
                outbox::settle(kind, result, tries, tx.now),
            )?;
            if let Some(until) = result.pause_until() {
                forge_limits::pause(tx, target.installation, until)?;
            }
            settlement::apply(tx, fence, target, settlement, uncertain, cause)
        })
    }
}

/// A message whose holder vanished.
struct Expired {
    fence: Fence,
    kind: EffectKind,
    try_count: u32,
    uncertain: bool,
}

/// Settles messages whose holder vanished. Returns how many leases that were.
fn take_back_expired(tx: &mut Tx<'_>, policy: &RetryPolicy) -> Result<usize, Error> {
    let expired = tx.query(
        "SELECT id, claim_id, fencing_token, kind, attempt_count, send_began_at FROM outbox \
         WHERE status = 'leased' AND lease_expires_at <= :now \
         ORDER BY lease_expires_at, id LIMIT +:limit",
        params! { ":now": tx.now, ":limit": EXPIRED_MAX },
        |row| {
            Ok(Expired {
                fence: lease::fence(row)?,
                kind: row.get("kind")?,
                try_count: row.get("attempt_count")?,
                uncertain: row.get::<Option<Timestamp>>("send_began_at")?.is_some(),
            })
        },
    )?;
    for Expired { fence, kind, try_count, uncertain } in &expired {
        let target = held(tx, *fence)?;
        // The mark that the vanished holder left decides: without it nothing was sent.
        let settlement = outbox::after_vanished(*kind, *uncertain, *try_count, policy)
            .unwrap_or(Settlement::RetryAt(tx.now));
        settlement::apply(tx, *fence, target, settlement, *uncertain, None)?;
    }
    Ok(expired.len())
}

/// Finds the next message that is due of the installation whose turn it is.
fn next_due(tx: &Tx<'_>, pace: Pace, full: &[InstallationId]) -> Result<Option<Due>, Error> {
    // One look into an index: the walk over the installations costs up to 256 of them, and mostly nothing is due.
    let any_due: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM outbox WHERE status = 'available' AND available_at <= :now)",
        params! { ":now": tx.now },
    )?;
    if !any_due {
        return Ok(None);
    }
    let turn = turns::next(
        tx,
        "outbox",
        1,
        |after| waiting_behind(tx, after),
        |installation| {
            // Memory before the store: `full` is a short list of this process.
            Ok(!full.contains(&installation)
                && forge_limits::write_not_before(tx, installation, pace)?.is_none())
        },
    )?;
    let Some(installation) = turn.first() else { return Ok(None) };
    let due = tx.query_one(
        "SELECT o.id, o.fencing_token, o.outbox_id, o.attempt_count, o.lag_count, \
            o.installation_id, o.release_run_id, o.attempt_id, o.kind, o.payload, o.send_began_at, \
            a.check_run_id, a.check_run_name, a.check_run_mismatch_at, r.head_sha, \
            p.repository_id, p.full_name AS repository \
         FROM outbox o JOIN release_run_attempts a USING (attempt_id) \
         JOIN release_runs r ON r.release_run_id = o.release_run_id \
         LEFT JOIN repositories p ON p.repository_id = o.repository_id \
            AND p.installation_id = o.installation_id AND p.state = 'active' \
         WHERE o.status = 'available' AND o.installation_id = :installation \
            AND o.available_at <= :now \
         ORDER BY o.available_at, o.id LIMIT 1",
        params! { ":installation": *installation, ":now": tx.now },
        |row| Ok(Due { message: message(row)?, waiting: lease::waiting(row)? }),
    )?;
    due.ok_or(Error::Row("available_at")).map(Some)
}

fn waiting_behind(tx: &Tx<'_>, after: i64) -> Result<Option<turns::Waiting>, Error> {
    tx.query_one(
        "SELECT installation_id, available_at FROM outbox \
         WHERE status = 'available' AND installation_id > :after \
         ORDER BY installation_id, available_at LIMIT 1",
        params! { ":after": after },
        |row| turns::waiting(row, "available_at"),
    )
}

fn message(row: &Row<'_>) -> Result<OutboxMessage, Error> {
    let payload: String = row.get("payload")?;
    Ok(OutboxMessage {
        id: row.get("outbox_id")?,
        installation: row.get("installation_id")?,
        // One that does not read is as good as none: this message ends, the others go on.
        repository: row::repository(row).unwrap_or_default(),
        release_run: row.get("release_run_id")?,
        attempt: row.get("attempt_id")?,
        head_sha: CommitSha::new(&row.get::<String>("head_sha")?),
        check_run: row.get("check_run_id")?,
        check_run_name: row.get("check_run_name")?,
        check_run_is_ours: row.get::<Option<Timestamp>>("check_run_mismatch_at")?.is_none(),
        effect: effect::decode(&payload),
        kind: row.get("kind")?,
        try_count: row.get("attempt_count")?,
        lag_count: row.get("lag_count")?,
        sent_before: row.get::<Option<Timestamp>>("send_began_at")?.is_some(),
    })
}

fn begin_send(tx: &Tx<'_>, fence: Fence, needed: Duration) -> Result<(), Error> {
    let marked: Option<(EffectKind, AttemptId)> = tx.query_one(
        "UPDATE outbox SET send_began_at = :now, updated_at = :now \
         WHERE id = :id AND claim_id = :claim AND status = 'leased' \
            AND lease_expires_at >= :needed_until RETURNING kind, attempt_id",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":needed_until": tx.now.plus(needed),
            ":now": tx.now,
        },
        |row| Ok((row.get("kind")?, row.get("attempt_id")?)),
    )?;
    // The whole call must fit into the lease, or another holder could send the same effect meanwhile.
    let (kind, attempt) = marked.ok_or(Error::LeaseLost)?;
    if kind == EffectKind::WorkflowDispatch { attempts::dispatching(tx, attempt) } else { Ok(()) }
}

/// Checks that the claim is still ours; returns whose it is.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<Target, Error> {
    let held = tx.query_one(
        "SELECT installation_id, repository_id, release_run_id, attempt_id FROM outbox \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! { ":id": fence.row, ":claim": fence.claim_id },
        target::of_message,
    )?;
    held.ok_or(Error::LeaseLost)
}
