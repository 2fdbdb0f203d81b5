//! The ladder of schema steps over files that hold rows, and step 21's promise to writers that do not
//! know its column: the raw statements below are those of step 20's writers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use svc::store::NEWEST_STEP;

use crate::daemon::database::{assert_sound, values};
use crate::support::ManualClock;
use crate::support::world::{open_raw, open_store};

/// A row or two of every table, with the columns it was made with. A step that adds a table adds a row.
const ROWS: &[(&str, &str)] = &[
    ("installations", "INSERT INTO installations VALUES (1, 'o', 'active', 5)"),
    ("repositories", "INSERT INTO repositories VALUES (10, 1, 'o/r', 'active', 5)"),
    (
        "webhook_inbox",
        "INSERT INTO webhook_inbox (inbox_id, idempotency_key, event, installation_id, repository_id, \
            repository, body_sha256, normalized_actions, state, received_at, updated_at) \
         VALUES (1, 'forge:a', 'push', 1, 10, 'o/r', x'00', '{}', 'accepted', 5, 5), \
                (2, 'forge:b', 'ping', NULL, NULL, NULL, x'00', NULL, 'ignored', 5, 5)",
    ),
    (
        "control_plane_jobs",
        "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, \
            repository, status, available_at, created_at, updated_at) \
         VALUES ('j', 'forge:a', 1, 1, 'o/r', 'available', 5, 5, 5)",
    ),
    (
        "release_runs",
        "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, git_ref, \
            head_sha, status, decision, conclusion, current_attempt_id, created_at, updated_at, \
            finished_at) \
         VALUES ('r', 1, 10, 'refs/tags/v1', 'a', 'succeeded', 'accepted_at_risk', 'success', 't', 5, \
                5, 5), \
                ('s', 1, 10, 'refs/tags/v2', 'a', 'queued', NULL, NULL, 'u', 5, 5, NULL), \
                ('q', 1, 10, 'refs/tags/v3', 'a', 'timed_out', NULL, 'timed_out', 'v', 5, 5, 5)",
    ),
    (
        "release_run_attempts",
        "INSERT INTO release_run_attempts (attempt_id, release_run_id, attempt_number, nonce, status, \
            workflow_run_id, check_run_id, created_at, updated_at) \
         VALUES ('t', 'r', 1, 'n', 'succeeded', 7, 8, 5, 5), \
                ('u', 's', 1, 'm', 'queued', NULL, NULL, 5, 5)",
    ),
    (
        "outbox",
        "INSERT INTO outbox (outbox_id, effect_key, installation_id, repository_id, release_run_id, \
            attempt_id, kind, payload, status, available_at, send_began_at, created_at, updated_at, \
            finished_at) \
         VALUES ('o', 'workflow_dispatch:u', 1, 10, 's', 'u', 'workflow_dispatch', '{}', \
                'dead_letter', 5, 5, 5, 5, 5)",
    ),
    (
        "dead_letters",
        "INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, reason_code, \
            error_class, attempt_count, replay_class, replay_safe) \
         VALUES (1, 5, 'outbox', 'o', 'forge_dispatch_uncertain', 'crash', 1, 'dispatch_uncertain', 0)",
    ),
    (
        "audit_events",
        "INSERT INTO audit_events (audit_event_id, installation_id, event, actor, item_type, item_id, \
            created_at) VALUES ('e', 1, 'control_plane.dead_letter_replayed', 'ops', 'job', 'j', 5)",
    ),
    ("operator_operations", "INSERT INTO operator_operations VALUES ('k', 1, 'job', 'j', 'e', 5)"),
    ("installation_pauses", "INSERT INTO installation_pauses VALUES (1, 5, 5)"),
    (
        "release_run_results",
        "INSERT INTO release_run_results VALUES ('r', 't', 'accepted_at_risk', x'00', '{}', NULL, 5, 5)",
    ),
    (
        "reconciliation_items",
        "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
            installation_id, status, next_check_at, deadline_at, created_at, updated_at) \
         VALUES ('i', 'workflow_attempt', 'running_stale', 'u', 1, 'open', 5, 9, 5, 5)",
    ),
    ("result_callbacks", "INSERT INTO result_callbacks VALUES ('c', 't', x'00', 'recorded', 5)"),
    ("worker_ticks", "INSERT INTO worker_ticks VALUES ('w', 5, 5)"),
    (
        "agent_cards",
        "INSERT INTO agent_cards (name, digest, variant, protocol_version, revision, created_at, \
            updated_at, updated_by, card) \
         VALUES ('n', printf('%064d', 0), 'legacy', '0.3', 1, 5, 5, 'ops', x'7b')",
    ),
    ("webhook_redeliveries", "INSERT INTO webhook_redeliveries VALUES ('forge:c', 1, 5)"),
    ("reconciliation_budgets", "INSERT INTO reconciliation_budgets VALUES (1, 5, 3)"),
    ("claim_turns", "INSERT INTO claim_turns VALUES ('outbox', 1)"),
    ("forge_write_paces", "INSERT INTO forge_write_paces VALUES (1, 5)"),
];

/// The statements of every step, in order.
fn steps() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut folders: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders.iter().map(|folder| fs::read_to_string(folder.join("up.sql")).unwrap()).collect()
}

fn climb(connection: &Connection, steps: &[String]) {
    for step in steps {
        connection.execute_batch(&format!("BEGIN; {step} COMMIT")).unwrap();
    }
}

fn tables(connection: &Connection) -> BTreeSet<String> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn fill(connection: &Connection) {
    let tables = tables(connection);
    for (table, rows) in ROWS.iter().filter(|(table, _)| tables.contains(*table)) {
        let has: bool = connection
            .query_row(&format!("SELECT EXISTS (SELECT 1 FROM {table})"), [], |row| row.get(0))
            .unwrap();
        assert!(!has, "{table} is filled once");
        connection.execute_batch(rows).unwrap_or_else(|error| panic!("{table}: {error}"));
    }
}

/// Says what of `before` is not in `after`: a step may add values, and take none away.
fn lost(before: &[(String, String)], after: &[(String, String)]) -> Vec<(String, String)> {
    let mut after = after.to_vec();
    let mut lost = before.to_vec();
    lost.retain(|value| match after.iter().position(|other| other == value) {
        Some(place) => {
            after.swap_remove(place);
            false
        }
        None => true,
    });
    lost
}

#[test]
fn every_step_leaves_the_rows_of_the_step_before_as_they_were() {
    let steps = steps();
    let folder = tempfile::tempdir().unwrap();
    for (number, next) in steps.iter().enumerate().skip(1) {
        let connection = open_raw(&folder.path().join(format!("{number}.db")));
        climb(&connection, &steps[..number]);
        fill(&connection);
        let before = values(&connection);
        climb(&connection, std::slice::from_ref(next));
        let lost = lost(&before, &values(&connection));
        assert!(lost.is_empty(), "step {}: {lost:?}", number + 1);
        assert_sound(&connection);
    }
}

#[test]
fn every_table_has_rows_to_climb_with() {
    let folder = tempfile::tempdir().unwrap();
    let connection = open_raw(&folder.path().join("svc.db"));
    climb(&connection, &steps());
    let filled: BTreeSet<String> = ROWS.iter().map(|(table, _)| (*table).to_owned()).collect();
    for table in tables(&connection) {
        let own = table.starts_with("sqlite_") || table == "schema_compatibility";
        assert!(own || filled.contains(&table), "{table} has no row in this file");
    }
}

#[test]
fn a_file_of_step_20_is_opened_with_its_rows_and_their_conclusions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    let before = {
        let connection = open_raw(&path);
        climb(&connection, &steps()[..20]);
        connection.pragma_update(None, "user_version", 20).unwrap();
        fill(&connection);
        values(&connection)
    };
    drop(open_store(&path, &Arc::new(ManualClock::new()), 1));
    let connection = open_raw(&path);
    let step: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(step, NEWEST_STEP);
    assert!(lost(&before, &values(&connection)).is_empty());
    assert_sound(&connection);
    assert_eq!(told(&connection, "r").as_deref(), Some("neutral"));
    assert_eq!(told(&connection, "s"), None);
    assert_eq!(told(&connection, "q").as_deref(), Some("timed_out"));
}

/// What the forge was first told of a release run.
fn told(connection: &Connection, release_run: &str) -> Option<String> {
    connection
        .query_row(
            "SELECT forge_conclusion FROM release_runs WHERE release_run_id = ?1",
            [release_run],
            |row| row.get(0),
        )
        .unwrap()
}

/// An empty file of the newest step.
fn newest() -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("svc.db");
    drop(open_store(&path, &Arc::new(ManualClock::new()), 1));
    let connection = open_raw(&path);
    (folder, connection)
}

/// Records a release run as writers of step 20 did.
fn insert(connection: &Connection, id: &str) {
    connection
        .execute(
            "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, \
                git_ref, head_sha, status, current_attempt_id, created_at, updated_at) \
             VALUES (?1, 1, 10, 'refs/tags/' || ?1, 'a', 'queued', ?1 || '-1', 5, 5)",
            [id],
        )
        .unwrap();
}

/// Ends a release run as writers of step 20 did, which did not know the column.
fn end(connection: &Connection, id: &str, status: &str, decision: Option<&str>, conclusion: &str) {
    connection
        .execute(
            "UPDATE release_runs SET status = ?2, decision = ?3, conclusion = ?4, \
                failure_reason = NULL, finished_at = 6, updated_at = 6 WHERE release_run_id = ?1",
            (id, status, decision, conclusion),
        )
        .unwrap();
}

const ENDINGS: [(&str, Option<&str>, &str, &str); 6] = [
    ("succeeded", Some("accepted"), "success", "success"),
    ("succeeded", Some("accepted_at_risk"), "neutral", "neutral"),
    // A writer that knows no neutral conclusion.
    ("succeeded", Some("accepted_at_risk"), "success", "neutral"),
    ("failed", Some("rejected"), "failure", "failure"),
    ("timed_out", None, "timed_out", "timed_out"),
    ("cancelled", None, "cancelled", "cancelled"),
];

#[test]
fn the_conclusion_of_an_older_writer_s_ending_is_derived_from_its_decision() {
    for (status, decision, conclusion, wanted) in ENDINGS {
        let (_folder, connection) = newest();
        insert(&connection, "r");
        assert_eq!(told(&connection, "r"), None);
        end(&connection, "r", status, decision, conclusion);
        assert_eq!(told(&connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
        // Recorded and ended at once.
        connection
            .execute(
                "INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, \
                    git_ref, head_sha, status, decision, conclusion, current_attempt_id, \
                    created_at, updated_at, finished_at) \
                 VALUES ('s', 1, 10, 'refs/tags/s', 'a', ?1, ?2, ?3, 's-1', 5, 5, 5)",
                (status, decision, conclusion),
            )
            .unwrap();
        assert_eq!(told(&connection, "s").as_deref(), Some(wanted), "{decision:?} {conclusion}");
    }
}

#[test]
fn a_conclusion_that_is_set_is_kept_whatever_is_written() {
    for (status, decision, conclusion, wanted) in ENDINGS {
        let (_folder, connection) = newest();
        insert(&connection, "r");
        end(&connection, "r", status, decision, conclusion);
        end(&connection, "r", "failed", Some("rejected"), "failure");
        assert_eq!(told(&connection, "r").as_deref(), Some(wanted));
        for write in [
            "UPDATE release_runs SET forge_check_published_at = 7, updated_at = 7",
            "UPDATE release_runs SET forge_conclusion = NULL",
            "UPDATE release_runs SET forge_conclusion = 'cancelled'",
            "UPDATE release_runs SET decision = NULL, conclusion = NULL, forge_conclusion = NULL",
            "UPDATE release_runs SET decision = 'accepted', conclusion = 'success'",
        ] {
            connection.execute(write, []).unwrap();
            assert_eq!(told(&connection, "r").as_deref(), Some(wanted), "{write}");
        }
    }
}

#[test]
fn the_next_attempt_of_an_older_writer_starts_without_a_conclusion_and_gets_its_own() {
    for (status, decision, conclusion, wanted) in ENDINGS {
        let (_folder, connection) = newest();
        insert(&connection, "r");
        insert(&connection, "other");
        end(&connection, "r", "failed", Some("rejected"), "failure");
        end(&connection, "other", "failed", Some("rejected"), "failure");
        connection
            .execute(
                "UPDATE release_runs SET status = 'queued', decision = NULL, conclusion = NULL, \
                    failure_reason = NULL, current_attempt_id = 'r-2', workflow_run_id = NULL, \
                    check_run_id = NULL, forge_check_published_at = NULL, finished_at = NULL, \
                    updated_at = 7 \
                 WHERE release_run_id = 'r'",
                [],
            )
            .unwrap();
        assert_eq!(told(&connection, "r"), None);
        end(&connection, "r", status, decision, conclusion);
        assert_eq!(told(&connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
        assert_eq!(told(&connection, "other").as_deref(), Some("failure"));
    }
}

#[test]
fn a_writer_that_knows_the_column_sets_it_itself() {
    let (_folder, connection) = newest();
    insert(&connection, "r");
    connection
        .execute(
            "UPDATE release_runs SET status = 'succeeded', decision = 'accepted', \
                conclusion = 'success', forge_conclusion = 'neutral', finished_at = 6",
            [],
        )
        .unwrap();
    assert_eq!(told(&connection, "r").as_deref(), Some("neutral"));
}
