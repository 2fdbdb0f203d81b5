//! Release runs as operators see them: the list of one installation, and one run with its attempts
//! and what is planned for it. Reads only; no payload, nonce or result leaves with them.

use crate::api::{Attempt, ListRequest, ReleaseFilter, ReleaseRun, Tag};
use crate::domain::dead_letter::ReplayClass;
use crate::domain::id::{AttemptId, InstallationId, ReleaseRunId, RepositoryId};
use crate::domain::outbox::OutboxStatus;
use crate::domain::page::Page;
use crate::domain::release::ReleaseStatus;
use crate::domain::release::next_step::{self, Publication, Reconciliation};
use crate::domain::repository::RepositoryName;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::{listing, release_steps};
use crate::store::sql::{Db, Row, params};
use crate::store::types::ReleaseRunDetail;
use crate::store::{List, Store};

/// Most attempts that are shown of one release run.
const ATTEMPTS_MAX: u32 = 100;

const COLUMNS: &str = "r.release_run_id, p.full_name, r.git_ref, r.head_sha, r.status, r.decision, \
    r.conclusion, r.failure_reason, r.current_attempt_id, a.attempt_number, \
    a.failure_reason AS attempt_failure_reason, r.workflow_run_id, \
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

/// What the index does not hold is looked for among its rows: one index for each choice would have to be written with
/// every step of every release.
const WANTED: &str = "(:status IS NULL OR r.status = :status) \
    AND (:repository IS NULL OR r.repository_id = :repository) \
    AND (:git_ref IS NULL OR r.git_ref = :git_ref) \
    AND (:stuck_before IS NULL OR r.finished_at IS NULL AND r.updated_at <= :stuck_before) \
    AND r.created_at >= :since AND r.created_at < :until";

impl List for ReleaseRun {
    fn page(
        store: &Store,
        installation: InstallationId,
        wanted: &ListRequest<Self>,
        stuck_before: Timestamp,
    ) -> Result<Option<Page<Self, ReleaseRunId>>, Error> {
        let filter = &wanted.filter;
        store.read(|db| {
            listing::page(db, FIND, installation, wanted, |bound| {
                let repository = match &filter.repository {
                    None => None,
                    Some(name) => match repository(db, installation, name)? {
                        Some(repository) => Some(repository),
                        None => return Ok(Vec::new()),
                    },
                };
                db.query(
                    &statement(filter),
                    params! {
                        ":installation": installation,
                        ":bound": bound,
                        ":status": filter.status,
                        ":repository": repository,
                        ":git_ref": filter.tag.as_ref().map(Tag::git_ref),
                        ":stuck_before": filter.stuck.map(|_| stuck_before),
                        ":since": filter.since.unwrap_or(Timestamp::MIN),
                        ":until": filter.until.unwrap_or(Timestamp::MAX),
                        ":limit": i64::from(wanted.limit) + 1,
                    },
                    release,
                )
            })
        })
    }
}

/// Returns the statement over the index that leaves the fewest rows to look at.
fn statement(filter: &ReleaseFilter) -> String {
    let has_time = filter.since.is_some() || filter.until.is_some();
    match filter {
        ReleaseFilter { tag: Some(_), .. } => format!(
            "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_of_tag {JOINS} \
             WHERE r.forge_installation_id = :installation AND r.git_ref = :git_ref \
                AND r.id < :bound AND {WANTED} ORDER BY r.id DESC LIMIT +:limit"
        ),
        ReleaseFilter { stuck: Some(_), .. } => format!(
            "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_unfinished {JOINS} \
             WHERE r.forge_installation_id = :installation AND r.finished_at IS NULL \
                AND r.id < :bound AND {WANTED} ORDER BY r.id DESC LIMIT +:limit"
        ),
        ReleaseFilter { repository: Some(_), .. } => format!(
            "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_of_repository {JOINS} \
             WHERE r.forge_installation_id = :installation AND r.repository_id = :repository \
                AND r.id < :bound AND {WANTED} ORDER BY r.id DESC LIMIT +:limit"
        ),
        // Few release runs have not ended, and many have: those are found by their time.
        ReleaseFilter { status: Some(status), .. } if !(status.is_terminal() && has_time) => {
            format!(
                "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_of_status {JOINS} \
             WHERE r.forge_installation_id = :installation AND r.status = :status \
                AND r.id < :bound AND {WANTED} ORDER BY r.id DESC LIMIT +:limit"
            )
        }
        // By time, and only then as they were added: otherwise a clock that was set back would hide release runs.
        ReleaseFilter { .. } if has_time => format!(
            "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_of_time {JOINS} \
             WHERE r.forge_installation_id = :installation AND {WANTED} \
                AND (r.created_at, r.id) < (coalesce((SELECT created_at FROM release_runs \
                    WHERE id = :bound), 9223372036854775807), :bound) \
             ORDER BY r.created_at DESC, r.id DESC LIMIT +:limit"
        ),
        ReleaseFilter { .. } => format!(
            "SELECT {COLUMNS} FROM release_runs r INDEXED BY release_runs_of_installation {JOINS} \
             WHERE r.forge_installation_id = :installation AND r.id < :bound AND {WANTED} \
             ORDER BY r.id DESC LIMIT +:limit"
        ),
    }
}

/// Finds the repository that has a name: of several that had it, one that is there before one that is gone.
fn repository(
    db: &Db<'_>,
    installation: InstallationId,
    name: &RepositoryName,
) -> Result<Option<RepositoryId>, Error> {
    db.query_one(
        "SELECT repository_id FROM repositories INDEXED BY repositories_of_name \
         WHERE installation_id = :installation AND full_name = :name COLLATE NOCASE \
         ORDER BY state, repository_id DESC LIMIT 1",
        params! { ":installation": installation, ":name": name },
        |row| row.get("repository_id"),
    )
}

impl Store {
    /// Returns one release run of an installation, as it stands at one instant.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn release_run(
        &self,
        installation: InstallationId,
        id: ReleaseRunId,
    ) -> Result<Option<ReleaseRunDetail>, Error> {
        // Several statements see one state of the file.
        self.read(|db| db.snapshot(|db| detail(db, installation, id)))
    }
}

fn detail(
    db: &Db<'_>,
    installation: InstallationId,
    id: ReleaseRunId,
) -> Result<Option<ReleaseRunDetail>, Error> {
    let Some(current) = one(db, installation, id)? else { return Ok(None) };
    // Only the current attempt: messages of old ones are superseded and say nothing about what comes next.
    let unfinished = unfinished(db, current.attempt)?;
    let facts = next_step::Facts {
        status: current.status,
        message: unfinished.as_ref().map(|it| it.message),
        reconciliation: reconciliation(db, installation, id, current.attempt)?,
        publication: publication(&current.release),
    };
    Ok(Some(ReleaseRunDetail {
        steps: release_steps::read(db, &current.release)?,
        release: current.release,
        attempts: attempts(db, id)?,
        facts,
        failed_tries: unfinished.as_ref().map_or(0, |it| it.failed_tries),
        dead_letter_reason: unfinished.and_then(|it| it.dead_letter_reason),
    }))
}

/// A release run, and what of it is not shown as it stands.
struct Current {
    release: ReleaseRun,
    status: ReleaseStatus,
    attempt: AttemptId,
}

fn one(
    db: &Db<'_>,
    installation: InstallationId,
    id: ReleaseRunId,
) -> Result<Option<Current>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM release_runs r {JOINS} \
         WHERE r.release_run_id = :release AND r.forge_installation_id = :installation"
    );
    db.query_one(&sql, params! { ":release": id, ":installation": installation }, |row| {
        let (status, attempt) = (row.get("status")?, row.get("current_attempt_id")?);
        Ok(Current { release: release(row)?, status, attempt })
    })
}

fn attempts(db: &Db<'_>, release: ReleaseRunId) -> Result<Vec<Attempt>, Error> {
    db.query(
        "SELECT attempt_id, attempt_number, status, failure_reason, workflow_run_id, \
            check_run_id, hinted_at FROM release_run_attempts \
         WHERE release_run_id = :release ORDER BY attempt_number DESC LIMIT +:limit",
        params! { ":release": release, ":limit": ATTEMPTS_MAX },
        |row| {
            Ok(Attempt {
                attempt_id: row.get("attempt_id")?,
                number: row.get("attempt_number")?,
                status: row.get("status")?,
                failure_reason: row.get("failure_reason")?,
                workflow_run_id: row.get("workflow_run_id")?,
                check_run_id: row.get("check_run_id")?,
                hinted_at: row.get("hinted_at")?,
            })
        },
    )
}

/// The message that holds up the others.
struct Unfinished {
    message: next_step::Message,
    dead_letter_reason: Option<String>,
    failed_tries: u32,
}

/// Reads the first unfinished message of an attempt. A dead dispatch comes last, because it holds no other message.
fn unfinished(db: &Db<'_>, attempt: AttemptId) -> Result<Option<Unfinished>, Error> {
    let found = unfinished_that(db, attempt, false)?;
    if found.is_some() { Ok(found) } else { unfinished_that(db, attempt, true) }
}

/// Reads the first unfinished message that is, or is not, a dead dispatch. One that waits is sent no earlier
/// than a pause of its installation ends.
fn unfinished_that(
    db: &Db<'_>,
    attempt: AttemptId,
    is_dead_dispatch: bool,
) -> Result<Option<Unfinished>, Error> {
    db.query_one(
        // A closed update holds nothing that goes on: the run's end, or a reconciler, comes next.
        "SELECT o.outbox_id, o.kind, o.status, o.lease_expires_at, d.replay_class, d.reason_code, \
            CASE o.status WHEN 'dead_letter' THEN 0 ELSE o.attempt_count - (o.status = 'leased') END AS failed_tries, \
            d.item_id IS NOT NULL AS is_open, \
            max(o.available_at, coalesce(p.paused_until, 0)) AS due_at \
         FROM outbox o \
         LEFT JOIN installation_pauses p ON p.installation_id = o.installation_id \
         LEFT JOIN dead_letters d ON d.item_type = 'outbox' AND d.item_id = o.outbox_id \
            AND d.resolution IS NULL \
         WHERE o.attempt_id = :attempt \
            AND o.status IN ('held', 'available', 'leased', 'dead_letter') \
            AND (o.kind = 'workflow_dispatch' AND o.status = 'dead_letter') = :dead_dispatch \
            AND NOT (o.kind = 'check_run_update' AND o.status = 'dead_letter' AND o.payload = '') \
         ORDER BY o.id LIMIT 1",
        params! { ":attempt": attempt, ":dead_dispatch": is_dead_dispatch },
        |row| {
            Ok(Unfinished {
                message: planned(row)?,
                dead_letter_reason: row.get("reason_code")?,
                failed_tries: row.get("failed_tries")?,
            })
        },
    )
}

fn planned(row: &Row<'_>) -> Result<next_step::Message, Error> {
    let status: String = row.get("status")?;
    if status == OutboxStatus::DeadLetter.as_str() {
        let id = row.get("outbox_id")?;
        if !row.get("is_open")? {
            return Ok(next_step::Message::Closed { id });
        }
        let class: Option<String> = row.get("replay_class")?;
        let class = class.as_deref().and_then(ReplayClass::from_word);
        Ok(next_step::Message::Dead { id, class })
    } else if status == OutboxStatus::Leased.as_str() {
        Ok(next_step::Message::Leased { until: row.get("lease_expires_at")? })
    } else {
        Ok(next_step::Message::Waiting { kind: row.get("kind")?, at: row.get("due_at")? })
    }
}

/// Reads the open reconciliation item of a release run or its current attempt that is looked at first.
fn reconciliation(
    db: &Db<'_>,
    installation: InstallationId,
    release: ReleaseRunId,
    attempt: AttemptId,
) -> Result<Option<Reconciliation>, Error> {
    let mut next: Option<Reconciliation> = None;
    for subject in [release.to_string(), attempt.to_string()] {
        let found = db.query_one(
            "SELECT min(next_check_at) AS next_check_at, deadline_at, \
                coalesce((SELECT paused_until FROM installation_pauses p \
                    WHERE p.installation_id = :installation), next_check_at) AS paused_until \
             FROM reconciliation_items INDEXED BY reconciliation_items_of_subject \
             WHERE subject_id = :subject AND status IN ('open', 'leased') \
                AND installation_id = :installation",
            params! { ":subject": subject, ":installation": installation },
            look_ahead,
        )?;
        let Some(found) = found.flatten() else { continue };
        if next.is_none_or(|next| found.next_check_at < next.next_check_at) {
            next = Some(found);
        }
    }
    Ok(next)
}

/// Reads when an item is looked at next; returns `None` if there is none.
fn look_ahead(row: &Row<'_>) -> Result<Option<Reconciliation>, Error> {
    let Some(next_check_at) = row.get::<Option<Timestamp>>("next_check_at")? else {
        return Ok(None);
    };
    Ok(Some(Reconciliation {
        // An item that is due is not claimed before the pause of its installation ends.
        next_check_at: next_check_at.max(row.get("paused_until")?),
        // Beside `min`, the other column is that of the same row.
        deadline_at: row.get("deadline_at")?,
    }))
}

const fn publication(release: &ReleaseRun) -> Publication {
    match release {
        ReleaseRun { forge_check_published_at: Some(_), .. } => Publication::Confirmed,
        ReleaseRun { last_publication_error: Some(_), .. } => Publication::Failed,
        ReleaseRun { check_run_id: None, .. } => Publication::NoCheckRun,
        ReleaseRun { .. } => Publication::Unconfirmed,
    }
}

fn release(row: &Row<'_>) -> Result<ReleaseRun, Error> {
    Ok(ReleaseRun {
        release_run_id: row.get("release_run_id")?,
        repository: row.get("full_name")?,
        git_ref: row.get("git_ref")?,
        head_sha: row.get("head_sha")?,
        status: row.get::<ReleaseStatus>("status")?.as_str().into(),
        decision: row.get("decision")?,
        conclusion: row.get("conclusion")?,
        failure_reason: row.get("failure_reason")?,
        attempt_number: row.get("attempt_number")?,
        attempt_failure_reason: row.get("attempt_failure_reason")?,
        workflow_run_id: row.get("workflow_run_id")?,
        check_run_id: row.get("check_run_id")?,
        forge_check_published_at: row.get("forge_check_published_at")?,
        last_publication_error: row.get("last_publication_error")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        finished_at: row.get("finished_at")?,
    })
}
