//! The modern era: requests that stand for themselves, refused by exact codes and statuses where they do not.

use serde_json::{Value, json};
use svc::mcp::revision::MODERN;

use super::service::{Service, assert_refused};
use super::{META, call, request};
use crate::daemon::ask::{Answer, Ask};
use crate::daemon::wait_for;

fn result(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?} {}", answer.text());
    assert_eq!(answer.header("mcp-session-id"), "", "{answer:?}");
    let body = answer.json();
    assert_eq!(body["result"]["resultType"], "complete", "{body}");
    assert_eq!(body["result"]["_meta"][format!("{META}serverInfo")]["name"], "svcd", "{body}");
    body["result"].clone()
}

/// Returns a request whose envelope and headers are as given.
fn enveloped(service: &Service, method: &str, meta: &Value, header: Option<&str>) -> Ask {
    let ask = service.post(&request(7, method, &json!({"_meta": meta})));
    let ask = ask.header("Mcp-Method", method);
    header.map_or(ask.clone(), |version| ask.header("MCP-Protocol-Version", version))
}

fn meta(version: &Value, capabilities: &Value) -> Value {
    let members = [("protocolVersion", version), ("clientCapabilities", capabilities)];
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    members.map(|(name, value)| (format!("{META}{name}"), value.clone())).collect()
}

#[test]
fn what_may_be_kept_says_for_how_long_and_by_whom() {
    let service = Service::modern(&[]);
    let ask =
        |method: &str, params: Value| result(&service.ask(&service.standalone(1, method, params)));
    let discovery = ask("server/discover", json!({}));
    assert_eq!(discovery["supportedVersions"], json!([MODERN]));
    assert!(
        discovery["capabilities"]["tools"].is_object() && discovery["instructions"].is_string()
    );
    assert!(discovery.get("serverInfo").is_none(), "it stands in _meta: {discovery}");
    let list = ask("tools/list", json!({}));
    for kept in [&discovery, &list] {
        assert!(kept["ttlMs"].is_u64(), "{kept}");
        assert_eq!(kept["cacheScope"], "public", "it depends on no token");
    }
    let called = ask("tools/call", json!({"name": "service_status", "arguments": {}}));
    assert!(called.get("ttlMs").is_none() && called.get("cacheScope").is_none(), "{called}");
    assert!(called["structuredContent"]["status"].is_string(), "{called}");
    let wrong = ask("tools/call", json!({"name": "service_status", "arguments": {"x": 1}}));
    assert_eq!(wrong["isError"], true);
    let tools: Vec<&Value> =
        list["tools"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    let session = service.begin("2025-11-25");
    let legacy = service.ask(&service.within(&session, &request(1, "tools/list", &json!({}))));
    let legacy = legacy.json()["result"].clone();
    let members: Vec<&String> = legacy.as_object().unwrap().keys().collect();
    assert_eq!(members, ["tools"], "the legacy era has none of this");
    let names = legacy["tools"].as_array().unwrap().iter().map(|it| &it["name"]);
    assert_eq!(names.collect::<Vec<_>>(), tools);
}

#[test]
fn claims_that_are_not_served_are_told_what_is() {
    let service = Service::modern(&[]);
    let (version, later, none) = (json!(MODERN), json!("2027-01-01"), json!({}));
    let null = &Value::Null;
    let whole = meta(&version, &none);
    let of_later = meta(&later, &none);
    let (modern, is_later) = (Some(MODERN), Some("2027-01-01"));
    for (method, envelope, header, status, code, requested) in [
        ("tools/list", meta(null, &none), modern, 400, -32_602, modern),
        ("tools/list", meta(&version, null), modern, 400, -32_602, modern),
        ("tools/list", meta(&version, &json!([])), modern, 400, -32_602, modern),
        ("tools/list", meta(&json!(5), &none), modern, 400, -32_602, modern),
        ("tools/list", json!({}), modern, 400, -32_602, modern),
        ("tools/list", whole.clone(), None, 400, -32_020, modern),
        ("tools/list", whole.clone(), Some("2025-11-25"), 400, -32_020, modern),
        ("tools/list", of_later.clone(), modern, 400, -32_020, is_later),
        ("tools/list", of_later, is_later, 400, -32_022, is_later),
        ("initialize", whole, modern, 404, -32_601, modern),
    ] {
        let sent = format!("{method} {envelope} {header:?}");
        let answer = service.ask(&enveloped(&service, method, &envelope, header));
        assert_refused(&answer, status, code, Some(&json!(7)), &sent);
        let data = &answer.json()["error"]["data"];
        assert_eq!(data["supported"], json!([MODERN]), "{sent}: {data}");
        assert_eq!(data.get("requested").and_then(Value::as_str), requested, "{sent}: {data}");
        assert_eq!(data["eras"]["modern"], json!([MODERN]), "{sent}: {data}");
        assert_eq!(data["eras"]["legacy"][0], "2025-11-25", "{sent}: {data}");
    }
    let batch = json!([request(7, "tools/list", &super::enveloped(json!({}), &json!({})))]);
    let response = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
    for message in [batch, response] {
        let ask = service.post(&message).header("MCP-Protocol-Version", MODERN);
        assert_refused(&service.ask(&ask), 400, -32_600, None, &message.to_string());
    }
}

#[test]
fn methods_of_the_legacy_era_are_unknown() {
    let service = Service::modern(&[]);
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "tasks/result",
        "sampling/createMessage",
        "roots/list",
        "no/such",
        "",
    ] {
        let ask = service.standalone("x", method, json!({}));
        // An empty header is none that could be compared.
        let (status, code) = if method.is_empty() { (400, -32_020) } else { (404, -32_601) };
        assert_refused(&service.ask(&ask), status, code, Some(&json!("x")), method);
    }
}

#[test]
fn a_capability_that_is_needed_is_named() {
    let service = Service::modern(&[]);
    let params = json!({"name": "test_missing_capability"});
    let answer = service.ask(&service.standalone(7, "tools/call", params.clone()));
    assert_refused(&answer, 400, -32_021, Some(&json!(7)), "no capability");
    let needed = json!({"requiredCapabilities": {"sampling": {}}});
    assert_eq!(answer.json()["error"]["data"], needed);
    let can = service.standalone_by(&json!({"sampling": {}}), 7, "tools/call", params);
    result(&service.ask(&can));
}

#[test]
fn parameters_that_a_method_does_not_take_are_refused_in_band() {
    let service = Service::modern(&[]);
    for (method, params) in [
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "no_such_tool"})),
        ("tools/list", json!({"cursor": ""})),
    ] {
        let answer = service.ask(&service.standalone(7, method, params));
        assert_refused(&answer, 200, -32_602, Some(&json!(7)), method);
    }
    let missing = service.standalone(7, "resources/read", json!({"uri": "test://none"}));
    let answer = service.open(&missing).message();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32_602), &json!(7)));
    assert_eq!(answer["error"]["data"]["uri"], "test://none");
}

#[test]
fn headers_of_sessions_and_of_resumed_streams_mean_nothing() {
    let service = Service::modern(&[]);
    let session = service.begin("2025-11-25");
    for plain in [
        service.standalone(1, "server/discover", json!({})),
        service.standalone(1, "tools/call", json!({"name": "test_simple_text"})),
        service.standalone(1, "no/such", json!({})),
    ] {
        let wanted = service.ask(&plain);
        assert_eq!(wanted.header("mcp-session-id"), "");
        for named in [session.as_str(), "0123456789abcdef0123456789abcdef", "", "\u{e4}"] {
            let ask = plain.clone().header("Mcp-Session-Id", named).header("Last-Event-ID", "1-0");
            assert_eq!(service.ask(&ask), wanted, "{named}");
        }
    }
    let progress = json!({"name": "test_tool_with_progress", "_meta": {"progressToken": 5}});
    let ask = service.standalone(9, "tools/call", progress).header("Mcp-Session-Id", &session);
    let mut stream = service.open(&ask);
    assert_eq!(stream.header("mcp-session-id"), "");
    let events: Vec<_> = std::iter::from_fn(|| stream.next()).collect();
    assert!(events.iter().all(|event| event.id.is_none()), "no client can come back: {events:?}");
    let done: Vec<Value> =
        events.iter().map(|it| it.message()["params"]["progress"].clone()).collect();
    assert_eq!(done, [json!(0), json!(50), json!(100), Value::Null]);
    let last = events[3].message();
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!(9), &json!("complete")));
    // Nor does the legacy session know of any of it.
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}});
    assert_eq!(service.ask(&service.within(&session, &cancelled)).status, 202);
    assert!(service.has(&session));
}

#[test]
fn notifications_are_taken_in_with_an_envelope_or_a_header() {
    let service = Service::modern(&[]);
    let notification = |params: Value| {
        let message =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        service.post(&message)
    };
    let versioned = |ask: Ask, version: &str| ask.header("MCP-Protocol-Version", version);
    let good = super::enveloped(json!({"requestId": 7}), &json!({}));
    for ask in
        [versioned(notification(good.clone()), MODERN), versioned(notification(json!({})), MODERN)]
    {
        let answer = service.ask(&ask);
        assert_eq!((answer.status, answer.text()), (202, String::new()));
    }
    assert_refused(&service.ask(&notification(good)), 400, -32_020, None, "no header");
    let later = versioned(notification(json!({})), "2027-01-01");
    assert_refused(&service.ask(&later), 400, -32_602, None, "a later version");
}

#[test]
fn log_messages_are_sent_to_whom_asks_for_them() {
    let service = Service::modern(&[]);
    let logging = |meta: Value| {
        let params = json!({"name": "test_logging_tool", "_meta": meta});
        service.open(&service.standalone(1, "tools/call", params)).rest()
    };
    assert_eq!(logging(json!({})).len(), 1);
    let told = logging(json!({(format!("{META}logLevel")): "debug"}));
    assert_eq!((told.len(), &told[0]["method"]), (2, &json!("notifications/message")));
}

#[test]
fn a_subscription_is_acknowledged_first_and_hears_what_it_asked_for() {
    let service = Service::modern(&[]);
    let session = service.begin("2025-11-25");
    let trigger = |tool: &str| {
        let answer = service.ask(&service.within(&session, &call(1, tool, &json!({}))));
        assert_eq!(answer.status, 200);
    };
    let listen = |id: Value, asked: Value| {
        let can = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let params = json!({"notifications": asked});
        service.open(&service.standalone_by(&can, id, "subscriptions/listen", params))
    };
    let tools = json!({"toolsListChanged": true, "promptsListChanged": false, "resourcesListChanged": true,
                       "resourceSubscriptions": ["test://watched-resource"], "taskIds": ["x"], "other": 1});
    let mut of_tools = listen(json!("seven"), tools);
    let mut of_both =
        listen(json!(7), json!({"toolsListChanged": true, "promptsListChanged": true}));
    let mut of_none = listen(json!(8), json!({}));
    let id = format!("{META}subscriptionId");
    for (stream, subscription, granted) in [
        (&mut of_tools, json!("seven"), json!({"toolsListChanged": true})),
        (&mut of_both, json!(7), json!({"toolsListChanged": true, "promptsListChanged": true})),
        (&mut of_none, json!(8), json!({})),
    ] {
        let params = json!({"notifications": granted, "_meta": {&id: subscription}});
        let wanted = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params});
        assert_eq!(stream.message(), wanted);
    }
    trigger("test_trigger_prompt_change");
    trigger("test_trigger_tool_change");
    let heard = |method: &str, subscription: Value| json!({"jsonrpc": "2.0", "method": method, "params": {"_meta": {&id: subscription}}});
    assert_eq!(of_tools.message(), heard("notifications/tools/list_changed", json!("seven")));
    assert_eq!(of_both.message(), heard("notifications/prompts/list_changed", json!(7)));
    assert_eq!(of_both.message(), heard("notifications/tools/list_changed", json!(7)));
    // The end of the server is the result of the request.
    let Service { mut daemon, site: _site, .. } = service;
    assert_eq!(daemon.end(rustix::process::Signal::TERM).code(), Some(0));
    for (stream, subscription) in
        [(of_tools, json!("seven")), (of_both, json!(7)), (of_none, json!(8))]
    {
        let rest = stream.rest();
        assert_eq!((rest.len(), &rest[0]["id"]), (1, &subscription), "{rest:?}");
        assert_eq!(rest[0]["result"]["resultType"], "complete");
        assert_eq!(rest[0]["result"]["_meta"][&id], subscription);
    }
}

#[test]
fn a_subscription_without_room_or_sense_is_refused_before_it_is_acknowledged() {
    let service = Service::modern(&[("SVC_MCP_STREAMS_MAX", "1")]);
    let listen = |params: Value| service.standalone(7, "subscriptions/listen", params);
    for params in [json!({}), json!({"notifications": []}), json!({"notifications": null})] {
        let told = wait_for("room", || {
            let stream = super::wire::EventStream::open(service.address(), &listen(params.clone()));
            (stream.status == 200).then(|| stream.rest())
        });
        assert_eq!((told.len(), &told[0]["error"]["code"]), (1, &json!(-32_602)), "{told:?}");
    }
    let good = listen(json!({"notifications": {}}));
    let of_json = good.clone().without("Accept").header("Accept", "application/json");
    assert_refused(&service.ask(&of_json), 406, -32_600, Some(&json!(7)), "no stream");
    let mut only = wait_for("room", || {
        let stream = super::wire::EventStream::open(service.address(), &good);
        (stream.status == 200).then_some(stream)
    });
    assert_eq!(only.message()["method"], "notifications/subscriptions/acknowledged");
    assert_refused(&service.ask(&good), 503, -32_603, Some(&json!(7)), "no room");
    // A client that has gone leaves its room to others.
    drop(only);
    wait_for("room", || {
        let stream = super::wire::EventStream::open(service.address(), &good);
        (stream.status == 200).then_some(())
    });
}
