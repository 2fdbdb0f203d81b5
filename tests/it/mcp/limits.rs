//! How many sessions and subscriptions there may be, how long they live, and what keeps them, at a time that is set.

use std::time::Duration;

use serde_json::{Value, json};
use svc::mcp::Reply;
use svc::mcp::Status;
use svc::mcp::revision::MODERN;
use svc::mcp::stream::Stream;

use super::in_process::{Client, IDLE, InProcess};
use super::{call, enveloped, request};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_session_ends_when_it_was_not_used_for_long_and_lives_while_it_is() {
    let site = InProcess::new(false, 100, 100);
    let (used, unused) = (site.session("alice"), site.session("alice"));
    for _ in 0..5 {
        site.clock.advance(IDLE - SECOND);
        assert!(site.has("alice", &used));
        assert!(!site.has("bob", &used), "and another caller's look is no use of it");
    }
    assert!(!site.has("alice", &unused));
    assert_eq!(site.server.session_count(), 1);
    site.clock.advance(IDLE);
    assert!(!site.has("alice", &used));
    assert_eq!(site.server.session_count(), 0);
}

#[test]
fn sessions_that_are_not_used_any_more_end_when_others_begin() {
    let site = InProcess::new(false, 100, 100);
    for _ in 0..10 {
        site.session("alice");
    }
    site.clock.advance(IDLE);
    site.session("bob");
    assert_eq!(site.server.session_count(), 1);
}

#[test]
fn a_caller_beyond_its_most_gives_up_its_own_session_that_was_unused_for_the_longest() {
    let site = InProcess::new(false, 100, 3);
    let of_bob = site.session("bob");
    let own: Vec<String> = (0..3)
        .map(|_| {
            site.clock.advance(SECOND);
            site.session("alice")
        })
        .collect();
    site.clock.advance(SECOND);
    assert!(site.has("alice", &own[0]));
    site.clock.advance(SECOND);
    // Another client of hers is no other caller to whom more is due, though it does not come by her sessions.
    let newest = site.session("alice/another");
    assert!(!site.has("alice", &newest));
    let left = [&own[0], &own[1], &own[2]].map(|session| site.has("alice", session));
    assert_eq!(left, [true, false, true]);
    assert!(site.has("alice/another", &newest));
    assert!(site.has("bob", &of_bob), "it is older, and another caller's");
    assert_eq!(site.server.session_count(), 4);
}

#[test]
fn beyond_the_most_of_all_callers_the_one_unused_for_the_longest_ends() {
    let site = InProcess::new(false, 3, 3);
    let first = site.session("alice");
    let sessions: Vec<String> = ["bob", "carol", "dave"]
        .map(|who| {
            site.clock.advance(SECOND);
            site.session(who)
        })
        .into();
    assert!(!site.has("alice", &first));
    assert!(site.has("bob", &sessions[0]) && site.has("dave", &sessions[2]));
    assert_eq!(site.server.session_count(), 3);
}

#[test]
fn a_session_with_an_open_stream_is_not_given_up() {
    let site = InProcess::new(false, 2, 2);
    let sessions = [0; 2].map(|_| site.session("alice"));
    let clients = [site.open("alice", &sessions[0]), site.open("alice", &sessions[1])];
    site.clock.advance(IDLE * 10);
    for who in ["alice", "bob"] {
        let answer = site.begin(who);
        assert_eq!((answer.status, answer.session), (Status::Unavailable, None));
        let message: Value = serde_json::from_str(&answer.message.unwrap()).unwrap();
        assert_eq!((&message["id"], &message["error"]["code"]), (&json!("begin"), &json!(-32_603)));
    }
    // A stream is use up to its end, as far as it was looked at.
    site.server.sweep();
    clients[0].leave();
    site.clock.advance(SECOND);
    site.server.sweep();
    assert_eq!(site.server.session_count(), 2, "its client may come back");
    assert_eq!(site.begin("bob").status, Status::Ok);
    assert!(!site.has("alice", &sessions[0]) && site.has("alice", &sessions[1]));
    assert!(clients[0].is_over() && !clients[1].is_over());
}

#[test]
fn a_session_with_a_request_under_way_is_not_given_up() {
    let site = InProcess::new(false, 1, 1);
    let session = site.session("alice");
    let call = call(1, "service_status", &json!({})).to_string();
    let Reply::Blocking(run) = site.send("alice", Some(&session), &[], call.as_bytes()) else {
        panic!("it takes a thread")
    };
    site.clock.advance(IDLE * 2);
    assert_eq!(site.begin("alice").status, Status::Unavailable);
    assert!(site.has("alice", &session));
    assert_eq!(run().status, Status::Ok);
    assert_eq!(site.begin("alice").status, Status::Ok);
    assert!(!site.has("alice", &session));
}

#[test]
fn ten_thousand_abandoned_sessions_leave_no_more_than_there_may_be_and_then_none() {
    let site = InProcess::new(false, 512, 64);
    let mut most = 0;
    for number in 0..10_000 {
        site.session(&format!("caller-{}", number % 300));
        site.clock.advance(Duration::from_millis(10));
        most = most.max(site.server.session_count());
    }
    assert_eq!(most, 512);
    site.clock.advance(IDLE);
    site.server.sweep();
    assert_eq!(site.server.session_count(), 0);
}

fn listen(site: &InProcess, who: &str) -> Client {
    let params = enveloped(json!({"notifications": {"toolsListChanged": true}}), &json!({}));
    let message = request(7, "subscriptions/listen", &params).to_string();
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")];
    let Reply::Stream(begin) = site.send(who, None, &headers, message.as_bytes()) else {
        panic!("no stream")
    };
    let client = Client::default();
    begin(client.channel());
    client
}

#[test]
fn subscriptions_are_limited_for_all_callers_and_for_each() {
    let site = InProcess::new(true, 3, 2);
    let is_refused = |client: &Client| {
        let messages = client.messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        let message: Value = serde_json::from_str(&messages[0]).unwrap();
        assert_eq!(client.is_over(), message["error"]["code"] == -32_603, "{message}");
        assert!(
            client.is_over() || message["method"] == "notifications/subscriptions/acknowledged"
        );
        client.is_over()
    };
    let of_alice = [listen(&site, "alice"), listen(&site, "alice")];
    assert!(!of_alice.iter().any(is_refused));
    assert!(is_refused(&listen(&site, "alice")));
    assert!(is_refused(&listen(&site, "alice/another")), "that is still hers");
    let of_bob = listen(&site, "bob");
    assert!(!is_refused(&of_bob));
    assert!(is_refused(&listen(&site, "bob")), "there are as many as there may be");
    of_alice[0].leave();
    assert!(!is_refused(&listen(&site, "bob")));
    assert_eq!(site.server.session_count(), 0);
}

#[test]
fn a_client_that_goes_ends_its_request_unless_it_may_come_back() {
    for (name, ends) in [(None, true), (Some(1), false)] {
        let client = Client::default();
        let stream = Stream::new(client.channel(), name);
        assert!(!stream.is_cancelled());
        client.leave();
        assert_eq!(stream.is_cancelled(), ends, "{name:?}");
        stream.send("{\"one\":1}".to_owned());
        stream.finish("{\"two\":2}".to_owned());
        assert!(client.is_over() && client.messages().is_empty());
        assert_eq!(stream.is_done(), ends, "its end is kept for a client that may come back");
    }
}
