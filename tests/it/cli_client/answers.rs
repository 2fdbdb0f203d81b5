//! What answers look like to a person, a terminal and a script; the exit codes.

use std::fs;

use super::canned_server::Reply;
use super::{Desk, ID, item, page, problem, unread};

#[test]
fn a_row_cannot_command_the_terminal() {
    let evil = item(ID, "job", "2020-01-01T00:00:00.000002Z")
        .replace("acme/site", "\\u001b]0;owned\\u0007\\nroot");
    let desk = Desk::new(vec![page(std::slice::from_ref(&evil), None)]);
    let run = desk.run("dead-letters list");
    assert!(run.stdout.ends_with("\\u{1b}]0;owned\\u{7}\\nroot\n"), "{}", run.stdout);

    let title = problem(404, "not_found", ",\"detail\":\"\\u001b[2Jgone\"");
    let desk = Desk::new(vec![title]);
    let run = desk.run(&format!("dead-letters show job {ID}"));
    assert!(run.stderr.starts_with("error: \\u{1b}[2Jgone (not_found, HTTP 404)\n"), "{run:?}");
}

#[test]
fn every_problem_has_its_exit_code() {
    for (status, outcome, code) in [
        (400, "invalid_request", 1),
        (401, "unauthenticated", 4),
        (404, "not_found", 6),
        (405, "method_not_allowed", 1),
        (409, "not_replayable", 5),
        (413, "payload_too_large", 1),
        (415, "unsupported_media_type", 1),
        (422, "operation_conflict", 7),
        (429, "rate_limited", 75),
        (503, "unavailable", 75),
    ] {
        let desk = Desk::new(vec![problem(status, outcome, "")]);
        let run = desk.run(&format!("replay job {ID} --retries 0 -o json"));
        assert_eq!(run.code, code, "{run:?}");
        assert_eq!(run.stdout, "");
        let error: serde_json::Value =
            serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(error["type"], format!("urn:svc:problem:{outcome}"));
        assert_eq!(error["outcome"], outcome);
        assert_eq!(error["status"], status);
    }
}

#[test]
fn unreadable_answers_have_a_code_of_their_own() {
    for reply in [
        Reply::json(200, "<html>"),
        Reply::json(200, "{}"),
        Reply::json(404, "<html>not ours</html>"),
        Reply::raw("SSH-2.0-OpenSSH_9.9\r\n"),
        Reply::json(200, &"x".repeat(5 * 1024 * 1024)),
    ] {
        let desk = Desk::new(vec![reply]);
        let run = desk.run(&format!("dead-letters show job {ID}"));
        assert_eq!(run.code, 65, "{run:?}");
    }
}

#[test]
fn a_proxy_that_speaks_for_the_service_is_understood() {
    for (status, code) in [(401, 4), (429, 75), (502, 75), (503, 75), (504, 75), (500, 65)] {
        let desk = Desk::new(vec![Reply::json(status, "<html>")]);
        assert_eq!(desk.run(&format!("dead-letters show job {ID}")).code, code, "{status}");
    }
}

#[test]
fn colour_is_for_terminals_or_those_who_ask() {
    let desk = Desk::new(Vec::new());
    let run = |color| desk.run(&format!("status --url unix:/nonexistent --color {color}")).stderr;
    assert!(run("always").starts_with("\u{1b}["));
    assert!(run("auto").starts_with("error: "));
}

#[test]
fn status_says_ready_or_not_and_needs_no_token() {
    let body = |status: &str| {
        format!(
            r#"{{"status":"{status}","reconciliationConfigurationValid":true,"lastWorkflowReconciliationPollAt":null,"lastSuccessfulWorkflowReconciliationAt":null,"lastCheckRunReconciliationPollAt":null,"lastSuccessfulCheckRunReconciliationAt":null,"lastLifecycleReconciliationPollAt":null,"lastSuccessfulLifecycleReconciliationAt":null,"store":"ok","schemaVersion":20,"draining":false,"sloHealth":"degraded","sloActiveSignals":["dead_letters_added"]}}"#
        )
    };
    // The address, or an earlier version, has no more to show.
    let absent = || problem(404, "not_found", "");
    let desk = Desk::new(vec![
        absent(),
        Reply::json(200, &body("ready")),
        absent(),
        Reply::json(503, &body("not_ready")),
        absent(),
        problem(503, "unavailable", ""),
    ]);
    fs::remove_file(desk.token_file()).unwrap();
    let run = desk.run("status");
    let expected = "\
svcd                     ready
store                    ok, schema 20
reconciliation settings  valid
signals                  degraded: dead_letters_added; see svcctl slo

RECONCILER  LAST POLL  LAST SUCCESS
workflow    never      never
check run   never      never
webhooks    never      never
";
    assert_eq!((run.code, run.stdout.as_str()), (0, expected));
    let run = desk.run("status -o ndjson");
    assert_eq!((run.code, run.stdout), (3, format!("{}\n", body("not_ready"))));
    assert_eq!(desk.run("status").code, 75);
    assert_eq!(desk.server.request().header("authorization"), None);
}

#[test]
fn usage_errors_are_64_and_help_is_0() {
    let desk = Desk::new(Vec::new());
    for args in [
        "",
        "nonsense",
        "dead-letters list --limit 0",
        "dead-letters list --limit 101",
        "dead-letters list --before yesterday",
        "dead-letters list --reason typo",
        "dead-letters show release 0199f3a0-0000-7000-8000-00000000000a",
        "dead-letters show job ../../x",
        "replay job",
        "status --installation 0",
    ] {
        assert_eq!(desk.run(args).code, 64, "{args}");
    }
    for args in ["--help", "-h", "--version", "help replay", "completions elvish"] {
        assert_eq!(desk.run(args).code, 0, "{args}");
    }
}

#[test]
fn output_that_is_not_read_changes_nothing() {
    let desk = Desk::new(vec![problem(404, "not_found", "")]);
    let status = desk.command("completions bash").stdout(unread()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let args = format!("dead-letters show job {ID}");
    let status = desk.command(&args).stderr(unread()).status().unwrap();
    assert_eq!(status.code(), Some(6));
}
