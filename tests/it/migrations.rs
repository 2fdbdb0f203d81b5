//! The ladder of schema steps over files that hold rows.

mod forge_conclusion;

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
    ("mcp_request_state_keys", "INSERT INTO mcp_request_state_keys VALUES (1, zeroblob(32), 5)"),
    ("mcp_used_request_states", "INSERT INTO mcp_used_request_states VALUES (zeroblob(12), 5)"),
    ("relay_keys", "INSERT INTO relay_keys VALUES (1, x'00', 5)"),
    (
        "relay_devices",
        "INSERT INTO relay_devices (device_id, public_key, subject, tool, state, created_at, \
            last_seen_at, revoked_at) \
         VALUES ('d', zeroblob(65), 'local', 'penpot', 'revoked', 5, 5, 5)",
    ),
    (
        "relay_sessions",
        "INSERT INTO relay_sessions (session_id, device_id, subject, tool, lane, state, epoch, page, \
            created_at, last_seen_at) \
         VALUES ('s', 'd', 'local', 'penpot', zeroblob(32), 'away', 1, 'p', 5, 5)",
    ),
    (
        "relay_pairings",
        "INSERT INTO relay_pairings (pairing_id, code_sha256, public_key, tool, state, expires_at, \
            created_at) VALUES ('p', zeroblob(32), zeroblob(65), 'penpot', 'offered', 9, 5)",
    ),
    (
        "relay_proposals",
        "INSERT INTO relay_proposals (proposal_id, session_id, subject, client, digest, is_waiting, \
            expires_at, created_at) VALUES ('a', 's', 'local', 'c', zeroblob(32), 0, 9, 5)",
    ),
    (
        "relay_invocations",
        "INSERT INTO relay_invocations (invocation_id, proposal_id, session_id, position, action, \
            effect, arguments, arguments_sha256, state, created_at, updated_at) \
         VALUES ('i', 'a', 's', 0, 'set_text', 'write', '{}', zeroblob(32), 'approved', 5, 5), \
                ('j', 'a', 's', 1, 'set_text', 'write', NULL, zeroblob(32), 'unknown', 5, 5)",
    ),
    (
        "relay_approvals",
        "INSERT INTO relay_approvals (proposal_id, subject, client, decision, decided_by, \
            preview_sha256, epoch, signature, created_at) \
         VALUES ('a', 'local', 'c', 'approved', 'person', zeroblob(32), 1, zeroblob(64), 5)",
    ),
    (
        "relay_grants",
        "INSERT INTO relay_grants (grant_id, invocation_id, session_id, lane, state, lasts, \
            expires_at, created_at) VALUES ('g', 'i', 's', zeroblob(32), 'unused', 60, 9, 5)",
    ),
    (
        "relay_allowances",
        "INSERT INTO relay_allowances (session_id, page, expires_at, signature, created_at) \
         VALUES ('s', 'p', 9, zeroblob(64), 5)",
    ),
    ("relay_processes", "INSERT INTO relay_processes (process_id, beat) VALUES ('x', 5)"),
    (
        "relay_audit_events",
        "INSERT INTO relay_audit_events (seq, event, subject, created_at, prev_hash, hash) \
         VALUES (1, 'relay.proposed', 'local', 5, zeroblob(32), zeroblob(32))",
    ),
];

/// The statements of every step, in order.
fn steps() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
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
        let own = table.starts_with("sqlite_")
            || ["schema_compatibility", "store_identity"].contains(&table.as_str());
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

/// A plan is refused by every database but its own.
#[test]
fn every_file_has_an_identity_of_its_own_that_stays() {
    let folder = tempfile::tempdir().unwrap();
    let of = |file: &str| {
        let store = open_store(&folder.path().join(file), &Arc::new(ManualClock::new()), 1);
        store.store_id().unwrap()
    };
    let [one, again, other] = ["one.db", "one.db", "other.db"].map(of);
    assert_eq!(one, again);
    assert_ne!(one, other);
    let id: uuid::Uuid = one.parse().unwrap();
    assert_eq!((id.get_version_num(), id.to_string()), (4, one));
}

/// The key of a delivery is random: an index on it makes each insert change another page.
#[test]
fn the_key_of_a_delivery_is_in_one_index_and_it_has_one_job() {
    let folder = tempfile::tempdir().unwrap();
    let connection = open_raw(&folder.path().join("svc.db"));
    climb(&connection, &steps());
    fill(&connection);
    let indexed = "SELECT group_concat(schema.tbl_name) FROM sqlite_schema AS schema, \
            pragma_index_info(schema.name) AS part \
        WHERE schema.type = 'index' AND part.name = 'idempotency_key' \
            AND schema.tbl_name IN ('webhook_inbox', 'control_plane_jobs')";
    let indexed: String = connection.query_row(indexed, [], |row| row.get(0)).unwrap();
    assert_eq!(indexed, "webhook_inbox");
    let key = "SELECT idempotency_key FROM control_plane_jobs WHERE inbox_id = 1";
    let key: String = connection.query_row(key, [], |row| row.get(0)).unwrap();
    assert_eq!(key, "forge:a");
    // As any version writes it.
    let second = connection.execute(
        "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, status, \
            available_at, created_at, updated_at) VALUES ('k', 'forge:a', 1, 1, 'available', 5, 5, 5)",
        [],
    );
    assert!(second.unwrap_err().to_string().contains("control_plane_jobs.inbox_id"));
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

/// What older versions left behind that is judged otherwise today.
#[test]
fn mismatches_and_unreadable_letters_of_step_31_are_not_replayable_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let connection = open_raw(&folder.path().join("svc.db"));
    let steps = steps();
    climb(&connection, &steps[..31]);
    fill(&connection);
    connection
        .execute_batch(
            "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, attempt_id, \
                installation_id, status, outcome_code, next_check_at, deadline_at, created_at, \
                updated_at, finished_at) \
             VALUES ('x', 'release_run', 'reporting_stale', 'r', 't', 1, 'completed', \
                'forge_check_run_binding_mismatch', 5, 9, 5, 5, 5); \
             INSERT INTO outbox (outbox_id, effect_key, installation_id, repository_id, release_run_id, \
                attempt_id, kind, payload, status, available_at, created_at, updated_at, finished_at) \
             VALUES ('p', 'check_run_update.completed:t', 1, 10, 'r', 't', 'check_run_update', '{}', \
                'dead_letter', 5, 5, 5, 5); \
             INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, reason_code, \
                error_class, attempt_count, replay_class, replay_safe) \
             VALUES (1, 6, 'outbox', 'p', 'forge_check_run_update_failed', 'protocol', 1, \
                    'repeatable', 1), \
                    (1, 7, 'job', 'j', 'actions_unreadable', 'protocol', 1, 'job_transaction', 1)",
        )
        .unwrap();
    climb(&connection, &steps[31..]);
    let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    let classes = "SELECT group_concat(item_id || ' ' || replay_class || ' ' || replay_safe, ', ') \
        FROM (SELECT * FROM dead_letters ORDER BY failed_at)";
    assert_eq!(ask(classes), "o dispatch_uncertain 0, p binding_mismatch 0, j unreadable 0");
    let noted = "SELECT group_concat(attempt_id) FROM release_run_attempts \
        WHERE check_run_mismatch_at IS NOT NULL";
    assert_eq!(ask(noted), "t");
}
