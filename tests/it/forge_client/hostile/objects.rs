//! Answers of the right shape about something else, or that say too little: the tables of every case.

use serde_json::{Value, json};
use svc::domain::dead_letter::ErrorClass::{Identity, NotFound, Protocol, Unavailable};
use svc::domain::reconcile::workflow::RunConclusion;

use super::{Query, Told, ask, ok, plain, run, shown, with};
use crate::forge_client::double::{Script, http};
use crate::forge_client::{SHA, attempt};

/// A number that no float holds.
const BEYOND_FLOATS: i64 = 9_007_199_254_740_993;

/// Changes to a good run, and what it tells then.
fn runs() -> Vec<(Value, Told)> {
    let nothing = |class| Told::Nothing(class, false);
    vec![
        // Of the wrong type, or missing.
        (json!({"id": "5"}), nothing(Protocol)),
        (json!({"id": 5.0}), nothing(Protocol)),
        (json!({"id": 5e0}), nothing(Protocol)),
        (json!({"id": 1e300}), nothing(Protocol)),
        (json!({"id": null}), nothing(Protocol)),
        (json!({"id": "null"}), nothing(Protocol)),
        (json!({"id": [5]}), nothing(Protocol)),
        (json!({"id": u64::MAX}), nothing(Protocol)),
        (json!({"run_attempt": "2"}), nothing(Protocol)),
        (json!({"run_attempt": 2.0}), nothing(Protocol)),
        (json!({"run_attempt": null}), nothing(Protocol)),
        (json!({"run_attempt": "null"}), nothing(Protocol)),
        (json!({"status": 1}), nothing(Protocol)),
        (json!({"status": ["completed"]}), nothing(Protocol)),
        (json!({"conclusion": true}), nothing(Protocol)),
        (json!({"repository": 7}), nothing(Protocol)),
        (json!({"repository": {"id": "7"}}), nothing(Protocol)),
        (json!({"repository": {}}), nothing(Protocol)),
        // Another object.
        (json!({"id": 6}), nothing(Identity)),
        (json!({"id": -5}), nothing(Identity)),
        (json!({"id": BEYOND_FLOATS}), nothing(Identity)),
        (json!({"repository": {"id": 8}}), nothing(Identity)),
        (json!({"repository": "null"}), nothing(Identity)),
        (json!({"repository": null}), nothing(Identity)),
        (json!({"event": "push"}), nothing(Identity)),
        (json!({"event": null}), nothing(Identity)),
        (json!({"head_sha": "0".repeat(40)}), nothing(Identity)),
        (json!({"head_sha": SHA.to_uppercase()}), nothing(Identity)),
        (json!({"head_sha": "null"}), nothing(Identity)),
        (json!({"path": ".github/workflows/other.yml"}), nothing(Identity)),
        (json!({"path": "release.yml"}), nothing(Identity)),
        (json!({"path": "x/.github/workflows/release.yml"}), nothing(Identity)),
        (json!({"path": null}), nothing(Identity)),
        (json!({"run_attempt": 1}), nothing(Identity)),
        (json!({"run_attempt": 0}), nothing(Identity)),
        (json!({"run_attempt": -1}), nothing(Identity)),
        // A later try of another object is not followed.
        (json!({"run_attempt": 3, "id": 6}), nothing(Identity)),
        (json!({"run_attempt": 3, "repository": {"id": 8}}), nothing(Identity)),
        // Words.
        (json!({"status": "null"}), nothing(Protocol)),
        (json!({"status": null}), nothing(Protocol)),
        (json!({"conclusion": "null"}), nothing(Protocol)),
        (json!({"conclusion": null}), nothing(Protocol)),
        (json!({"status": "in_progress"}), Told::Pending),
        (json!({"status": "queued", "conclusion": "success"}), Told::Pending),
        (json!({"status": "COMPLETED"}), Told::Pending),
        (json!({"status": "a new word"}), Told::Pending),
        (json!({"status": ""}), Told::Pending),
        (json!({"conclusion": "SUCCESS"}), Told::Ended(RunConclusion::Unknown)),
        (json!({"conclusion": "a new word"}), Told::Ended(RunConclusion::Unknown)),
        (json!({"conclusion": ""}), Told::Ended(RunConclusion::Unknown)),
        // As good as the good one.
        (
            json!({"path": ".github/workflows/release.yml@main"}),
            Told::Ended(RunConclusion::Failure),
        ),
    ]
}

#[test]
fn a_run_that_is_another_or_says_too_little_is_no_end() {
    for (changes, wanted) in runs() {
        let (told, requests) = ask(Query::Run, vec![ok(&with(run(), changes.clone()))]);
        assert_eq!((told, requests.len()), (wanted, 1), "{changes}");
    }
    // A reader of the first of two would see another run.
    let twice = run().to_string().replacen("\"id\":5", "\"id\":6,\"id\":5", 1);
    let (told, _) = ask(Query::Run, vec![Script::Close(http(200, "", &twice))]);
    assert_eq!(told, Told::Nothing(Protocol, false));
}

#[test]
fn of_a_run_that_was_run_again_only_the_bound_try_counts() {
    let later = || ok(&with(run(), json!({"run_attempt": 3, "conclusion": "success"})));
    let nothing = |class| Told::Nothing(class, false);
    for (second, wanted, reads) in [
        (ok(&run()), Told::Ended(RunConclusion::Failure), 2),
        (later(), nothing(Identity), 2),
        (ok(&with(run(), json!({"run_attempt": 1}))), nothing(Identity), 2),
        (ok(&with(run(), json!({"id": 6}))), nothing(Identity), 2),
        (ok(&with(run(), json!({"conclusion": "null"}))), nothing(Protocol), 2),
        (Script::Close(http(200, "", "")), nothing(Protocol), 2),
        (plain(404), nothing(NotFound), 2),
        (plain(500), nothing(Unavailable), 2),
        (Script::Close(Vec::new()), nothing(Unavailable), 2),
    ] {
        let (told, requests) = ask(Query::Run, vec![later(), second]);
        assert_eq!((told, requests.len()), (wanted, reads));
        assert!(requests[1].starts_with("GET /repos/octo-org/app/actions/runs/5/attempts/2?"));
    }
}

/// Lists of runs, and what each tells about the dispatch.
fn lists() -> Vec<(Value, Told)> {
    let nothing = |class| Told::Nothing(class, false);
    let list =
        |total: usize, runs: Vec<Value>| json!({"total_count": total, "workflow_runs": runs});
    let one = |changes| list(1, vec![with(run(), changes)]);
    vec![
        (list(0, vec![]), Told::NoProof),
        (one(json!({"display_title": "release"})), Told::NoProof),
        (one(json!({"display_title": "null"})), Told::NoProof),
        (one(json!({"display_title": format!("release {} ", attempt())})), Told::NoProof),
        (one(json!({"display_title": format!("Release {}", attempt())})), Told::NoProof),
        (list(2, vec![run(), with(run(), json!({"id": 6}))]), Told::NoProof),
        (list(2, vec![run()]), Told::NoProof),
        (list(1_000_000, vec![run()]), Told::NoProof),
        (list(0, vec![run()]), Told::Found(5)),
        (list(2, vec![run(), with(run(), json!({"display_title": "other"}))]), Told::Found(5)),
        (one(json!({"event": "push"})), nothing(Identity)),
        (one(json!({"head_sha": "0".repeat(40)})), nothing(Identity)),
        (one(json!({"repository": {"id": 8}})), nothing(Identity)),
        (one(json!({"repository": "null"})), nothing(Identity)),
        (one(json!({"path": ".github/workflows/other.yml"})), nothing(Identity)),
        (list(2, vec![run(), with(run(), json!({"event": "push"}))]), nothing(Identity)),
        (one(json!({"id": -5})), nothing(Protocol)),
        (one(json!({"id": "5"})), nothing(Protocol)),
        (one(json!({"id": 5.0})), nothing(Protocol)),
        (json!({"total_count": "1", "workflow_runs": [run()]}), nothing(Protocol)),
        (json!({"total_count": -1, "workflow_runs": [run()]}), nothing(Protocol)),
        (json!({"workflow_runs": [run()]}), nothing(Protocol)),
        (json!({"total_count": 1, "workflow_runs": run()}), nothing(Protocol)),
        (json!({"total_count": 1, "workflow_runs": [5]}), nothing(Protocol)),
        (json!({"total_count": 1}), nothing(Protocol)),
    ]
}

#[test]
fn only_the_one_run_that_names_the_attempt_proves_a_dispatch() {
    for (list, wanted) in lists() {
        let (told, requests) = ask(Query::Runs, vec![ok(&list)]);
        assert_eq!((told, requests.len()), (wanted, 1), "{list}");
        let query = "?event=workflow_dispatch&head_sha=1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d\
            &created=%3E%3D2026-11-21T08%3A58%3A00Z&per_page=100 ";
        assert!(requests[0].contains(query), "{}", requests[0]);
    }
}

/// Changes to a good check run, and what it tells then.
fn check_runs() -> Vec<(Value, Told)> {
    let nothing = |class| Told::Nothing(class, false);
    vec![
        (json!({"id": "5"}), nothing(Protocol)),
        (json!({"id": 5.0}), nothing(Protocol)),
        (json!({"id": null}), nothing(Protocol)),
        (json!({"status": "null"}), nothing(Protocol)),
        (json!({"status": null}), nothing(Protocol)),
        (json!({"status": 3}), nothing(Protocol)),
        (json!({"conclusion": ["failure"]}), nothing(Protocol)),
        (json!({"app": 424_242}), nothing(Protocol)),
        (json!({"app": {"id": "424242"}}), nothing(Protocol)),
        (json!({"external_id": 1}), nothing(Protocol)),
        (json!({"id": 6}), Told::Mismatch),
        (json!({"id": BEYOND_FLOATS}), Told::Mismatch),
        (json!({"name": "other"}), Told::Mismatch),
        (json!({"name": "null"}), Told::Mismatch),
        (json!({"head_sha": "0".repeat(40)}), Told::Mismatch),
        (json!({"head_sha": null}), Told::Mismatch),
        (json!({"external_id": "other"}), Told::Mismatch),
        (json!({"external_id": "null"}), Told::Mismatch),
        (json!({"app": {"id": 1}}), Told::Mismatch),
        (json!({"app": "null"}), Told::Mismatch),
        (json!({"app": null}), Told::Mismatch),
        (json!({"conclusion": "null"}), Told::Different),
        (json!({"conclusion": "success"}), Told::Different),
        (json!({"conclusion": "stale"}), Told::Different),
        (json!({"conclusion": "a new word"}), Told::Different),
        (json!({"status": "queued"}), Told::Different),
        (json!({"status": "in_progress", "conclusion": "null"}), Told::Different),
        (json!({"status": "a new word"}), Told::Different),
    ]
}

#[test]
fn a_check_run_that_is_another_is_not_ours_and_one_that_says_too_little_tells_nothing() {
    for (changes, wanted) in check_runs() {
        let (told, requests) = ask(Query::CheckRun, vec![ok(&with(shown(), changes.clone()))]);
        assert_eq!((told, requests.len()), (wanted, 1), "{changes}");
        assert!(requests[0].starts_with("GET "), "{changes}");
    }
}
