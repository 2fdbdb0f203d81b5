//! Requests of several rounds: what comes back with the next one is good once, for its caller and its request.

use serde_json::{Value, json};

use super::service::{self, Issuer, Service};
use crate::daemon::ask::Ask;

const MODERN: &[(&str, &str)] = &[("MCP_V2_EXPERIMENTAL", "true")];
const TOOL: &str = "test_input_required_result_request_state";

/// The parameters of the first round.
fn params() -> Value {
    json!({"name": TOOL, "arguments": {"of": "one"}})
}

/// The parameters of the next round, with what the first one gave.
fn with_state(state: &Value) -> Value {
    let mut params = params();
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"ok": true}}});
    params
}

/// Sends a round as a caller, and returns its one message.
fn round(service: &Service, issuer: &Issuer, who: &str, params: Value) -> Value {
    let capabilities = json!({"elicitation": {}});
    let ask: Ask = service.standalone_by(&capabilities, 7, "tools/call", params);
    let mut told = service.open(&ask.header("Authorization", issuer.bearer(who))).rest();
    assert_eq!(told.len(), 1, "{told:?}");
    told.remove(0)
}

fn first(service: &Service, issuer: &Issuer, who: &str) -> Value {
    let result = round(service, issuer, who, params())["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{result}");
    assert_eq!(result["inputRequests"]["confirm"]["method"], "elicitation/create");
    assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
    let state = result["requestState"].clone();
    assert!(state.as_str().unwrap().starts_with("v1."), "{state}");
    state
}

fn assert_refused(answer: &Value, why: &str) {
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(-32_602)),
        "{why}: {answer}"
    );
    let message = "the request state is not valid, or was used before; start again without it";
    assert_eq!(answer["error"]["message"], message, "{why}: one answer for all of them");
}

fn assert_good(answer: &Value) {
    assert_eq!(answer["result"]["content"][0]["text"], "state-ok", "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[test]
fn a_state_is_good_once_for_its_caller_and_its_request_whatever_was_tried_before() {
    let (service, issuer) = Service::with_tokens(MODERN);
    let state = first(&service, &issuer, "alice");
    let sealed = state.as_str().unwrap();
    assert_refused(&round(&service, &issuer, "bob", with_state(&state)), "another caller");
    for (name, value) in [
        ("arguments", json!({"of": "two"})),
        ("arguments", json!({"of": "one", "and": 2})),
        ("arguments", Value::Null),
        ("name", json!("test_input_required_result_tampered_state")),
    ] {
        let mut params = with_state(&state);
        params[name] = value;
        if params[name].is_null() {
            params.as_object_mut().unwrap().remove(name);
        }
        assert_refused(&round(&service, &issuer, "alice", params), name);
    }
    // Some other character at each of many places, and other damage.
    let replaced = (0..sealed.len()).step_by(7).map(|at| {
        let other = if sealed[at..].starts_with('A') { "B" } else { "A" };
        format!("{}{other}{}", &sealed[..at], &sealed[at + 1..])
    });
    let damaged = [&sealed[..sealed.len() - 1], &sealed[3..], "", "v1.", "v2.AAAA"];
    let damaged = replaced.chain(damaged.map(ToOwned::to_owned));
    for text in damaged.chain([format!("{sealed}="), format!(" {sealed}"), format!("{sealed}A")]) {
        assert_refused(&round(&service, &issuer, "alice", with_state(&json!(text))), &text);
    }
    for value in [json!(5), json!({}), json!([sealed]), json!(true)] {
        assert_refused(&round(&service, &issuer, "alice", with_state(&value)), "no text");
    }
    // What travels between rounds besides, and describes the exchange, may differ.
    let mut good = with_state(&state);
    good["_meta"] = json!({"progressToken": 1});
    assert_good(&round(&service, &issuer, "alice", good));
    for _ in 0..2 {
        assert_refused(&round(&service, &issuer, "alice", with_state(&state)), "used");
    }
    assert!(!service.daemon.log().contains(&sealed[3..30]), "{}", service.daemon.log());
}

#[test]
fn a_state_outlives_the_process_and_so_does_that_it_was_used() {
    let (service, issuer) = Service::with_tokens(MODERN);
    let [used, open] = [0; 2].map(|_| first(&service, &issuer, "alice"));
    assert_good(&round(&service, &issuer, "alice", with_state(&used)));
    let service = service.restart(&[]);
    assert_refused(
        &round(&service, &issuer, "alice", with_state(&used)),
        "used before the restart",
    );
    assert_refused(&round(&service, &issuer, "bob", with_state(&open)), "another caller");
    assert_good(&round(&service, &issuer, "alice", with_state(&open)));
    assert_refused(&round(&service, &issuer, "alice", with_state(&open)), "used");
}

#[test]
fn of_many_who_send_one_state_at_once_one_goes_on() {
    let (service, issuer) = Service::with_tokens(MODERN);
    let state = first(&service, &issuer, "alice");
    let bearer = issuer.bearer("alice");
    let ask =
        service.standalone_by(&json!({"elicitation": {}}), 7, "tools/call", with_state(&state));
    let ask = ask.header("Authorization", bearer);
    let threads: Vec<_> = (0..16)
        .map(|_| {
            let (address, ask) = (service.address(), ask.clone());
            let send = move || super::wire::EventStream::open(address, &ask).message();
            svc::runtime::thread::spawn("client", send).unwrap()
        })
        .collect();
    let answers: Vec<Value> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    let good = answers.iter().filter(|answer| answer.get("result").is_some());
    assert_eq!(good.count(), 1, "{answers:?}");
    answers.iter().filter(|it| it.get("error").is_some()).for_each(|it| assert_refused(it, "late"));
}

#[test]
fn a_client_is_asked_for_nothing_that_it_does_not_declare() {
    let service = Service::modern(&[]);
    let form = json!({"elicitation": {"form": {}}});
    let ask = |kind: &str, capabilities: &Value| {
        let params = json!({"name": format!("test_input_required_result_{kind}")});
        service.standalone_by(capabilities, 7, "tools/call", params)
    };
    for (kind, declared, required) in [
        ("elicitation", json!({}), form.clone()),
        ("elicitation", json!({"sampling": {}}), form.clone()),
        ("elicitation", json!({"elicitation": true}), form.clone()),
        ("elicitation", json!({"elicitation": {"url": {}}}), form.clone()),
        ("sampling", form.clone(), json!({"sampling": {}})),
        ("list_roots", json!({"sampling": {}}), json!({"roots": {}})),
        (
            "multiple_inputs",
            json!({"sampling": {}}),
            json!({"elicitation": {"form": {}}, "roots": {}}),
        ),
    ] {
        for accept in
            ["application/json, text/event-stream", "application/json", "text/event-stream"]
        {
            let ask = ask(kind, &declared).without("Accept").header("Accept", accept);
            let answer = service.ask(&ask);
            let sent = format!("{kind} {declared} {accept}");
            service::assert_refused(&answer, 400, -32_021, Some(&json!(7)), &sent);
            let data = &answer.json()["error"]["data"];
            assert_eq!(data, &json!({"requiredCapabilities": required}), "{sent}");
        }
    }
    for (kind, declared) in [
        ("elicitation", json!({"elicitation": {}})),
        ("elicitation", form),
        ("elicitation", json!({"elicitation": {"form": {}, "url": {}}})),
        ("sampling", json!({"sampling": {"tools": {}}})),
        ("list_roots", json!({"roots": {}})),
        ("multiple_inputs", json!({"sampling": {}, "roots": {}, "elicitation": {}})),
    ] {
        let told = service.open(&ask(kind, &declared)).rest();
        assert_eq!(told[0]["result"]["resultType"], "input_required", "{kind} {declared}");
    }
}
