//! Commands that wait: what they print, and how each end is told apart by its exit code.

use super::canned_server::Reply;
use super::{Desk, ID, KEY, problem, replayed};
use crate::support::pty;

const OTHER: &str = "0199f3a0-0000-7000-8000-0000000000fe";

fn event(event: &str, reason: &str, audit: &str) -> String {
    format!(
        r#"{{"event":"{event}","at":"2020-01-01T00:00:00.000001Z","reasonCode":{reason},"attemptCount":null,"actor":null,"reason":null,"auditEventId":{audit}}}"#
    )
}

/// An item that died, was replayed under [`KEY`]'s audit event, and then had this.
pub(super) fn story(status: &str, after: &[String]) -> Reply {
    let mut history = vec![
        event("died", "\"forge_unavailable\"", "null"),
        event("replayed", "null", &format!("\"{KEY}\"")),
    ];
    history.extend_from_slice(after);
    let item = super::item(ID, "outbox", "2020-01-01T00:00:00.000001Z");
    let open = item.strip_suffix('}').unwrap();
    Reply::json(
        200,
        &format!(r#"{open},"status":"{status}","allowed":[],"history":[{}]}}"#, history.join(",")),
    )
}

pub(super) fn died_again() -> String {
    event("died", "\"crash_loop\"", "null")
}

/// What is asked of an effect that waits: is the installation paused, and can the forge be reached?
fn holds(paused_until: &str) -> [Reply; 2] {
    let installation = format!(
        r#"{{"items":[{{"installationId":"42","account":null,"state":"active","pausedUntil":{paused_until}}}],"nextAfter":null}}"#
    );
    [Reply::json(200, &installation), problem(404, "not_found", "")]
}

fn wait(replies: Vec<Reply>, more: &str) -> super::Run {
    let replies = [replayed("replayed")].into_iter().chain(replies).collect();
    Desk::new(replies).run(&format!("replay outbox {ID} --wait {more}"))
}

#[test]
fn a_replay_waits_until_the_item_is_done() {
    let [active, anonymous] = holds("null");
    let run = wait(
        vec![
            story("available", &[]),
            active,
            anonymous,
            story("leased", &[]),
            story("completed", &[]),
        ],
        "",
    );
    let facts = format!("outcome      replayed\naudit event  {KEY}\nitem  done\n");
    assert_eq!((run.code, run.stdout), (0, facts));
    let run = wait(vec![story("completed", &[])], "-o json");
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let item = serde_json::json!({"state": "done", "status": "completed", "reasonCode": null, "heldUntil": null});
    assert_eq!((run.code, &document["item"]), (0, &item));
    assert_eq!(
        (&document["outcome"], &document["auditEventId"]),
        (&"replayed".into(), &KEY.into())
    );
}

#[test]
fn an_item_that_dies_again_has_an_exit_code_of_its_own() {
    let run = wait(vec![story("leased", &[]), story("dead_letter", &[died_again()])], "");
    assert_eq!(run.code, 11, "{run:?}");
    assert!(run.stdout.ends_with("item  dead letter again\n"), "{run:?}");
    let said = "error: the item became a dead letter again (crash_loop)\nhint: show why: svcctl dead-letters show outbox ";
    assert!(run.stderr.contains(said), "{run:?}");
    // Another operator replayed it since, and that went well: the item of this replay became a dead letter again all the same.
    let later = event("replayed", "null", &format!("\"{OTHER}\""));
    let run = wait(vec![story("completed", &[died_again(), later])], "-o ndjson");
    assert_eq!(run.code, 11, "{run:?}");
    assert!(run.stdout.contains(
        r#""item":{"state":"died_again","status":"completed","reasonCode":"crash_loop""#
    ));
}

#[test]
fn an_effect_that_the_forge_asked_to_wait_for_is_held() {
    let [paused, anonymous] = holds("\"2100-01-01T00:00:00.000000Z\"");
    let run = wait(vec![story("available", &[]), paused, anonymous], "");
    assert_eq!(run.code, 12, "{run:?}");
    assert!(run.stdout.ends_with("item  held\n"), "{run:?}");
    for words in [
        "error: the effect is held: the forge asked svcd to wait until 2100-01-01T00:00:00.000000Z\n",
        "hint: to wait again, without a second replay: svcctl replay outbox ",
        " --wait --idempotency-key ",
    ] {
        assert!(run.stderr.contains(words), "{words}: {run:?}");
    }
}

#[test]
fn a_wait_that_is_over_says_how_to_go_on() {
    let replies = (0..100).map(|_| story("leased", &[])).collect();
    let run = wait(replies, "--timeout 1 -o json");
    assert_eq!(run.code, 13, "{run:?}");
    assert!(run.stdout.contains("\"pending\""), "{run:?}");
    assert!(run.stderr.contains("\"outcome\":\"timed_out\""), "{run:?}");
}

#[test]
fn a_lost_connection_is_no_end_but_a_refusal_is() {
    let run = wait(vec![story("leased", &[]), Reply::raw(""), story("completed", &[])], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("note: lost the connection to unix:"), "{run:?}");
    let run = wait(vec![story("leased", &[]), problem(401, "unauthenticated", "")], "-o json");
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.stdout.contains("\"auditEventId\""), "that it was replayed is told: {run:?}");
}

/// The replay was answered, so a service that is away then restarts.
#[test]
fn a_restart_before_the_first_look_is_no_end() {
    let run = wait(vec![Reply::raw(""), story("completed", &[])], "");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("note: lost the connection to unix:"), "{run:?}");
    let run = wait(vec![problem(401, "unauthenticated", "")], "");
    assert_eq!(run.code, 4, "{run:?}");
    assert!(run.stderr.contains("to wait again, without a second replay: svcctl"), "{run:?}");
    let matching = Reply::json(200, &format!(r#"{{"ids":["{ID}"],"hasMore":false}}"#));
    let run = Desk::new(vec![matching, Reply::raw(""), release("succeeded", true, &[], "nothing")])
        .run("releases wait v1");
    assert_eq!(run.code, 0, "{run:?}");
}

/// A service that accepts requests and does not answer them does not hold up the end.
#[test]
fn a_request_ends_with_the_wait() {
    let open = || Reply::raw("").kept_open();
    let run = wait(vec![story("leased", &[]), open()], "--timeout 2s");
    assert_eq!(run.code, 13, "{run:?}");
    assert!(run.stderr.contains("to wait again, without a second replay: svcctl"), "{run:?}");
    let run = Desk::new(vec![release("running", false, &[], "awaits_result"), open()])
        .run(&format!("releases wait {ID} --timeout 2s"));
    assert_eq!(run.code, 13, "{run:?}");
    assert!(
        run.stderr.contains(&format!("hint: to wait again: svcctl releases wait {ID}")),
        "{run:?}"
    );
}

/// A person is told within a moment; scripts ask with `--wait`.
#[test]
fn a_terminal_shows_without_a_wait_that_the_item_died_again() {
    let replies = || vec![replayed("replayed"), story("dead_letter", &[died_again()])];
    let line = format!("replay outbox {ID}");
    let desk = Desk::new(replies());
    let (_terminal, end) = pty::open(80, 24);
    let run = desk.command(&line).stdout(end).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "it was replayed");
    let said = String::from_utf8(run.stderr).unwrap();
    let warning = "warning: the item became a dead letter again (crash_loop)\n";
    assert!(said.ends_with(warning), "{said}");
    let desk = Desk::new(replies());
    assert!(!desk.run(&line).stderr.contains("warning"));
    assert_eq!(desk.server.requests().len(), 1);
}

fn release(status: &str, ended: bool, steps: &[&str], next: &str) -> Reply {
    let finished = if ended { "\"2020-01-01T00:00:00.000003Z\"" } else { "null" };
    let steps: Vec<String> = steps.iter().map(|step| format!(
        r#"{{"at":"2020-01-01T00:00:00.000001Z","step":"{step}","attemptNumber":1,"code":null,"outboxId":null,"reconciliationId":null}}"#
    )).collect();
    Reply::json(
        200,
        &format!(
            r#"{{"releaseRunId":"{ID}","repository":"acme/site","gitRef":"refs/tags/v1","headSha":"aa","status":"{status}","decision":null,"conclusion":null,"failureReason":null,"attemptNumber":1,"attemptFailureReason":null,"workflowRunId":null,"checkRunId":null,"forgeCheckPublishedAt":null,"lastPublicationError":null,"createdAt":"2020-01-01T00:00:00.000001Z","updatedAt":"2020-01-01T00:00:00.000002Z","finishedAt":{finished},"attempts":[],"steps":[{}],"next":{{"code":"{next}","at":null,"deadlineAt":null,"deadLetterId":null,"reasonCode":null}}}}"#,
            steps.join(",")
        ),
    )
}

#[test]
fn a_release_is_waited_for_with_its_steps() {
    let desk = Desk::new(vec![
        release("queued", false, &["created"], "operator_replay"),
        release("running", false, &["created", "workflow_dispatched"], "awaits_result"),
        release("succeeded", true, &["created", "workflow_dispatched", "ended"], "nothing"),
    ]);
    let run = desk.run(&format!("releases wait {ID}"));
    assert_eq!(run.code, 0, "{run:?}");
    let said = "\
step: 2020-01-01T00:00:00.000001Z created, attempt 1
next: an operator must repair the cause and replay the dead letter
step: 2020-01-01T00:00:00.000001Z workflow_dispatched, attempt 1
step: 2020-01-01T00:00:00.000001Z ended, attempt 1
";
    assert_eq!(run.stderr, said);
    assert!(run.stdout.starts_with("release run  ") && run.stdout.contains("succeeded"), "{run:?}");
}

#[test]
fn a_release_that_ends_otherwise_or_not_in_time_is_told_apart() {
    for status in ["failed", "timed_out", "of_tomorrow"] {
        let run = Desk::new(vec![release(status, true, &[], "nothing")])
            .run(&format!("releases wait {ID} -o json"));
        assert_eq!(run.code, 14, "{run:?}");
        let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(document["status"], status);
        assert!(run.stderr.contains("\"outcome\":\"not_succeeded\""), "{run:?}");
    }
    let replies = (0..100).map(|_| release("running", false, &[], "awaits_result")).collect();
    let run = Desk::new(replies).run(&format!("releases wait {ID} --timeout 1s"));
    assert_eq!(run.code, 13, "{run:?}");
    assert!(run.stdout.starts_with("release run  "), "{run:?}");
    assert!(
        run.stderr.contains("hint: what happens next: svcd waits for the signed result"),
        "{run:?}"
    );
    let run = Desk::new(vec![problem(404, "not_found", "")]).run(&format!("releases wait {ID}"));
    assert_eq!(run.code, 6, "{run:?}");
    let run = Desk::new(Vec::new()).run(&format!("releases wait {ID}"));
    assert_eq!(run.code, 75, "no first answer");
    assert!(run.stderr.contains("to wait again: svcctl releases wait"), "{run:?}");
}
