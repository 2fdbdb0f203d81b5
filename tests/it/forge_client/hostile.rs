//! Answers that must not be believed: whatever a look is answered with, it comes to exactly "the forge
//! did not tell", but for the rows that the tables document. Every case stands here, and how many
//! requests it takes.

mod objects;

use std::time::Duration;

use serde_json::{Value, json};
use svc::domain::dead_letter::ErrorClass::{
    self, Authentication, NotFound, Permission as Forbidden, Protocol, RateLimited, Unavailable,
    Validation,
};
use svc::domain::event::CommitSha;
use svc::domain::id::CheckRunId;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{self, task, uncertain};
use svc::domain::release::Conclusion;
use svc::domain::time::Timestamp;
use svc::forge::settings::Settings;
use svc::forge::{CheckRunLookup, Forge as _, Permission, TokenUse};

use super::double::{Double, Script, http, minted_for};
use super::{SHA, TIMEOUT, attempt, check_run, client, installation, repository, settings};
use crate::daemon::wait_for;

/// Of an answer that never ends.
const SHORT: Duration = Duration::from_millis(300);

/// What each look asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Query {
    Run,
    Runs,
    CheckRun,
    CheckRuns,
}

const QUERIES: [Query; 4] = [Query::Run, Query::Runs, Query::CheckRun, Query::CheckRuns];

/// What a look told, in words that are the same for all.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    /// The forge did not tell; and whether it named an instant to wait for.
    Nothing(ErrorClass, bool),
    /// It does not exist.
    NotFound,
    /// The run has not ended.
    Pending,
    /// The run has ended.
    Ended(RunConclusion),
    /// It was found.
    Found(i64),
    /// Nothing proves it.
    NoProof,
    /// The check run is not ours.
    Mismatch,
    /// The check run shows what it must.
    Expected,
    /// It shows something else.
    Different,
}

/// Looks at a forge that answers with `script`; returns what was told, and the requests after the mint.
fn ask(query: Query, script: Vec<Script>) -> (Told, Vec<String>) {
    // Where the forge keeps silent the client is given little time. Asked again when even less was left: for the mint, or
    // for the request to arrive.
    wait_for("a request that arrives", || try_ask(query, &script))
}

fn try_ask(query: Query, script: &[Script]) -> Option<(Told, Vec<String>)> {
    let permission = match query {
        Query::Run | Query::Runs => Permission::ActionsRead,
        Query::CheckRun | Query::CheckRuns => Permission::ChecksWrite,
    };
    let ends = |script: &Script| !matches!(script, Script::Keep(_) | Script::Drip);
    let timeout = if script.iter().all(ends) { TIMEOUT * 4 } else { SHORT };
    let double = Double::start([&[minted_for(permission)], script].concat());
    let client = client(Settings { timeout, ..settings(double.base_url()) });
    let opened = client.open(installation(), &repository(), permission, TokenUse::Own, &|| Ok(()));
    let mut session = match opened {
        Ok(session) => session,
        Err(_) if timeout == SHORT => return None,
        Err(refused) => panic!("{refused:?}"),
    };
    let told = match query {
        Query::Run => of_run(session.workflow_run(&wanted_run())),
        Query::Runs => of_runs(session.find_workflow_run(&wanted_dispatch())),
        Query::CheckRun => of_check_run(session.check_run(&wanted_check_run())),
        Query::CheckRuns => of_check_runs(session.find_check_run(&check_run())),
    };
    drop(session);
    let requests = double.requests().split_off(1);
    (timeout != SHORT || !requests.is_empty()).then_some((told, requests))
}

fn of_run(lookup: Lookup) -> Told {
    match lookup {
        Lookup::Pending => Told::Pending,
        Lookup::Completed(conclusion) => Told::Ended(conclusion),
        Lookup::NotFound => Told::NotFound,
        Lookup::Unavailable(why) => Told::Nothing(why.class, why.wait_until.is_some()),
    }
}

fn of_runs(observation: uncertain::Observation) -> Told {
    match observation {
        uncertain::Observation::WorkflowRun(run) => Told::Found(run.get()),
        uncertain::Observation::CheckRun(run) => Told::Found(run.get()),
        uncertain::Observation::NoCheckRun => Told::NotFound,
        uncertain::Observation::NoProof => Told::NoProof,
        uncertain::Observation::Unavailable(why) => {
            Told::Nothing(why.class, why.wait_until.is_some())
        }
    }
}

fn of_check_run(lookup: CheckRunLookup) -> Told {
    match lookup {
        CheckRunLookup::BindingMismatch => Told::Mismatch,
        CheckRunLookup::Expected => Told::Expected,
        CheckRunLookup::Different(_) => Told::Different,
        CheckRunLookup::NotFound => Told::NotFound,
        CheckRunLookup::Unavailable(why) => Told::Nothing(why.class, why.wait_until.is_some()),
    }
}

fn of_check_runs(found: Result<Option<CheckRunId>, reconcile::Unavailable>) -> Told {
    match found {
        Ok(Some(run)) => Told::Found(run.get()),
        Ok(None) => Told::NotFound,
        Err(why) => Told::Nothing(why.class, why.wait_until.is_some()),
    }
}

fn wanted_run() -> task::WorkflowRun {
    task::WorkflowRun {
        attempt: attempt(),
        run: 5.try_into().unwrap(),
        run_attempt: 2,
        repository: repository().id,
        head_sha: CommitSha::new(SHA).unwrap(),
        workflow: Some("release.yml".to_owned()),
    }
}

fn wanted_dispatch() -> task::Dispatch {
    task::Dispatch {
        attempt: attempt(),
        workflow: "release.yml".to_owned(),
        head_sha: CommitSha::new(SHA).unwrap(),
        began_at: Timestamp::from_micros(1_795_251_600_999_999),
    }
}

fn wanted_check_run() -> task::CheckRun {
    task::CheckRun {
        release_run: "0199f3a0-0000-7000-8000-00000000000c".parse().unwrap(),
        attempt: attempt(),
        check_run: 5.try_into().unwrap(),
        name: Some("svc release".to_owned()),
        head_sha: CommitSha::new(SHA).unwrap(),
        conclusion: Conclusion::Failure,
        completed_at: Timestamp::from_micros(1_795_251_600_000_000),
        unconfirmed: false,
        refused_state: None,
    }
}

/// A good answer about the run.
fn run() -> Value {
    json!({
        "id": 5, "run_attempt": 2, "event": "workflow_dispatch", "head_sha": SHA,
        "path": ".github/workflows/release.yml", "status": "completed", "conclusion": "failure",
        "repository": {"id": 7}, "display_title": format!("release {}", attempt()),
    })
}

/// A good answer about the check run.
fn shown() -> Value {
    json!({
        "id": 5, "name": "svc release", "head_sha": SHA, "external_id": attempt().to_string(),
        "status": "completed", "conclusion": "failure", "app": {"id": 424_242},
    })
}

/// Changes members of an answer; null removes one, a text `null` makes it null.
fn with(mut answer: Value, changes: Value) -> Value {
    let members = answer.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.remove(name);
        } else {
            let null = value == "null";
            members.insert(name.clone(), if null { Value::Null } else { value.clone() });
        }
    }
    answer
}

fn ok(body: &Value) -> Script {
    Script::Close(http(200, "", &body.to_string()))
}

fn plain(status: u16) -> Script {
    Script::Close(http(status, "", "{}"))
}

fn says(status: u16, headers: &str) -> Script {
    Script::Close(http(status, headers, "{}"))
}

/// A good answer to each look.
fn good(query: Query) -> Value {
    match query {
        Query::Run => run(),
        Query::Runs => json!({"total_count": 1, "workflow_runs": [run()]}),
        Query::CheckRun => shown(),
        Query::CheckRuns => json!({"total_count": 1, "check_runs": [shown()]}),
    }
}

#[test]
fn good_answers_are_believed() {
    for (query, wanted) in [
        (Query::Run, Told::Ended(RunConclusion::Failure)),
        (Query::Runs, Told::Found(5)),
        (Query::CheckRun, Told::Expected),
        (Query::CheckRuns, Told::Found(5)),
    ] {
        let (told, requests) = ask(query, vec![ok(&good(query))]);
        assert_eq!((told, requests.len()), (wanted, 1), "{query:?}");
        assert!(requests.iter().all(|request| request.starts_with("GET ")), "{query:?}");
    }
}

/// Bodies of a 200 that are no answer to anything.
fn broken_bodies() -> Vec<(&'static str, Vec<u8>)> {
    let deep = format!("{{\"id\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let large = format!("{{\"id\":5,\"pad\":\"{}\"}}", "x".repeat(1024 * 1024));
    vec![
        ("empty", http(200, "", "")),
        ("no body", b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec()),
        ("html", http(200, "content-type: text/html\r\n", "<html>It works!</html>")),
        ("an array", http(200, "", "[{\"id\":5}]")),
        ("null", http(200, "", "null")),
        ("a string", http(200, "", "\"completed\"")),
        ("an empty object", http(200, "", "{}")),
        ("an error", http(200, "", "{\"message\":\"Not Found\"}")),
        ("two objects", http(200, "", "{}{}")),
        ("cut off", http(200, "", "{\"id\":5,\"status\":\"comple")),
        ("shorter than announced", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{}".to_vec()),
        (
            "a broken chunk",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}".to_vec(),
        ),
        ("not UTF-8", b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n{\"\xff}".to_vec()),
        ("100,000 deep", http(200, "", &deep)),
        ("larger than 1 MiB", http(200, "", &large)),
    ]
}

#[test]
fn a_body_that_is_no_answer_tells_nothing() {
    for query in QUERIES {
        for (name, bytes) in broken_bodies() {
            let (told, requests) = ask(query, vec![Script::Close(bytes)]);
            assert_eq!(
                (told, requests.len()),
                (Told::Nothing(Protocol, false), 1),
                "{query:?}, {name}"
            );
        }
    }
}

#[test]
fn a_good_body_with_another_status_tells_nothing() {
    for query in QUERIES {
        let body = good(query).to_string();
        for (status, class) in [
            (201, Protocol),
            (202, Protocol),
            (203, Protocol),
            (206, Protocol),
            (300, Protocol),
            (400, Validation),
            (406, Protocol),
            (409, Protocol),
            (410, Protocol),
            (415, Protocol),
            (422, Validation),
            (451, Forbidden),
            (500, Unavailable),
            (502, Unavailable),
            (503, Unavailable),
            (504, Unavailable),
        ] {
            let (told, requests) = ask(query, vec![Script::Close(http(status, "", &body))]);
            let wanted = (Told::Nothing(class, false), 1);
            assert_eq!((told, requests.len()), wanted, "{query:?}, {status}");
        }
        for status in ["204 No Content", "304 Not Modified"] {
            let bytes = format!("HTTP/1.1 {status}\r\n\r\n").into_bytes();
            let (told, requests) = ask(query, vec![Script::Close(bytes)]);
            let wanted = (Told::Nothing(Protocol, false), 1);
            assert_eq!((told, requests.len()), wanted, "{query:?}, {status}");
        }
    }
}

#[test]
fn a_limit_tells_only_until_when_to_wait() {
    for query in QUERIES {
        for (status, headers) in [
            (403, "retry-after: 30\r\n"),
            (403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 4102444800\r\n"),
            (403, "x-ratelimit-remaining: 0\r\n"),
            (429, ""),
            (429, "retry-after: 30\r\n"),
            (429, "retry-after: soon\r\n"),
            (429, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: -1\r\n"),
        ] {
            let (told, requests) = ask(query, vec![says(status, headers)]);
            let wanted = (Told::Nothing(RateLimited, true), 1);
            assert_eq!((told, requests.len()), wanted, "{query:?}, {status} {headers}");
        }
    }
}

#[test]
fn what_may_be_lag_is_told_at_once() {
    for query in QUERIES {
        for (status, class) in [(401, Authentication), (403, Forbidden)] {
            let (told, requests) = ask(query, vec![plain(status); 2]);
            let wanted = (Told::Nothing(class, false), 1);
            assert_eq!((told, requests.len()), wanted, "{query:?}, {status}");
        }
        let (told, requests) = ask(query, vec![plain(404); 2]);
        let settled = match query {
            Query::Run | Query::CheckRun => Told::NotFound,
            // A workflow, or a commit, that the forge does not know tells nothing about its runs.
            Query::Runs | Query::CheckRuns => Told::Nothing(NotFound, false),
        };
        assert_eq!((told, requests.len()), (settled, 1), "{query:?}");
    }
}

#[test]
fn only_the_same_forge_s_number_of_the_repository_is_followed() {
    let elsewhere = Double::start(Vec::new());
    for (query, rest) in [
        (Query::Run, "/actions/runs/5?exclude_pull_requests=true"),
        (Query::CheckRun, "/check-runs/5"),
    ] {
        for location in [
            format!("{}/repositories/7{rest}", elsewhere.base_url()),
            format!("https://127.0.0.1/repositories/7{rest}"),
            format!("/repositories/8{rest}"),
            "/repositories/7/check-runs/6".to_owned(),
            "/repositories/7".to_owned(),
            format!("//evil.example/repositories/7{rest}"),
            String::new(),
        ] {
            for status in [301, 302, 303, 307, 308] {
                let redirect = says(status, &format!("location: {location}\r\n"));
                let (told, requests) = ask(query, vec![redirect, ok(&good(query))]);
                let wanted = (Told::Nothing(Protocol, false), 1);
                assert_eq!((told, requests.len()), wanted, "{query:?}, {status}, {location}");
            }
        }
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn what_never_comes_tells_nothing() {
    for query in QUERIES {
        for (name, script, class) in [
            ("closed", Script::Close(Vec::new()), Unavailable),
            ("reset", Script::Reset, Unavailable),
            ("cut in the head", Script::Close(b"HTTP/1.1 200 OK\r\ncont".to_vec()), Unavailable),
            ("not HTTP", Script::Close(b"\x16\x03\x01\x00garbage\r\n\r\n".to_vec()), Unavailable),
            ("silence", Script::Keep(Vec::new()), Unavailable),
            ("a drip", Script::Drip, Protocol),
        ] {
            let (told, requests) = ask(query, vec![script]);
            let wanted = (Told::Nothing(class, false), 1);
            assert_eq!((told, requests.len()), wanted, "{query:?}, {name}");
        }
    }
}
