//! The raw limit: one plain connection, one thread, a group commit of a few lines, and the writes a
//! verb needs on the tables of the store, bound by position, with none of its checks.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

use rusqlite::{Connection, params};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::thread;

use crate::support::open_raw;
use crate::work::{INSTALLATION, NAME, REPOSITORY};

/// A lease that does not run out, in microseconds.
const LEASE: i64 = 3_600_000_000;
/// Steps in one transaction at most, as in the store.
const GROUP_MAX: usize = 256;

/// Runs a step's statements at an instant; gives back what answers its caller.
type Step = Box<dyn FnOnce(&Connection, i64) -> Answer + Send>;
type Answer = Box<dyn FnOnce() + Send>;

/// The way to the one writing thread; it ends with the last of these.
pub(crate) struct Raw(Sender<Step>);

impl Raw {
    pub(crate) fn open(path: &Path) -> Self {
        let connection = open_raw(path);
        let (steps, queue) = channel();
        thread::spawn("raw-writer", move || write(&connection, &queue)).unwrap();
        Self(steps)
    }

    /// Runs a step and waits until it is on disk.
    pub(crate) fn call<T: Send + 'static>(
        &self,
        step: impl FnOnce(&Connection, i64) -> T + Send + 'static,
    ) -> T {
        let (reply, answer) = sync_channel(1);
        let run = move |connection: &Connection, now| {
            let result = step(connection, now);
            Box::new(move || drop(reply.send(result))) as Answer
        };
        self.0.send(Box::new(run)).unwrap();
        answer.recv().unwrap()
    }
}

fn write(connection: &Connection, queue: &Receiver<Step>) {
    let clock = SystemClock::new();
    while let Ok(first) = queue.recv() {
        execute(connection, "BEGIN IMMEDIATE", []);
        let now = clock.now().micros();
        let group = std::iter::once(first).chain(queue.try_iter().take(GROUP_MAX - 1));
        let answers: Vec<Answer> = group.map(|step| step(connection, now)).collect();
        execute(connection, "COMMIT", []);
        answers.into_iter().for_each(|answer| answer());
    }
}

pub(crate) fn execute(connection: &Connection, sql: &str, params: impl rusqlite::Params) {
    connection.prepare_cached(sql).unwrap().execute(params).unwrap();
}

/// An id as long as a UUID.
pub(crate) fn id(kind: u8, number: usize) -> String {
    format!("{kind:08x}-0000-7000-8000-{number:012x}")
}

/// Inbox row and job.
pub(crate) fn record(connection: &Connection, now: i64, number: usize, actions: &str) {
    let key = format!("forge:{}", crate::work::id(number));
    execute(
        connection,
        "INSERT INTO webhook_inbox (idempotency_key, event, installation_id, repository_id, \
            repository, body_sha256, normalized_actions, state, received_at, updated_at) \
         VALUES (?1, 'push', ?2, ?3, ?4, ?5, ?6, 'accepted', ?7, ?7)",
        params![key, INSTALLATION, REPOSITORY, NAME, [7u8; 32], actions, now],
    );
    let inbox = connection.last_insert_rowid();
    execute(
        connection,
        "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, \
            repository, status, available_at, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'available', ?6, ?6, ?6)",
        params![id(1, number), key, inbox, INSTALLATION, NAME, now],
    );
}

/// Leases the next job; returns its row and its inbox row.
pub(crate) fn claim_job(connection: &Connection, now: i64) -> (i64, i64) {
    let claimed = connection
        .prepare_cached(
            "UPDATE control_plane_jobs SET status = 'leased', attempt_count = attempt_count + 1, \
                lease_owner = 'raw', claim_id = ?2, fencing_token = fencing_token + 1, \
                lease_expires_at = ?3, updated_at = ?1 \
             WHERE id = (SELECT id FROM control_plane_jobs \
                WHERE status = 'available' AND available_at <= ?1 ORDER BY available_at, id LIMIT 1) \
             RETURNING id, inbox_id",
        )
        .unwrap()
        .query_row(params![now, [9u8; 16], now + LEASE], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    execute(
        connection,
        "UPDATE webhook_inbox SET state = 'processing', updated_at = ?2 WHERE inbox_id = ?1",
        params![claimed.1, now],
    );
    claimed
}

/// Completes a job.
pub(crate) fn finish_job(connection: &Connection, now: i64, (job, inbox): (i64, i64)) {
    execute(
        connection,
        "UPDATE control_plane_jobs SET status = 'completed', lease_owner = NULL, claim_id = NULL, \
            lease_expires_at = NULL, updated_at = ?2, finished_at = ?2 WHERE id = ?1",
        params![job, now],
    );
    execute(
        connection,
        "UPDATE webhook_inbox SET state = 'processed', normalized_actions = NULL, updated_at = ?2 \
         WHERE inbox_id = ?1",
        params![inbox, now],
    );
}
