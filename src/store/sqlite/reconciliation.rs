//! Reconciliation items: opened once for what is amiss with a subject, claimed with a lease, looked at,
//! and put off or finished. A finished item keeps its subject from being found again.

mod apply;
mod claim;
mod detect;
mod given_up;
mod subject;

use std::time::Duration;

use rusqlite::{OptionalExtension as _, Row, named_params};

use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::pace::Pace;
use crate::domain::reconcile::look::{Look, Settled};
use crate::domain::reconcile::{Code, Kind, Reason, Rules};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{Store, forge_limits, retention, row};

pub use apply::Observation;
pub use detect::Detected;
pub(super) use subject::standing_of;

/// How exactly it is known when a reconciler polled last: each note is a write.
const TICK_EVERY: Duration = Duration::from_secs(4);

/// What a poll brought.
#[derive(Debug)]
pub struct Polled {
    /// Items that were finished without a look: there was nothing left to repair, or nobody survives it.
    pub closed: Vec<Closed>,
    /// An item to look at.
    pub claim: Option<Box<Claim<Look>>>,
    /// Others may be due.
    pub more: bool,
}

/// An item that was finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Its id.
    pub id: ReconciliationId,
    /// Why it was opened.
    pub reason: Reason,
    /// What it came to.
    pub code: Code,
}

impl Store {
    /// Claims the item of a reconciler whose turn it is: claims go round the installations that have
    /// something due. One that asks the forge is claimed only while its installation is not paused, has
    /// looks left, and is not among the `full` ones.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_look(
        &self,
        kind: Kind,
        owner: &str,
        lease: Duration,
        full: Vec<InstallationId>,
    ) -> Result<Polled, Error> {
        let owner = owner.to_owned();
        let (polled, expired) = self.write(move |tx| {
            let (mut closed, expired) = claim::take_back_expired(tx, kind)?;
            let claim = claim::claim(tx, kind, (&owner, lease, &full), &mut closed)?;
            let more = !matches!(claim, claim::Next::NothingDue);
            retention::tick(tx, kind.worker(), !more, TICK_EVERY)?;
            let claim = match claim {
                claim::Next::Claimed(claim) => Some(claim),
                claim::Next::LookAgain | claim::Next::NothingDue => None,
            };
            Ok((Polled { closed, claim, more }, expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(polled)
    }

    /// Gives a claimed item back as if it had not been claimed, to be looked at from then on: nothing was
    /// learned about it.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn postpone_look(&self, claim: &Claim<Look>, until: Timestamp) -> Result<(), Error> {
        let fence = claim.fence;
        self.write(move |tx| {
            let back = Back { uncounted: 1, ..Back::at(until.max(tx.now)) };
            give_back(tx, fence, &back)
        })
    }

    /// Books the write a look leads to; or returns when it may leave, because the installation is paused
    /// or has used up its writes.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when less than `needed` of the lease is left: nothing may be written at the
    /// forge.
    pub fn begin_write(
        &self,
        claim: &Claim<Look>,
        needed: Duration,
        pace: Pace,
    ) -> Result<Option<Timestamp>, Error> {
        let (fence, installation) = (claim.fence, claim.item.installation);
        self.write(move |tx| {
            let holds: bool = tx
                .connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM reconciliation_items \
                     WHERE id = :id AND claim_id = :claim AND lease_expires_at >= :needed_until)",
                )?
                .query_row(
                    named_params! {
                        ":id": fence.row,
                        ":claim": fence.claim_id,
                        ":needed_until": tx.now.plus(needed).micros(),
                    },
                    |row| row.get(0),
                )?;
            if !holds {
                return Err(Error::LeaseLost);
            }
            forge_limits::book_write(tx, installation, pace)
        })
    }
}

fn reason(row: &Row<'_>) -> Result<Reason, Error> {
    row::read(row, "reason", |word: String| Reason::from_word(&word))
}

/// Something happened to the workflow run of an attempt: when it is being reconciled, it is looked at now.
pub(super) fn look_soon(tx: &Tx<'_>, attempt: &str) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE reconciliation_items SET next_check_at = :now, updated_at = :now \
             WHERE subject_id = :attempt AND reason = :reason AND status = 'open' \
                AND next_check_at > :now",
        )?
        .execute(named_params! {
            ":attempt": attempt,
            ":reason": Reason::RunningStale.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
}

/// How a claimed item is given back.
struct Back {
    at: Timestamp,
    code: Option<Code>,
    uncounted: u32,
    /// Returns because of lag that are added.
    lag: u32,
    /// A later deadline was set by a clock that was ahead.
    deadline_max: Timestamp,
}

impl Back {
    const fn at(at: Timestamp) -> Self {
        Self { at, code: None, uncounted: 0, lag: 0, deadline_max: Timestamp::MAX }
    }
}

fn give_back(tx: &Tx<'_>, fence: Fence, back: &Back) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE reconciliation_items SET status = 'open', next_check_at = :at, \
                outcome_code = coalesce(:code, outcome_code), vanished_count = 0, \
                deadline_at = min(deadline_at, :deadline_max), \
                attempt_count = attempt_count - :uncounted, lag_count = lag_count + :lag, \
                lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":at": back.at.micros(),
            ":lag": back.lag,
            ":code": back.code.map(Code::as_str),
            ":uncounted": back.uncounted,
            ":deadline_max": back.deadline_max.micros(),
            ":now": tx.now.micros(),
        })?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

/// What is known of a claimed item when it is applied.
#[derive(Clone, Copy)]
struct Held {
    deadline: Timestamp,
    lag_count: u32,
}

/// Checks that the claim is still ours.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<Held, Error> {
    tx.connection
        .prepare_cached(
            "SELECT deadline_at, lag_count FROM reconciliation_items \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .query_row(named_params! { ":id": fence.row, ":claim": fence.claim_id }, |row| {
            let deadline = Timestamp::from_micros(row.get("deadline_at")?);
            Ok(Held { deadline, lag_count: row.get("lag_count")? })
        })
        .optional()?
        .ok_or(Error::LeaseLost)
}

/// Puts a claimed item off.
fn recheck(
    tx: &Tx<'_>,
    fence: Fence,
    (code, at): (Code, Timestamp),
    rules: &Rules,
) -> Result<Settled, Error> {
    let deadline_max = tx.now.plus(rules.deadline);
    give_back(tx, fence, &Back { code: Some(code), deadline_max, ..Back::at(at) })?;
    Ok(Settled { code, next_check_at: Some(at) })
}

/// Puts a claimed item off because what was seen may be the lag of a fresh token.
fn recheck_for_lag(tx: &Tx<'_>, fence: Fence, at: Timestamp) -> Result<Settled, Error> {
    let code = Code::ForgeTokenLag;
    give_back(tx, fence, &Back { code: Some(code), lag: 1, ..Back::at(at) })?;
    Ok(Settled { code, next_check_at: Some(at) })
}

/// Finishes a claimed item.
fn complete(tx: &Tx<'_>, fence: Fence, code: Code) -> Result<Settled, Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE reconciliation_items SET status = 'completed', outcome_code = :code, \
                lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, finished_at = :now, \
                updated_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(Settled { code, next_check_at: None }) }
}
