//! Whatever is sent: nothing panics, no answer has an id that is null, and only an `initialize` that succeeds begins a
//! session.

use std::cell::Cell;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use svc::mcp::revision::MODERN;
use svc::mcp::{Reply, Status};

use super::META;
use super::in_process::{Client, InProcess};
use crate::support::campaign::number_or;

const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "server/discover",
    "subscriptions/listen",
    "resources/read",
    "prompts/get",
    "completion/complete",
    "notifications/initialized",
    "notifications/cancelled",
    "x",
    "",
];
const VERSIONS: &[&str] =
    &["2024-10-07", "2025-03-26", "2025-11-25", "2026-07-28", "2027-01-01", "1999-01-01", "x", ""];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(VERSIONS).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        prop::sample::select(
            &[
                "name",
                "arguments",
                "card",
                "cursor",
                "requestId",
                "requestState",
                "uri",
                "notifications",
                "_meta"
            ][..]
        )
        .prop_map(ToOwned::to_owned),
    ]
}

fn any_meta() -> impl Strategy<Value = Value> {
    let version = prop_oneof![prop::sample::select(VERSIONS).prop_map(Value::from), any_json()];
    let capabilities = prop_oneof![Just(json!({})), any_json()];
    let whole = (prop::option::of(version), prop::option::of(capabilities)).prop_map(
        |(version, capabilities)| {
            let members = [("protocolVersion", version), ("clientCapabilities", capabilities)];
            let members =
                members.into_iter().filter_map(|(name, it)| Some((format!("{META}{name}"), it?)));
            members.collect::<Value>()
        },
    );
    prop_oneof![3 => whole, 1 => any_json()]
}

fn any_begin() -> impl Strategy<Value = Value> {
    let client = json!({"name": "x", "version": "1"});
    prop::sample::select(VERSIONS).prop_map(
        move |version| json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}),
    )
}

fn any_call() -> impl Strategy<Value = Value> {
    let tools = &["validate_agent_card", "service_status", "test_simple_text", "x"][..];
    let arguments = prop_oneof![Just(json!({})), Just(json!({"card": "{}"})), any_json()];
    (prop::sample::select(tools), arguments)
        .prop_map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
}

fn any_params() -> impl Strategy<Value = Value> {
    let base = prop_oneof![Just(json!({})), any_begin(), any_call(), any_json()];
    (base, prop::option::of(any_meta())).prop_map(|(params, meta)| with_meta(params, meta))
}

fn with_meta(mut params: Value, meta: Option<Value>) -> Value {
    if let (Some(members), Some(meta)) = (params.as_object_mut(), meta) {
        members.insert("_meta".to_owned(), meta);
    }
    params
}

/// A request that may be answered well, in one era or the other.
fn any_request() -> impl Strategy<Value = Value> {
    let whole = super::enveloped(json!({}), &json!({}))["_meta"].clone();
    let begin = any_begin().prop_map(|params| ("initialize", params));
    let call = any_call().prop_map(|params| ("tools/call", params));
    let other = prop::sample::select(METHODS).prop_map(|method| (method, json!({})));
    let meta = prop::option::of(Just(whole));
    (prop_oneof![begin, call, other], meta)
        .prop_map(|((method, params), meta)| super::request(1, method, &with_meta(params, meta)))
}

/// Nearly a message: each member good, bad, or not there.
fn any_message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![Just(json!(1)), Just(json!("a")), Just(Value::Null), any_json()];
    let method =
        prop_oneof![9 => prop::sample::select(METHODS).prop_map(Value::from), 1 => any_json()];
    let version = prop_oneof![9 => Just(json!("2.0")), 1 => any_json()];
    let rare = || prop::option::weighted(0.1, any_json());
    let members = (
        prop::option::weighted(0.95, version),
        prop::option::weighted(0.8, id),
        prop::option::weighted(0.9, method),
        prop::option::weighted(0.8, any_params()),
        rare(),
        rare(),
    );
    members.prop_map(|(version, id, method, params, result, error)| {
        let members = [
            ("jsonrpc", version),
            ("id", id),
            ("method", method),
            ("params", params),
            ("result", result),
            ("error", error),
        ];
        let members = members.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
        Value::from(members.collect::<Map<String, Value>>())
    })
}

fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let text = |value: Value| value.to_string().into_bytes();
    prop_oneof![
        8 => any_request().prop_map(text),
        4 => any_message().prop_map(text),
        1 => prop::collection::vec(any_message(), 0..4).prop_map(move |it| text(it.into())),
        1 => any_json().prop_map(text),
        1 => prop::collection::vec(any::<u8>(), 0..200),
        // Damaged in one place.
        1 => (any_message(), any::<prop::sample::Index>(), any::<u8>()).prop_map(move |(message, at, byte)| {
            let mut bytes = text(message);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        }),
    ]
}

/// Checks the messages of an answer.
fn check_messages(messages: &[String]) -> Result<bool, TestCaseError> {
    let mut has_begun = false;
    for message in messages {
        let message: Value = serde_json::from_str(message)
            .map_err(|error| TestCaseError::fail(format!("{error}: {message}")))?;
        let parts = message.as_array().cloned().unwrap_or_else(|| vec![message.clone()]);
        for part in &parts {
            prop_assert_eq!(&part["jsonrpc"], "2.0", "{}", part);
            prop_assert_ne!(part.get("id"), Some(&Value::Null), "{}", part);
            let is_one = ["result", "error", "method"].iter().filter(|it| part.get(**it).is_some());
            prop_assert_eq!(is_one.count(), 1, "{}", part);
            has_begun |= part["result"]["serverInfo"].is_object();
        }
    }
    Ok(has_begun)
}

#[test]
fn whatever_is_sent_is_answered_as_the_protocol_has_it() {
    for modern in [false, true] {
        let site = InProcess::new(modern, 1_000_000, 1_000_000);
        let own = [site.session("me"), begin_batching(&site)];
        let sessions = prop_oneof![
            2 => Just(None),
            4 => prop::sample::select(own.to_vec()).prop_map(Some),
            1 => Just(Some("x".to_owned())),
        ];
        let version = prop_oneof![
            4 => Just(None),
            2 => Just(Some(MODERN)),
            1 => prop::option::of(prop::sample::select(VERSIONS)),
        ];
        let method =
            prop::option::of(prop_oneof![Just(None), prop::sample::select(METHODS).prop_map(Some)]);
        let mut config =
            ProptestConfig::with_cases(number_or("SVC_MCP_MESSAGES", 3_000).try_into().unwrap());
        config.failure_persistence = None;
        let (good, begun) = (Cell::new(0), Cell::new(0));
        proptest!(config, |(body in any_body(), session in sessions, version in version, method in method)| {
            let mut headers = vec![];
            headers.extend(version.map(|version| ("mcp-protocol-version", version)));
            // Mostly the method and the name that the message says itself.
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let own = message["method"].as_str().unwrap_or_default();
            headers.extend(method.map(|method| ("mcp-method", method.unwrap_or(own))));
            headers.extend(message["params"]["name"].as_str().map(|name| ("mcp-name", name)));
            let before = site.server.session_count();
            let answer = match site.send("me", session.as_deref(), &headers, &body) {
                Reply::Ready(answer) => answer,
                Reply::Blocking(run) => run(),
                Reply::Open(begin) | Reply::Late(begin) | Reply::Stream(begin) => {
                    let client = Client::default();
                    begin(client.channel());
                    prop_assert!(!check_messages(&client.messages())?);
                    prop_assert_eq!(site.server.session_count(), before);
                    good.set(good.get() + 1);
                    return Ok(());
                }
            };
            let messages: Vec<String> = answer.message.into_iter().collect();
            let has_begun = check_messages(&messages)?;
            prop_assert_eq!(site.server.session_count() - before, usize::from(has_begun));
            prop_assert_eq!(answer.session.is_some(), has_begun);
            prop_assert!(!has_begun || answer.status == Status::Ok);
            let taken_in = [Status::Ok, Status::Accepted].contains(&answer.status);
            prop_assert_eq!(messages.is_empty(), answer.status == Status::Accepted);
            good.set(good.get() + usize::from(taken_in));
            begun.set(begun.get() + usize::from(has_begun));
        });
        let (good, begun) = (good.get(), begun.get());
        // Otherwise nothing but refusals was tried.
        assert!(good > 150 && begun > 5, "{good} good ones, {begun} of them began a session");
    }
}

/// Begins a session of the revision that has batches.
fn begin_batching(site: &InProcess) -> String {
    let message = super::initialize("2025-03-26").to_string();
    match site.send("me", None, &[], message.as_bytes()) {
        Reply::Ready(answer) => answer.session.unwrap(),
        _ => panic!("not at once"),
    }
}
