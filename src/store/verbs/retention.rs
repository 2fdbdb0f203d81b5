//! Upkeep: sweeping what is finished and old, in small batches; what workers report of themselves;
//! and a few numbers about what waits. Dead letters, audit events and devices of the relay are never swept.
//!
//! What is kept, and why: `docs/decisions/05-retention.md`.

use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::store::error::Error;
use crate::store::rows::{backlog, ticks};
use crate::store::sql::{Tx, params};
use crate::store::types::upkeep::SWEEP_MAX;
use crate::store::types::{Backlog, Swept, Ticks};
use crate::store::{Lane, Store};

/// Nothing is ever put further ahead than this, beyond the longest delay between tries: a pause is at
/// most an hour, and no lease is longer.
/// What clocks that jump can do: `docs/decisions/06-wall-clock-jumps.md`.
const AHEAD_MAX: Duration = Duration::from_secs(3_600);
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
                // After the jobs: a row whose last job goes in this sweep can go with it.
                deliveries: delete(
                    tx,
                    "DELETE FROM webhook_inbox WHERE inbox_id IN (SELECT inbox_id FROM webhook_inbox \
                     WHERE state IN ('processed', 'ignored') AND updated_at < :before \
                        AND NOT EXISTS (SELECT 1 FROM control_plane_jobs j \
                            WHERE j.inbox_id = webhook_inbox.inbox_id) \
                     ORDER BY updated_at, inbox_id LIMIT +:limit)",
                    before,
                )?,
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
