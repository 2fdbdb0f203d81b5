//! The modern era is switched off by its setting and a restart alone, on the same store, and on again.

use serde_json::{Value, json};
use svc::mcp::revision::MODERN;

use super::service::{Service, assert_refused};
use super::{enveloped, initialize, request};

const OFF: &[(&str, &str)] = &[("MCP_V2_EXPERIMENTAL", "false")];
const ON: &[(&str, &str)] = &[("MCP_V2_EXPERIMENTAL", "true")];
const TOOL: &str = "test_input_required_result_request_state";

/// How a client of both eras got through.
#[derive(Debug, PartialEq, Eq)]
enum Agreed {
    Modern,
    Legacy(String),
}

/// Connects as a client of both eras does: it asks for the modern one, and begins a session when that is refused.
fn connect(service: &Service) -> Agreed {
    let answer = service.ask(&service.standalone("probe", "server/discover", json!({})));
    if answer.status == 200 {
        assert_eq!(answer.json()["result"]["supportedVersions"], json!([MODERN]));
        return Agreed::Modern;
    }
    assert_rejected(
        service,
        &service.standalone("probe", "server/discover", json!({})),
        Some(&json!("probe")),
    );
    Agreed::Legacy(service.begin("2025-11-25"))
}

/// Checks that a request gets the rejection of a server that has no modern era.
fn assert_rejected(service: &Service, ask: &crate::daemon::ask::Ask, id: Option<&Value>) {
    let answer = service.ask(ask);
    let sent: String = format!("{ask:?}").chars().take(300).collect();
    assert_refused(&answer, 400, -32_602, id, &sent);
    let offered = json!(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    let data = json!({"supported": offered, "requested": MODERN, "eras": {"legacy": offered}});
    assert_eq!(answer.json()["error"]["data"], data);
}

/// Returns the first round of a request, or with a state its second.
fn round(service: &Service, state: Option<&Value>) -> Value {
    let mut params = json!({"name": TOOL});
    if let Some(state) = state {
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({"confirm": {"action": "accept"}});
    }
    let ask = service.standalone_by(&json!({"elicitation": {}}), 7, "tools/call", params);
    service.open(&ask).message()["result"].clone()
}

#[test]
fn one_client_goes_on_off_and_on_at_one_store() {
    let service = Service::modern(&[]);
    assert_eq!(connect(&service), Agreed::Modern);
    let before = service.begin("2025-11-25");
    let state = round(&service, None)["requestState"].clone();
    let service = service.restart(OFF);
    assert!(!service.has(&before), "sessions are of one process");
    let Agreed::Legacy(during) = connect(&service) else { panic!("it is off") };
    let call = json!({"name": "service_status", "arguments": {}});
    let answer = service.ask(&service.within(&during, &request(1, "tools/call", &call)));
    assert!(answer.json()["result"]["structuredContent"].is_object(), "{answer:?}");
    let service = service.restart(ON);
    assert_eq!(connect(&service), Agreed::Modern);
    assert!(!service.has(&during), "sessions are of one process");
    // What was sealed before is good still, and once.
    assert_eq!(round(&service, Some(&state))["content"][0]["text"], "state-ok");
    assert_eq!(round(&service, Some(&state)), Value::Null);
    // The legacy era is served beside the modern one.
    assert!(service.has(&service.begin("2024-11-05")));
}

#[test]
fn a_client_that_is_pinned_to_the_modern_era_gets_the_rejection_and_never_a_session() {
    let service = Service::modern(&[("SVC_MCP_SESSIONS_PER_SUBJECT", "1")]).restart(OFF);
    let only = service.begin("2025-11-25");
    let seven = json!(7);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "service_status", "arguments": {}})),
        ("tools/call", json!({"name": "test_tool_with_progress", "_meta": {"progressToken": 1}})),
        ("subscriptions/listen", listen),
        ("initialize", initialize(MODERN)["params"].clone()),
        ("initialize", initialize("2025-11-25")["params"].clone()),
        ("no/such", json!({})),
    ] {
        let ask = service.standalone(7, method, params.clone());
        assert_rejected(&service, &ask, Some(&seven));
        // Without one of the two claims, and within a session, it is the same.
        let header =
            service.post(&request(7, method, &params)).header("MCP-Protocol-Version", MODERN);
        assert_rejected(&service, &header, Some(&seven));
        let envelope = service.post(&request(7, method, &enveloped(params, &json!({}))));
        assert_rejected(&service, &envelope, Some(&seven));
        assert_rejected(&service, &envelope.header("Mcp-Session-Id", &only), Some(&seven));
    }
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for message in [notification, json!([request(7, "tools/list", &json!({}))])] {
        let ask = service.post(&message).header("MCP-Protocol-Version", MODERN);
        assert_rejected(&service, &ask, None);
    }
    assert!(service.has(&only), "none of these made a session, or it would have ended this one");
}
