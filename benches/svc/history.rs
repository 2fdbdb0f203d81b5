//! Claiming and finishing jobs, with few and with many finished rows behind.

use std::path::Path;

use rusqlite::Connection;
use svc::store::Store;

use crate::raw::Raw;
use crate::support::{Folder, callers, heading, line, median, open_raw, open_store, ratio};
use crate::verbs::{CALLERS, JOBS, claim_and_finish, claim_and_run, fill};
use crate::work::{INSTALLATION, NAME, REPOSITORY};

const FEW: u32 = 1_000;
const ROUNDS: usize = 5;
/// Rows seeded in one transaction.
const CHUNK: u32 = 100_000;

struct Past {
    rows: u32,
    store: Store,
    raw: Raw,
    ours: Vec<f64>,
    limit: Vec<f64>,
    _folder: Folder,
}

pub(crate) fn run(many: u32) {
    heading(
        &format!("history: claim + finish at {CALLERS} callers, jobs a second, median"),
        ["svc", "raw limit", "few/many", "aim"],
    );
    let mut pasts = [FEW, many].map(|rows| {
        let folder = Folder::new();
        let path = folder.path("store.db");
        let store = open_store(&path);
        seed_file(&path, rows, 0);
        // Both work on one file, in turns: what is behind them is the same.
        let raw = Raw::open(&path);
        Past { rows, store, raw, ours: Vec::new(), limit: Vec::new(), _folder: folder }
    });
    for round in 0..ROUNDS {
        for past in &mut pasts {
            fill(&past.store, 2 * round * JOBS);
            past.limit.push(callers(CALLERS, JOBS, |_| claim_and_finish(&past.raw)).per_second());
            fill(&past.store, (2 * round + 1) * JOBS);
            past.ours.push(callers(CALLERS, JOBS, |_| claim_and_run(&past.store)).per_second());
        }
    }
    let [few, _] = &pasts;
    for past in &pasts {
        let cost = format!("{:.2}", ratio(&few.ours, &past.ours));
        let shown = |values: &Vec<f64>| format!("{:.0}", median(values.clone()));
        line(
            &format!("{} finished rows behind", past.rows),
            [shown(&past.ours), shown(&past.limit), cost, "<= 1.2".to_owned()],
        );
    }
}

/// Writes finished inbox rows and jobs into a file, as [`seed`] does, and folds the log into it.
pub(crate) fn seed_file(path: &Path, rows: u32, since: i64) {
    let connection = open_raw(path);
    connection.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -65536").unwrap();
    seed(&connection, rows, "printf('forge:%08x-past', n)", since);
    let fold = "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)";
    connection.execute_batch(fold).unwrap();
}

/// Writes finished inbox rows and jobs, oldest first. `key` is the delivery's, in SQL, from its number `n`. They
/// finished from `since` on, in microseconds UTC.
pub(crate) fn seed(connection: &Connection, rows: u32, key: &str, since: i64) {
    let chunks = (0..rows).step_by(usize::try_from(CHUNK).unwrap());
    for first in chunks {
        let last = rows.min(first + CHUNK);
        let numbers = "WITH RECURSIVE n (n) AS \
            (SELECT ?1 + 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)";
        let transaction = connection.unchecked_transaction().unwrap();
        transaction
            .execute(
                &format!(
                    "INSERT INTO webhook_inbox (inbox_id, idempotency_key, event, installation_id, \
                        repository_id, repository, body_sha256, state, received_at, updated_at) \
                     {numbers} SELECT n, {key}, 'push', ?3, ?4, ?5, \
                        zeroblob(32), 'processed', ?6 + n, ?6 + n FROM n"
                ),
                (first, last, INSTALLATION, REPOSITORY, NAME, since),
            )
            .unwrap();
        transaction
            .execute(
                &format!(
                    "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, \
                        installation_id, repository, status, attempt_count, available_at, \
                        fencing_token, created_at, updated_at, finished_at) \
                     {numbers} SELECT printf('%08x-0000-7000-8000-000000000000', n), \
                        {key}, n, ?3, ?4, 'completed', 1, ?5 + n, 1, ?5 + n, ?5 + n, ?5 + n FROM n"
                ),
                (first, last, INSTALLATION, NAME, since),
            )
            .unwrap();
        transaction.commit().unwrap();
    }
}
