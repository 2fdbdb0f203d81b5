//! Lists that go by ids: requests, pages, filters, and one release run.

use super::canned_server::Reply;
use super::refusals::known;
use super::{Desk, ID, KEY, problem};

fn event(id: &str) -> String {
    format!(
        r#"{{"auditEventId":"{id}","event":"control_plane.dead_letter_replayed","actor":"ops:me","operationId":"my-key","itemType":"job","itemId":"{KEY}","reasonCode":null,"createdAt":"2020-01-01T00:00:00.000001Z"}}"#
    )
}

fn release(next: &str) -> String {
    format!(
        r#"{{"releaseRunId":"{ID}","repository":"acme/site","gitRef":"refs/tags/v1.0.0","headSha":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","status":"failed","decision":null,"conclusion":"failure","failureReason":"forge_workflow_failure","attemptNumber":2,"attemptFailureReason":null,"workflowRunId":"9","checkRunId":"8","forgeCheckPublishedAt":null,"lastPublicationError":null,"createdAt":"2020-01-01T00:00:00.000001Z","updatedAt":"2020-01-01T00:00:00.000002Z","finishedAt":"2020-01-01T00:00:00.000002Z"{next}}}"#
    )
}

fn reconciliation(status: &str, finished: &str) -> String {
    format!(
        r#"{{"reconciliationId":"{ID}","kind":"workflow_attempt","reason":"running_stale","subjectId":"{KEY}","status":"{status}","outcomeCode":null,"attemptCount":3,"nextCheckAt":"2020-01-01T00:01:00.000000Z","deadlineAt":"2020-01-01T00:30:00.000000Z","leaseExpiresAt":null,"createdAt":"2020-01-01T00:00:00.000000Z","finishedAt":{finished}}}"#
    )
}

fn page(item: &str, next: Option<&str>) -> Reply {
    let next = next.map_or("null".to_owned(), |next| format!("\"{next}\""));
    Reply::json(200, &format!(r#"{{"items":[{item}],"nextBefore":{next}}}"#))
}

#[test]
fn a_page_comes_with_the_command_for_the_next_one() {
    let desk = Desk::new(vec![page(&event(ID), Some(ID))]);
    let run = desk.run("audit list --limit 1 --utc");
    let table = "\
CREATED                      ID                                    EVENT                               TYPE  ITEM                                  REASON  ACTOR   IDEMPOTENCY KEY
2020-01-01T00:00:00.000001Z  0199f3a0-0000-7000-8000-00000000000a  control_plane.dead_letter_replayed  job   0199f3a0-0000-7000-8000-0000000000ff  -       ops:me  my-key
";
    assert_eq!((run.code, run.stdout.as_str()), (0, table));
    let hint = format!(
        "next page: svcctl audit list --url {} --token-file {} --installation 42 --limit 1 \
         --before {ID} --utc\n",
        desk.server.url,
        desk.token_file().display()
    );
    assert_eq!(run.stderr, hint);
}

#[test]
fn all_pages_are_followed_with_the_filter() {
    let desk = Desk::new(vec![page(&release(""), Some(ID)), page(&release(""), None)]);
    let run = desk.run("releases list --all --limit 1 --status failed -o ndjson");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, format!("{0}\n{0}\n", release("")));
    let requests = desk.server.requests();
    let first = "/installations/42/releases?limit=1&status=failed HTTP/1.1";
    assert!(requests[0].line().ends_with(first), "{requests:?}");
    let second = format!("/installations/42/releases?limit=1&before={ID}&status=failed HTTP/1.1");
    assert!(requests[1].line().ends_with(&second), "{requests:?}");
}

#[test]
fn a_service_that_turns_in_circles_is_left() {
    let nothing = || page("", Some(ID));
    for replies in [vec![nothing()], vec![page(&event(ID), Some(ID)), page(&event(ID), Some(ID))]] {
        let run = Desk::new(replies).run("audit list --all");
        assert_eq!(run.code, 65, "{run:?}");
        assert!(run.stderr.contains("nextBefore"), "{run:?}");
    }
}

#[test]
fn an_empty_list_says_so_and_prints_no_table() {
    let empty = || page("", None);
    for (command, note) in [
        ("audit list", "note: no audit events\n"),
        ("releases list", "note: no release runs\n"),
        ("reconcile list", "note: no reconciliations\n"),
    ] {
        let run = Desk::new(vec![empty(), known(42)]).run(command);
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", note));
    }
}

#[test]
fn a_release_run_is_told_whole() {
    let more = format!(
        r#","attempts":[{{"attemptId":"{KEY}","number":2,"status":"failed","failureReason":"forge_workflow_failure","workflowRunId":"9","checkRunId":"8","hintedAt":null}}],"next":{{"code":"operator_replay","at":null,"deadlineAt":null,"deadLetterId":"{KEY}","reasonCode":"forge_dispatch_rejected"}}"#
    );
    let desk = Desk::new(vec![Reply::json(200, &release(&more))]);
    let run = desk.run(&format!("releases show {ID}"));
    assert_eq!(run.code, 0, "{run:?}");
    for words in [
        "tag          v1.0.0\n",
        "commit       aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
        "reason       forge_workflow_failure\n",
        "blocked by   a dead letter (forge_dispatch_rejected)\n",
        "next         an operator must repair the cause and replay the dead letter\n",
        "\nATTEMPT  ID",
    ] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("published"), "{}", run.stdout);
    assert!(
        run.stderr.starts_with("show the dead letter: svcctl dead-letters show outbox "),
        "{run:?}"
    );
    let absent = problem(404, "not_found", "");
    let run = Desk::new(vec![absent]).run(&format!("releases show {ID}"));
    assert_eq!(run.code, 6, "{run:?}");
}

#[test]
fn what_has_ended_is_not_planned() {
    let desk = Desk::new(vec![
        page(&reconciliation("open", "null"), None),
        page(&reconciliation("completed", "\"2020-01-01T00:02:00.000000Z\""), None),
    ]);
    let open = desk.run("reconcile list --utc").stdout;
    assert!(open.contains("  2020-01-01T00:01:00.000000Z  2020-01-01T00:30:00.000000Z  -  "));
    let ended = desk.run("reconcile list --status completed --utc").stdout;
    assert!(!ended.contains("00:01:00") && !ended.contains("00:30:00"), "{ended}");
    assert_eq!(desk.run("reconcile list --status of_tomorrow").code, 64);
}
