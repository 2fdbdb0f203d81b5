//! Whether the forge shows the end of a release run, and why it could not be made to.

use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId};
use crate::domain::reconcile::ReconcileCode;
use crate::domain::reconcile::check_run::ReleaseStanding;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::audit;
use crate::store::sql::{Row, Tx, params};

/// Reads `finished_at` and `forge_check_published_at` of a release run.
pub(in crate::store) fn standing(row: &Row<'_>) -> Result<ReleaseStanding, Error> {
    let finished: Option<Timestamp> = row.get("finished_at")?;
    let published: Option<Timestamp> = row.get("forge_check_published_at")?;
    Ok(match (finished, published) {
        (None, _) => ReleaseStanding::RunsAgain,
        (Some(_), Some(_)) => ReleaseStanding::Published,
        (Some(_), None) => ReleaseStanding::Unpublished,
    })
}

/// Where the publication of a release run, as that attempt, stands now.
pub(in crate::store) fn standing_of(
    tx: &Tx<'_>,
    release_run: ReleaseRunId,
    attempt: AttemptId,
) -> Result<ReleaseStanding, Error> {
    let found = tx.query_one(
        "SELECT iif(current_attempt_id = :attempt, finished_at, NULL) AS finished_at, \
            forge_check_published_at \
         FROM release_runs WHERE release_run_id = :release",
        params! { ":release": release_run, ":attempt": attempt },
        standing,
    )?;
    found.ok_or(Error::Row("release_run_id"))
}

/// Records a stable failure of a publication: in the audit log, and beside the result of the current
/// attempt, when it has one.
pub(in crate::store) fn record_failure(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    release_run: ReleaseRunId,
    code: ReconcileCode,
) -> Result<(), Error> {
    // A release that ended without a result has no such row; the audit event and the item are its only record.
    tx.execute(
        "UPDATE release_run_results SET last_publication_error = :code, updated_at = :now \
         WHERE release_run_id = :release AND attempt_id = \
            (SELECT current_attempt_id FROM release_runs WHERE release_run_id = :release)",
        params! {
            ":release": release_run,
            ":code": code,
            ":now": tx.now,
        },
    )?;
    audit::check_run_reconciliation_failed(tx, installation, release_run, code)
}
