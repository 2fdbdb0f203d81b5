//! Replays: the key, the tries, and what is said about a refusal.

use super::canned_server::Reply;
use super::{Desk, ID, KEY, detail, problem, replayed, unread};

#[test]
fn a_replay_shows_its_key_and_the_audit_event() {
    let desk = Desk::new(vec![replayed("replayed")]);
    let run = desk.run(&format!("replay outbox {ID}"));
    assert_eq!(run.code, 0);
    assert_eq!(run.stdout, format!("outcome      replayed\naudit event  {KEY}\n"));
    let request = desk.server.request();
    let target =
        format!("POST /api/v1/operator/installations/42/dead-letters/outbox/{ID}/replay HTTP/1.1");
    assert_eq!(request.line(), target);
    assert_eq!(request.header("content-length"), Some("0"));
    let key = request.header("idempotency-key").unwrap();
    assert_eq!(run.stderr, format!("idempotency-key: {key}\n"));
    assert_eq!(uuid::Uuid::parse_str(key).unwrap().get_version_num(), 7);
}

#[test]
fn busy_and_cut_connections_are_tried_again_with_the_same_key() {
    let desk = Desk::new(vec![
        problem(503, "unavailable", "").header("Retry-After", "0"),
        Reply::raw(""),
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"outcome\":"),
        replayed("already_applied"),
    ]);
    let run = desk.run(&format!("replay job {ID} -o json"));
    assert_eq!(run.code, 0, "{run:?}");
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["outcome"], "already_applied");
    let requests = desk.server.requests();
    assert_eq!(requests.len(), 4);
    let keys: Vec<_> = requests.iter().map(|request| request.header("idempotency-key")).collect();
    assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    for line in run.stderr.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}

#[test]
fn when_the_tries_are_over_the_same_key_is_given_back() {
    let desk = Desk::new(vec![Reply::raw("")]);
    let run = desk.run(&format!("replay job {ID} --retries 0 --idempotency-key {KEY}"));
    assert_eq!(run.code, 75, "{run:?}");
    let hint = format!("--installation 42 --idempotency-key {KEY}\n");
    assert!(run.stderr.ends_with(&hint), "{}", run.stderr);
    assert_eq!(desk.server.request().header("idempotency-key"), Some(KEY));
}

#[test]
fn a_long_wait_is_left_to_the_person() {
    let desk = Desk::new(vec![problem(503, "unavailable", "").header("Retry-After", "60")]);
    let run = desk.run(&format!("replay job {ID}"));
    assert_eq!(run.code, 75);
    assert!(run.stderr.contains("hint: retry after 60 s\n"), "{}", run.stderr);
    assert_eq!(desk.server.requests().len(), 1);
}

#[test]
fn a_refused_replay_says_why_and_what_is_next() {
    for (class, words) in [
        ("dispatch_uncertain", "a workflow run may exist"),
        ("create_uncertain", "a check run may exist"),
        ("not_dead", "it is not a dead letter"),
        ("of_tomorrow", "does not know the replay class"),
    ] {
        let extra = format!(",\"replayClass\":\"{class}\"");
        let desk = Desk::new(vec![problem(409, "not_replayable", &extra)]);
        let run = desk.run(&format!("replay outbox {ID}"));
        assert_eq!(run.code, 5);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert_eq!(run.stderr.matches("hint: ").count(), 2, "{}", run.stderr);
    }
}

#[test]
fn a_dry_run_sends_nothing() {
    for (class, safe, code) in [("refused", true, 0), ("dispatch_uncertain", false, 5)] {
        let desk = Desk::new(vec![detail(class, safe)]);
        let run = desk.run(&format!("replay outbox {ID} --dry-run"));
        assert_eq!(run.code, code, "{run:?}");
        assert!(run.stdout.contains(class), "{}", run.stdout);
        let requests = desk.server.requests();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].line().starts_with("GET "), "{requests:?}");
    }
}

#[test]
fn an_unreadable_key_keeps_the_replay_from_being_sent() {
    let desk = Desk::new(vec![replayed("replayed")]);
    let status = desk.command(&format!("replay job {ID}")).stderr(unread()).status().unwrap();
    assert_eq!(status.code(), Some(74));
    assert!(desk.server.requests().is_empty());
}
