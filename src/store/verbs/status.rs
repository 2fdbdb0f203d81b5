//! What `svcctl status` shows of the database. Each value is a look into an index, a count up to a bound, or a row for each
//! installation.

use std::ops::ControlFlow;

use crate::api::{BacklogQueue, StatusBacklog};
use crate::domain::dead_letter;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::backlog;
use crate::store::sql::{Db, params};
use crate::store::types::upkeep::COUNT_MAX;

impl Store {
    /// Returns the UUID of this database.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn store_id(&self) -> Result<String, Error> {
        self.read(|db| db.value("SELECT store_id FROM store_identity WHERE id = 1", &[]))
    }

    /// Returns what waits.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn status_backlog(&self) -> Result<StatusBacklog, Error> {
        let now = self.clock.now();
        self.read(|db| {
            // Each statement has its own snapshot, so none is held for long; they need not agree to the row.
            let count = |sql| db.value(sql, params! { ":max": COUNT_MAX });
            let waiting = backlog::read(db)?;
            let (dead, safe) = open_dead_letters(db)?;
            Ok(StatusBacklog {
                webhooks: BacklogQueue {
                    count: count(
                        "SELECT count(*) FROM (SELECT 1 FROM webhook_inbox \
                         WHERE state IN ('accepted', 'processing') LIMIT +:max)",
                    )?,
                    oldest_at: backlog::oldest_unprocessed_at(db)?,
                },
                jobs: BacklogQueue {
                    count: bounded(waiting.jobs_available),
                    oldest_at: waiting.oldest_job_at,
                },
                outbox: BacklogQueue {
                    count: bounded(waiting.messages_available),
                    oldest_at: waiting.oldest_message_at,
                },
                reconciliation_items: BacklogQueue {
                    count: count(
                        "SELECT count(*) FROM (SELECT 1 FROM reconciliation_items \
                         WHERE status IN ('open', 'leased') LIMIT +:max)",
                    )?,
                    // All have the same time until their deadline, so the first deadline is that of the oldest one.
                    oldest_at: db.query_one(
                        "SELECT created_at FROM reconciliation_items \
                             WHERE status IN ('open', 'leased') ORDER BY deadline_at LIMIT 1",
                        &[],
                        |row| row.get("created_at"),
                    )?,
                },
                reconciliation_items_given_up: BacklogQueue {
                    count: count(
                        "SELECT count(*) FROM (SELECT 1 FROM reconciliation_items \
                         WHERE status = 'dead_letter' AND closed_at IS NULL LIMIT +:max)",
                    )?,
                    oldest_at: db.value(
                        "SELECT min(finished_at) FROM reconciliation_items \
                         WHERE status = 'dead_letter' AND closed_at IS NULL",
                        &[],
                    )?,
                },
                dead_letters: BacklogQueue {
                    count: dead,
                    oldest_at: db.value(
                        "SELECT min(failed_at) FROM dead_letters WHERE resolution IS NULL",
                        &[],
                    )?,
                },
                dead_letters_replay_safe: safe,
                installations_paused: db.value(
                    "SELECT count(*) FROM installation_pauses WHERE paused_until > :now",
                    params! { ":now": now },
                )?,
            })
        })
    }
}

fn bounded(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Counts the open dead letters, and those that may be replayed.
fn open_dead_letters(db: &Db<'_>) -> Result<(u32, u32), Error> {
    let (mut all, mut safe) = (0, 0);
    db.each(
        "SELECT replay_class FROM dead_letters INDEXED BY dead_letters_open \
         WHERE resolution IS NULL LIMIT +:max",
        params! { ":max": COUNT_MAX },
        |row| {
            all += 1;
            safe += u32::from(dead_letter::is_replay_safe(&row.get::<String>("replay_class")?));
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok((all, safe))
}
