//! Upkeep: sweeping what is finished and old, in small batches; what workers report of themselves;
//! and a few numbers about what waits. Dead letters, audit events and devices of the relay are never swept; the job or
//! effect of a closed one is.
//!
//! What is kept, and why: `docs/decisions/05-retention.md`.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::time::Duration;

use crate::domain::id::{ReleaseRunId, RepositoryId};
use crate::domain::lease::RowHandle;
use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::{backlog, ticks};
use crate::store::sql::{Db, Tx, params};
use crate::store::types::upkeep::{RELEASES_SWEEP_MAX, SWEEP_MAX};
use crate::store::types::{Backlog, ReleasesSwept, StoreSize, Swept, Ticks};
use crate::store::{Lane, Store};

/// Nothing is ever put further ahead than this, beyond the longest delay between tries: a pause is at
/// most an hour, and no lease is longer.
/// What clocks that jump can do: `docs/decisions/06-wall-clock-jumps.md`.
const AHEAD_MAX: Duration = Duration::from_secs(3_600);

/// Webhooks that wait for their job, at most, while release runs are swept.
const WAITING_MAX: u32 = 500;

/// Effects whose dead letter was closed, once that has ended their release.
const CLOSED_MESSAGES: &str = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox \
     WHERE status = 'dead_letter' AND payload = '' AND closed_at IS NULL AND updated_at < :before \
        AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.item_type = 'outbox' \
            AND d.item_id = outbox.outbox_id AND d.resolution IS NULL) \
     ORDER BY updated_at, id LIMIT +:limit)";
/// Jobs whose dead letter was closed.
const CLOSED_JOBS: &str = "DELETE FROM control_plane_jobs WHERE inbox_id IN \
    (SELECT inbox_id FROM webhook_inbox \
     WHERE state = 'dead_letter' AND normalized_actions IS NULL AND updated_at < :before \
     ORDER BY updated_at, inbox_id LIMIT +:limit) \
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.item_type = 'job' \
        AND d.item_id = control_plane_jobs.job_id AND d.resolution IS NULL)";
/// The deliveries of such jobs, once these are deleted.
const CLOSED_DELIVERIES: &str = "DELETE FROM webhook_inbox WHERE inbox_id IN \
    (SELECT inbox_id FROM webhook_inbox \
     WHERE state = 'dead_letter' AND normalized_actions IS NULL AND updated_at < :before \
        AND NOT EXISTS (SELECT 1 FROM control_plane_jobs j \
            WHERE j.inbox_id = webhook_inbox.inbox_id) \
     ORDER BY updated_at, inbox_id LIMIT +:limit)";

impl Store {
    /// Deletes a batch of what finished more than `age` ago, of the relay too, and of used request states that have expired.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was deleted.
    pub fn sweep(&self, age: Duration) -> Result<Swept, Error> {
        self.submit(Lane::Bulk, move |tx| {
            let before = tx.now.minus(age);
            Ok(Swept {
                messages: delete(
                    tx,
                    "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox \
                     WHERE status IN ('completed', 'superseded') AND finished_at < :before \
                     ORDER BY finished_at, id LIMIT +:limit)",
                    before,
                )? + delete(tx, CLOSED_MESSAGES, before)?,
                jobs: delete(
                    tx,
                    "DELETE FROM control_plane_jobs WHERE id IN (SELECT id FROM control_plane_jobs \
                     WHERE status = 'completed' AND finished_at < :before \
                     ORDER BY finished_at, id LIMIT +:limit)",
                    before,
                )? + delete(tx, CLOSED_JOBS, before)?,
                items: delete(
                    tx,
                    // A failure that was recorded for good must not be found again.
                    "DELETE FROM reconciliation_items WHERE id IN (SELECT id FROM reconciliation_items \
                     WHERE status = 'completed' AND finished_at < :before \
                        AND outcome_code NOT LIKE 'forge\\_check\\_run\\_%' ESCAPE '\\' \
                     ORDER BY finished_at, id LIMIT +:limit)",
                    before,
                )?,
                // After the jobs: a row whose last job goes in this sweep can go with it.
                deliveries: delete(
                    tx,
                    "DELETE FROM webhook_inbox WHERE inbox_id IN (SELECT inbox_id FROM webhook_inbox \
                     WHERE state IN ('processed', 'ignored') AND updated_at < :before \
                        AND NOT EXISTS (SELECT 1 FROM control_plane_jobs j \
                            WHERE j.inbox_id = webhook_inbox.inbox_id) \
                     ORDER BY updated_at, inbox_id LIMIT +:limit)",
                    before,
                )? + delete(tx, CLOSED_DELIVERIES, before)?,
                request_states: delete(
                    tx,
                    // By their own expiry: no later use of one succeeds.
                    "DELETE FROM mcp_used_request_states WHERE nonce IN (\
                     SELECT nonce FROM mcp_used_request_states WHERE expires_at < :before \
                     ORDER BY expires_at LIMIT +:limit)",
                    tx.now,
                )?,
                ..sweep_relay(tx, before)?
            })
        })
        .wait()
    }

    /// Looks at a batch of the release runs that finished more than `age` ago, oldest first, and deletes those that
    /// nothing needs any more, with all that belongs to them but their audit events. `after` is where the last batch ended,
    /// and is moved on; it is `None` once the batch was the last.
    ///
    /// What is needed, and why: `docs/decisions/106-release-retention.md`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was deleted.
    pub fn sweep_releases(
        &self,
        age: Duration,
        after: &mut Option<ReleasesSwept>,
    ) -> Result<Swept, Error> {
        let from = *after;
        let (swept, last) = self
            .submit(Lane::Bulk, move |tx| sweep_releases(tx, tx.now.minus(age), from))
            .wait()?;
        *after = last;
        Ok(swept)
    }

    /// Returns what the database takes up.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn size(&self) -> Result<StoreSize, Error> {
        self.read(|db| db.snapshot(Db::size))
    }

    /// Makes due what lies further ahead than anything is ever put: a clock that was ahead put it there.
    /// Returns how many rows that were. `delay_max` is the longest delay between tries.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn clamp_future_times(&self, delay_max: Duration) -> Result<usize, Error> {
        self.submit(Lane::Bulk, move |tx| {
            // A longer delay can be configured, and what waits for it must not be made due at once.
            let horizon = tx.now.plus(AHEAD_MAX.max(delay_max));
            [
                "UPDATE control_plane_jobs SET available_at = :now \
                 WHERE status = 'available' AND available_at > :horizon",
                "UPDATE control_plane_jobs SET lease_expires_at = :now \
                 WHERE status = 'leased' AND lease_expires_at > :horizon",
                "UPDATE outbox SET available_at = :now \
                 WHERE status = 'available' AND available_at > :horizon",
                "UPDATE outbox SET lease_expires_at = :now \
                 WHERE status = 'leased' AND lease_expires_at > :horizon",
                "UPDATE installation_pauses SET paused_until = :now WHERE paused_until > :horizon",
                "UPDATE reconciliation_items SET next_check_at = :now \
                 WHERE status = 'open' AND next_check_at > :horizon",
                "UPDATE reconciliation_items SET lease_expires_at = :now \
                 WHERE status = 'leased' AND lease_expires_at > :horizon",
                "UPDATE relay_pairings SET expires_at = :now \
                 WHERE finished_at IS NULL AND expires_at > :horizon",
                "UPDATE relay_proposals SET expires_at = :now \
                 WHERE is_waiting = 1 AND expires_at > :horizon",
                "UPDATE relay_grants SET expires_at = :now \
                 WHERE state = 'unused' AND expires_at IS NOT NULL AND expires_at > :horizon",
                "UPDATE relay_grants SET deadline_at = :now \
                 WHERE state = 'claimed' AND deadline_at > :horizon",
                "UPDATE relay_allowances SET expires_at = :now \
                 WHERE ended_at IS NULL AND expires_at > :horizon",
            ]
            .into_iter()
            .map(|sql| tx.execute(sql, params! { ":now": tx.now, ":horizon": horizon }))
            .sum()
        })
        .wait()
    }

    /// Notes that a worker looked, and whether it succeeded. It is a real write, so it also tells
    /// whether the store can be written.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be written now.
    pub fn record_tick(&self, worker: &'static str, succeeded: bool) -> Result<(), Error> {
        self.write(move |tx| ticks::note(tx, worker, succeeded, Duration::ZERO))
    }

    /// Returns when a worker last looked and last succeeded.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn ticks(&self, worker: &str) -> Result<Ticks, Error> {
        self.read(|db| {
            let found = db.query_one(
                "SELECT last_poll_at, last_success_at FROM worker_ticks WHERE worker = :worker",
                params! { ":worker": worker },
                |row| {
                    Ok(Ticks {
                        last_poll_at: row.get("last_poll_at")?,
                        last_success_at: row.get("last_success_at")?,
                    })
                },
            )?;
            Ok(found.unwrap_or_default())
        })
    }

    /// Returns what waits.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn backlog(&self) -> Result<Backlog, Error> {
        self.read(backlog::read)
    }

    /// Returns how many dead letters are open, by reason; the first 10,000 are counted.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn dead_letters_by_reason(&self) -> Result<BTreeMap<&'static str, u64>, Error> {
        self.read(backlog::dead_letters_by_reason)
    }

    /// Returns how many groups the writer has committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    /// Returns the step of the file's schema.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn schema_step(&self) -> Result<i64, Error> {
        self.read(|db| db.schema_step())
    }
}

fn delete(tx: &Tx<'_>, sql: &str, before: Timestamp) -> Result<usize, Error> {
    tx.execute(sql, params! { ":before": before, ":limit": SWEEP_MAX })
}

/// Deletes what is over of the relay.
fn sweep_relay(tx: &Tx<'_>, before: Timestamp) -> Result<Swept, Error> {
    Ok(Swept {
        relay_proposals: delete(
            tx,
            // Steps, approvals and grants go with it.
            "DELETE FROM relay_proposals WHERE id IN (SELECT id FROM relay_proposals \
             WHERE finished_at IS NOT NULL AND finished_at < :before \
             ORDER BY finished_at, id LIMIT +:limit)",
            before,
        )?,
        // After the proposals: a session goes only when no proposal refers to it.
        relay_sessions: delete(
            tx,
            "DELETE FROM relay_sessions WHERE id IN (SELECT id FROM relay_sessions \
             WHERE state = 'ended' AND ended_at < :before \
                AND NOT EXISTS (SELECT 1 FROM relay_proposals p \
                    WHERE p.session_id = relay_sessions.session_id) \
             ORDER BY ended_at, id LIMIT +:limit)",
            before,
        )?,
        relay_pairings: delete(
            tx,
            "DELETE FROM relay_pairings WHERE id IN (SELECT id FROM relay_pairings \
             WHERE finished_at IS NOT NULL AND finished_at < :before \
             ORDER BY finished_at, id LIMIT +:limit)",
            before,
        )?,
        ..Swept::default()
    })
}

/// An old release run.
struct OldRelease {
    row: RowHandle,
    id: ReleaseRunId,
    repository: RepositoryId,
    finished_at: Timestamp,
    is_needed: bool,
}

fn sweep_releases(
    tx: &Tx<'_>,
    before: Timestamp,
    after: Option<ReleasesSwept>,
) -> Result<(Swept, Option<ReleasesSwept>), Error> {
    let Some(waiting) = waiting_repositories(tx)? else { return Ok((Swept::default(), after)) };
    let old = old_releases(tx, before, after)?;
    let mut releases = 0;
    for release in &old {
        if !release.is_needed && !waiting.contains(&release.repository) {
            delete_release(tx, release.id)?;
            releases += 1;
        }
    }
    let is_full = old.len() == usize::try_from(RELEASES_SWEEP_MAX).unwrap_or(usize::MAX);
    let last = old.last().filter(|_| is_full);
    let last = last.map(|it| ReleasesSwept { finished_at: it.finished_at, row: it.row });
    Ok((Swept { releases, ..Swept::default() }, last))
}

/// Returns the repositories of webhooks that wait for their job: it may run one of their releases again, or must find that it was
/// released before. `None` if there are too many: the backlog comes first.
fn waiting_repositories(tx: &Tx<'_>) -> Result<Option<HashSet<RepositoryId>>, Error> {
    let found: Vec<Option<RepositoryId>> = tx.query(
        "SELECT repository_id FROM webhook_inbox WHERE state IN ('accepted', 'processing') \
         LIMIT +:limit",
        params! { ":limit": WAITING_MAX + 1 },
        |row| row.get("repository_id"),
    )?;
    let is_whole = u32::try_from(found.len()).is_ok_and(|count| count <= WAITING_MAX);
    Ok(is_whole.then(|| found.into_iter().flatten().collect()))
}

/// Reads a batch of old release runs, those included that are needed: looking for others instead could walk over any number of
/// them in one transaction.
fn old_releases(
    tx: &Tx<'_>,
    before: Timestamp,
    after: Option<ReleasesSwept>,
) -> Result<Vec<OldRelease>, Error> {
    let after =
        after.unwrap_or(ReleasesSwept { finished_at: Timestamp::MIN, row: RowHandle::new(0) });
    tx.query(
        // Any effect that is left, a dead one or one that retention has not come to; a repair that is not finished; and the dead
        // job of a webhook, which must find the release when it is replayed.
        "SELECT r.id, r.release_run_id, r.repository_id, r.finished_at, \
            EXISTS (SELECT 1 FROM outbox o WHERE o.release_run_id = r.release_run_id) \
            OR EXISTS (SELECT 1 FROM webhook_inbox w \
                WHERE w.repository_id = r.repository_id AND w.state = 'dead_letter' \
                    AND w.normalized_actions IS NOT NULL) \
            OR EXISTS (SELECT 1 FROM reconciliation_items i \
                WHERE i.subject_id = r.release_run_id AND (i.finished_at IS NULL \
                    OR i.status = 'dead_letter' AND i.deadline_applied_at IS NULL)) \
            OR EXISTS (SELECT 1 FROM release_run_attempts a \
                JOIN reconciliation_items i ON i.subject_id = a.attempt_id \
                WHERE a.release_run_id = r.release_run_id AND (i.finished_at IS NULL \
                    OR i.status = 'dead_letter' AND i.deadline_applied_at IS NULL)) \
            AS is_needed \
         FROM release_runs r WHERE r.finished_at < :before AND (r.finished_at, r.id) > (:finished, :row) \
         ORDER BY r.finished_at, r.id LIMIT +:limit",
        params! {
            ":before": before,
            ":finished": after.finished_at,
            ":row": after.row,
            ":limit": RELEASES_SWEEP_MAX,
        },
        |row| {
            Ok(OldRelease {
                row: row.get("id")?,
                id: row.get("release_run_id")?,
                repository: row.get("repository_id")?,
                finished_at: row.get("finished_at")?,
                is_needed: row.get("is_needed")?,
            })
        },
    )
}

/// Deletes a release run after all that refers to it. Its audit events stay.
fn delete_release(tx: &Tx<'_>, release: ReleaseRunId) -> Result<(), Error> {
    for sql in [
        "DELETE FROM reconciliation_items WHERE subject_id = :release",
        "DELETE FROM reconciliation_items WHERE subject_id IN \
            (SELECT attempt_id FROM release_run_attempts WHERE release_run_id = :release)",
        "DELETE FROM result_callbacks WHERE attempt_id IN \
            (SELECT attempt_id FROM release_run_attempts WHERE release_run_id = :release)",
        "DELETE FROM release_run_results WHERE release_run_id = :release",
        "DELETE FROM release_run_attempts WHERE release_run_id = :release",
        "DELETE FROM release_runs WHERE release_run_id = :release",
    ] {
        tx.execute(sql, params! { ":release": release })?;
    }
    Ok(())
}
