//! `svcctl status`: what is shown without the operator token, and what with it.

use std::fs;

use super::canned_server::Reply;
use super::{Desk, problem};

fn status(version: &str, backlog: &str) -> Reply {
    Reply::json(
        200,
        &format!(
            r#"{{"status":"not_ready","reconciliationConfigurationValid":true,"lastWorkflowReconciliationPollAt":null,"lastSuccessfulWorkflowReconciliationAt":null,"lastCheckRunReconciliationPollAt":null,"lastSuccessfulCheckRunReconciliationAt":null,"lastLifecycleReconciliationPollAt":null,"lastSuccessfulLifecycleReconciliationAt":null,"store":"ok","schemaVersion":57,"draining":false,"sloHealth":"healthy","sloActiveSignals":[],"version":"{version}","startedAt":"2100-01-01T00:00:00.000000Z","backlog":{backlog},"forge":null}}"#
        ),
    )
}

fn backlog() -> String {
    let queue =
        |count: u32| format!(r#"{{"count":{count},"oldestAt":"2100-01-01T00:00:00.000000Z"}}"#);
    format!(
        r#"{{"webhooks":{},"jobs":{},"outbox":{},"reconciliationItems":{},"reconciliationItemsGivenUp":{},"deadLetters":{},"deadLettersReplaySafe":4,"installationsPaused":2}}"#,
        queue(1),
        queue(2),
        queue(3),
        queue(4),
        queue(5),
        queue(6)
    )
}

const INSTALLATION: &str = r#"{"items":[{"installationId":"7","account":"acme","state":"active","pausedUntil":null}],"nextAfter":null}"#;
const SUMMARY: &str = r#"{"count":6,"replaySafeCount":4,"oldestFailedAt":null,"truncated":false,"reasons":[],"repositories":[],"repositoryCount":0,"replayClasses":[]}"#;

#[test]
fn the_sums_need_no_token() {
    let desk = Desk::new(vec![status(env!("CARGO_PKG_VERSION"), &backlog())]);
    fs::remove_file(desk.token_file()).unwrap();
    let run = desk.run("status");
    for words in [
        "svcd                      not ready\n",
        "dead letters              6 open, 4 replay-safe, the oldest 2100-01-01T00:00:00.000000Z\n",
        "reconciliations given up  5, the oldest 2100-01-01T00:00:00.000000Z; see svcctl reconcile list --status dead_letter --closed=false -A\n",
        "paused installations      2 (the forge asked svcd to wait)\n",
        "forge                     not configured\n",
        "\nwebhooks         1        2100-01-01T00:00:00.000000Z\n",
        "\nreconciliations  4        2100-01-01T00:00:00.000000Z\n",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("INSTALLATION"), "{}", run.stdout);
    let note = "note: without the operator token, only totals are shown\n";
    assert_eq!((run.code, run.stderr.as_str()), (3, note));
    assert!(desk.server.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn what_belongs_to_an_installation_needs_the_token() {
    let replies = || {
        vec![status("0.0.9", &backlog()), Reply::json(200, INSTALLATION), Reply::json(200, SUMMARY)]
    };
    let desk = Desk::new(replies());
    let run = desk.run("status");
    assert!(
        run.stdout.contains(
            "\n7             acme     active  -           6             4            -\n"
        ),
        "{}",
        run.stdout
    );
    let warning = format!(
        "warning: svcd is 0.0.9, and svcctl is {}; update the older one\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!((run.code, run.stderr), (3, warning));
    let requests = desk.server.requests();
    assert_eq!(requests[0].header("authorization"), None, "the sums are asked for without it");
    assert!(requests[2].line().contains("/installations/7/dead-letters/summary "), "{requests:?}");

    let run = Desk::new(replies()).run("status -o json");
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["status"], "not_ready");
    assert_eq!(document["backlog"]["deadLetters"]["count"], 6);
    assert_eq!(document["installations"][0]["account"], "acme");
    assert_eq!(document["installations"][0]["deadLetters"]["replaySafeCount"], 4);
}

#[test]
fn a_database_that_cannot_be_read_is_no_empty_backlog() {
    let desk = Desk::new(vec![status(env!("CARGO_PKG_VERSION"), "null")]);
    fs::remove_file(desk.token_file()).unwrap();
    let run = desk.run("status");
    assert!(
        !run.stdout.contains("QUEUE") && !run.stdout.contains("dead letters"),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains("the database cannot be read"), "{}", run.stderr);
}

#[test]
fn one_installation_whose_counts_are_missing_does_not_hide_the_others() {
    let two =
        INSTALLATION.replace("[{", r#"[{"installationId":"6","account":null,"state":"active"},{"#);
    let desk = Desk::new(vec![
        status(env!("CARGO_PKG_VERSION"), &backlog()),
        Reply::json(200, &two),
        problem(503, "unavailable", ""),
        Reply::json(200, SUMMARY),
    ]);
    let run = desk.run("status");
    for row in [
        "\n6             -        active  -           ?             ?            -\n",
        "\n7             acme     active  -           6             4            -\n",
    ] {
        assert!(run.stdout.contains(row), "{row}: {}", run.stdout);
    }
    let warning = "warning: dead letters of installation 6: a title (unavailable, HTTP 503)\n";
    assert_eq!((run.code, run.stderr.as_str()), (3, warning));
}

/// The service accepts and does not answer: every request would take the whole time.
#[test]
fn the_time_for_all_installations_is_one() {
    let many: Vec<String> = (1..=20)
        .map(|number| format!(r#"{{"installationId":"{number}","account":null,"state":"active"}}"#))
        .collect();
    let page = format!(r#"{{"items":[{}],"nextAfter":null}}"#, many.join(","));
    let desk = Desk::new(vec![
        status(env!("CARGO_PKG_VERSION"), &backlog()),
        Reply::json(200, &page),
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n").kept_open(),
    ]);
    let run = desk.run("status --timeout 1");
    assert_eq!(
        run.stdout.matches("  active  -           ?             ?            -\n").count(),
        20,
        "{run:?}"
    );
    let over = "the time limit (--timeout) has passed\n";
    assert_eq!(run.stderr.matches(over).count(), 19, "{run:?}");
}
