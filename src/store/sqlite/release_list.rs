//! Release runs as operators see them: the list of one installation, and one run with its attempts
//! and what is planned for it. Reads only; no payload, nonce or result leaves with them.

use rusqlite::{Connection, Row, named_params};

use crate::domain::dead_letter::ReplayClass;
use crate::domain::id::{AttemptId, CheckRunId, InstallationId, ReleaseRunId, WorkflowRunId};
use crate::domain::outbox::OutboxStatus;
use crate::domain::page::Page;
use crate::domain::release::ReleaseStatus;
use crate::domain::release::outlook::{Facts, Message, Publication, Reconciliation};
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::{Store, listing, row};

/// Most attempts that are shown of one release run.
const ATTEMPTS_MAX: u32 = 100;

const COLUMNS: &str = "r.release_run_id, p.full_name, r.git_ref, r.head_sha, r.status, r.decision, \
    r.conclusion, r.failure_reason, r.current_attempt_id, a.attempt_number, r.workflow_run_id, \
    r.check_run_id, r.forge_check_published_at, r.created_at, r.updated_at, r.finished_at, \
    iif(r.forge_check_published_at IS NULL, \
        coalesce(s.last_publication_error, (SELECT i.outcome_code FROM reconciliation_items i \
            WHERE i.subject_id = r.release_run_id AND i.reason = 'reporting_stale' \
                AND i.attempt_id = r.current_attempt_id AND i.status = 'completed' \
                AND i.outcome_code LIKE 'forge\\_check\\_run\\_%' ESCAPE '\\')), \
        NULL) AS last_publication_error";
/// The name only while the repository is the installation's; the result only of the current attempt.
const JOINS: &str = "LEFT JOIN release_run_attempts a ON a.attempt_id = r.current_attempt_id \
    LEFT JOIN release_run_results s ON s.release_run_id = r.release_run_id \
        AND s.attempt_id = r.current_attempt_id \
    LEFT JOIN repositories p ON p.repository_id = r.repository_id \
        AND p.installation_id = r.forge_installation_id";
const FIND: &str = "SELECT id FROM release_runs \
    WHERE release_run_id = :before AND forge_installation_id = :installation";

/// One release run: metadata only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRun {
    /// Its id.
    pub id: ReleaseRunId,
    /// `owner/name`; nothing when the repository is not known, or no longer the installation's.
    pub repository: Option<String>,
    /// The tag, `refs/tags/...`.
    pub git_ref: String,
    /// The commit.
    pub head_sha: String,
    /// Its status.
    pub status: ReleaseStatus,
    /// What the signed result said.
    pub decision: Option<String>,
    /// What the forge was told.
    pub conclusion: Option<String>,
    /// Stable code: why it ended badly.
    pub failure_reason: Option<String>,
    /// Its current attempt.
    pub attempt: AttemptId,
    /// The number of that attempt, from 1.
    pub attempt_number: u32,
    /// The workflow run of that attempt, once known.
    pub workflow_run: Option<WorkflowRunId>,
    /// The check run of that attempt, once known.
    pub check_run: Option<CheckRunId>,
    /// When the forge confirmed the final check run.
    pub published_at: Option<Timestamp>,
    /// Stable code: why it could not be published; nothing once it is.
    pub last_publication_error: Option<String>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// One attempt of a release run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Its number, from 1.
    pub number: u32,
    /// A word of [`ReleaseStatus`], or `superseded`.
    pub status: String,
    /// Stable code: why it ended badly.
    pub failure_reason: Option<String>,
    /// Its workflow run, once known.
    pub workflow_run: Option<WorkflowRunId>,
    /// Its check run, once known.
    pub check_run: Option<CheckRunId>,
    /// When a webhook last said to look at its workflow run.
    pub hinted_at: Option<Timestamp>,
}

/// One release run with everything an operator may know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRunDetail {
    /// What the list shows.
    pub release: ReleaseRun,
    /// Its attempts, newest first; at most the newest hundred.
    pub attempts: Vec<Attempt>,
    /// What decides about what happens next.
    pub facts: Facts,
    /// Stable code: why the message that holds up the others died.
    pub dead_letter_reason: Option<String>,
}

impl Store {
    /// Returns release runs of one installation that were recorded before `before`, newest first;
    /// nothing when `before` names none of them.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn release_runs(
        &self,
        installation: InstallationId,
        status: Option<ReleaseStatus>,
        before: Option<ReleaseRunId>,
        limit: u32,
    ) -> Result<Option<Page<ReleaseRun, ReleaseRunId>>, Error> {
        self.read(|connection| {
            let before = before.map(|id| id.to_string());
            let Some(bound) = listing::bound(connection, FIND, installation, before)? else {
                return Ok(None);
            };
            let mut statement = connection.prepare_cached(&match status {
                None => format!(
                    "SELECT {COLUMNS} FROM release_runs r \
                     INDEXED BY release_runs_of_installation {JOINS} \
                     WHERE r.forge_installation_id = :installation AND r.id < :bound \
                        AND :status IS NULL ORDER BY r.id DESC LIMIT +:limit"
                ),
                Some(_) => format!(
                    "SELECT {COLUMNS} FROM release_runs r \
                     INDEXED BY release_runs_of_status {JOINS} \
                     WHERE r.forge_installation_id = :installation AND r.id < :bound \
                        AND r.status = :status ORDER BY r.id DESC LIMIT +:limit"
                ),
            })?;
            let rows = statement.query(named_params! {
                ":installation": installation.get(),
                ":bound": bound,
                ":status": status.map(ReleaseStatus::as_str),
                ":limit": i64::from(limit) + 1,
            })?;
            listing::page(rows, limit, release, |release| release.id).map(Some)
        })
    }

    /// Returns one release run of an installation, as it stands at one instant.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn release_run(
        &self,
        installation: InstallationId,
        id: ReleaseRunId,
    ) -> Result<Option<ReleaseRunDetail>, Error> {
        self.read(|connection| {
            // Several statements see one state of the file; the snapshot ends with this value.
            let snapshot = connection.unchecked_transaction()?;
            let Some(release) = one(&snapshot, installation, id)? else { return Ok(None) };
            let (message, dead_letter_reason) = message(&snapshot, release.attempt)?.unzip();
            let facts = Facts {
                status: release.status,
                message,
                reconciliation: reconciliation(&snapshot, installation, &release)?,
                publication: publication(&release),
            };
            let attempts = attempts(&snapshot, id)?;
            Ok(Some(ReleaseRunDetail {
                release,
                attempts,
                facts,
                dead_letter_reason: dead_letter_reason.flatten(),
            }))
        })
    }
}

fn one(
    connection: &Connection,
    installation: InstallationId,
    id: ReleaseRunId,
) -> Result<Option<ReleaseRun>, Error> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM release_runs r {JOINS} \
         WHERE r.release_run_id = :release AND r.forge_installation_id = :installation"
    ))?;
    let mut rows = statement.query(named_params! {
        ":release": id.to_string(),
        ":installation": installation.get(),
    })?;
    rows.next()?.map(release).transpose()
}

fn attempts(connection: &Connection, release: ReleaseRunId) -> Result<Vec<Attempt>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT attempt_id, attempt_number, status, failure_reason, workflow_run_id, \
            check_run_id, hinted_at FROM release_run_attempts \
         WHERE release_run_id = :release ORDER BY attempt_number DESC LIMIT +:limit",
    )?;
    let mut rows = statement
        .query(named_params! { ":release": release.to_string(), ":limit": ATTEMPTS_MAX })?;
    let mut attempts = Vec::new();
    while let Some(row) = rows.next()? {
        attempts.push(Attempt {
            id: row::id(row, "attempt_id")?,
            number: row.get("attempt_number")?,
            status: row.get("status")?,
            failure_reason: row.get("failure_reason")?,
            workflow_run: row::number_or_null(row, "workflow_run_id")?,
            check_run: row::number_or_null(row, "check_run_id")?,
            hinted_at: row::instant_or_null(row, "hinted_at")?,
        });
    }
    Ok(attempts)
}

/// Reads the first unfinished message of an attempt, and why it died when it did. A dead dispatch comes
/// last, because it holds no other message.
fn message(
    connection: &Connection,
    attempt: AttemptId,
) -> Result<Option<(Message, Option<String>)>, Error> {
    let found = message_that(connection, attempt, false)?;
    if found.is_some() { Ok(found) } else { message_that(connection, attempt, true) }
}

/// Reads the first unfinished message that is, or is not, a dead dispatch. One that waits is sent no earlier
/// than a pause of its installation ends.
fn message_that(
    connection: &Connection,
    attempt: AttemptId,
    is_dead_dispatch: bool,
) -> Result<Option<(Message, Option<String>)>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT o.outbox_id, o.kind, o.status, o.lease_expires_at, d.replay_class, d.reason_code, \
            max(o.available_at, coalesce(p.paused_until, 0)) AS due_at \
         FROM outbox o \
         LEFT JOIN installation_pauses p ON p.installation_id = o.installation_id \
         LEFT JOIN dead_letters d ON d.item_type = 'outbox' AND d.item_id = o.outbox_id \
            AND d.resolution IS NULL \
         WHERE o.attempt_id = :attempt \
            AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
            AND (o.kind = 'workflow_dispatch' AND o.status = 'dead_letter') = :dead_dispatch \
         ORDER BY o.id LIMIT 1",
    )?;
    let mut rows = statement.query(named_params! {
        ":attempt": attempt.to_string(),
        ":dead_dispatch": is_dead_dispatch,
    })?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let status: String = row.get("status")?;
    let class: Option<String> = row.get("replay_class")?;
    let message = if status == OutboxStatus::DeadLetter.as_str() {
        Message::Dead {
            id: row::id(row, "outbox_id")?,
            class: class.as_deref().and_then(ReplayClass::from_word),
        }
    } else if status == OutboxStatus::Leased.as_str() {
        Message::Leased { until: row::instant(row, "lease_expires_at")? }
    } else {
        Message::Waiting { kind: row::effect_kind(row)?, at: row::instant(row, "due_at")? }
    };
    Ok(Some((message, row.get("reason_code")?)))
}

/// Reads the open reconciliation item of a release run or its current attempt that is looked at first.
fn reconciliation(
    connection: &Connection,
    installation: InstallationId,
    release: &ReleaseRun,
) -> Result<Option<Reconciliation>, Error> {
    let mut next: Option<Reconciliation> = None;
    for subject in [release.id.to_string(), release.attempt.to_string()] {
        let mut statement = connection.prepare_cached(
            "SELECT min(next_check_at) AS next_check_at, deadline_at, \
                coalesce((SELECT paused_until FROM installation_pauses p \
                    WHERE p.installation_id = :installation), next_check_at) AS paused_until \
             FROM reconciliation_items INDEXED BY reconciliation_items_of_subject \
             WHERE subject_id = :subject AND status IN ('open', 'leased') \
                AND installation_id = :installation",
        )?;
        let mut rows = statement.query(named_params! {
            ":subject": subject,
            ":installation": installation.get(),
        })?;
        let Some(row) = rows.next()? else { continue };
        let Some(next_check_at) = row::instant_or_null(row, "next_check_at")? else { continue };
        // Beside `min`, the other column is that of the same row.
        let deadline_at = row::instant(row, "deadline_at")?;
        let next_check_at = next_check_at.max(row::instant(row, "paused_until")?);
        let found = Reconciliation { next_check_at, deadline_at };
        if next.is_none_or(|next| found.next_check_at < next.next_check_at) {
            next = Some(found);
        }
    }
    Ok(next)
}

const fn publication(release: &ReleaseRun) -> Publication {
    match release {
        ReleaseRun { published_at: Some(_), .. } => Publication::Confirmed,
        ReleaseRun { last_publication_error: Some(_), .. } => Publication::Failed,
        ReleaseRun { check_run: None, .. } => Publication::NoCheckRun,
        ReleaseRun { .. } => Publication::Unconfirmed,
    }
}

fn release(row: &Row<'_>) -> Result<ReleaseRun, Error> {
    Ok(ReleaseRun {
        id: row::id(row, "release_run_id")?,
        repository: row.get("full_name")?,
        git_ref: row.get("git_ref")?,
        head_sha: row.get("head_sha")?,
        status: row::release_status(row)?,
        decision: row.get("decision")?,
        conclusion: row.get("conclusion")?,
        failure_reason: row.get("failure_reason")?,
        attempt: row::id(row, "current_attempt_id")?,
        attempt_number: row.get("attempt_number")?,
        workflow_run: row::number_or_null(row, "workflow_run_id")?,
        check_run: row::number_or_null(row, "check_run_id")?,
        published_at: row::instant_or_null(row, "forge_check_published_at")?,
        last_publication_error: row.get("last_publication_error")?,
        created_at: row::instant(row, "created_at")?,
        updated_at: row::instant(row, "updated_at")?,
        finished_at: row::instant_or_null(row, "finished_at")?,
    })
}
