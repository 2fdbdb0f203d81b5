//! Tools that need a token with a further scope: who lacks it is told so before anything is done, with a status.

use serde_json::{Value, json};

use super::service::{Issuer, Service, assert_refused};
use super::{call, initialize, request};
use crate::daemon::ask::{Answer, Ask};
use crate::mcp_access::attacks::CHALLENGE;

/// A tool that needs `mcp:invoke`, and tells how far it is.
const TOOL: &str = "test_scope";
/// Scopes of tokens that lack it.
const LACKING: [&str; 3] = ["mcp:read", "mcp:pair mcp:read", "mcp:read mcp:invoker"];
const ALLOWING: &str = "openid mcp:invoke mcp:read";

/// Every form in which an answer may be wanted.
const ACCEPTED: [&str; 3] =
    ["application/json, text/event-stream", "application/json", "text/event-stream"];

fn with_progress() -> Value {
    json!({"name": TOOL, "_meta": {"progressToken": "token"}})
}

fn accepting(ask: &Ask, accept: &str) -> Ask {
    ask.clone().without("Accept").header("Accept", accept)
}

/// Checks that a token is asked for that has both scopes.
fn assert_forbidden(answer: &Answer, id: Option<&Value>, sent: &str) {
    assert_refused(answer, 403, -32_600, id, sent);
    let both = CHALLENGE.replace("mcp:read", "mcp:read mcp:invoke");
    let wanted = format!("{both}, error=\"insufficient_scope\"");
    assert_eq!(answer.header("www-authenticate"), wanted, "{sent}");
    let message =
        "the token lacks the scope mcp:invoke, which this tool needs; get one that has it";
    assert_eq!(answer.json()["error"]["message"], message, "{sent}");
}

/// Calls the tool with tokens that lack the scope, and with one that has it. `ask` makes a call of parameters.
fn check(service: &Service, issuer: &Issuer, ask: impl Fn(Value) -> Ask) {
    let bearer = |scope: &str| issuer.bearer_with(&[("scope", scope)]);
    for scope in LACKING {
        let bearer = bearer(scope);
        for params in [json!({"name": TOOL}), with_progress()] {
            for accept in ACCEPTED {
                let ask = accepting(&ask(params.clone()), accept).header("Authorization", &bearer);
                // A token is remembered after its first use.
                for sent in ["first", "again"] {
                    let sent = format!("{scope} {params} {accept} {sent}");
                    assert_forbidden(&service.ask(&ask), Some(&json!(7)), &sent);
                }
            }
        }
        let other = ask(json!({"name": "service_status"})).header("Authorization", &bearer);
        assert_eq!(service.ask(&other).status, 200, "it needs no more than every call");
    }
    let bearer = bearer(ALLOWING);
    let told = service.open(&ask(with_progress()).header("Authorization", &bearer)).rest();
    let done: Vec<&Value> = told.iter().map(|it| &it["params"]["progress"]).collect();
    assert_eq!(done, [&json!(0), &json!(50), &json!(100), &Value::Null]);
    assert_eq!(
        (&told[3]["id"], &told[3]["result"]["content"][0]["text"]),
        (&json!(7), &json!("done"))
    );
}

#[test]
fn a_call_in_a_session_needs_the_scope_of_its_tool() {
    let (service, issuer) = Service::with_tokens(&[]);
    let begin = service.post(&initialize("2025-11-25"));
    let read = issuer.bearer_with(&[("scope", "mcp:read")]);
    let session = service.begin_as(begin.header("Authorization", &read));
    // The session outlives a token that allows less or more.
    check(&service, &issuer, |params| service.within(&session, &request(7, "tools/call", &params)));
    let counted = "svc_mcp_requests_total{era=\"legacy\",outcome=\"forbidden\"} 36";
    let metrics = service.daemon.metrics();
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn a_call_of_the_modern_era_needs_the_scope_of_its_tool() {
    let (service, issuer) = Service::with_tokens(&[("MCP_V2_EXPERIMENTAL", "true")]);
    check(&service, &issuer, |params| service.standalone(7, "tools/call", params));
}

#[test]
fn a_batch_needs_the_scopes_of_all_its_calls() {
    let (service, issuer) = Service::with_tokens(&[]);
    let [read, both] = ["mcp:read", ALLOWING].map(|scope| issuer.bearer_with(&[("scope", scope)]));
    let begin = service.post(&initialize("2025-03-26"));
    let session = service.begin_as(begin.header("Authorization", &read));
    // The call that is cancelled by the batch, if anything of that is done.
    let sampling = call(1, "test_sampling", &json!({"prompt": "x"}));
    let sampling = service.within(&session, &sampling).header("Authorization", &read);
    let mut under_way = service.open(&sampling);
    let question = under_way.message();
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let batch = json!([cancelled, request(2, "ping", &json!({})), call(3, TOOL, &json!({}))]);
    let batch = service.within(&session, &batch);
    let refused = service.ask(&batch.clone().header("Authorization", &read));
    assert_forbidden(&refused, None, "a batch");
    let result = json!({"content": {"type": "text", "text": "kept"}});
    let message = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    let message = service.within(&session, &message).header("Authorization", &read);
    assert_eq!(service.ask(&message).status, 202);
    assert_eq!(under_way.message()["result"]["content"][0]["text"], "LLM response: kept");
    let answer = service.ask(&batch.header("Authorization", &both));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let ids: Vec<Value> =
        answer.json().as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(ids, [json!(2), json!(3)]);
}

#[test]
fn without_tokens_every_tool_may_be_called() {
    let service = Service::modern(&[]);
    let session = service.begin("2025-11-25");
    for ask in [
        service.within(&session, &request(7, "tools/call", &with_progress())),
        service.standalone(7, "tools/call", with_progress()),
    ] {
        assert_eq!(service.open(&ask).rest().len(), 4);
    }
}
