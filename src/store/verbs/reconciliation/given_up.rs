//! Applies the deadline of items that were given up because every holder crashed or their subject cannot be
//! read. The outcome is that of a failed lookup, so no release stays undecided.
//!
//! What ends at its deadline, and how: `docs/decisions/18-no-undecided-release.md`.

use crate::domain::id::{AttemptId, InstallationId, ReconciliationId};
use crate::domain::lease::RowHandle;
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{
    AttemptStanding, ReconcileCode, ReconcileKind, ReconcileReason, Rules, check_run, uncertain,
};
use crate::domain::release::Ending;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::{attempts, publication, release_end, settlement};
use crate::store::sql::{Tx, params};
use crate::store::types::Closed;

/// Items that one call reads at most.
const APPLIED_MAX: u32 = 64;

/// An item as it is stored: it is parsed where it is applied, so that one that does not parse holds up no
/// other.
#[derive(Clone)]
struct GivenUp {
    row: RowHandle,
    id: String,
    reason: String,
    subject: String,
    attempt: Option<String>,
    installation: i64,
}

impl Store {
    /// Applies the deadlines of given-up items that have passed, each in a transaction of its own. Returns
    /// the items whose subject was changed by it, and what it came to.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the rest was not applied.
    pub fn apply_deadlines(&self, kind: ReconcileKind, rules: Rules) -> Result<Vec<Closed>, Error> {
        let mut changed = Vec::new();
        // A transaction for each, so that one that fails rolls back no other.
        for item in self.overdue(kind, rules)? {
            let row = item.row;
            match self
                .write(move |tx| apply(tx, &item).and_then(|closed| mark(tx, row).map(|()| closed)))
            {
                Ok(closed) => changed.extend(closed),
                // What does not read cannot be ended, now or later.
                Err(Error::Row(_)) => self.write(move |tx| mark(tx, row))?,
                Err(error) => return Err(error),
            }
        }
        Ok(changed)
    }

    /// Reads the items whose deadline has passed, or is so far ahead that a wrong clock set it.
    fn overdue(&self, kind: ReconcileKind, rules: Rules) -> Result<Vec<GivenUp>, Error> {
        let now = self.clock.now();
        self.read(|db| {
            db.query(
                "SELECT id, reconciliation_id, reason, subject_id, attempt_id, installation_id \
                 FROM reconciliation_items \
                 WHERE status = 'dead_letter' AND deadline_applied_at IS NULL AND kind = :kind \
                    AND (deadline_at <= :now OR deadline_at > :latest) LIMIT +:limit",
                params! {
                    ":kind": kind,
                    ":now": now,
                    ":latest": now.plus(rules.deadline),
                    ":limit": APPLIED_MAX,
                },
                |row| {
                    Ok(GivenUp {
                        row: row.get("id")?,
                        id: row.get("reconciliation_id")?,
                        reason: row.get("reason")?,
                        subject: row.get("subject_id")?,
                        attempt: row.get("attempt_id")?,
                        installation: row.get("installation_id")?,
                    })
                },
            )
        })
    }
}

fn mark(tx: &Tx<'_>, row: RowHandle) -> Result<(), Error> {
    tx.execute(
        "UPDATE reconciliation_items SET deadline_applied_at = :now, updated_at = :now \
         WHERE id = :id",
        params! { ":id": row, ":now": tx.now },
    )?;
    Ok(())
}

/// Applies the deadline of one item; returns what it came to, when it changed anything.
fn apply(tx: &mut Tx<'_>, item: &GivenUp) -> Result<Option<Closed>, Error> {
    let id: ReconciliationId = item.id.parse().map_err(|_| Error::Row("reconciliation_id"))?;
    let reason = ReconcileReason::from_word(&item.reason).ok_or(Error::Row("reason"))?;
    let code = match reason {
        ReconcileReason::RunningStale | ReconcileReason::RunUnknown => {
            end(tx, item, ReconcileCode::ForgeWorkflowLookupFailed, None)?
        }
        ReconcileReason::DispatchUncertain => {
            end_uncertain(tx, item, EffectKind::WorkflowDispatch)?
        }
        ReconcileReason::CheckRunCreateUncertain => {
            end_uncertain(tx, item, EffectKind::CheckRunCreate)?
        }
        // The release has ended already; only the failure to show that is left to be recorded.
        ReconcileReason::ReportingStale => record_publication_failure(tx, item)?,
        // The inbox is compared with its jobs again and again, without a deadline.
        ReconcileReason::LifecycleJobMissing | ReconcileReason::LifecycleInboxStateDrift => None,
    };
    Ok(code.map(|code| Closed { id, reason, code }))
}

fn end_uncertain(
    tx: &mut Tx<'_>,
    item: &GivenUp,
    effect: EffectKind,
) -> Result<Option<ReconcileCode>, Error> {
    end(tx, item, uncertain::unproved(effect), Some(effect))
}

/// Ends the release of an item, if it is about the current attempt; of an effect in doubt, if it still is.
fn end(
    tx: &mut Tx<'_>,
    item: &GivenUp,
    code: ReconcileCode,
    uncertain: Option<EffectKind>,
) -> Result<Option<ReconcileCode>, Error> {
    let attempt: AttemptId = item.subject.parse().map_err(|_| Error::Row("subject_id"))?;
    let is_settled = match uncertain {
        Some(effect) => settlement::find_uncertain(tx, attempt, effect)?.is_none(),
        None => false,
    };
    // A result or a new attempt may have come while the item was given up.
    if is_settled || attempts::standing_of(tx, attempt)? != AttemptStanding::Current {
        return Ok(None);
    }
    release_end::end_release(tx, attempt, Ending::Failed(code))?;
    Ok(Some(code))
}

fn record_publication_failure(
    tx: &mut Tx<'_>,
    item: &GivenUp,
) -> Result<Option<ReconcileCode>, Error> {
    let release_run = item.subject.parse().map_err(|_| Error::Row("subject_id"))?;
    let attempt = item.attempt.as_deref().ok_or(Error::Row("attempt_id"))?;
    let attempt = attempt.parse().map_err(|_| Error::Row("attempt_id"))?;
    let installation = InstallationId::try_from(item.installation);
    let installation = installation.map_err(|_| Error::Row("installation_id"))?;
    if publication::standing_of(tx, release_run, attempt)?
        != check_run::ReleaseStanding::Unpublished
    {
        return Ok(None);
    }
    let code = ReconcileCode::ForgeCheckRunLookupFailed;
    publication::record_failure(tx, installation, release_run, code)?;
    Ok(Some(code))
}
