//! Upkeep: sweeping what is finished and old, in small batches; what workers report of themselves;
//! and a few numbers about what waits. Dead letters and audit events are never swept.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, named_params};

use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::sqlite::Store;
use crate::store::sqlite::command::Tx;
use crate::store::sqlite::queue::Lane;

/// Rows of one kind that one sweep deletes at most.
const SWEEP_MAX: u32 = 500;
/// Nothing is ever put further ahead than this, beyond the longest delay between tries: a pause is at
/// most an hour, and no lease is longer.
const AHEAD_MAX: Duration = Duration::from_secs(3_600);
/// Rows a count looks at before it gives up and says "at least so many".
const COUNT_MAX: i64 = 10_000;

/// How many rows a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Completed jobs.
    pub jobs: usize,
    /// Inbox rows without a job.
    pub deliveries: usize,
    /// Finished outbox messages.
    pub messages: usize,
    /// Finished reconciliation items.
    pub items: usize,
}

impl Swept {
    /// Says whether another sweep would find more.
    #[must_use]
    pub fn may_have_more(&self) -> bool {
        let max = usize::try_from(SWEEP_MAX).unwrap_or(usize::MAX);
        [self.jobs, self.deliveries, self.messages, self.items]
            .into_iter()
            .any(|count| count >= max)
    }
}

/// When a worker last looked, and last succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Nothing until the first.
    pub last_poll_at: Option<Timestamp>,
    /// Nothing until the first.
    pub last_success_at: Option<Timestamp>,
}

/// What waits, counted up to ten thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs that are available.
    pub jobs_available: i64,
    /// When the oldest available job became due.
    pub oldest_job_at: Option<Timestamp>,
    /// Messages that are available.
    pub messages_available: i64,
    /// When the oldest available message became due.
    pub oldest_message_at: Option<Timestamp>,
    /// Dead letters that are open.
    pub dead_letters_open: i64,
}

impl Backlog {
    /// Returns how many jobs and messages wait, and whether both were counted to their end.
    #[must_use]
    pub fn waiting(&self) -> (u64, bool) {
        let whole = self.jobs_available < COUNT_MAX && self.messages_available < COUNT_MAX;
        let waiting = self.jobs_available.saturating_add(self.messages_available);
        (u64::try_from(waiting).unwrap_or(0), whole)
    }
}

impl Store {
    /// Deletes a batch of what finished more than `age` ago.
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
                )?,
                jobs: delete(
                    tx,
                    "DELETE FROM control_plane_jobs WHERE id IN (SELECT id FROM control_plane_jobs \
                     WHERE status = 'completed' AND finished_at < :before \
                     ORDER BY finished_at, id LIMIT +:limit)",
                    before,
                )?,
                items: delete(
                    tx,
                    // A failure that was recorded for good must not be found again.
                    "DELETE FROM reconciliation_items WHERE id IN (SELECT id FROM reconciliation_items \
                     WHERE status = 'completed' AND finished_at < :before \
                        AND outcome_code NOT LIKE 'forge\\_check\\_run\\_%' ESCAPE '\\' \
                     ORDER BY finished_at, id LIMIT +:limit)",
                    before,
                )?,
                deliveries: delete(
                    tx,
                    "DELETE FROM webhook_inbox WHERE inbox_id IN (SELECT inbox_id FROM webhook_inbox \
                     WHERE state IN ('processed', 'ignored') AND updated_at < :before \
                        AND NOT EXISTS (SELECT 1 FROM control_plane_jobs j \
                            WHERE j.inbox_id = webhook_inbox.inbox_id) \
                     ORDER BY updated_at, inbox_id LIMIT +:limit)",
                    before,
                )?,
            })
        })
        .wait()
    }

    /// Makes due what lies further ahead than anything is ever put: a clock that was ahead put it there.
    /// Returns how many rows that were. `delay_max` is the longest delay between tries.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn pull_back(&self, delay_max: Duration) -> Result<usize, Error> {
        self.submit(Lane::Bulk, move |tx| {
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
            ]
            .into_iter()
            .map(|sql| {
                let params = named_params! {
                    ":now": tx.now.micros(),
                    ":horizon": horizon.micros(),
                };
                Ok(tx.connection.prepare_cached(sql)?.execute(params)?)
            })
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
        self.write(move |tx| tick(tx, worker, succeeded, Duration::ZERO))
    }

    /// Returns when a worker last looked and last succeeded.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn ticks(&self, worker: &str) -> Result<Ticks, Error> {
        self.read(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT last_poll_at, last_success_at FROM worker_ticks WHERE worker = :worker",
                )?
                .query_row(named_params! { ":worker": worker }, |row| {
                    Ok(Ticks {
                        last_poll_at: row.get::<_, Option<i64>>(0)?.map(Timestamp::from_micros),
                        last_success_at: row.get::<_, Option<i64>>(1)?.map(Timestamp::from_micros),
                    })
                })
                .optional()?;
            Ok(found.unwrap_or_default())
        })
    }

    /// Returns what waits.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn backlog(&self) -> Result<Backlog, Error> {
        self.read(backlog)
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
        self.read(|connection| {
            Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
        })
    }
}

/// Notes that a worker looked, and whether it succeeded; when it was noted within `every`, that stands.
pub(super) fn tick(
    tx: &Tx<'_>,
    worker: &str,
    succeeded: bool,
    every: Duration,
) -> Result<(), Error> {
    tx.connection
        .prepare_cached(
            "INSERT INTO worker_ticks (worker, last_poll_at, last_success_at) \
             VALUES (:worker, :now, iif(:succeeded, :now, NULL)) \
             ON CONFLICT (worker) DO UPDATE SET last_poll_at = excluded.last_poll_at, \
                last_success_at = coalesce(excluded.last_success_at, last_success_at) \
             WHERE last_poll_at NOT BETWEEN :lately + 1 AND :now \
                OR (:succeeded AND coalesce(last_success_at, 0) NOT BETWEEN :lately + 1 AND :now)",
        )?
        .execute(named_params! {
            ":worker": worker,
            ":succeeded": succeeded,
            ":now": tx.now.micros(),
            ":lately": tx.now.minus(every).micros(),
        })?;
    Ok(())
}

/// Reads what waits.
pub(super) fn backlog(connection: &Connection) -> Result<Backlog, Error> {
    let count = |table: &str, condition: &str| -> Result<i64, Error> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {condition} LIMIT +:max)"
            ))?
            .query_row(named_params! { ":max": COUNT_MAX }, |row| row.get(0))?)
    };
    let oldest = |table: &str| -> Result<Option<Timestamp>, Error> {
        let micros: Option<i64> = connection
            .prepare_cached(&format!(
                "SELECT min(available_at) FROM {table} WHERE status = 'available'"
            ))?
            .query_row([], |row| row.get(0))?;
        Ok(micros.map(Timestamp::from_micros))
    };
    Ok(Backlog {
        jobs_available: count("control_plane_jobs", "status = 'available'")?,
        oldest_job_at: oldest("control_plane_jobs")?,
        messages_available: count("outbox", "status = 'available'")?,
        oldest_message_at: oldest("outbox")?,
        dead_letters_open: count("dead_letters", "resolution IS NULL")?,
    })
}

fn delete(tx: &Tx<'_>, sql: &str, before: Timestamp) -> Result<usize, Error> {
    Ok(tx
        .connection
        .prepare_cached(sql)?
        .execute(named_params! { ":before": before.micros(), ":limit": SWEEP_MAX })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_batch_of_any_kind_may_have_more_behind_it() {
        let max = usize::try_from(SWEEP_MAX).expect("a small number");
        let swept = |jobs, deliveries, messages, items| Swept { jobs, deliveries, messages, items };
        assert!(!swept(0, 0, 0, 0).may_have_more());
        assert!(!swept(max - 1, max - 1, max - 1, max - 1).may_have_more());
        for full in
            [swept(max, 0, 0, 0), swept(0, max, 0, 0), swept(0, 0, max, 0), swept(0, 0, 0, max)]
        {
            assert!(full.may_have_more(), "{full:?}");
        }
    }
    #[test]
    fn what_was_counted_to_the_bound_may_be_more() {
        let backlog = |jobs_available, messages_available| {
            let (oldest_job_at, oldest_message_at) = (None, None);
            let dead_letters_open = 0;
            let backlog = Backlog {
                jobs_available,
                oldest_job_at,
                messages_available,
                oldest_message_at,
                dead_letters_open,
            };
            backlog.waiting()
        };
        assert_eq!(backlog(2, 3), (5, true));
        assert!(backlog(COUNT_MAX - 1, COUNT_MAX - 1).1);
        assert!(!backlog(COUNT_MAX, 0).1 && !backlog(0, COUNT_MAX).1);
    }
}
