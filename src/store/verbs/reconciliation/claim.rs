//! Claiming an item: whose turn it is, what it is about now, or that there is nothing left to look at.

use std::time::Duration;

use crate::domain::id::InstallationId;
use crate::domain::lease::{Claim, RowHandle, Vanished, after_vanished};
use crate::domain::reconcile::task::{ReconcileTask, Subject};
use crate::domain::reconcile::{ReconcileCode, ReconcileKind, ReconcileStatus, VANISHED_MAX};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::items::Due;
use crate::store::rows::lease::LeaseQueue;
use crate::store::rows::{forge_limits, items, lease, publication, subject, ticks, turns};
use crate::store::sql::{Tx, params};
use crate::store::types::{Closed, Polled};

/// Items that one claim closes before it lets others have the writer.
const CLAIM_CLOSES_MAX: u32 = 64;

enum Next {
    Claimed(Box<Claim<ReconcileTask>>),
    MoreDue,
    /// Something is due, of installations that must wait.
    NoneAdmitted,
    NothingDue,
}

impl Store {
    /// Claims the item of a reconciler whose turn it is: claims go round the installations that have
    /// something due. One that asks the forge is claimed only while its installation is not paused, has
    /// looks left, and is not among the `full` ones.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was claimed.
    pub fn claim_reconcile(
        &self,
        kind: ReconcileKind,
        owner: &str,
        lease: Duration,
        full: Vec<InstallationId>,
    ) -> Result<Polled, Error> {
        let owner = owner.to_owned();
        let (polled, expired) = self.write(move |tx| {
            let (mut closed, expired) = take_back_expired(tx, kind)?;
            let claim = claim(tx, kind, &owner, lease, &full, &mut closed)?;
            let (claim, more, succeeded) = match claim {
                // The observation that follows says whether it succeeded.
                Next::Claimed(claim) => (Some(claim), true, false),
                Next::MoreDue => (None, true, false),
                Next::NoneAdmitted => (None, false, false),
                // Idle polls go on through an outage of the forge, between the lookups that fail.
                // (docs/decisions/90-reconciliation-success.md)
                Next::NothingDue => (None, false, !items::any_unavailable(tx, kind)?),
            };
            ticks::note(tx, kind.worker(), succeeded, ticks::RECONCILERS_EVERY)?;
            Ok((Polled { closed, claim, more }, expired))
        })?;
        self.count_lease_expiries(expired);
        Ok(polled)
    }
}

fn claim(
    tx: &mut Tx<'_>,
    kind: ReconcileKind,
    owner: &str,
    lease: Duration,
    full: &[InstallationId],
    closed: &mut Vec<Closed>,
) -> Result<Next, Error> {
    for _ in 0..CLAIM_CLOSES_MAX {
        if !any_due(tx, kind)? {
            return Ok(Next::NothingDue);
        }
        let Some(due) = next_due(tx, kind, full)? else {
            return Ok(Next::NoneAdmitted);
        };
        let loaded = match subject::load(tx, &due) {
            // One that cannot be read ends here, so that it does not keep others from being looked at.
            Err(Error::Row(_)) => Err(ReconcileCode::SubjectUnreadable),
            loaded => loaded?,
        };
        let subject = match loaded {
            Ok(subject) => subject,
            Err(code) => {
                if code == ReconcileCode::ForgeCheckRunBindingMismatch {
                    let release_run = due.subject.parse().map_err(|_| Error::Row("subject_id"))?;
                    publication::record_failure(tx, due.installation, release_run, code)?;
                }
                close_unclaimed(tx, due.waiting.row, code)?;
                closed.push(Closed { id: due.id, reason: due.reason, code });
                // Closing needs no lookup at the forge, so the budget of the installation is not charged.
                continue;
            }
        };
        if kind.asks_the_forge() {
            // Charged with the claim, not after the call: a crash in between must not give the lookup back.
            forge_limits::take_lookup(tx, due.installation)?;
        }
        let fence = lease::take(tx, LeaseQueue::Reconciliation, due.waiting, owner, lease)?;
        let task = task(tx, &due, subject)?;
        return Ok(Next::Claimed(Box::new(Claim { item: task, fence })));
    }
    Ok(Next::MoreDue)
}

fn any_due(tx: &Tx<'_>, kind: ReconcileKind) -> Result<bool, Error> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM reconciliation_items \
         WHERE status = 'open' AND kind = :kind AND next_check_at <= :now)",
        params! { ":kind": kind, ":now": tx.now },
    )
}

/// Finds the next item that is due of the installation whose turn it is.
fn next_due(
    tx: &Tx<'_>,
    kind: ReconcileKind,
    full: &[InstallationId],
) -> Result<Option<Due>, Error> {
    let admits = |installation| {
        Ok(!kind.asks_the_forge()
            || (!full.contains(&installation) && forge_limits::may_look_up(tx, installation)?))
    };
    let behind = |after| waiting_behind(tx, kind, after);
    let turn = turns::next(tx, kind.as_str(), 1, behind, admits)?;
    let Some(installation) = turn.first().copied() else { return Ok(None) };
    tx.query_one(
        "SELECT id, fencing_token, reconciliation_id, reason, subject_id, attempt_id, \
            installation_id, deadline_at, refused_state \
         FROM reconciliation_items \
         WHERE status = 'open' AND kind = :kind AND installation_id = :installation \
            AND next_check_at <= :now \
         ORDER BY next_check_at, id LIMIT 1",
        params! { ":kind": kind, ":installation": installation, ":now": tx.now },
        items::due,
    )
}

fn waiting_behind(
    tx: &Tx<'_>,
    kind: ReconcileKind,
    after: i64,
) -> Result<Option<turns::Waiting>, Error> {
    tx.query_one(
        "SELECT installation_id, next_check_at FROM reconciliation_items \
         WHERE status = 'open' AND kind = :kind AND installation_id > :after \
         ORDER BY installation_id, next_check_at LIMIT 1",
        params! { ":kind": kind, ":after": after },
        |row| turns::waiting(row, "next_check_at"),
    )
}

fn task(tx: &Tx<'_>, due: &Due, subject: Subject) -> Result<ReconcileTask, Error> {
    Ok(ReconcileTask {
        id: due.id,
        reason: due.reason,
        deadline: due.deadline,
        installation: due.installation,
        repository: subject::repository(tx, due.installation, &subject)?,
        subject,
    })
}

/// An item whose holder vanished, and what is returned of it if it is given up.
struct Expired {
    row: RowHandle,
    given_up: Option<Closed>,
}

/// Opens items again whose holder vanished; gives up items whose holders keep vanishing. Returns these, and how
/// many leases ran out.
fn take_back_expired(tx: &Tx<'_>, kind: ReconcileKind) -> Result<(Vec<Closed>, usize), Error> {
    let expired = tx.query(
        "SELECT id, vanished_count, reconciliation_id, reason FROM reconciliation_items \
         WHERE status = 'leased' AND lease_expires_at <= :now AND kind = :kind \
         ORDER BY lease_expires_at LIMIT +:limit",
        params! { ":kind": kind, ":limit": CLAIM_CLOSES_MAX, ":now": tx.now },
        |row| {
            let count = row.get::<u32>("vanished_count")?.saturating_add(1);
            let given_up = match after_vanished(count, VANISHED_MAX) {
                Vanished::GiveBack => None,
                Vanished::GiveUp => Some(Closed {
                    id: row.get("reconciliation_id")?,
                    reason: row.get("reason")?,
                    code: ReconcileCode::CrashLoop,
                }),
            };
            Ok(Expired { row: row.get("id")?, given_up })
        },
    )?;
    for Expired { row, given_up } in &expired {
        let code = given_up.map(|closed| closed.code);
        tx.execute(
            "UPDATE reconciliation_items SET vanished_count = vanished_count + 1, \
                status = :status, outcome_code = coalesce(:code, outcome_code), \
                finished_at = :finished_at, next_check_at = :now, lease_owner = NULL, \
                claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
             WHERE id = :id",
            params! {
                ":id": *row,
                ":status": code.map_or(ReconcileStatus::Open, ReconcileCode::final_status),
                ":code": code,
                ":finished_at": code.map(|_| tx.now),
                ":now": tx.now,
            },
        )?;
    }
    let count = expired.len();
    Ok((expired.into_iter().filter_map(|item| item.given_up).collect(), count))
}

fn close_unclaimed(tx: &Tx<'_>, row: RowHandle, code: ReconcileCode) -> Result<(), Error> {
    tx.execute(
        "UPDATE reconciliation_items SET status = :status, outcome_code = :code, \
         finished_at = :now, updated_at = :now WHERE id = :id",
        params! {
            ":id": row,
            ":status": code.final_status(),
            ":code": code,
            ":now": tx.now,
        },
    )?;
    Ok(())
}
