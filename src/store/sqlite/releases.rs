//! Release runs and their attempts: started by jobs, moved by what the outbox learned.

use rusqlite::{OptionalExtension as _, ToSql, named_params};
use uuid::Uuid;

use crate::domain::dead_letter::ReplayClass;
use crate::domain::event::{CommitSha, GitRef};
use crate::domain::id::{
    AttemptId, CheckRunId, InstallationId, OwnerId, ReleaseRunId, RepositoryId, WorkflowRunId,
};
use crate::domain::outbox::{CheckRunStatus, Effect};
use crate::domain::release::ReleaseFacts;
use crate::domain::repository::RepositoryRef;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{NewRelease, dead_letters, outbox, reconciliation, row};

/// Finds the release run of a commit under a tag.
pub(super) fn find(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    git_ref: &GitRef,
    head_sha: &CommitSha,
) -> Result<Option<ReleaseRunId>, Error> {
    let id: Option<String> = tx
        .connection
        .prepare_cached(
            "SELECT release_run_id FROM release_runs WHERE forge_installation_id = :installation \
                AND repository_id = :repository AND git_ref = :git_ref AND head_sha = :head_sha",
        )?
        .query_row(
            named_params! {
                ":installation": installation.get(),
                ":repository": repository.id.get(),
                ":git_ref": git_ref.as_str(),
                ":head_sha": head_sha.as_str(),
            },
            |row| row.get(0),
        )
        .optional()?;
    id.map(|id| id.parse().map_err(|_| Error::Row("release_run_id"))).transpose()
}

/// Finds the release run whose current attempt has this check run, on this commit of this repository.
pub(super) fn of_check_run(
    tx: &Tx<'_>,
    installation: InstallationId,
    repository: &RepositoryRef,
    check_run: CheckRunId,
    head_sha: &CommitSha,
) -> Result<Option<ReleaseFacts>, Error> {
    // The status stands twice: the list of words is what lets the index of unfinished messages be used.
    let mut statement = tx.connection.prepare_cached(
        "SELECT r.release_run_id, r.status, r.current_attempt_id, a.attempt_number, \
            EXISTS (SELECT 1 FROM outbox o WHERE o.attempt_id = a.attempt_id \
                AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
                AND o.kind = 'workflow_dispatch' AND o.status = 'dead_letter') AS dispatch_dead \
         FROM release_run_attempts a JOIN release_runs r \
            ON r.release_run_id = a.release_run_id AND r.current_attempt_id = a.attempt_id \
         WHERE a.check_run_id = :check_run AND r.forge_installation_id = :installation \
            AND r.repository_id = :repository AND r.head_sha = :head_sha",
    )?;
    let mut rows = statement.query(named_params! {
        ":check_run": check_run.get(),
        ":installation": installation.get(),
        ":repository": repository.id.get(),
        ":head_sha": head_sha.as_str(),
    })?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(ReleaseFacts {
        release_run: row::id(row, "release_run_id")?,
        status: row::release_status(row)?,
        current_attempt: row::id(row, "current_attempt_id")?,
        attempt_number: row.get("attempt_number")?,
        dispatch_dead: row.get("dispatch_dead")?,
    }))
}

/// Starts a release run with its first attempt and that attempt's effects.
pub(super) fn start(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    (repository, owner): (&RepositoryRef, Option<OwnerId>),
    (git_ref, head_sha): (&GitRef, &CommitSha),
    plan: &NewRelease,
) -> Result<(), Error> {
    let release_run = ReleaseRunId::from(tx.ids.uuid(tx.now));
    let attempt = AttemptId::from(tx.ids.uuid(tx.now));
    tx.connection
        .prepare_cached(
            "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, \
                repository_owner_id, git_ref, head_sha, status, current_attempt_id, created_at, \
                updated_at) \
             VALUES (:release, :installation, :repository, :owner, :git_ref, :head_sha, 'queued', \
                :attempt, :now, :now)",
        )?
        .execute(named_params! {
            ":release": release_run.to_string(),
            ":installation": installation.get(),
            ":repository": repository.id.get(),
            ":owner": owner.map(OwnerId::get),
            ":git_ref": git_ref.as_str(),
            ":head_sha": head_sha.as_str(),
            ":attempt": attempt.to_string(),
            ":now": tx.now.micros(),
        })?;
    let target = Target { installation, repository: repository.id, release_run };
    add_attempt(tx, target, attempt, 1, (git_ref.tag(), head_sha.as_str()), plan)
}

/// Starts the next attempt of a release run. What the one before still had to send is superseded.
pub(super) fn start_attempt(
    tx: &mut Tx<'_>,
    release: &ReleaseFacts,
    plan: &NewRelease,
) -> Result<(), Error> {
    let old = release.current_attempt;
    dead_letters::close(tx, old, None, "superseded")?;
    outbox::supersede(tx, old)?;
    tx.connection
        .prepare_cached(
            "UPDATE release_run_attempts SET status = 'superseded', updated_at = :now \
             WHERE attempt_id = :attempt \
                AND status IN ('queued', 'dispatching', 'running', 'reporting')",
        )?
        .execute(named_params! { ":attempt": old.to_string(), ":now": tx.now.micros() })?;
    let attempt = AttemptId::from(tx.ids.uuid(tx.now));
    let (target, git_ref, head_sha) = tx
        .connection
        .prepare_cached(
            "UPDATE release_runs SET status = 'queued', decision = NULL, conclusion = NULL, \
                failure_reason = NULL, current_attempt_id = :attempt, workflow_run_id = NULL, \
                check_run_id = NULL, forge_check_published_at = NULL, finished_at = NULL, \
                updated_at = :now \
             WHERE release_run_id = :release \
             RETURNING forge_installation_id, repository_id, git_ref, head_sha",
        )?
        .query_row(
            named_params! {
                ":release": release.release_run.to_string(),
                ":attempt": attempt.to_string(),
                ":now": tx.now.micros(),
            },
            |row| {
                Ok((
                    (row.get::<_, i64>(0)?, row.get::<_, i64>(1)?),
                    row.get::<_, String>(2)?,
                    row.get::<_, String>(3)?,
                ))
            },
        )?;
    let target = Target {
        installation: target.0.try_into().map_err(|_| Error::Row("forge_installation_id"))?,
        repository: target.1.try_into().map_err(|_| Error::Row("repository_id"))?,
        release_run: release.release_run,
    };
    let tag = GitRef::new(&git_ref).ok_or(Error::Row("git_ref"))?;
    let number = release.attempt_number + 1;
    add_attempt(tx, target, attempt, number, (tag.tag(), &head_sha), plan)
}

/// Whose release run, where.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) installation: InstallationId,
    pub(super) repository: RepositoryId,
    pub(super) release_run: ReleaseRunId,
}

fn add_attempt(
    tx: &mut Tx<'_>,
    target: Target,
    attempt: AttemptId,
    number: u32,
    (tag, head_sha): (&str, &str),
    plan: &NewRelease,
) -> Result<(), Error> {
    let nonce = Uuid::from_bytes(tx.ids.bytes()).simple().to_string();
    tx.connection
        .prepare_cached(
            "INSERT INTO release_run_attempts (attempt_id, release_run_id, attempt_number, nonce, \
                status, workflow, check_run_name, created_at, updated_at) \
             VALUES (:attempt, :release, :number, :nonce, 'queued', :workflow, :check_run, :now, :now)",
        )?
        .execute(named_params! {
            ":attempt": attempt.to_string(),
            ":release": target.release_run.to_string(),
            ":number": number,
            ":nonce": nonce,
            ":workflow": plan.workflow,
            ":check_run": plan.check_run_name,
            ":now": tx.now.micros(),
        })?;
    let check_run =
        Effect::CheckRunCreate { name: plan.check_run_name.clone(), head_sha: head_sha.to_owned() };
    let dispatch =
        Effect::WorkflowDispatch { workflow: plan.workflow.clone(), tag: tag.to_owned(), nonce };
    outbox::add(tx, target, attempt, &check_run)?;
    outbox::add(tx, target, attempt, &dispatch)
}

/// The dispatch of an attempt is about to leave.
pub(super) fn dispatching(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    change(tx, attempt, "status = 'dispatching'", "status = 'queued'", &[]).map(drop)
}

/// The forge accepted the dispatch of an attempt.
pub(super) fn dispatched(
    tx: &mut Tx<'_>,
    target: Target,
    attempt: AttemptId,
    run: Option<WorkflowRunId>,
) -> Result<(), Error> {
    let run = run.map(WorkflowRunId::get);
    let set = "status = 'running', workflow_run_id = :number";
    let condition = "status IN ('queued', 'dispatching')";
    if !change(tx, attempt, set, condition, &[(":number", &run)])? {
        // It has ended meanwhile, which is what its check run shows.
        return Ok(());
    }
    let update = Effect::CheckRunUpdate { status: CheckRunStatus::InProgress };
    outbox::add(tx, target, attempt, &update)
}

/// The run an attempt was dispatched as is known now. Returns whether it can be this attempt's at all.
pub(super) fn identify(tx: &Tx<'_>, attempt: AttemptId, run: WorkflowRunId) -> Result<bool, Error> {
    if number_is_taken(tx, NumberColumn::WorkflowRun, run.get(), attempt)? {
        return Ok(false);
    }
    let condition = "status = 'running' AND workflow_run_id IS NULL";
    change(tx, attempt, "workflow_run_id = :number", condition, &[(":number", &run.get())])?;
    Ok(true)
}

/// The workflow run of an attempt has ended well, as the forge says: only its result is missing.
pub(super) fn reporting(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    change(tx, attempt, "status = 'reporting'", "status = 'running'", &[]).map(drop)
}

/// The workflow run of an attempt has become known after its dispatch was done.
pub(super) fn run_is_known(
    tx: &Tx<'_>,
    attempt: AttemptId,
    run: WorkflowRunId,
) -> Result<(), Error> {
    let set = "workflow_run_id = :number";
    change(tx, attempt, set, "workflow_run_id IS NULL", &[(":number", &run.get())]).map(drop)
}

/// The check run of an attempt exists.
pub(super) fn check_run_exists(
    tx: &Tx<'_>,
    attempt: AttemptId,
    check_run: CheckRunId,
) -> Result<(), Error> {
    change(tx, attempt, "check_run_id = :number", "true", &[(":number", &check_run.get())])
        .map(drop)
}

/// Changes an attempt, and its release run while it is the current one. Returns whether either changed.
fn change(
    tx: &Tx<'_>,
    attempt: AttemptId,
    set: &str,
    condition: &str,
    more: &[(&str, &dyn ToSql)],
) -> Result<bool, Error> {
    let attempt = attempt.to_string();
    let now = tx.now.micros();
    let mut params: Vec<(&str, &dyn ToSql)> = vec![(":attempt", &attempt), (":now", &now)];
    params.extend_from_slice(more);
    let mut changed = 0;
    for (table, key) in
        [("release_run_attempts", "attempt_id"), ("release_runs", "current_attempt_id")]
    {
        changed += tx
            .connection
            .prepare_cached(&format!(
                "UPDATE {table} SET {set}, updated_at = :now \
                 WHERE {key} = :attempt AND {condition}"
            ))?
            .execute(params.as_slice())?;
    }
    Ok(changed > 0)
}

/// Says whether the forge showed another check run under the number of an attempt's.
pub(super) fn is_check_run_foreign(tx: &Tx<'_>, attempt: AttemptId) -> Result<bool, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM release_run_attempts \
                WHERE attempt_id = :attempt AND check_run_mismatch_at IS NOT NULL)",
        )?
        .query_row(named_params! { ":attempt": attempt.to_string() }, |row| row.get(0))?)
}

/// Says whether an attempt has a check run, and the forge never showed another one under its number.
pub(super) fn has_own_check_run(tx: &Tx<'_>, attempt: AttemptId) -> Result<bool, Error> {
    Ok(tx
        .connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM release_run_attempts WHERE attempt_id = :attempt \
                AND check_run_id IS NOT NULL AND check_run_mismatch_at IS NULL)",
        )?
        .query_row(named_params! { ":attempt": attempt.to_string() }, |row| row.get(0))?)
}

/// The forge showed another check run under the number of an attempt's: nothing is written to it any
/// more, and what was to be must not be replayed.
pub(super) fn check_run_is_not_ours(tx: &Tx<'_>, attempt: AttemptId) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "UPDATE release_run_attempts SET \
                check_run_mismatch_at = coalesce(check_run_mismatch_at, :now) \
             WHERE attempt_id = :attempt",
        )?
        .execute(named_params! { ":attempt": attempt.to_string(), ":now": tx.now.micros() })?;
    dead_letters::reclassify_updates(tx, attempt, ReplayClass::BindingMismatch)
}

/// Says whether the forge's number belongs to another attempt already: a second owner is never right.
pub(super) fn number_is_taken(
    tx: &Tx<'_>,
    column: NumberColumn,
    number: i64,
    attempt: AttemptId,
) -> Result<bool, Error> {
    let column = match column {
        NumberColumn::WorkflowRun => "workflow_run_id",
        NumberColumn::CheckRun => "check_run_id",
    };
    Ok(tx
        .connection
        .prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM release_run_attempts \
             WHERE {column} = :number AND attempt_id <> :attempt)"
        ))?
        .query_row(named_params! { ":number": number, ":attempt": attempt.to_string() }, |row| {
            row.get(0)
        })?)
}

/// Which of the forge's numbers of an attempt.
#[derive(Clone, Copy)]
pub(super) enum NumberColumn {
    WorkflowRun,
    CheckRun,
}

/// A webhook named a workflow run: look at it soon, if it is of this installation.
pub(super) fn hint(
    tx: &Tx<'_>,
    installation: InstallationId,
    run: WorkflowRunId,
) -> Result<(), Error> {
    let attempt: Option<String> = tx
        .connection
        .prepare_cached(
            "UPDATE release_run_attempts SET hinted_at = :now WHERE workflow_run_id = :run \
                AND (SELECT forge_installation_id FROM release_runs r \
                     WHERE r.release_run_id = release_run_attempts.release_run_id) = :installation \
             RETURNING attempt_id",
        )?
        .query_row(
            named_params! {
                ":run": run.get(),
                ":installation": installation.get(),
                ":now": tx.now.micros(),
            },
            |row| row.get(0),
        )
        .optional()?;
    attempt.map_or(Ok(()), |attempt| reconciliation::look_soon(tx, &attempt))
}
