//! Ids by their beginning, tags, and what is closed under a key.

use super::canned_server::Reply;
use super::{Desk, ID, KEY, problem};

fn matching(ids: &[&str], has_more: bool) -> Reply {
    let ids: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    Reply::json(200, &format!(r#"{{"ids":[{}],"hasMore":{has_more}}}"#, ids.join(",")))
}

#[test]
fn the_beginning_of_an_id_is_looked_up_and_the_whole_id_is_asked_for() {
    for (command, looked_up, asked) in [
        ("releases show v1.3.0", "ids?type=release_run&prefix=v1.3.0", format!("releases/{ID}")),
        (
            "dead-letters show outbox 0199F3",
            "ids?type=outbox&prefix=0199f3",
            format!("dead-letters/outbox/{ID}"),
        ),
        (
            "replay job 0199f3 --idempotency-key k",
            "ids?type=job&prefix=0199f3",
            format!("dead-letters/job/{ID}/replay"),
        ),
        (
            "reconcile close 0199f3 --reason x --idempotency-key k",
            "ids?type=reconciliation_item&prefix=0199f3",
            format!("reconciliation-items/{ID}/close"),
        ),
    ] {
        let desk = Desk::new(vec![matching(&[ID], false), problem(404, "not_found", "")]);
        desk.run(command);
        let requests = desk.server.requests();
        let path = |place: usize| requests[place].line().split(' ').nth(1).unwrap().to_owned();
        assert!(path(0).ends_with(looked_up), "{command}: {}", path(0));
        assert!(path(1).ends_with(&asked), "{command}: {}", path(1));
    }
}

#[test]
fn a_beginning_that_fits_several_is_an_error_that_names_them_and_sends_nothing() {
    let desk = Desk::new(vec![matching(&[ID, KEY], false)]);
    let run = desk.run("dead-letters close outbox 0199f3 --reason x");
    assert_eq!(run.code, 64, "{run:?}");
    assert!(run.stderr.starts_with("error: 0199f3 matches 2 items; use a whole ID\n"), "{run:?}");
    assert!(run.stderr.contains(ID) && run.stderr.contains(KEY), "{run:?}");
    assert_eq!(desk.server.requests().len(), 1);
    let run = Desk::new(vec![matching(&[ID, KEY], true)]).run("releases show 0199f3");
    assert!(run.stderr.contains("matches more than 2 release runs"), "{run:?}");
    let run = Desk::new(Vec::new()).run("dead-letters show outbox v1.0");
    assert_eq!(run.code, 64, "{run:?}");
}

#[test]
fn a_close_sends_its_reason_and_key_and_says_how_to_ask_again() {
    let closed = format!(r#"{{"outcome":"closed","auditEventId":"{KEY}"}}"#);
    let desk = Desk::new(vec![Reply::json(200, &closed)]);
    let mut command =
        desk.command(&format!("dead-letters close job {ID} --idempotency-key k --reason"));
    let run = command.arg("the repository's gone").output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let requests = desk.server.requests();
    assert!(requests[0].line().starts_with("POST "), "{requests:?}");
    let length = r#"{"reason":"the repository's gone"}"#.len().to_string();
    assert_eq!(requests[0].header("content-length"), Some(length.as_str()));
    assert_eq!(requests[0].header("content-type"), Some("application/json"));
    for (status, outcome, code) in
        [(409, "not_open", 10), (422, "operation_conflict", 7), (404, "not_found", 6)]
    {
        let desk = Desk::new(vec![problem(status, outcome, "")]);
        let run = desk.run(&format!("dead-letters close job {ID} --reason x"));
        assert_eq!(run.code, code, "{run:?}");
    }
    let busy = vec![problem(503, "unavailable", "")];
    let run = Desk::new(busy).run(&format!("dead-letters close job {ID} --reason x --retries 0"));
    assert_eq!(run.code, 75, "{run:?}");
    let again = "hint: to retry later with the same key: svcctl dead-letters close job ";
    assert!(run.stderr.contains(again) && run.stderr.contains(" --reason x "), "{run:?}");
    let run = Desk::new(Vec::new()).run(&format!("dead-letters close job {ID}"));
    assert_eq!(run.code, 64, "a reason is asked for: {run:?}");
}
