//! The promise of steps 21 and 37 to writers that do not know their columns: what the forge was first
//! told of an attempt is derived and kept. The raw statements are those of step 20's writers. Each test
//! runs with triggers that may fire themselves, and without, because the connection decides about that.

use std::sync::Arc;

use rusqlite::Connection;

use super::{climb, steps, told};
use crate::support::ManualClock;
use crate::support::world::{open_raw, open_store};

/// Ends of a release run: status, decision, conclusion, and what the forge is told.
const ENDINGS: [(&str, Option<&str>, &str, &str); 6] = [
    ("succeeded", Some("accepted"), "success", "success"),
    ("succeeded", Some("accepted_at_risk"), "neutral", "neutral"),
    // A writer that knows no neutral conclusion.
    ("succeeded", Some("accepted_at_risk"), "success", "neutral"),
    ("failed", Some("rejected"), "failure", "failure"),
    ("timed_out", None, "timed_out", "timed_out"),
    ("cancelled", None, "cancelled", "cancelled"),
];

/// Runs a test on an empty file of the newest step, for each ending, with and without recursion.
fn each(test: impl Fn(&Connection, (&str, Option<&str>, &str, &str))) {
    for recursive in [false, true] {
        for ending in ENDINGS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("svc.db");
            drop(open_store(&path, &Arc::new(ManualClock::new()), 1));
            let connection = open_raw(&path);
            connection.pragma_update(None, "recursive_triggers", recursive).unwrap();
            test(&connection, ending);
        }
    }
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

/// Starts another attempt as writers of step 20 did.
fn again(connection: &Connection, id: &str) {
    connection
        .execute(
            "UPDATE release_runs SET status = 'queued', decision = NULL, conclusion = NULL, \
                failure_reason = NULL, current_attempt_id = ?1 || '-2', workflow_run_id = NULL, \
                check_run_id = NULL, forge_check_published_at = NULL, finished_at = NULL, \
                updated_at = 7 \
             WHERE release_run_id = ?1",
            [id],
        )
        .unwrap();
}

fn write(connection: &Connection, assignments: &str) {
    connection
        .execute(&format!("UPDATE release_runs SET {assignments}"), [])
        .unwrap_or_else(|error| panic!("{assignments}: {error}"));
}

/// Writes that would change what is kept.
const WRITES: [&str; 6] = [
    "forge_check_published_at = 7, updated_at = 7",
    "forge_conclusion = NULL",
    "forge_conclusion = 'cancelled'",
    "decision = NULL, conclusion = NULL, forge_conclusion = NULL",
    "decision = NULL, conclusion = NULL",
    "decision = 'accepted', conclusion = 'success'",
];

#[test]
fn the_conclusion_of_an_older_writer_s_ending_is_derived_from_its_decision() {
    each(|connection, (status, decision, conclusion, wanted)| {
        insert(connection, "r");
        assert_eq!(told(connection, "r"), None);
        end(connection, "r", status, decision, conclusion);
        assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
    });
}

#[test]
fn what_is_recorded_with_a_decision_has_its_conclusion_ended_or_not() {
    each(|connection, (status, decision, conclusion, wanted)| {
        for (id, status, finished) in [("r", status, Some(5)), ("s", "reporting", None)] {
            connection
                .execute(
                    "INSERT INTO release_runs (release_run_id, forge_installation_id, \
                        repository_id, git_ref, head_sha, status, decision, conclusion, \
                        current_attempt_id, created_at, updated_at, finished_at) \
                     VALUES (?1, 1, 10, 'refs/tags/' || ?1, 'a', ?2, ?3, ?4, ?1 || '-1', 5, 5, ?5)",
                    (id, status, decision, conclusion, finished),
                )
                .unwrap();
        }
        for assignments in WRITES {
            for id in ["r", "s"] {
                assert_eq!(told(connection, id).as_deref(), Some(wanted), "{id} {assignments}");
            }
            write(connection, assignments);
        }
        assert_eq!(told(connection, "s").as_deref(), Some(wanted));
    });
}

#[test]
fn a_conclusion_that_is_set_is_kept_whatever_is_written() {
    each(|connection, (status, decision, conclusion, wanted)| {
        insert(connection, "r");
        end(connection, "r", status, decision, conclusion);
        end(connection, "r", "failed", Some("rejected"), "failure");
        assert_eq!(told(connection, "r").as_deref(), Some(wanted));
        for assignments in WRITES {
            write(connection, assignments);
            assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{assignments}");
        }
    });
}

#[test]
fn it_is_derived_and_kept_before_the_end_too() {
    each(|connection, (status, decision, conclusion, wanted)| {
        insert(connection, "r");
        let decided = "UPDATE release_runs SET decision = ?1, conclusion = ?2";
        connection.execute(decided, (decision, decision.is_none().then_some(conclusion))).unwrap();
        assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
        for assignments in WRITES {
            write(connection, assignments);
            assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{assignments}");
        }
        end(connection, "r", status, Some("rejected"), "failure");
        assert_eq!(told(connection, "r").as_deref(), Some(wanted));
    });
}

#[test]
fn a_writer_that_knows_the_column_sets_it_itself_before_the_end_or_with_it() {
    each(|connection, (status, ..)| {
        for early in [true, false] {
            let id = if early { "early" } else { "late" };
            insert(connection, id);
            let decided = format!(
                "UPDATE release_runs SET decision = 'accepted', conclusion = 'success', \
                    forge_conclusion = 'neutral' WHERE release_run_id = '{id}'"
            );
            if early {
                connection.execute(&decided, []).unwrap();
            } else {
                let ended = format!("SET status = '{status}', finished_at = 6,");
                connection.execute(&decided.replace("SET", &ended), []).unwrap();
            }
            assert_eq!(told(connection, id).as_deref(), Some("neutral"), "{id}");
            for assignments in WRITES {
                write(connection, assignments);
                assert_eq!(told(connection, id).as_deref(), Some("neutral"), "{id} {assignments}");
            }
        }
    });
}

#[test]
fn the_next_attempt_of_an_older_writer_starts_without_a_conclusion_and_gets_its_own() {
    each(|connection, (status, decision, conclusion, wanted)| {
        insert(connection, "r");
        insert(connection, "other");
        end(connection, "r", "failed", Some("rejected"), "failure");
        end(connection, "other", "failed", Some("rejected"), "failure");
        again(connection, "r");
        assert_eq!(told(connection, "r"), None);
        write(connection, "updated_at = 8");
        assert_eq!(told(connection, "r"), None);
        end(connection, "r", status, decision, conclusion);
        assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
        assert_eq!(told(connection, "other").as_deref(), Some("failure"));
    });
}

#[test]
fn an_attempt_that_is_decided_as_it_begins_has_its_own_conclusion_from_then_on() {
    each(|connection, (status, decision, conclusion, wanted)| {
        insert(connection, "r");
        end(connection, "r", "cancelled", None, "cancelled");
        let next = "UPDATE release_runs SET current_attempt_id = 'r-2', status = ?1, decision = ?2, \
            conclusion = ?3, finished_at = ?4";
        connection.execute(next, (status, decision, conclusion, 7)).unwrap();
        assert_eq!(told(connection, "r").as_deref(), Some(wanted), "{decision:?} {conclusion}");
        let next = next.replace("r-2", "r-3");
        connection.execute(&next, ("queued", "rejected", "failure", None::<i64>)).unwrap();
        assert_eq!(told(connection, "r").as_deref(), Some("failure"));
        for assignments in WRITES {
            write(connection, assignments);
            assert_eq!(told(connection, "r").as_deref(), Some("failure"), "{assignments}");
        }
    });
}

#[test]
fn conclusions_of_step_31_are_kept_and_decisions_have_theirs() {
    for (status, decision, conclusion, wanted) in ENDINGS {
        let folder = tempfile::tempdir().unwrap();
        let connection = open_raw(&folder.path().join("svc.db"));
        let steps = steps();
        climb(&connection, &steps[..31]);
        for id in ["ended", "decided", "queued"] {
            insert(&connection, id);
        }
        end(&connection, "ended", status, decision, conclusion);
        let decided = "UPDATE release_runs SET decision = 'accepted_at_risk' \
            WHERE release_run_id = 'decided'";
        connection.execute(decided, []).unwrap();
        climb(&connection, &steps[31..]);
        for assignments in WRITES {
            assert_eq!(told(&connection, "ended").as_deref(), Some(wanted), "{assignments}");
            assert_eq!(told(&connection, "decided").as_deref(), Some("neutral"), "{assignments}");
            write(&connection, assignments);
        }
        assert_eq!(told(&connection, "queued").as_deref(), Some("cancelled"), "the first told");
    }
}
