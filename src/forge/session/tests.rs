//! What answers come to, without a socket.

use std::sync::Arc;

use http::HeaderMap;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::domain::repository::RepositoryRef;
use crate::forge::Permission;
use crate::forge::client::ForgeClient;
use crate::forge::credentials::Token;
use crate::forge::settings::{ApiVersion, Settings};
use crate::forge::token;
use crate::runtime::clock::SystemClock;
use crate::runtime::notify::Notify;
use crate::simulator::Simulator;

const SHA: &str = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
const ATTEMPT: &str = "0199f3a0-0000-7000-8000-00000000000a";

fn answer(body: Vec<u8>) -> Answer {
    let body = Some(body);
    Answer { status: StatusCode::OK, headers: HeaderMap::new(), body, moved: false }
}

fn client() -> ForgeClient {
    let simulator = Simulator::start().expect("the system has a port");
    let settings = Settings {
        base_url: simulator.base_url(),
        app_id: simulator.app_id(),
        private_key: simulator.private_key_pem().into(),
        api_version: ApiVersion::Ghes,
        timeout: Settings::TIMEOUT,
        timeout_connect: Settings::TIMEOUT_CONNECT,
        root_certificate: None,
    };
    let clock = Arc::new(SystemClock::new());
    ForgeClient::new(settings, clock, Arc::default(), Notify::new()).expect("the settings are good")
}

fn with_session(test: impl Fn(&RepositorySession<'_>, &NewCheckRun<'_>)) {
    let client = client();
    let body = r#"{"token":"t","permissions":{"checks":"write"},
        "repository_selection":"selected"}"#;
    let token = token::read(&answer(body.into()), Permission::ChecksWrite);
    let repository = RepositoryRef {
        id: 7.try_into().expect("the id is positive"),
        full_name: "octo-org/app".parse().expect("the name is plain"),
    };
    let token = Token::own(token.expect("the token is as asked for"));
    let attempt = ATTEMPT.parse().expect("the id is canonical");
    let wanted = NewCheckRun { name: "svc", head_sha: SHA, attempt };
    test(&RepositorySession::new(&client, repository, token, &|| Ok(())), &wanted);
}

#[test]
fn a_check_run_is_ours_by_attempt_commit_and_app() {
    let yes = |id: i64| Ok(Some(id.try_into().expect("the id is positive")));
    let unknown = Err(reconcile::Unavailable { class: ErrorClass::Protocol, wait_until: None });
    with_session(|session, wanted| {
        let app = session.client.app.get();
        let run = |id: i64, external_id: &str, sha: &str, app: i64| {
            let app = json!({"id": app});
            json!({"id": id, "external_id": external_id, "head_sha": sha, "app": app})
        };
        let (ours, other) = (run(9, ATTEMPT, SHA, app), run(1, "other", SHA, app));
        for (total, runs, expected) in [
            (0, vec![], Ok(None)),
            (2, vec![other.clone(), ours.clone()], yes(9)),
            (2, vec![ours.clone(), run(8, ATTEMPT, SHA, app)], yes(8)),
            (101, vec![ours], yes(9)),
            (1, vec![run(1, ATTEMPT, "else", app)], Ok(None)),
            (1, vec![run(1, ATTEMPT, SHA, app + 1)], Ok(None)),
            (1, vec![run(-1, ATTEMPT, SHA, app)], unknown),
            (1, vec![json!({"id": 1, "external_id": null, "app": null})], Ok(None)),
            (1, vec![json!({"id": "1"})], unknown),
            (101, vec![other], unknown),
        ] {
            let body = json!({"total_count": total, "check_runs": runs}).to_string();
            assert_eq!(session.found(wanted, &answer(body.clone().into())), expected, "{body}");
        }
    });
}

/// Values made of the names and words that are read of answers.
fn any_answer() -> impl Strategy<Value = Value> {
    let words = ["a", ATTEMPT, SHA, "https://x/repos/octo-org/app/actions/runs/1"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let names = [
        "id",
        "head_sha",
        "external_id",
        "status",
        "app",
        "check_runs",
        "total_count",
        "url",
        "workflow_run_id",
        "run_url",
    ];
    leaf.prop_recursive(3, 32, 6, move |inner| {
        let name = prop::sample::select(names.to_vec());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..8)
                .prop_map(|fields| fields.into_iter().collect::<Value>()),
        ]
    })
}

#[test]
fn no_body_makes_it_panic_or_believe() {
    with_session(|session, wanted| {
        proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..100), json in any_answer())| {
            for body in [bytes, json.to_string().into_bytes()] {
                let answer = answer(body);
                let started = session.started(&answer).is_some();
                prop_assert!(!started || answer.mentions("/octo-org/app/actions/runs/1"));
                let found = session.found(wanted, &answer);
                prop_assert!(!matches!(found, Ok(Some(_))) || answer.mentions(ATTEMPT));
            }
        });
    });
}

#[test]
fn a_segment_stays_one_segment() {
    assert_eq!(percent_encode("release-1.2_x~.yml"), "release-1.2_x~.yml");
    assert_eq!(percent_encode("a/b?c#d e%\u{e9}&\n"), "a%2Fb%3Fc%23d%20e%25%C3%A9%26%0A");
}
