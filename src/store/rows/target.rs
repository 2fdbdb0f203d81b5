//! What an effect belongs to.

use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId, RepositoryId};
use crate::store::error::Error;
use crate::store::sql::Row;

/// An attempt, and whose release run it is of, where.
#[derive(Clone, Copy)]
pub(in crate::store) struct Target {
    pub(in crate::store) installation: InstallationId,
    pub(in crate::store) repository: RepositoryId,
    pub(in crate::store) release_run: ReleaseRunId,
    pub(in crate::store) attempt: AttemptId,
}

/// Reads whose message a row is.
pub(in crate::store) fn of_message(row: &Row<'_>) -> Result<Target, Error> {
    Ok(Target {
        installation: row.get("installation_id")?,
        repository: row.get("repository_id")?,
        release_run: row.get("release_run_id")?,
        attempt: row.get("attempt_id")?,
    })
}
