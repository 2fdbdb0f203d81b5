//! Items that were given up: nobody survives them, or their subject cannot be read. At their deadline
//! they come to what a look that told nothing would have come to, so that no release stays undecided.

use rusqlite::named_params;

use super::{Closed, apply, reason, subject};
use crate::domain::id::{AttemptId, InstallationId, ReconciliationId};
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{Code, Kind, Reason, Standing, check_run, doubt};
use crate::domain::release::Ending;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{endings, row, settlement};

/// Items whose deadline is applied in one transaction at most.
const APPLIED_MAX: u32 = 64;

struct GivenUp {
    row: i64,
    id: ReconciliationId,
    reason: Reason,
    subject: String,
    attempt: Option<String>,
    installation: InstallationId,
}

/// Applies the deadlines that have passed. Returns the items whose subject was changed by it.
pub(super) fn apply_deadlines(tx: &mut Tx<'_>, kind: Kind) -> Result<Vec<Closed>, Error> {
    // The inbox against its jobs is compared again and again, without a deadline.
    if !kind.asks_the_forge() {
        return Ok(Vec::new());
    }
    let mut changed = Vec::new();
    for item in overdue(tx, kind)? {
        if let Some(code) = apply(tx, &item)? {
            changed.push(Closed { id: item.id, reason: item.reason, code });
        }
        tx.connection
            .prepare_cached(
                "UPDATE reconciliation_items SET deadline_applied_at = :now, updated_at = :now \
                 WHERE id = :id",
            )?
            .execute(named_params! { ":id": item.row, ":now": tx.now.micros() })?;
    }
    Ok(changed)
}

fn overdue(tx: &Tx<'_>, kind: Kind) -> Result<Vec<GivenUp>, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT id, reconciliation_id, reason, subject_id, attempt_id, installation_id \
         FROM reconciliation_items \
         WHERE status = 'dead_letter' AND deadline_applied_at IS NULL AND kind = :kind \
            AND deadline_at <= :now ORDER BY deadline_at LIMIT +:limit",
    )?;
    let mut rows = statement.query(named_params! {
        ":kind": kind.as_str(),
        ":now": tx.now.micros(),
        ":limit": APPLIED_MAX,
    })?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        items.push(GivenUp {
            row: row.get("id")?,
            id: row::id(row, "reconciliation_id")?,
            reason: reason(row)?,
            subject: row.get("subject_id")?,
            attempt: row.get("attempt_id")?,
            installation: row::number(row, "installation_id")?,
        });
    }
    Ok(items)
}

/// Applies the deadline of one item; returns what it came to, when it changed anything.
fn apply(tx: &mut Tx<'_>, item: &GivenUp) -> Result<Option<Code>, Error> {
    let (code, in_doubt) = match item.reason {
        Reason::RunningStale | Reason::RunUnknown => (Code::ForgeWorkflowLookupFailed, None),
        Reason::DispatchUncertain => of_doubt(EffectKind::WorkflowDispatch),
        Reason::CheckRunCreateUncertain => of_doubt(EffectKind::CheckRunCreate),
        Reason::ReportingStale => return record_publication_failure(tx, item),
        Reason::LifecycleJobMissing | Reason::LifecycleInboxStateDrift => return Ok(None),
    };
    let Ok(attempt) = item.subject.parse::<AttemptId>() else { return Ok(None) };
    // An attempt that does not read cannot be ended.
    let is_current = matches!(subject::standing_of(tx, attempt), Ok(Standing::Current));
    let is_settled = match in_doubt {
        Some(effect) => settlement::in_doubt(tx, attempt, effect)?.is_none(),
        None => false,
    };
    if !is_current || is_settled {
        return Ok(None);
    }
    endings::end(tx, attempt, Ending::Failed(code))?;
    Ok(Some(code))
}

const fn of_doubt(effect: EffectKind) -> (Code, Option<EffectKind>) {
    (doubt::unproved(effect), Some(effect))
}

fn record_publication_failure(tx: &mut Tx<'_>, item: &GivenUp) -> Result<Option<Code>, Error> {
    let ids = (item.subject.parse(), item.attempt.as_deref().map(str::parse));
    let (Ok(release_run), Some(Ok(attempt))) = ids else { return Ok(None) };
    match subject::publication_of(tx, release_run, attempt) {
        Ok(check_run::Standing::Unpublished) => {
            let code = Code::ForgeCheckRunLookupFailed;
            apply::record_failure(tx, item.installation, release_run, code)?;
            Ok(Some(code))
        }
        Ok(check_run::Standing::Published | check_run::Standing::RunsAgain)
        | Err(Error::Row(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
