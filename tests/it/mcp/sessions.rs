//! What holds within a session: who may use it, which messages it takes, and how it ends.

use serde_json::{Value, json};

use super::service::{Service, assert_refused};
use super::{call, initialize, request};
use crate::daemon::ask::Ask;
use svc::runtime::thread;

/// A session id that was never given out.
const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

fn ping(id: impl Into<Value>) -> Value {
    request(id, "ping", &json!({}))
}

#[test]
fn every_message_but_initialize_names_a_session_that_is_there() {
    let service = Service::start(&[]);
    let ended = service.begin("2025-11-25");
    let delete = |session: &str| service.to_mcp("DELETE").header("Mcp-Session-Id", session);
    let answer = service.ask(&delete(&ended));
    assert_eq!((answer.status, answer.text()), (204, String::new()));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let response = json!({"jsonrpc": "2.0", "id": 3, "result": {}});
    let messages = [
        (ping(7), Some(json!(7))),
        (request("x", "tools/list", &json!({})), Some(json!("x"))),
        (call(7, "service_status", &json!({})), Some(json!(7))),
        (request(7, "no/such", &json!({})), Some(json!(7))),
        (initialized, None),
        (response, None),
        (json!([ping(1), ping(2)]), None),
    ];
    for (message, id) in messages {
        let sent = message.to_string();
        let absent = service.ask(&service.post(&message));
        assert_refused(&absent, 400, -32_600, id.as_ref(), &sent);
        for session in [UNKNOWN, &ended, "x", &"x".repeat(5_000)] {
            let answer = service.ask(&service.within(session, &message));
            assert_refused(&answer, 404, -32_600, id.as_ref(), &sent);
        }
    }
    for method in ["GET", "DELETE"] {
        let absent = service.ask(&service.to_mcp(method));
        assert_refused(&absent, 400, -32_600, None, method);
        for session in [UNKNOWN, &ended] {
            let answer = service.ask(&service.to_mcp(method).header("Mcp-Session-Id", session));
            assert_refused(&answer, 404, -32_600, None, method);
        }
    }
}

#[test]
fn a_session_is_that_of_its_caller_alone() {
    let (service, issuer) = Service::with_tokens(&[]);
    let alice = |ask: Ask| ask.header("Authorization", issuer.bearer("alice"));
    let bob = |ask: Ask| ask.header("Authorization", issuer.bearer("bob"));
    let session = service.begin_as(alice(service.post(&initialize("2025-11-25"))));
    let ping = service.within(&session, &ping(7));
    let unknown = service.ask(&bob(service.within(UNKNOWN, &request(7, "ping", &json!({})))));
    let foreign = service.ask(&bob(ping.clone()));
    assert_refused(&foreign, 404, -32_600, Some(&json!(7)), "foreign");
    assert_eq!(foreign, unknown, "a foreign session is answered as one that never was");
    for method in ["GET", "DELETE"] {
        let ask = service.to_mcp(method).header("Mcp-Session-Id", &session);
        assert_refused(&service.ask(&bob(ask)), 404, -32_600, None, method);
    }
    let unauthorized = service.ask(&ping);
    assert_eq!(unauthorized.status, 401, "a session is no proof of who calls");
    let own = service.ask(&alice(ping.clone()));
    assert_eq!(own.json(), json!({"jsonrpc": "2.0", "id": 7, "result": {}}));
    // Nothing of a session outlives the process.
    let service = service.restart(&[]);
    let anew = alice(service.within(&session, &request(7, "ping", &json!({}))));
    assert_refused(&service.ask(&anew), 404, -32_600, Some(&json!(7)), "after a restart");
    let again = service.begin_as(alice(service.post(&initialize("2025-11-25"))));
    assert_ne!(again, session);
}

#[test]
fn the_version_of_a_message_is_that_of_its_session_or_is_not_said() {
    let service = Service::start(&[]);
    for revision in ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = service.begin(revision);
        let ask = service.within(&session, &ping(7));
        assert_eq!(service.ask(&ask).status, 200, "{revision}");
        for version in ["2024-10-07", "2024-11-05", "2025-06-18", "2025-11-25", "2025-01-01"] {
            let answer = service.ask(&ask.clone().header("MCP-Protocol-Version", version));
            if version == revision {
                assert_eq!(answer.status, 200, "{revision}");
                continue;
            }
            let id = json!(7);
            assert_refused(&answer, 400, -32_602, Some(&id), &format!("{revision} {version}"));
            let error = &answer.json()["error"];
            assert_eq!(error["data"]["requested"], version, "{error}");
        }
        for method in ["GET", "DELETE"] {
            let ask = service.to_mcp(method).header("Mcp-Session-Id", &session);
            let answer = service.ask(&ask.header("MCP-Protocol-Version", "2025-01-01"));
            assert_refused(&answer, 400, -32_602, None, method);
        }
    }
}

#[test]
fn a_modern_header_has_neither_streams_nor_ends_of_sessions() {
    for (modern, code) in [("false", -32_602), ("true", -32_601)] {
        let service = Service::start(&[("MCP_V2_EXPERIMENTAL", modern)]);
        let session = service.begin("2025-11-25");
        for method in ["GET", "DELETE"] {
            let ask = service.to_mcp(method).header("Mcp-Session-Id", &session);
            let ask = ask.header("MCP-Protocol-Version", "2026-07-28");
            // Whatever it accepts.
            let of_json = ask.clone().without("Accept").header("Accept", "application/json");
            assert_refused(&service.ask(&of_json), 405, code, None, method);
            let answer = service.ask(&ask);
            assert_refused(&answer, 405, code, None, method);
            assert_eq!(answer.header("allow"), "POST, OPTIONS");
            assert_eq!(answer.json()["error"]["data"]["requested"], "2026-07-28");
        }
        assert!(service.has(&session));
    }
}

#[test]
fn requests_are_answered_and_nothing_else_is() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    let ask = |message: &Value| service.ask(&service.within(&session, message));
    assert_eq!(ask(&ping("p")).text(), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}),
        json!({"jsonrpc": "2.0", "method": "notifications/of/no/kind", "params": {"x": []}}),
        json!({"jsonrpc": "2.0", "method": "ping"}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": -1, "message": "no"}}),
    ] {
        let answer = ask(&message);
        assert_eq!((answer.status, answer.text()), (202, String::new()), "{message}");
        assert_eq!(answer.header("mcp-session-id"), "");
    }
    let names = |answer: &Value| -> Vec<String> {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = ask(&request(1, "tools/list", &json!({}))).json();
    assert!(names(&list).is_sorted() && names(&list).contains(&"validate_agent_card".to_owned()));
    assert_eq!(ask(&request(1, "tools/list", &json!({}))).json(), list, "the order is the same");
    for (method, params, code) in [
        ("tools/list", json!({"cursor": "x"}), -32_602),
        ("tools/call", json!({}), -32_602),
        ("tools/call", json!({"name": 5}), -32_602),
        ("tools/call", json!({"name": "no_such_tool"}), -32_602),
        ("tools/call", json!({"name": "service_status", "arguments": []}), -32_602),
        ("server/discover", json!({}), -32_601),
        ("no/such/method", json!({}), -32_601),
        ("initialize", json!({}), -32_602),
    ] {
        let answer = ask(&request(5, method, &params));
        // What the era refuses has a status of its own.
        let status = if method == "initialize" { 400 } else { 200 };
        assert_refused(&answer, status, code, Some(&json!(5)), method);
    }
    let wrong = ask(&call(5, "validate_agent_card", &json!({"cards": "a secret"}))).json();
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
    let text = wrong["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("input schema") && !text.contains("secret"), "{text}");
}

#[test]
fn batches_are_of_one_revision() {
    let service = Service::start(&[]);
    let batch = json!([
        ping(1),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("two", "tools/call", &json!({"name": "test_simple_text"})),
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        {"jsonrpc": "2.0", "id": 4, "method": 5},
        {"jsonrpc": "2.0", "id": null, "method": "ping"},
        initialize("2025-03-26"),
        request(5, "no/such", &json!({})),
        call(6, "validate_agent_card", &json!({"card": "{}"})),
        call(7, "test_tool_with_progress", &json!({})),
    ]);
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let session = service.begin(revision);
        let answer = service.ask(&service.within(&session, &batch));
        assert_refused(&answer, 400, -32_600, None, revision);
    }
    let session = service.begin("2025-03-26");
    let answer = service.ask(&service.within(&session, &batch));
    assert_eq!(answer.status, 200, "{answer:?}");
    let parts = answer.json();
    let parts = parts.as_array().unwrap();
    let ids: Vec<Option<&Value>> = parts.iter().map(|part| part.get("id")).collect();
    let wanted = [
        json!(1),
        json!("two"),
        json!(4),
        json!(null),
        json!("begin"),
        json!(5),
        json!(6),
        json!(7),
    ];
    let wanted: Vec<Option<&Value>> =
        wanted.iter().map(|id| Some(id).filter(|id| !id.is_null())).collect();
    assert_eq!(ids, wanted, "{parts:?}");
    let codes: Vec<&Value> = parts.iter().map(|part| &part["error"]["code"]).collect();
    let null = &Value::Null;
    let (invalid, unknown) = (&json!(-32_600), &json!(-32_601));
    assert_eq!(codes, [null, null, invalid, invalid, invalid, unknown, null, invalid]);
    let silent = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
    let answer = service.ask(&service.within(&session, &silent));
    assert_eq!((answer.status, answer.text()), (202, String::new()));
    for length in [0, 51] {
        let batch = Value::from(vec![ping(1); length]);
        let answer = service.ask(&service.within(&session, &batch));
        assert_refused(&answer, 400, -32_600, None, "length");
    }
}

#[test]
fn requests_with_one_id_that_are_under_way_at_once_never_cross() {
    let service = Service::start(&[]);
    let session = service.begin("2025-11-25");
    for _ in 0..10 {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let message = request(
                    1,
                    "resources/read",
                    &json!({"uri": format!("test://template/{number}/data")}),
                );
                let (ask, address) = (service.within(&session, &message), service.address());
                let ask = move || super::wire::EventStream::open(address, &ask).message();
                thread::spawn("client", ask).unwrap()
            })
            .collect();
        for (number, thread) in threads.into_iter().enumerate() {
            let answer = thread.join().unwrap();
            assert_eq!(answer["id"], 1);
            let uri = &answer["result"]["contents"][0]["uri"];
            assert_eq!(uri, &json!(format!("test://template/{number}/data")), "{answer}");
        }
    }
}
