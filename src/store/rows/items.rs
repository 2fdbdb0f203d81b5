//! Reconciliation items: claimed ones are given back or finished, waiting ones are hurried.

use crate::domain::digest::Digest;
use crate::domain::id::{AttemptId, InstallationId, ReconciliationId};
use crate::domain::lease::Fence;
use crate::domain::reconcile::task::TaskOutcome;
use crate::domain::reconcile::{ReconcileCode, ReconcileKind, ReconcileReason, Rules};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::lease;
use crate::store::sql::{Row, Tx, params};

/// An item that is not claimed yet.
pub(in crate::store) struct Due {
    pub(in crate::store) waiting: lease::Waiting,
    pub(in crate::store) id: ReconciliationId,
    pub(in crate::store) reason: ReconcileReason,
    pub(in crate::store) subject: String,
    /// The attempt it was opened about; nothing for an inbox row.
    pub(in crate::store) attempt: Option<String>,
    pub(in crate::store) installation: InstallationId,
    pub(in crate::store) deadline: Timestamp,
    /// What its check run showed when the forge refused to set it.
    pub(in crate::store) refused_state: Option<Digest>,
}

/// Reads an item that is not claimed.
pub(in crate::store) fn due(row: &Row<'_>) -> Result<Due, Error> {
    Ok(Due {
        waiting: lease::waiting(row)?,
        id: row.get("reconciliation_id")?,
        reason: row.get("reason")?,
        subject: row.get("subject_id")?,
        attempt: row.get("attempt_id")?,
        installation: row.get("installation_id")?,
        deadline: row.get("deadline_at")?,
        refused_state: row.get("refused_state")?,
    })
}

/// Says whether the latest lookup of any unfinished item was not answered.
pub(in crate::store) fn any_unavailable(tx: &Tx<'_>, kind: ReconcileKind) -> Result<bool, Error> {
    for code in ReconcileCode::ALL.iter().filter(|code| code.is_unavailable()) {
        let found = tx.value(
            "SELECT EXISTS (SELECT 1 FROM reconciliation_items \
             WHERE status IN ('open', 'leased') AND kind = :kind AND outcome_code = :code)",
            params! { ":kind": kind, ":code": *code },
        )?;
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Something happened to the workflow run of an attempt: when it is being reconciled, it is looked at now.
pub(in crate::store) fn check_soon(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.execute(
        "UPDATE reconciliation_items SET next_check_at = :now, updated_at = :now \
         WHERE subject_id = :attempt AND reason = :reason AND status = 'open' \
            AND next_check_at > :now",
        params! {
            ":attempt": attempt,
            ":reason": ReconcileReason::RunningStale,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// How a claimed item is given back.
pub(in crate::store) struct Back {
    pub(in crate::store) at: Timestamp,
    pub(in crate::store) code: Option<ReconcileCode>,
    pub(in crate::store) uncounted: u32,
    /// Returns because of lag that are added.
    pub(in crate::store) lag: u32,
    /// A later deadline was set by a clock that was ahead.
    pub(in crate::store) deadline_max: Timestamp,
}

impl Back {
    pub(in crate::store) const fn at(at: Timestamp) -> Self {
        Self { at, code: None, uncounted: 0, lag: 0, deadline_max: Timestamp::MAX }
    }
}

pub(in crate::store) fn give_back(tx: &Tx<'_>, fence: Fence, back: &Back) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE reconciliation_items SET status = 'open', next_check_at = :at, \
            outcome_code = coalesce(:code, outcome_code), vanished_count = 0, \
            deadline_at = min(deadline_at, :deadline_max), \
            attempt_count = attempt_count - :uncounted, lag_count = lag_count + :lag, \
            lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, updated_at = :now \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":at": back.at,
            ":lag": back.lag,
            ":code": back.code,
            ":uncounted": back.uncounted,
            ":deadline_max": back.deadline_max,
            ":now": tx.now,
        },
    )?;
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(()) }
}

/// What is known of a claimed item when it is applied.
#[derive(Clone, Copy)]
pub(in crate::store) struct Held {
    pub(in crate::store) deadline: Timestamp,
    pub(in crate::store) lag_count: u32,
}

/// Checks that the claim is still ours.
pub(in crate::store) fn held(tx: &Tx<'_>, fence: Fence) -> Result<Held, Error> {
    let held = tx.query_one(
        "SELECT deadline_at, lag_count FROM reconciliation_items \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! { ":id": fence.row, ":claim": fence.claim_id },
        |row| Ok(Held { deadline: row.get("deadline_at")?, lag_count: row.get("lag_count")? }),
    )?;
    held.ok_or(Error::LeaseLost)
}

/// Puts a claimed item off.
pub(in crate::store) fn recheck(
    tx: &Tx<'_>,
    fence: Fence,
    code: ReconcileCode,
    at: Timestamp,
    rules: &Rules,
) -> Result<TaskOutcome, Error> {
    // No deadline can be further away than one that is set now (docs/decisions/06-wall-clock-jumps.md).
    let deadline_max = tx.now.plus(rules.deadline);
    give_back(tx, fence, &Back { code: Some(code), deadline_max, ..Back::at(at) })?;
    Ok(TaskOutcome { code, next_check_at: Some(at) })
}

/// Puts a claimed item off because what was seen may be the lag of a fresh token.
pub(in crate::store) fn recheck_for_lag(
    tx: &Tx<'_>,
    fence: Fence,
    at: Timestamp,
) -> Result<TaskOutcome, Error> {
    let code = ReconcileCode::ForgeTokenLag;
    give_back(tx, fence, &Back { code: Some(code), lag: 1, ..Back::at(at) })?;
    Ok(TaskOutcome { code, next_check_at: Some(at) })
}

/// Finishes a claimed item.
pub(in crate::store) fn complete(
    tx: &Tx<'_>,
    fence: Fence,
    code: ReconcileCode,
) -> Result<TaskOutcome, Error> {
    let changed = tx.execute(
        "UPDATE reconciliation_items SET status = 'completed', outcome_code = :code, \
            lease_owner = NULL, claim_id = NULL, lease_expires_at = NULL, finished_at = :now, \
            updated_at = :now \
         WHERE id = :id AND claim_id = :claim AND status = 'leased'",
        params! {
            ":id": fence.row,
            ":claim": fence.claim_id,
            ":code": code,
            ":now": tx.now,
        },
    )?;
    // The claim id is compared in the statement itself, so a holder whose lease was taken changes nothing.
    if changed == 0 { Err(Error::LeaseLost) } else { Ok(TaskOutcome { code, next_check_at: None }) }
}
