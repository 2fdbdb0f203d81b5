//! How a session begins: which revision is agreed on, and what begins none.

use serde_json::{Value, json};
use svc::mcp::revision::{Legacy, MODERN};

use super::service::{Service, assert_refused};
use super::{initialize, request};

#[test]
fn a_revision_that_is_known_is_echoed_and_for_any_other_the_configured_one_is_offered() {
    for configured in ["2025-11-25", "2025-03-26"] {
        let service = Service::start(&[("MCP_PROTOCOL_VERSION", configured)]);
        let known = Legacy::ALL.iter().map(|it| (it.as_str(), it.as_str()));
        let unknown = ["1999-01-01", "2025-01-01", "2027-01-01", "", "latest", "DRAFT-2026-v1"];
        for (asked, agreed) in known.chain(unknown.map(|asked| (asked, configured))) {
            let answer = service.ask(&service.post(&initialize(asked)));
            assert_eq!(answer.status, 200, "{asked}: {answer:?}");
            assert_eq!(answer.header("content-type"), "application/json");
            let body = answer.json();
            assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!("begin")));
            assert_eq!(body["result"]["protocolVersion"], agreed, "{asked}: {body}");
            assert_eq!(body["result"]["serverInfo"]["name"], "svcd", "{body}");
            assert!(body["result"]["capabilities"]["tools"].is_object(), "{body}");
            let session = answer.header("mcp-session-id");
            assert!(session.len() == 32 && session.bytes().all(|it| it.is_ascii_hexdigit()));
        }
    }
}

#[test]
fn ids_of_sessions_are_all_different() {
    let service = Service::start(&[]);
    let ids = (0..50).map(|_| service.begin("2025-11-25"));
    assert_eq!(ids.collect::<std::collections::HashSet<String>>().len(), 50);
}

#[test]
fn a_modern_version_begins_no_session_wherever_it_stands() {
    for modern in ["false", "true"] {
        let settings = [("MCP_V2_EXPERIMENTAL", modern), ("SVC_MCP_SESSIONS_PER_SUBJECT", "1")];
        let service = Service::start(&settings);
        let (only, id) = (service.begin("2025-11-25"), Some(json!("begin")));
        let is_on = modern == "true";
        // The body alone.
        let answer = service.ask(&service.post(&initialize(MODERN)));
        assert_refused(&answer, 400, -32_602, id.as_ref(), "body");
        let offered = json!(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
        assert_eq!(answer.json()["error"]["data"]["supported"], offered);
        assert_eq!(answer.json()["error"]["data"]["requested"], MODERN);
        let eras = &answer.json()["error"]["data"]["eras"];
        assert_eq!((&eras["legacy"], eras.get("modern").is_some()), (&offered, is_on));
        // The header, and the envelope, each with and without the body.
        let (status, code) = if is_on { (404, -32_601) } else { (400, -32_602) };
        for version in [MODERN, "2025-11-25"] {
            let header = service.post(&initialize(version)).header("MCP-Protocol-Version", MODERN);
            assert_refused(&service.ask(&header), status, code, id.as_ref(), version);
            let mut message = initialize(version);
            message["params"] = super::enveloped(message["params"].clone(), &json!({}));
            let answer = service.ask(&service.post(&message));
            assert_refused(&answer, status, code, id.as_ref(), version);
            let supported = if is_on { json!([MODERN]) } else { offered.clone() };
            assert_eq!(answer.json()["error"]["data"]["supported"], supported);
        }
        assert!(
            service.has(&only),
            "none of these made a session, or it would have ended this one"
        );
    }
}

#[test]
fn an_initialize_that_lacks_something_begins_no_session() {
    let service = Service::start(&[("SVC_MCP_SESSIONS_PER_SUBJECT", "1")]);
    let (only, id) = (service.begin("2025-11-25"), Some(json!("begin")));
    let good = initialize("2025-11-25");
    let without = |name: &str, value: Value| {
        let mut message = good.clone();
        message["params"][name] = value;
        if message["params"][name].is_null() {
            message["params"].as_object_mut().unwrap().remove(name);
        }
        message
    };
    for message in [
        request("begin", "initialize", &json!({})),
        json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize"}),
        without("protocolVersion", Value::Null),
        without("protocolVersion", json!(20_251_125)),
        without("capabilities", Value::Null),
        without("capabilities", json!([])),
        without("clientInfo", Value::Null),
        without("clientInfo", json!({"name": "test"})),
        without("clientInfo", json!({"name": "test", "version": 1})),
    ] {
        let answer = service.ask(&service.post(&message));
        assert_refused(&answer, 400, -32_602, id.as_ref(), &message.to_string());
    }
    let twice =
        good.to_string().replacen("\"capabilities\"", "\"capabilities\":{},\"capabilities\"", 1);
    let answer = service.ask(&service.post(&Value::Null).body(twice));
    assert_refused(&answer, 400, -32_602, id.as_ref(), "repeated");
    // Without an id it is a notification, which belongs to a session.
    let mut silent = good;
    silent.as_object_mut().unwrap().remove("id");
    assert_refused(&service.ask(&service.post(&silent)), 400, -32_600, None, "no id");
    assert!(service.has(&only), "none of these made a session, or it would have ended this one");
}

#[test]
fn an_initialize_that_names_a_session_begins_none() {
    let service = Service::start(&[]);
    let (own, id) = (service.begin("2025-11-25"), Some(json!("begin")));
    let again = service.within(&own, &initialize("2025-11-25"));
    assert_refused(&service.ask(&again), 400, -32_600, id.as_ref(), "own");
    let stale = service.within("0123456789abcdef0123456789abcdef", &initialize("2025-11-25"));
    assert_refused(&service.ask(&stale), 404, -32_600, id.as_ref(), "stale");
}
