//! `svcctl dead-letters apply`: what became of the items that it replayed, and what is told first.

use super::canned_server::Reply;
use super::waits::{died_again, story};
use super::{Desk, ID, Run, page, problem, replayed, unread};

const STORE: &str = "0199f3a0-0000-4000-8000-0000000000aa";

fn status() -> Reply {
    Reply::json(200, &format!(r#"{{"storeId":"{STORE}","version":"0.0.0"}}"#))
}

/// What a plan of one effect is made of, and then these.
fn replies(more: Vec<Reply>) -> Vec<Reply> {
    let item = super::item(ID, "outbox", "2020-01-01T00:00:00.000001Z");
    let made = [status(), page(&[item], None), status()];
    let closed = |reply: Reply| reply.header("connection", "close");
    made.into_iter().chain(more).map(closed).collect()
}

/// Makes a plan, and returns the desk and the command that applies it.
fn planned(more: Vec<Reply>, options: &str) -> (Desk, String) {
    let desk = Desk::new(replies(more));
    let plan = desk.directory.path().join("plan.json").display().to_string();
    let made = desk.run(&format!("dead-letters plan --file {plan}"));
    assert_eq!(made.code, 0, "{made:?}");
    (desk, format!("dead-letters apply {plan} --yes {options}"))
}

fn apply(more: Vec<Reply>, options: &str) -> (Run, serde_json::Value) {
    let (desk, line) = planned(more, options);
    let run = desk.run(&line);
    let end = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    (run, end)
}

/// The mechanism that looks for new deaths finds none when all is sent.
fn sent() -> Vec<Reply> {
    vec![replayed("replayed"), page(&[], None)]
}

#[test]
fn an_item_that_dies_after_the_last_request_is_found() {
    let mut more = sent();
    more.extend([story("leased", &[]), story("dead_letter", &[died_again()])]);
    let (run, end) = apply(more, "--canary 0");
    assert_eq!((run.code, &end["diedAgain"], &end["underWay"]), (16, &1.into(), &0.into()));
    assert!(run.stdout.contains(r#""outcome":"died_again","why":"crash_loop""#), "{run:?}");
    let mut more = sent();
    more.extend([story("available", &[]), story("held", &[]), story("completed", &[])]);
    let (run, end) = apply(more, "--canary 0");
    assert_eq!((run.code, &end["applied"], &end["underWay"]), (0, &1.into(), &0.into()), "{run:?}");
}

#[test]
fn what_is_under_way_at_the_end_is_counted_and_has_an_exit_code() {
    let mut more = sent();
    more.extend((0..100).map(|_| story("leased", &[])));
    let (run, end) = apply(more, "--canary 0 --settle-timeout 1s");
    assert_eq!((run.code, &end["outcome"]), (13, &"timed_out".into()), "{run:?}");
    assert_eq!((&end["applied"], &end["underWay"]), (&1.into(), &1.into()));
    let again = "to wait again, without a second replay: svcctl dead-letters apply ";
    assert!(run.stderr.contains(again), "{run:?}");
}

#[test]
fn an_end_that_cannot_be_printed_does_not_hide_why_it_ended() {
    let refused = || vec![problem(401, "unauthenticated", "")];
    let (run, end) = apply(refused(), "");
    assert_eq!(
        (run.code, &end["outcome"], &end["notTried"]),
        (4, &"unauthenticated".into(), &1.into())
    );
    let (desk, line) = planned(refused(), "");
    let run = desk.command(&line).stdout(unread()).output().unwrap();
    assert_eq!(run.status.code(), Some(4), "{run:?}");
    assert!(String::from_utf8_lossy(&run.stderr).contains("to go on: svcctl"), "{run:?}");
}
