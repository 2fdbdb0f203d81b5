//! Reconciliation items: opened once for what is amiss with a subject, claimed with a lease, looked at,
//! and put off or finished. A finished item keeps its subject from being found again.

mod apply;
mod budget;
mod detect;
mod subject;

use std::time::Duration;

use rusqlite::{OptionalExtension as _, Row, named_params};

use crate::domain::id::{InstallationId, ReconciliationId};
use crate::domain::lease::{Claim, Fence};
use crate::domain::reconcile::look::{Look, Settled, Subject};
use crate::domain::reconcile::{Code, Kind, Reason, Rules};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{Store, lease, retention, row};

pub use apply::Observation;
pub use detect::Detected;
pub(super) use subject::standing_of;

/// Items that one claim puts off or closes before it lets others have the writer.
const CLAIM_LOOKS_MAX: u32 = 64;
/// Holders of one item that may vanish before it is given up.
const VANISHED_MAX: u32 = 8;

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
    /// Claims the next due item of a reconciler.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_look(&self, kind: Kind, owner: &str, lease: Duration) -> Result<Polled, Error> {
        let owner = owner.to_owned();
        let (polled, expired) = self.write(move |tx| {
            let (mut closed, expired) = take_back_expired(tx, kind)?;
            let claim = claim(tx, kind, (&owner, lease), &mut closed)?;
            let more = !matches!(claim, Next::NothingDue);
            retention::tick(tx, kind.worker(), !more, TICK_EVERY)?;
            let claim = match claim {
                Next::Claimed(claim) => Some(claim),
                Next::LookAgain | Next::NothingDue => None,
            };
            Ok((Polled { closed, claim, more }, expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(polled)
    }

    /// Gives a claimed item back as if it had not been claimed: nothing was learned about it.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when the claim is no longer ours.
    pub fn postpone_look(&self, claim: &Claim<Look>) -> Result<(), Error> {
        let fence = claim.fence;
        self.write(move |tx| {
            give_back(
                tx,
                fence,
                &Back { at: tx.now, code: None, uncounted: 1, deadline_max: Timestamp::MAX },
            )
        })
    }

    /// Confirms that at least `needed` of the lease is left.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]: nothing may be written at the forge.
    pub fn confirm_look(&self, claim: &Claim<Look>, needed: Duration) -> Result<(), Error> {
        let fence = claim.fence;
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
            if holds { Ok(()) } else { Err(Error::LeaseLost) }
        })
    }
}

enum Next {
    Claimed(Box<Claim<Look>>),
    LookAgain,
    NothingDue,
}

/// Columns of an item that is not claimed yet.
struct Due {
    row: i64,
    token: i64,
    id: ReconciliationId,
    reason: Reason,
    subject: String,
    /// The attempt it was opened about; nothing for an inbox row.
    attempt: Option<String>,
    installation: InstallationId,
    deadline: Timestamp,
}

fn claim(
    tx: &mut Tx<'_>,
    kind: Kind,
    (owner, lease): (&str, Duration),
    closed: &mut Vec<Closed>,
) -> Result<Next, Error> {
    for _ in 0..CLAIM_LOOKS_MAX {
        let Some(due) = next_due(tx, kind)? else { return Ok(Next::NothingDue) };
        let loaded = match subject::load(tx, &due) {
            // One that cannot be read ends here, so that it does not keep others from being looked at.
            Err(Error::Row(_)) => Err(Code::SubjectUnreadable),
            loaded => loaded?,
        };
        let subject = match loaded {
            Ok(subject) => subject,
            Err(code) => {
                close_unclaimed(tx, due.row, code)?;
                closed.push(Closed { id: due.id, reason: due.reason, code });
                continue;
            }
        };
        if kind != Kind::WebhookInbox
            && let Some(until) = budget::exhausted_until(tx, due.installation)?
        {
            put_off(tx, due.row, until)?;
            continue;
        }
        let fence =
            lease::take(tx, ("reconciliation_items", "open"), (due.row, due.token), owner, lease)?;
        let look = look(tx, &due, subject)?;
        return Ok(Next::Claimed(Box::new(Claim { item: look, fence })));
    }
    Ok(Next::LookAgain)
}

fn next_due(tx: &Tx<'_>, kind: Kind) -> Result<Option<Due>, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT id, fencing_token, reconciliation_id, reason, subject_id, attempt_id, \
            installation_id, deadline_at \
         FROM reconciliation_items \
         WHERE status = 'open' AND kind = :kind AND next_check_at <= :now \
         ORDER BY next_check_at, id LIMIT 1",
    )?;
    let mut rows =
        statement.query(named_params! { ":kind": kind.as_str(), ":now": tx.now.micros() })?;
    rows.next()?
        .map(|row| {
            Ok(Due {
                row: row.get("id")?,
                token: row.get("fencing_token")?,
                id: row::id(row, "reconciliation_id")?,
                reason: reason(row)?,
                subject: row.get("subject_id")?,
                attempt: row.get("attempt_id")?,
                installation: row::number(row, "installation_id")?,
                deadline: row::instant(row, "deadline_at")?,
            })
        })
        .transpose()
}

fn reason(row: &Row<'_>) -> Result<Reason, Error> {
    row::read(row, "reason", |word: String| Reason::from_word(&word))
}

fn look(tx: &Tx<'_>, due: &Due, subject: Subject) -> Result<Look, Error> {
    Ok(Look {
        id: due.id,
        reason: due.reason,
        deadline: due.deadline,
        installation: due.installation,
        repository: subject::repository(tx, due.installation, &subject)?,
        subject,
    })
}

/// Opens items whose holder vanished again; gives up those that nobody survives. Returns these, and how
/// many leases ran out.
fn take_back_expired(tx: &Tx<'_>, kind: Kind) -> Result<(Vec<Closed>, usize), Error> {
    let mut statement = tx.connection.prepare_cached(
        "UPDATE reconciliation_items SET vanished_count = vanished_count + 1, \
            status = iif(vanished_count + 1 >= :vanished_max, 'dead_letter', 'open'), \
            outcome_code = iif(vanished_count + 1 >= :vanished_max, :crash_loop, outcome_code), \
            finished_at = iif(vanished_count + 1 >= :vanished_max, :now, NULL), \
            next_check_at = :now, lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, \
            updated_at = :now \
         WHERE id IN (SELECT id FROM reconciliation_items WHERE status = 'leased' \
            AND lease_expires_at <= :now AND kind = :kind ORDER BY lease_expires_at LIMIT +:limit) \
         RETURNING status, reconciliation_id, reason",
    )?;
    let mut rows = statement.query(named_params! {
        ":kind": kind.as_str(),
        ":vanished_max": VANISHED_MAX,
        ":crash_loop": Code::CrashLoop.as_str(),
        ":limit": CLAIM_LOOKS_MAX,
        ":now": tx.now.micros(),
    })?;
    let (mut closed, mut expired) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        expired += 1;
        if row.get::<_, String>("status")? == "dead_letter" {
            let id = row::id(row, "reconciliation_id")?;
            closed.push(Closed { id, reason: reason(row)?, code: Code::CrashLoop });
        }
    }
    Ok((closed, expired))
}

fn put_off(tx: &Tx<'_>, row: i64, until: Timestamp) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE reconciliation_items SET next_check_at = :until, updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! { ":id": row, ":until": until.micros(), ":now": tx.now.micros() })?;
    Ok(())
}

fn close_unclaimed(tx: &Tx<'_>, row: i64, code: Code) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE reconciliation_items SET status = :status, outcome_code = :code, \
                finished_at = :now, updated_at = :now WHERE id = :id",
        )?
        .execute(named_params! {
            ":id": row,
            ":status": if code.is_dead() { "dead_letter" } else { "completed" },
            ":code": code.as_str(),
            ":now": tx.now.micros(),
        })?;
    Ok(())
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
    /// A later deadline was set by a clock that was ahead.
    deadline_max: Timestamp,
}

fn give_back(tx: &Tx<'_>, fence: Fence, back: &Back) -> Result<(), Error> {
    let changed = tx
        .connection
        .prepare_cached(
            "UPDATE reconciliation_items SET status = 'open', next_check_at = :at, \
                outcome_code = coalesce(:code, outcome_code), vanished_count = 0, \
                deadline_at = min(deadline_at, :deadline_max), \
                attempt_count = attempt_count - :uncounted, lease_owner = NULL, claim_id = NULL, \
                lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .execute(named_params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":at": back.at.micros(),
            ":code": back.code.map(Code::as_str),
            ":uncounted": back.uncounted,
            ":deadline_max": back.deadline_max.micros(),
            ":now": tx.now.micros(),
        })?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

/// Checks that the claim is still ours; returns the item's deadline.
fn held(tx: &Tx<'_>, fence: Fence) -> Result<Timestamp, Error> {
    tx.connection
        .prepare_cached(
            "SELECT deadline_at FROM reconciliation_items \
             WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        )?
        .query_row(named_params! { ":id": fence.row, ":claim": fence.claim_id }, |row| row.get(0))
        .optional()?
        .map(Timestamp::from_micros)
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
    give_back(tx, fence, &Back { at, code: Some(code), uncounted: 0, deadline_max })?;
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
