//! Inbox rows and the jobs they ask for.

use crate::domain::delivery::InboxState;
use crate::domain::id::{InstallationId, JobId};
use crate::domain::lease::RowHandle;
use crate::domain::reconcile::Rules;
use crate::domain::reconcile::lifecycle;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sql::{Row, Tx, params};

/// Moves an inbox row to the state that follows from its job. What the delivery asked for is forgotten
/// once it is done.
pub(in crate::store) fn set_state(
    tx: &Tx<'_>,
    inbox: RowHandle,
    state: InboxState,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_inbox SET state = :state, updated_at = :now, \
            normalized_actions = iif(:state = 'processed', NULL, normalized_actions) \
         WHERE inbox_id = :id",
        params! { ":id": inbox, ":state": state, ":now": tx.now },
    )?;
    Ok(())
}

/// Adds the job of an inbox row, which has at most one: `docs/decisions/104-job-key.md`.
pub(in crate::store) fn add_job(
    tx: &mut Tx<'_>,
    inbox: RowHandle,
    key: &str,
    installation: InstallationId,
    repository: Option<&str>,
) -> Result<JobId, Error> {
    let job = JobId::from(tx.ids.uuid(tx.now));
    tx.execute(
        "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, \
            repository, status, available_at, created_at, updated_at) \
         VALUES (:job, :key, :inbox, :installation, :repository, 'available', :now, :now, :now)",
        params! {
            ":job": job,
            ":key": key,
            ":inbox": inbox,
            ":installation": installation,
            ":repository": repository,
            ":now": tx.now,
        },
    )?;
    Ok(job)
}

/// Makes the job of an inbox row again that has none.
pub(in crate::store) fn recreate_job(tx: &mut Tx<'_>, inbox: RowHandle) -> Result<(), Error> {
    let found: Option<(String, InstallationId, Option<String>)> = tx.query_one(
        "SELECT idempotency_key, installation_id, repository FROM webhook_inbox \
         WHERE inbox_id = :id",
        params! { ":id": inbox },
        |row| {
            Ok((row.get("idempotency_key")?, row.get("installation_id")?, row.get("repository")?))
        },
    )?;
    let (key, installation, repository) = found.ok_or(Error::Row("inbox_id"))?;
    add_job(tx, inbox, &key, installation, repository.as_deref())?;
    Ok(())
}

/// Reads `state`, `received_at` and the job's `status`.
pub(in crate::store) fn facts(row: &Row<'_>, rules: &Rules) -> Result<lifecycle::Facts, Error> {
    Ok(lifecycle::Facts {
        inbox: row.get("state")?,
        job: row.get("status")?,
        window_ends_at: row.get::<Timestamp>("received_at")?.plus(rules.observation),
    })
}
