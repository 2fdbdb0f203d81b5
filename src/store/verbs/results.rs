//! Results of releases: what one must be bound to, and the one transaction that records it: the
//! credential, the result, the workflow run it proves, and the end of the release.
//!
//! See `docs/decisions/24-result-effects.md`.

use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId, WorkflowRunId};
use crate::domain::reconcile::uncertain;
use crate::domain::release::Ending;
use crate::domain::release::attempt::AttemptStatus;
use crate::domain::result::{
    self, Credential, Expected, NewResult, RecordedResult, ResultRefusal, RunFacts,
};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::{attempts, audit, release_end, settlement};
use crate::store::sql::{Row, Tx, params};

/// The stored answer of a recorded result.
const RECORDED: &str = "recorded";

impl Store {
    /// Returns what a result of this attempt of this release run must be bound to; `None` when there
    /// is no such attempt.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it could not be read.
    pub fn expected_result(
        &self,
        release_run: ReleaseRunId,
        attempt: AttemptId,
    ) -> Result<Option<Expected>, Error> {
        self.read(|db| {
            db.query_one(
                "SELECT a.nonce, a.workflow, a.workflow_run_id, r.repository_id, \
                    r.repository_owner_id, r.git_ref, r.head_sha, \
                    coalesce(a.workflow_run_attempt, 1) AS run_attempt \
                 FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
                 WHERE a.attempt_id = :attempt AND a.release_run_id = :release",
                params! { ":attempt": attempt, ":release": release_run },
                expected,
            )
        })
    }

    /// Records a result whose credential holds, and ends the release by it. A refused one changes
    /// nothing but that the first of its attempt is audited.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it is not on disk; the sender must not be told that it is.
    pub fn record_result(&self, result: NewResult) -> Result<RecordedResult, Error> {
        self.write(move |tx| record(tx, &result))
    }
}

fn expected(row: &Row<'_>) -> Result<Expected, Error> {
    Ok(Expected {
        nonce: row.get("nonce")?,
        repository: row.get("repository_id")?,
        owner: row.get("repository_owner_id")?,
        git_ref: row.get("git_ref")?,
        head_sha: row.get("head_sha")?,
        workflow: row.get("workflow")?,
        workflow_run: row.get("workflow_run_id")?,
        run_attempt: row.get("run_attempt")?,
    })
}

fn record(tx: &mut Tx<'_>, result: &NewResult) -> Result<RecordedResult, Error> {
    // Read again although the token was checked against them before: the release may have ended since.
    let (installation, facts) = facts(tx, result)?;
    match result::decide(&facts) {
        result::Outcome::Repeat => Ok(RecordedResult::Before),
        result::Outcome::Refuse(refusal) => {
            refuse(tx, installation, result.attempt, refusal)?;
            Ok(RecordedResult::Refused(refusal))
        }
        result::Outcome::Record { proves_run } => {
            keep(tx, result)?;
            if proves_run {
                // Before the end: ending supersedes what is held, and a dispatch must be completed, not superseded.
                prove_run(tx, result.attempt, result.workflow_run)?;
            }
            release_end::end_release(tx, result.attempt, Ending::Decided(result.report.decision))?;
            Ok(RecordedResult::Now)
        }
    }
}

fn facts(tx: &Tx<'_>, result: &NewResult) -> Result<(InstallationId, result::Facts), Error> {
    let found = tx.query_one(
        "SELECT r.forge_installation_id, r.head_sha, a.workflow_run_id, a.status \
         FROM release_run_attempts a JOIN release_runs r USING (release_run_id) \
         WHERE a.attempt_id = :attempt AND a.release_run_id = :release",
        params! { ":attempt": result.attempt, ":release": result.release_run },
        |row| {
            let run = match row.get::<Option<WorkflowRunId>>("workflow_run_id")? {
                Some(run) if run == result.workflow_run => RunFacts::Known,
                // A run that is known is never replaced, even by a token whose signature holds.
                Some(_) => RunFacts::Other,
                None => unclaimed_run(tx, result)?,
            };
            let facts = result::Facts {
                credential: credential(tx, result)?,
                standing: attempts::standing_of(tx, result.attempt)?,
                same_commit: row.get::<String>("head_sha")? == result.report.head_commit.as_str(),
                dispatched: attempts::status(row)?.is_some_and(AttemptStatus::is_dispatched),
                run,
            };
            Ok((row.get("forge_installation_id")?, facts))
        },
    )?;
    found.ok_or(Error::Row("attempt_id"))
}

fn unclaimed_run(tx: &Tx<'_>, result: &NewResult) -> Result<RunFacts, Error> {
    let run = uncertain::Proof::WorkflowRun(result.workflow_run);
    let taken = attempts::is_taken(tx, run, result.attempt)?;
    Ok(if taken { RunFacts::Taken } else { RunFacts::Unknown })
}

fn credential(tx: &Tx<'_>, result: &NewResult) -> Result<Credential, Error> {
    let same: Option<bool> = tx.query_one(
        "SELECT attempt_id = :attempt AND payload_sha256 = :digest AS same \
         FROM result_callbacks \
             WHERE token_id = :credential",
        params! {
            ":credential": result.credential.to_string(),
            ":attempt": result.attempt,
            ":digest": result.body_sha256,
        },
        |row| row.get("same"),
    )?;
    Ok(match same {
        None => Credential::New,
        Some(true) => Credential::SameBody,
        Some(false) => Credential::OtherBody,
    })
}

/// Keeps the credential and the result. The result of an earlier attempt makes way.
fn keep(tx: &Tx<'_>, result: &NewResult) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO result_callbacks (token_id, attempt_id, payload_sha256, outcome, \
            created_at) \
         VALUES (:credential, :attempt, :digest, :outcome, :now)",
        params! {
            ":credential": result.credential.to_string(),
            ":attempt": result.attempt,
            ":digest": result.body_sha256,
            ":outcome": RECORDED,
            ":now": tx.now,
        },
    )?;
    tx.execute(
        "INSERT INTO release_run_results (release_run_id, attempt_id, decision, \
            payload_sha256, accepted_payload, created_at, updated_at) \
         VALUES (:release, :attempt, :decision, :digest, :body, :now, :now) \
         ON CONFLICT (release_run_id) DO UPDATE SET attempt_id = excluded.attempt_id, \
            decision = excluded.decision, payload_sha256 = excluded.payload_sha256, \
            accepted_payload = excluded.accepted_payload, last_publication_error = NULL, \
            created_at = excluded.created_at, updated_at = excluded.updated_at",
        params! {
            ":release": result.release_run,
            ":attempt": result.attempt,
            ":decision": result.report.decision,
            ":digest": result.body_sha256,
            ":body": result.body,
            ":now": tx.now,
        },
    )?;
    Ok(())
}

/// The run of an attempt is known by its result. A dispatch that is not finished, in doubt or not,
/// had its effect, and must not be sent again.
fn prove_run(tx: &mut Tx<'_>, attempt: AttemptId, run: WorkflowRunId) -> Result<(), Error> {
    let Some(dispatch) = settlement::unfinished_dispatch(tx, attempt)? else {
        return attempts::run_is_known(tx, attempt, run);
    };
    if settlement::confirm_effect(tx, &dispatch, uncertain::Proof::WorkflowRun(run))? {
        Ok(())
    } else {
        // `facts` ruled out in this transaction that the number is taken, so this is damage, and nothing is recorded.
        Err(Error::Row("workflow_run_id"))
    }
}

fn refuse(
    tx: &mut Tx<'_>,
    installation: InstallationId,
    attempt: AttemptId,
    refusal: ResultRefusal,
) -> Result<(), Error> {
    let first = tx.execute(
        "UPDATE release_run_attempts SET result_refused_at = :now \
         WHERE attempt_id = :attempt AND result_refused_at IS NULL",
        params! { ":attempt": attempt, ":now": tx.now },
    )?;
    // One event for each attempt: a sender that repeats a refused result must not fill the audit log.
    if first == 0 {
        return Ok(());
    }
    audit::release_result_refused(tx, installation, attempt, refusal)
}
