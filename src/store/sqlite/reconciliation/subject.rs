//! The subject of an item, as it stands when the item is claimed: what is needed to look at it, or the
//! code the item closes with because there is nothing left to repair.

use std::time::Duration;

use rusqlite::{Row, named_params};

use super::claim::Due;
use crate::domain::event::CommitSha;
use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId};
use crate::domain::outbox::{Effect, EffectKind};
use crate::domain::reconcile::look::{CheckRun, Creation, Dispatch, Subject, WorkflowRun};
use crate::domain::reconcile::{Code, Reason, Standing, check_run};
use crate::domain::release::Conclusion;
use crate::domain::repository::RepositoryRef;
use crate::store::error::Error;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::{effect, row};

/// Longest time from the moment a dispatch left to the moment its answer was noted.
const CALL_MAX: Duration = Duration::from_secs(240);

/// Loads what an item is about.
pub(super) fn load(tx: &Tx<'_>, due: &Due) -> Result<Result<Subject, Code>, Error> {
    let id = due.subject.as_str();
    match due.reason {
        Reason::RunningStale => workflow_run(tx, id),
        Reason::RunUnknown => unknown_run(tx, id),
        Reason::DispatchUncertain => in_doubt(tx, id, EffectKind::WorkflowDispatch),
        Reason::CheckRunCreateUncertain => in_doubt(tx, id, EffectKind::CheckRunCreate),
        Reason::ReportingStale => check_run(tx, due),
        Reason::LifecycleJobMissing | Reason::LifecycleInboxStateDrift => {
            Ok(Ok(Subject::Inbox(id.parse().map_err(|_| Error::Row("subject_id"))?)))
        }
    }
}

/// Columns of an attempt that is looked at, and of its release run.
const ATTEMPT: &str = "SELECT a.status, a.attempt_id = r.current_attempt_id AS is_current, \
        a.workflow_run_id, coalesce(a.workflow_run_attempt, 1) AS run_attempt, a.workflow, \
        a.updated_at, r.repository_id, r.head_sha \
     FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
     WHERE a.attempt_id = :attempt";

fn workflow_run(tx: &Tx<'_>, attempt: &str) -> Result<Result<Subject, Code>, Error> {
    let mut statement = tx.connection.prepare_cached(ATTEMPT)?;
    let mut rows = statement.query(named_params! { ":attempt": attempt })?;
    let row = rows.next()?.ok_or(Error::Row("subject_id"))?;
    if let Some(code) = standing(row)?.closed() {
        return Ok(Err(code));
    }
    Ok(Ok(Subject::WorkflowRun(WorkflowRun {
        attempt: attempt.parse().map_err(|_| Error::Row("subject_id"))?,
        run: row::number(row, "workflow_run_id")?,
        run_attempt: row.get("run_attempt")?,
        repository: row::number(row, "repository_id")?,
        head_sha: commit(row)?,
        workflow: row.get("workflow")?,
    })))
}

fn unknown_run(tx: &Tx<'_>, attempt: &str) -> Result<Result<Subject, Code>, Error> {
    let mut statement = tx.connection.prepare_cached(ATTEMPT)?;
    let mut rows = statement.query(named_params! { ":attempt": attempt })?;
    let row = rows.next()?.ok_or(Error::Row("subject_id"))?;
    if let Some(code) = standing(row)?.closed() {
        return Ok(Err(code));
    }
    if row.get::<_, Option<i64>>("workflow_run_id")?.is_some() {
        return Ok(Err(Code::AlreadyRepaired));
    }
    Ok(Ok(Subject::UnknownRun(Dispatch {
        attempt: attempt.parse().map_err(|_| Error::Row("subject_id"))?,
        workflow: row::read(row, "workflow", |name: Option<String>| name)?,
        head_sha: commit(row)?,
        began_at: row::instant(row, "updated_at")?.minus(CALL_MAX),
    })))
}

fn commit(row: &Row<'_>) -> Result<CommitSha, Error> {
    row::read(row, "head_sha", |text: String| CommitSha::new(&text))
}

/// Reads `status` of an attempt and `is_current`. A superseded attempt has a word of its own.
pub(super) fn standing(row: &Row<'_>) -> Result<Standing, Error> {
    let status: String = row.get("status")?;
    if status == "superseded" || !row.get::<_, bool>("is_current")? {
        return Ok(Standing::Superseded);
    }
    let status = row::release_status(row)?;
    Ok(if status.is_terminal() { Standing::Ended } else { Standing::Current })
}

/// Where the attempt stands now.
pub(in crate::store::sqlite) fn standing_of(
    tx: &Tx<'_>,
    attempt: AttemptId,
) -> Result<Standing, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT a.status, a.attempt_id = r.current_attempt_id AS is_current \
         FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
         WHERE a.attempt_id = :attempt",
    )?;
    let mut rows = statement.query(named_params! { ":attempt": attempt.to_string() })?;
    standing(rows.next()?.ok_or(Error::Row("attempt_id"))?)
}

/// A message that was given up and is in doubt. The status stands twice: the list of words is what lets
/// the index of unfinished messages be used.
fn in_doubt(tx: &Tx<'_>, attempt: &str, kind: EffectKind) -> Result<Result<Subject, Code>, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT o.payload, o.send_began_at, r.head_sha FROM outbox o \
         JOIN release_runs r USING (release_run_id) \
         WHERE o.attempt_id = :attempt AND o.kind = :kind AND o.send_began_at IS NOT NULL \
            AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
            AND o.status = 'dead_letter'",
    )?;
    let mut rows =
        statement.query(named_params! { ":attempt": attempt, ":kind": kind.as_str() })?;
    let Some(row) = rows.next()? else { return Ok(Err(Code::AlreadyRepaired)) };
    let attempt = attempt.parse().map_err(|_| Error::Row("subject_id"))?;
    let payload: String = row.get("payload")?;
    Ok(match effect::decode(&payload) {
        Some(Effect::WorkflowDispatch { workflow, .. }) => Ok(Subject::Dispatch(Dispatch {
            attempt,
            workflow,
            head_sha: commit(row)?,
            began_at: row::instant(row, "send_began_at")?,
        })),
        Some(Effect::CheckRunCreate { name, .. }) => {
            Ok(Subject::Creation(Creation { attempt, name, head_sha: commit(row)? }))
        }
        Some(Effect::CheckRunUpdate { .. }) | None => return Err(Error::Row("payload")),
    })
}

/// The check run of the attempt the item was opened about: a later one has its own window and deadline.
fn check_run(tx: &Tx<'_>, due: &Due) -> Result<Result<Subject, Code>, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT r.release_run_id, r.current_attempt_id, r.check_run_id, a.check_run_name, \
            a.check_run_mismatch_at, r.head_sha, r.forge_conclusion, r.failure_reason, \
            r.finished_at, r.forge_check_published_at \
         FROM release_runs r JOIN release_run_attempts a ON a.attempt_id = r.current_attempt_id \
         WHERE r.release_run_id = :release",
    )?;
    let mut rows = statement.query(named_params! { ":release": due.subject })?;
    let row = rows.next()?.ok_or(Error::Row("subject_id"))?;
    let current: String = row.get("current_attempt_id")?;
    if due.attempt.as_ref().is_some_and(|attempt| *attempt != current) {
        return Ok(Err(Code::AttemptSuperseded));
    }
    match publication_standing(row)? {
        check_run::Standing::Unpublished => {}
        check_run::Standing::Published => return Ok(Err(Code::AlreadyRepaired)),
        check_run::Standing::RunsAgain => return Ok(Err(Code::AttemptSuperseded)),
    }
    if row.get::<_, Option<i64>>("check_run_mismatch_at")?.is_some() {
        return Ok(Err(Code::ForgeCheckRunBindingMismatch));
    }
    let failure: Option<String> = row.get("failure_reason")?;
    Ok(Ok(Subject::CheckRun(CheckRun {
        release_run: row::id(row, "release_run_id")?,
        attempt: row::id(row, "current_attempt_id")?,
        check_run: row::number(row, "check_run_id")?,
        name: row.get("check_run_name")?,
        head_sha: commit(row)?,
        conclusion: row::read(row, "forge_conclusion", |word: String| {
            Conclusion::from_word(&word)
        })?,
        completed_at: row::instant(row, "finished_at")?,
        unconfirmed: failure.as_deref() == Some(Code::ForgeDispatchUnconfirmed.as_str()),
        refused_state: due.refused_state,
    })))
}

/// Reads `finished_at` and `forge_check_published_at` of a release run.
fn publication_standing(row: &Row<'_>) -> Result<check_run::Standing, Error> {
    let finished: Option<i64> = row.get("finished_at")?;
    let published: Option<i64> = row.get("forge_check_published_at")?;
    Ok(match (finished, published) {
        (None, _) => check_run::Standing::RunsAgain,
        (Some(_), Some(_)) => check_run::Standing::Published,
        (Some(_), None) => check_run::Standing::Unpublished,
    })
}

/// Where the publication of a release run, as that attempt, stands now.
pub(super) fn publication_of(
    tx: &Tx<'_>,
    release_run: ReleaseRunId,
    attempt: AttemptId,
) -> Result<check_run::Standing, Error> {
    let mut statement = tx.connection.prepare_cached(
        "SELECT iif(current_attempt_id = :attempt, finished_at, NULL) AS finished_at, \
            forge_check_published_at \
         FROM release_runs WHERE release_run_id = :release",
    )?;
    let mut rows = statement.query(named_params! {
        ":release": release_run.to_string(),
        ":attempt": attempt.to_string(),
    })?;
    publication_standing(rows.next()?.ok_or(Error::Row("release_run_id"))?)
}

/// Returns how the subject's repository is addressed today.
pub(super) fn repository(
    tx: &Tx<'_>,
    installation: InstallationId,
    subject: &Subject,
) -> Result<Option<RepositoryRef>, Error> {
    let attempt = match subject {
        Subject::WorkflowRun(it) => it.attempt,
        Subject::UnknownRun(it) | Subject::Dispatch(it) => it.attempt,
        Subject::Creation(it) => it.attempt,
        Subject::CheckRun(it) => it.attempt,
        Subject::Inbox(_) => return Ok(None),
    };
    let mut statement = tx.connection.prepare_cached(
        "SELECT p.repository_id, p.full_name AS repository FROM release_run_attempts a \
         JOIN release_runs r USING (release_run_id) \
         JOIN installations i ON i.installation_id = r.forge_installation_id AND i.state = 'active' \
         JOIN repositories p ON p.repository_id = r.repository_id AND p.state = 'active' \
            AND p.installation_id = r.forge_installation_id \
         WHERE a.attempt_id = :attempt AND r.forge_installation_id = :installation",
    )?;
    let mut rows = statement.query(named_params! {
        ":attempt": attempt.to_string(),
        ":installation": installation.get(),
    })?;
    match rows.next()? {
        // One that does not read is as good as none.
        Some(row) => Ok(row::repository(row).unwrap_or_default()),
        None => Ok(None),
    }
}
