//! The subject of an item, as it stands when the item is claimed: what is needed to look at it, or the
//! code the item closes with because there is nothing left to repair.

use std::time::Duration;

use crate::domain::id::{InstallationId, WorkflowRunId};
use crate::domain::lease::RowHandle;
use crate::domain::outbox::{self, EffectKind};
use crate::domain::reconcile::task::{self, Creation, Subject};
use crate::domain::reconcile::{ReconcileCode, ReconcileReason, check_run};
use crate::domain::repository::RepositoryRef;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::items::Due;
use crate::store::rows::{attempts, effect, publication, row};
use crate::store::sql::{Row, Tx, params};

/// Longest time from the moment a dispatch left to the moment its answer was noted.
const CALL_MAX: Duration = Duration::from_secs(240);

/// Loads what an item is about.
pub(in crate::store) fn load(
    tx: &Tx<'_>,
    due: &Due,
) -> Result<Result<Subject, ReconcileCode>, Error> {
    let id = due.subject.as_str();
    match due.reason {
        ReconcileReason::RunningStale => workflow_run(tx, id),
        ReconcileReason::RunUnknown => unknown_run(tx, id),
        ReconcileReason::DispatchUncertain => uncertain(tx, id, EffectKind::WorkflowDispatch),
        ReconcileReason::CheckRunCreateUncertain => uncertain(tx, id, EffectKind::CheckRunCreate),
        ReconcileReason::ReportingStale => check_run(tx, due),
        ReconcileReason::LifecycleJobMissing | ReconcileReason::LifecycleInboxStateDrift => {
            let inbox = id.parse().map_err(|_| Error::Row("subject_id"))?;
            Ok(Ok(Subject::Inbox(RowHandle::new(inbox))))
        }
    }
}

/// Columns of an attempt that is looked at, and of its release run.
const ATTEMPT: &str = "SELECT a.attempt_id, a.status, a.attempt_id = r.current_attempt_id AS is_current, \
        a.workflow_run_id, coalesce(a.workflow_run_attempt, 1) AS run_attempt, a.workflow, \
        a.updated_at, r.repository_id, r.head_sha \
     FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
     WHERE a.attempt_id = :attempt";

fn workflow_run(tx: &Tx<'_>, attempt: &str) -> Result<Result<Subject, ReconcileCode>, Error> {
    let found = tx.query_one(ATTEMPT, params! { ":attempt": attempt }, |row| {
        if let Some(code) = attempts::standing(row)?.closed() {
            return Ok(Err(code));
        }
        Ok(Ok(Subject::WorkflowRun(task::WorkflowRun {
            attempt: row.get("attempt_id")?,
            run: row.get("workflow_run_id")?,
            run_attempt: row.get("run_attempt")?,
            repository: row.get("repository_id")?,
            head_sha: row.get("head_sha")?,
            workflow: row.get("workflow")?,
        })))
    })?;
    found.ok_or(Error::Row("subject_id"))
}

fn unknown_run(tx: &Tx<'_>, attempt: &str) -> Result<Result<Subject, ReconcileCode>, Error> {
    let found = tx.query_one(ATTEMPT, params! { ":attempt": attempt }, |row| {
        if let Some(code) = attempts::standing(row)?.closed() {
            return Ok(Err(code));
        }
        if row.get::<Option<WorkflowRunId>>("workflow_run_id")?.is_some() {
            return Ok(Err(ReconcileCode::AlreadyRepaired));
        }
        Ok(Ok(Subject::UnknownRun(task::Dispatch {
            attempt: row.get("attempt_id")?,
            workflow: row.get("workflow")?,
            head_sha: row.get("head_sha")?,
            // `send_began_at` was cleared when the dispatch completed, so the earliest possible moment is computed.
            began_at: row.get::<Timestamp>("updated_at")?.minus(CALL_MAX),
        })))
    })?;
    found.ok_or(Error::Row("subject_id"))
}

/// A message that was given up, is in doubt, and was not closed. The status is compared twice: the list of words is what lets
/// the index of unfinished messages be used.
fn uncertain(
    tx: &Tx<'_>,
    attempt: &str,
    kind: EffectKind,
) -> Result<Result<Subject, ReconcileCode>, Error> {
    let found = tx.query_one(
        "SELECT o.attempt_id, o.payload, o.send_began_at, r.head_sha FROM outbox o \
         JOIN release_runs r USING (release_run_id) \
         WHERE o.attempt_id = :attempt AND o.kind = :kind AND o.send_began_at IS NOT NULL \
            AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
            AND o.status = 'dead_letter' AND o.payload <> ''",
        params! { ":attempt": attempt, ":kind": kind },
        uncertain_effect,
    )?;
    Ok(found.ok_or(ReconcileCode::AlreadyRepaired))
}

fn uncertain_effect(row: &Row<'_>) -> Result<Subject, Error> {
    let attempt = row.get("attempt_id")?;
    let payload: String = row.get("payload")?;
    match effect::decode(&payload) {
        Some(outbox::Effect::WorkflowDispatch { workflow, .. }) => {
            Ok(Subject::Dispatch(task::Dispatch {
                attempt,
                workflow,
                head_sha: row.get("head_sha")?,
                began_at: row.get("send_began_at")?,
            }))
        }
        Some(outbox::Effect::CheckRunCreate { name, .. }) => {
            Ok(Subject::Creation(Creation { attempt, name, head_sha: row.get("head_sha")? }))
        }
        // An update is repeatable and never uncertain (docs/decisions/07-effect-three-commits.md).
        Some(outbox::Effect::CheckRunUpdate { .. }) | None => Err(Error::Row("payload")),
    }
}

/// The check run of the attempt the item was opened about: a later one has its own window and deadline.
fn check_run(tx: &Tx<'_>, due: &Due) -> Result<Result<Subject, ReconcileCode>, Error> {
    let found = tx.query_one(
        "SELECT r.release_run_id, r.current_attempt_id, r.check_run_id, a.check_run_name, \
            a.check_run_mismatch_at, r.head_sha, r.forge_conclusion, r.failure_reason, \
            r.finished_at, r.forge_check_published_at \
         FROM release_runs r JOIN release_run_attempts a ON a.attempt_id = r.current_attempt_id \
         WHERE r.release_run_id = :release",
        params! { ":release": due.subject },
        |row| publication(row, due),
    )?;
    // The sweep can delete it between the reading of candidates and the opening of the item.
    Ok(found.unwrap_or(Err(ReconcileCode::AlreadyRepaired)))
}

fn publication(row: &Row<'_>, due: &Due) -> Result<Result<Subject, ReconcileCode>, Error> {
    let current: String = row.get("current_attempt_id")?;
    if due.attempt.as_ref().is_some_and(|attempt| *attempt != current) {
        return Ok(Err(ReconcileCode::AttemptSuperseded));
    }
    match publication::standing(row)? {
        check_run::ReleaseStanding::Unpublished => {}
        check_run::ReleaseStanding::Published => return Ok(Err(ReconcileCode::AlreadyRepaired)),
        check_run::ReleaseStanding::RunsAgain => return Ok(Err(ReconcileCode::AttemptSuperseded)),
    }
    if row.get::<Option<Timestamp>>("check_run_mismatch_at")?.is_some() {
        // Not even looked at: whatever it shows now, nothing may be written to it.
        return Ok(Err(ReconcileCode::ForgeCheckRunBindingMismatch));
    }
    let failure: Option<String> = row.get("failure_reason")?;
    Ok(Ok(Subject::CheckRun(task::CheckRun {
        release_run: row.get("release_run_id")?,
        attempt: row.get("current_attempt_id")?,
        check_run: row.get("check_run_id")?,
        name: row.get("check_run_name")?,
        head_sha: row.get("head_sha")?,
        conclusion: row.get("forge_conclusion")?,
        completed_at: row.get("finished_at")?,
        unconfirmed: failure.as_deref() == Some(ReconcileCode::ForgeDispatchUnconfirmed.as_str()),
        refused_state: due.refused_state,
    })))
}

/// Returns how the subject's repository is addressed today.
pub(in crate::store) fn repository(
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
    let found = tx.query_one(
        "SELECT p.repository_id, p.full_name AS repository FROM release_run_attempts a \
         JOIN release_runs r USING (release_run_id) \
         JOIN installations i ON i.installation_id = r.forge_installation_id AND i.state = 'active' \
         JOIN repositories p ON p.repository_id = r.repository_id AND p.state = 'active' \
            AND p.installation_id = r.forge_installation_id \
         WHERE a.attempt_id = :attempt AND r.forge_installation_id = :installation",
        params! { ":attempt": attempt, ":installation": installation },
        // One that does not read is as good as none.
        |row| Ok(row::repository(row).unwrap_or_default()),
    )?;
    Ok(found.flatten())
}
