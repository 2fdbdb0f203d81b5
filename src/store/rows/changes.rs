//! What a job is decided by, and what its decision writes: all within the transaction that runs it.

use crate::domain::event::{Action, RepositoryState};
use crate::domain::id::AppId;
use crate::domain::job::{self, Job};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::{installations, releases};
use crate::store::sql::Tx;
use crate::store::types::NewRelease;

/// Reads what a job is decided by.
pub(in crate::store) fn facts(tx: &Tx<'_>, job: &Job, own_app: AppId) -> Result<job::Facts, Error> {
    let (mut same_release, mut clicked_release) = (None, None);
    match (&job.action, &job.repository) {
        (Some(Action::Release { git_ref, head_sha, .. }), Some(repository)) => {
            same_release = releases::find(tx, job.installation, repository, git_ref, head_sha)?;
        }
        (Some(Action::Rerequest { check_run, head_sha, .. }), Some(repository)) => {
            clicked_release =
                releases::of_check_run(tx, job.installation, repository, *check_run, head_sha)?;
        }
        _ => {}
    }
    let installation = installations::state(tx, job.installation)?;
    Ok(job::Facts { installation, same_release, clicked_release, own_app })
}

/// Writes what a job decided.
pub(in crate::store) fn apply_job(
    tx: &mut Tx<'_>,
    job: &Job,
    change: &job::Change,
    plan: &NewRelease,
    received_at: Timestamp,
) -> Result<(), Error> {
    let installation = job.installation;
    match change {
        job::Change::StartRelease { repository, git_ref, head_sha, owner } => {
            let active = RepositoryState::Active;
            // The push may come before the webhook that adds the repository, and the effects need its name.
            installations::record_repository(tx, installation, repository, active, received_at)?;
            releases::start(tx, installation, repository, *owner, git_ref, head_sha, plan)
        }
        job::Change::StartAttempt { release } => releases::start_attempt(tx, release, plan),
        job::Change::HintWorkflowRun(run) => releases::mark_stale(tx, installation, *run),
        job::Change::RecordInstallation { state, account, added, removed } => {
            installations::record(tx, installation, *state, account.as_ref(), received_at)?;
            // Removed last: of a repository in both lists, the removal is what remains.
            for (repositories, state) in
                [(added, RepositoryState::Active), (removed, RepositoryState::Deleted)]
            {
                for repository in repositories {
                    installations::record_repository(
                        tx,
                        installation,
                        repository,
                        state,
                        received_at,
                    )?;
                }
            }
            Ok(())
        }
        job::Change::RecordRepository { repository, state } => {
            installations::record_repository(tx, installation, repository, *state, received_at)
        }
    }
}
