//! What the forge client makes of bytes: redirects, broken answers, and connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::SendResult;
use svc::domain::time::Timestamp;
use svc::forge::client::ForgeClient;
use svc::forge::settings::Settings;
use svc::forge::{Forge as _, Permission, TokenUse};
use svc::metrics::Metrics;
use svc::runtime::clock::{Clock, SystemClock};
use svc::runtime::notify::Notify;
use svc::simulator::Simulator;

use super::double::{Double, Script, http, minted_for};
use super::{client, dispatch, installation, open, open_dispatch, repository, settings};

/// Opens a session on a double that answers the call after the mint with `script`, and dispatches.
fn dispatch_answered_by(script: Vec<Script>) -> (SendResult, Vec<String>) {
    let double = Double::start([vec![minted_for(Permission::ActionsWrite)], script].concat());
    let result = open_dispatch(&client(settings(double.base_url())));
    (result, double.requests())
}

#[test]
fn a_token_that_is_more_or_less_than_was_asked_for_is_not_used() {
    for (body, class) in [
        (
            r#"{"token":"t","permissions":{"actions":"write"},"repository_selection":"all"}"#,
            ErrorClass::Protocol,
        ),
        (
            r#"{"token":"t","permissions":{"actions":"read"},"repository_selection":"selected"}"#,
            ErrorClass::Permission,
        ),
        (
            r#"{"token":"t","permissions":{},"repository_selection":"selected"}"#,
            ErrorClass::Permission,
        ),
        (
            r#"{"token":"t","permissions":{"actions":"write","checks":"write"},
                "repository_selection":"selected"}"#,
            ErrorClass::Protocol,
        ),
        (
            r#"{"token":"t","permissions":{"actions":"write","metadata":"write"},
                "repository_selection":"selected"}"#,
            ErrorClass::Protocol,
        ),
        (
            r#"{"token":"","permissions":{"actions":"write"},"repository_selection":"selected"}"#,
            ErrorClass::Protocol,
        ),
        (r#"{"token":"t"}"#, ErrorClass::Protocol),
        ("[]", ErrorClass::Protocol),
    ] {
        let double = Double::start(vec![Script::Close(http(201, "", body))]);
        let result = open_dispatch(&client(settings(double.base_url())));
        assert_eq!(result, SendResult::TokenRefused(class), "{body}");
        assert_eq!(double.requests().len(), 1, "{body}");
    }
}

#[test]
fn a_redirect_to_anywhere_else_is_not_followed() {
    let elsewhere = Double::start(Vec::new());
    let rest = "/actions/workflows/release%20it.yml/dispatches";
    for location in [
        format!("{}/repositories/7{rest}", elsewhere.base_url()),
        format!("/repositories/8{rest}"),
        "/repositories/7/actions/workflows/other.yml/dispatches".to_owned(),
        "//evil.example/repositories/7".to_owned(),
        "not a url".to_owned(),
    ] {
        let headers = format!("location: {location}\r\n");
        let (result, requests) = dispatch_answered_by(vec![Script::Close(http(307, &headers, ""))]);
        let uncertain = SendResult::Uncertain(ErrorClass::Protocol, None);
        assert_eq!((result, requests.len()), (uncertain, 2), "{location}");
    }
    assert!(elsewhere.requests().is_empty());
    // A write is not sent again on a status that would turn it into a read.
    let (result, requests) = dispatch_answered_by(vec![Script::Close(http(301, "", ""))]);
    assert_eq!((result, requests.len()), (SendResult::Uncertain(ErrorClass::Protocol, None), 2));
}

#[test]
fn a_server_that_does_not_know_the_field_is_told_from_then_on_without_it() {
    let refusal = http(422, "", r#"{"message":"\"return_run_details\" is not a permitted key."}"#);
    let accepted = b"HTTP/1.1 204 No Content\r\n\r\n".to_vec();
    let mut script = Vec::new();
    for answer in [refusal.clone(), accepted, refusal] {
        script.extend([minted_for(Permission::ActionsWrite), Script::Close(answer)]);
    }
    let double = Double::start(script);
    let client = client(settings(double.base_url()));
    // It had no effect, and is no failure of the item: it is given back, and sent again without the field.
    assert_eq!(open_dispatch(&client), SendResult::Postponed);
    assert_eq!(open_dispatch(&client), SendResult::Dispatched(None));
    assert_eq!(open_dispatch(&client), SendResult::Refused(ErrorClass::Validation));
    let asks: Vec<_> =
        double.requests().iter().map(|request| request.contains("return_run_details")).collect();
    assert_eq!(asks, [false, true, false, false, false, false]);
}

#[test]
fn a_started_run_must_be_of_this_repository() {
    let run = |body: &str| dispatch_answered_by(vec![Script::Close(http(200, "", body))]).0;
    let id = 5.try_into().expect("the id is positive");
    for url in [
        "https://x.example/repos/octo-org/app/actions/runs/5",
        "https://x.example/repos/Octo-Org/App/actions/runs/5",
        "https://x.example/repositories/7/actions/runs/5",
    ] {
        let body = format!(r#"{{"workflow_run_id":5,"run_url":"{url}"}}"#);
        assert_eq!(run(&body), SendResult::Dispatched(Some(id)), "{url}");
    }
    for body in [
        r#"{"workflow_run_id":5,"run_url":"https://x.example/repos/octo-org/other/actions/runs/5"}"#,
        r#"{"workflow_run_id":5,"run_url":"https://x.example/repos/octo-org/app/actions/runs/6"}"#,
        r#"{"workflow_run_id":"5","run_url":"https://x.example/repos/octo-org/app/actions/runs/5"}"#,
        r#"{"workflow_run_id":5.0,"run_url":"https://x.example/repos/octo-org/app/actions/runs/5"}"#,
        r#"{"workflow_run_id":5}"#,
        "[5]",
        "",
    ] {
        assert_eq!(run(body), SendResult::Uncertain(ErrorClass::Protocol, None), "{body}");
    }
}

#[test]
fn broken_answers_are_doubts_and_never_sent_for_again() {
    let large = http(200, "", &" ".repeat(1024 * 1024 + 1));
    for (script, class) in [
        (Script::Close(Vec::new()), ErrorClass::Unavailable),
        (Script::Close(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()), ErrorClass::Unavailable),
        (Script::Close(b"\x00\xff\x16garbage\r\n\r\n".to_vec()), ErrorClass::Unavailable),
        (
            Script::Close(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()),
            ErrorClass::Protocol,
        ),
        (Script::Close(large), ErrorClass::Protocol),
        (Script::Keep(Vec::new()), ErrorClass::Unavailable),
        (Script::Drip, ErrorClass::Protocol),
    ] {
        let (result, requests) = dispatch_answered_by(vec![script]);
        assert_eq!(result, SendResult::Uncertain(class, None));
        assert_eq!(requests.len(), 2);
    }
    // A refusal holds although its body is cut off.
    let cut = b"HTTP/1.1 422 X\r\ncontent-length: 9\r\n\r\n{".to_vec();
    let (result, _) = dispatch_answered_by(vec![Script::Close(cut)]);
    assert_eq!(result, SendResult::Refused(ErrorClass::Validation));
}

/// The monotonic time goes on by what the gate takes alone; credentials need the true wall time.
struct GateClock(AtomicU64);

impl Clock for GateClock {
    fn now(&self) -> Timestamp {
        SystemClock::new().now()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

/// The gate asks the database, which can take its time.
#[test]
fn what_the_gate_takes_is_no_part_of_a_call() {
    let simulator = Simulator::start().unwrap();
    simulator.add_repository(&repository());
    let (clock, metrics) = (Arc::new(GateClock(AtomicU64::new(0))), Arc::new(Metrics::default()));
    let client = ForgeClient::new(
        settings(simulator.base_url()),
        clock.clone(),
        Arc::clone(&metrics),
        Notify::new(),
    )
    .unwrap();
    let gate = || {
        clock.0.fetch_add(10, Ordering::Relaxed);
        Ok(())
    };
    let own = TokenUse::Own;
    let opened = client.open(installation(), &repository(), Permission::ActionsWrite, own, &gate);
    assert!(matches!(opened.unwrap().dispatch_workflow(&dispatch()), SendResult::Dispatched(_)));
    let text = metrics.render();
    for line in ["svc_forge_call_seconds_count 2\n", "svc_forge_call_seconds_sum 0\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn no_connection_is_used_twice() {
    // The double offers to keep each connection, and reads only one request on it: a client that
    // took the offer would wait for the answer in vain.
    let kept = Script::Keep(http(404, "connection: keep-alive\r\n", "{}"));
    let double = Double::start(vec![
        minted_for(Permission::ActionsWrite),
        kept.clone(),
        minted_for(Permission::ActionsWrite),
        kept,
    ]);
    let client = client(settings(double.base_url()));
    for _ in 0..2 {
        assert_eq!(open_dispatch(&client), SendResult::Refused(ErrorClass::NotFound));
    }
    let requests = double.requests();
    assert_eq!(requests.len(), 4);
    for request in requests {
        let head = request.to_ascii_lowercase();
        assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
        assert!(head.contains("\r\nuser-agent: svcd/"), "{head}");
        assert!(head.contains("\r\naccept: application/vnd.github+json\r\n"), "{head}");
        assert!(head.contains("\r\nx-github-api-version: 2022-11-28\r\n"), "{head}");
    }
}

#[test]
fn what_cannot_be_reached_was_not_sent_to() {
    let not_sent = SendResult::NotSent(ErrorClass::Unavailable, None);
    // Nothing listens on port 1.
    assert_eq!(open_dispatch(&client(settings("http://127.0.0.1:1".to_owned()))), not_sent);
    let nowhere = settings("https://forge.invalid".to_owned());
    assert_eq!(open_dispatch(&client(nowhere)), not_sent);
    // There is no TLS on the other side: the request was not sent either.
    let plain = Double::start(Vec::new());
    let base_url = plain.base_url().replace("http:", "https:");
    let timeout_connect = Duration::from_millis(200);
    let tls = Settings { timeout_connect, ..settings(base_url) };
    assert_eq!(open_dispatch(&client(tls)), not_sent);
    // It goes away between the mint and the call.
    let double = Double::start(vec![minted_for(Permission::ActionsWrite)]);
    let client = client(settings(double.base_url()));
    let mut session = open(&client, Permission::ActionsWrite);
    drop(double);
    assert_eq!(session.dispatch_workflow(&dispatch()), not_sent);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_makes_it_panic_or_believe(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (result, _) = dispatch_answered_by(vec![Script::Close(bytes.clone())]);
        prop_assert!(matches!(result, SendResult::Uncertain(..)), "{:?}", result);
        let mut answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
        answer.extend(bytes);
        let (result, _) = dispatch_answered_by(vec![Script::Close(answer)]);
        prop_assert!(matches!(result, SendResult::Uncertain(..)), "{:?}", result);
    }
}
