//! The raw limit of the later steps of a delivery: the release a job starts, and its messages.

use rusqlite::{Connection, params};

use crate::raw::{execute, id};
use crate::work::{INSTALLATION, NAME, REPOSITORY, commit};

/// What a job of a release writes, but for its own end.
pub(crate) fn start(connection: &Connection, now: i64, number: usize) {
    let (release, attempt) = (id(2, number), id(3, number));
    execute(
        connection,
        "INSERT INTO repositories VALUES (?1, ?2, ?3, 'active', ?4) \
         ON CONFLICT (repository_id) DO UPDATE SET updated_at = excluded.updated_at",
        params![REPOSITORY, INSTALLATION, NAME, now],
    );
    execute(
        connection,
        "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, git_ref, \
            head_sha, status, current_attempt_id, created_at, updated_at) \
         VALUES (?1, ?2, ?3, 'refs/tags/v1.2.3', ?4, 'queued', ?5, ?6, ?6)",
        params![release, INSTALLATION, REPOSITORY, commit(number), attempt, now],
    );
    execute(
        connection,
        "INSERT INTO release_run_attempts (attempt_id, release_run_id, attempt_number, nonce, \
            status, created_at, updated_at) VALUES (?1, ?2, 1, ?3, 'queued', ?4, ?4)",
        params![attempt, release, format!("{number:032x}"), now],
    );
    add(connection, now, number, ("check_run_create", "available"));
    add(connection, now, number, ("workflow_dispatch", "held"));
}

fn add(connection: &Connection, now: i64, number: usize, (kind, status): (&str, &str)) {
    let (release, attempt) = (id(2, number), id(3, number));
    let which = match kind {
        "check_run_create" => 4,
        "workflow_dispatch" => 5,
        _ => 6,
    };
    let (message, key) = (id(which, number), format!("{kind}:{attempt}"));
    let payload = r#"{"kind":"check_run_create","name":"release","head_sha":"00000000000000000"}"#;
    execute(
        connection,
        "INSERT INTO outbox (outbox_id, effect_key, installation_id, repository_id, release_run_id, \
            attempt_id, kind, payload, status, available_at, created_at, updated_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10)",
        params![
            message,
            key,
            INSTALLATION,
            REPOSITORY,
            release,
            attempt,
            kind,
            payload,
            status,
            now
        ],
    );
}

/// A claimed message.
pub(crate) struct Message {
    row: i64,
    attempt: String,
    kind: String,
}

/// Leases the next message.
pub(crate) fn claim(connection: &Connection, now: i64) -> Message {
    connection
        .prepare_cached(
            "UPDATE outbox SET status = 'leased', attempt_count = attempt_count + 1, \
                lease_owner = 'raw', claim_id = ?2, fencing_token = fencing_token + 1, \
                lease_expires_at = ?3, updated_at = ?1 \
             WHERE id = (SELECT id FROM outbox WHERE status = 'available' AND available_at <= ?1 \
                ORDER BY available_at, id LIMIT 1) RETURNING id, attempt_id, kind",
        )
        .unwrap()
        .query_row(params![now, [9u8; 16], now + 3_600_000_000], |row| {
            Ok(Message { row: row.get(0)?, attempt: row.get(1)?, kind: row.get(2)? })
        })
        .unwrap()
}

/// Completes a message, and moves what depends on it.
pub(crate) fn settle(connection: &Connection, now: i64, number: usize, message: &Message) {
    let Message { row, attempt, kind } = message;
    execute(
        connection,
        "UPDATE outbox SET status = 'completed', payload = '', lease_owner = NULL, \
            claim_id = NULL, lease_expires_at = NULL, updated_at = ?2, finished_at = ?2 \
         WHERE id = ?1",
        params![row, now],
    );
    let (attempts, runs) = match kind.as_str() {
        "check_run_create" => (
            "UPDATE release_run_attempts SET check_run_id = ?2, updated_at = ?3 WHERE attempt_id = ?1",
            "UPDATE release_runs SET check_run_id = ?2, updated_at = ?3 WHERE current_attempt_id = ?1",
        ),
        "workflow_dispatch" => (
            "UPDATE release_run_attempts SET workflow_run_id = ?2, status = 'running', \
                updated_at = ?3 WHERE attempt_id = ?1",
            "UPDATE release_runs SET workflow_run_id = ?2, status = 'running', updated_at = ?3 \
             WHERE current_attempt_id = ?1",
        ),
        _ => return,
    };
    let known = i64::try_from(number + 1).unwrap();
    execute(connection, attempts, params![attempt, known, now]);
    execute(connection, runs, params![attempt, known, now]);
    if kind == "check_run_create" {
        execute(
            connection,
            "UPDATE outbox SET status = 'available', available_at = ?2, updated_at = ?2 \
             WHERE id = ?1 + 1",
            params![row, now],
        );
    } else if let Some(Ok(started)) = attempt.get(24..).map(|tail| usize::from_str_radix(tail, 16))
    {
        add(connection, now, started, ("check_run_update", "available"));
    }
}
