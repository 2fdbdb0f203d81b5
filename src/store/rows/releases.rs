//! Release runs: found, and started with an attempt and its effects.

use uuid::Uuid;

use crate::domain::dead_letter::Resolution;
use crate::domain::event::{CommitSha, GitRef};
use crate::domain::id::{
    AttemptId, CheckRunId, InstallationId, OwnerId, ReleaseRunId, WorkflowRunId,
};
use crate::domain::outbox::Effect;
use crate::domain::release::ReleaseFacts;
use crate::domain::repository::RepositoryRef;
use crate::store::error::Error;
use crate::store::rows::target::Target;
use crate::store::rows::{attempts, dead_letters, items, outbox};
use crate::store::sql::{Tx, params};
use crate::store::types::NewRelease;

/// Finds the release run of a commit under a tag.
pub(in crate::store) fn find(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    git_ref: &GitRef,
    head_sha: &CommitSha,
) -> Result<Option<ReleaseRunId>, Error> {
    tx.query_one(
        "SELECT release_run_id FROM release_runs WHERE forge_installation_id = :installation \
         AND repository_id = :repository AND git_ref = :git_ref AND head_sha = :head_sha",
        params! {
            ":installation": installation,
            ":repository": repository.id,
            ":git_ref": git_ref,
            ":head_sha": head_sha,
        },
        |row| row.get("release_run_id"),
    )
}

/// Finds the release run whose current attempt has this check run, on this commit of this repository.
pub(in crate::store) fn of_check_run(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    check_run: CheckRunId,
    head_sha: &CommitSha,
) -> Result<Option<ReleaseFacts>, Error> {
    // The status is compared twice: the list of words is what lets the index of unfinished messages be used.
    tx.query_one(
        "SELECT r.release_run_id, r.status, r.current_attempt_id, a.attempt_number, \
            EXISTS (SELECT 1 FROM outbox o WHERE o.attempt_id = a.attempt_id \
                AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
                AND o.kind = 'workflow_dispatch' AND o.status = 'dead_letter') AS dispatch_dead \
         FROM release_run_attempts a JOIN release_runs r \
            ON r.release_run_id = a.release_run_id AND r.current_attempt_id = a.attempt_id \
         WHERE a.check_run_id = :check_run AND r.forge_installation_id = :installation \
            AND r.repository_id = :repository AND r.head_sha = :head_sha",
        params! {
            ":check_run": check_run,
            ":installation": installation,
            ":repository": repository.id,
            ":head_sha": head_sha,
        },
        |row| {
            Ok(ReleaseFacts {
                release_run: row.get("release_run_id")?,
                status: row.get("status")?,
                current_attempt: row.get("current_attempt_id")?,
                attempt_number: row.get("attempt_number")?,
                dispatch_dead: row.get("dispatch_dead")?,
            })
        },
    )
}

/// Starts a release run with its first attempt and that attempt's effects.
pub(in crate::store) fn start(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    owner: Option<OwnerId>,
    git_ref: &GitRef,
    head_sha: &CommitSha,
    plan: &NewRelease,
) -> Result<(), Error> {
    let release_run = ReleaseRunId::from(tx.ids.uuid(tx.now));
    let attempt = AttemptId::from(tx.ids.uuid(tx.now));
    tx.execute(
        "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, \
            repository_owner_id, git_ref, head_sha, status, current_attempt_id, created_at, \
            updated_at) \
         VALUES (:release, :installation, :repository, :owner, :git_ref, :head_sha, 'queued', \
            :attempt, :now, :now)",
        params! {
            ":release": release_run,
            ":installation": installation,
            ":repository": repository.id,
            ":owner": owner,
            ":git_ref": git_ref,
            ":head_sha": head_sha,
            ":attempt": attempt,
            ":now": tx.now,
        },
    )?;
    let target = Target { installation, repository: repository.id, release_run, attempt };
    add_attempt(tx, target, 1, git_ref.tag(), head_sha.as_str(), plan)
}

/// Starts the next attempt of a release run. What the one before still had to send is superseded.
pub(in crate::store) fn start_attempt(
    tx: &mut Tx<'_>,
    release: &ReleaseFacts,
    plan: &NewRelease,
) -> Result<(), Error> {
    let old = release.current_attempt;
    dead_letters::resolve_of_attempt(tx, old, None, Resolution::Superseded)?;
    outbox::supersede(tx, old)?;
    attempts::replaced(tx, old)?;
    let attempt = AttemptId::from(tx.ids.uuid(tx.now));
    let started = tx.query_one(
        "UPDATE release_runs SET status = 'queued', decision = NULL, conclusion = NULL, \
            failure_reason = NULL, current_attempt_id = :attempt, workflow_run_id = NULL, \
            check_run_id = NULL, forge_check_published_at = NULL, finished_at = NULL, \
            updated_at = :now \
         WHERE release_run_id = :release \
         RETURNING forge_installation_id, repository_id, git_ref, head_sha",
        params! {
            ":release": release.release_run,
            ":attempt": attempt,
            ":now": tx.now,
        },
        |row| {
            let target = Target {
                installation: row.get("forge_installation_id")?,
                repository: row.get("repository_id")?,
                release_run: release.release_run,
                attempt,
            };
            // From the stored row, not from the webhook: a rerequest may not choose another tag.
            let git_ref = row.read("git_ref", |value| GitRef::new(value.text()?))?;
            Ok((target, git_ref, row.get::<String>("head_sha")?))
        },
    )?;
    let (target, git_ref, head_sha) = started.ok_or(Error::Row("release_run_id"))?;
    let number = release.attempt_number + 1;
    add_attempt(tx, target, number, git_ref.tag(), &head_sha, plan)
}

fn add_attempt(
    tx: &mut Tx<'_>,
    target: Target,
    number: u32,
    tag: &str,
    head_sha: &str,
    plan: &NewRelease,
) -> Result<(), Error> {
    // 128 random bits in the audience of the run's token: a run of an earlier attempt cannot report for this one.
    let nonce = Uuid::from_bytes(tx.ids.bytes()).simple().to_string();
    tx.execute(
        "INSERT INTO release_run_attempts (attempt_id, release_run_id, attempt_number, nonce, \
            status, workflow, check_run_name, created_at, updated_at) \
         VALUES (:attempt, :release, :number, :nonce, 'queued', :workflow, :check_run, :now, :now)",
        params! {
            ":attempt": target.attempt,
            ":release": target.release_run,
            ":number": number,
            ":nonce": nonce,
            ":workflow": plan.workflow,
            ":check_run": plan.check_run_name,
            ":now": tx.now,
        },
    )?;
    let check_run =
        Effect::CheckRunCreate { name: plan.check_run_name.clone(), head_sha: head_sha.to_owned() };
    let dispatch =
        Effect::WorkflowDispatch { workflow: plan.workflow.clone(), tag: tag.to_owned(), nonce };
    // First, because the order of the rows is the order of sending: without a check run nothing is dispatched.
    outbox::add(tx, target, &check_run)?;
    outbox::add(tx, target, &dispatch)
}

/// Marks what is known of a workflow run as stale, because a webhook named it: it is checked soon if it belongs to
/// this installation.
pub(in crate::store) fn mark_stale(
    tx: &Tx<'_>,
    installation: InstallationId,
    run: WorkflowRunId,
) -> Result<(), Error> {
    let attempt = tx.query_one(
        "UPDATE release_run_attempts SET hinted_at = :now WHERE workflow_run_id = :run \
            AND (SELECT forge_installation_id FROM release_runs r \
                 WHERE r.release_run_id = release_run_attempts.release_run_id) = :installation \
         RETURNING attempt_id",
        params! {
            ":run": run,
            ":installation": installation,
            ":now": tx.now,
        },
        |row| row.get("attempt_id"),
    )?;
    attempt.map_or(Ok(()), |attempt| items::check_soon(tx, attempt))
}
