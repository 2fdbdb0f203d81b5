//! Calls that reach no plugin: arguments that no action takes, tokens that do not allow it, faults of era and envelope.

use serde_json::{Value, json};
use svc::auth::access_token::Scope;
use svc::mcp::revision::MODERN;
use svc::mcp::{Caller, Reply, Status};
use svc::relay::action::DesignAction;

use super::fake_relay::{refusal, session};
use super::in_process::caller;
use super::relay_site::{ERAS, Era, Site};
use super::relay_tools::example;
use super::{enveloped, request};

fn step(action: &str, arguments: &Value) -> Value {
    json!({"action": action, "arguments": arguments})
}

/// A tool, arguments that it does not take, the place that the refusal names, and what is said to be allowed there.
type BadCall = (&'static str, Value, &'static str, &'static str);
/// The session, the headers and the parameters of a request.
type Fault<'a> = (Option<&'a str>, Vec<(&'a str, &'a str)>, &'a Value);

fn bad_calls() -> Vec<BadCall> {
    let deep: Value =
        serde_json::from_str(&format!("{}1{}", "[".repeat(20), "]".repeat(20))).unwrap();
    let one = "set_text";
    vec![
        (
            one,
            json!({"node": "0:1", "text": "t", "cafe": 1}),
            "the arguments",
            "no members but: node, session, text",
        ),
        (one, json!({"node": "0:1"}), "the arguments", "\"required\""),
        (one, json!({"node": "0:1", "text": "x".repeat(65_537)}), "/text", "\"maxLength\": 10000"),
        (one, json!({"node": deep, "text": "t"}), "/node", "\"anyOf\""),
        (
            one,
            json!({"node": {"step": 0}, "text": "t"}),
            "/node/step",
            "only the number of an earlier step",
        ),
        (one, json!({"node": "0:1", "text": "t", "session": "mine"}), "/session", "\"pattern\""),
        ("move_node", json!({"node": "0:1", "x": 1e99, "y": 0}), "/x", "\"maximum\": 1000000"),
        ("move_node", json!({"node": "0:1", "x": "NaN", "y": 0}), "/x", "\"type\": \"number\""),
        ("move_node", json!({"node": "0:1", "x": null, "y": 0}), "/x", "\"type\": \"number\""),
        (
            "resize_node",
            json!({"node": "0:1", "width": 0.0004, "height": 1}),
            "/width",
            "\"exclusiveMinimum\": 0",
        ),
    ]
}

fn bad_proposals() -> Vec<BadCall> {
    let text = |step: Value| json!({"parent": {"step": step}, "x": 0, "y": 0, "text": "t"});
    let frame = json!({"x": 0, "y": 0, "width": 1, "height": 1});
    let long = json!({"node": "0:1", "text": "x".repeat(10_000)});
    let steps = |steps: Vec<Value>| json!({"steps": steps});
    let many = "propose_design_steps";
    vec![
        (many, json!({}), "the arguments", "\"required\""),
        (many, steps(vec![]), "/steps", "\"minItems\": 1"),
        (many, steps(vec![step("get_selection", &json!({})); 21]), "/steps", "\"maxItems\": 20"),
        (many, steps(vec![step("run_code", &json!({}))]), "/steps/0/action", "\"enum\""),
        (many, steps(vec![json!({"action": "list_pages"})]), "/steps/0", "\"required\""),
        (
            many,
            steps(vec![step("list_pages", &json!({"session": "x"}))]),
            "/steps/0/arguments",
            "no members but: ",
        ),
        (
            many,
            steps(vec![step("create_frame", &frame), step("create_text", &text(json!(1)))]),
            "/steps/1/arguments: at /parent/step",
            "only the number of an earlier step",
        ),
        (
            many,
            steps(vec![step("create_text", &text(json!(1))), step("create_frame", &frame)]),
            "/steps/0/arguments: at /parent/step",
            "only the number of an earlier step",
        ),
        (
            many,
            steps(vec![step("create_text", &text(json!(-1)))]),
            "/steps/0/arguments/parent",
            "\"anyOf\"",
        ),
        (
            many,
            steps(vec![step("set_fill", &json!({"node": "0:1", "color": "red"}))]),
            "/steps/0/arguments/color",
            "\"pattern\"",
        ),
        (
            many,
            steps(vec![step("set_text", &long); 7]),
            "the arguments of a proposal",
            "at most 65536 bytes",
        ),
    ]
}

#[test]
fn arguments_that_no_action_takes_are_refused_by_their_place_and_nothing_is_proposed() {
    for era in ERAS {
        let site = Site::new();
        for (tool, arguments, place, allowed) in bad_calls().into_iter().chain(bad_proposals()) {
            let result = site.call(era, "me", tool, &arguments).result();
            assert_eq!(result["isError"], true, "{tool} {place}: {result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(place) && text.contains(allowed), "{tool} {place}: {text}");
            assert!(!text.contains("cafe") && text.len() < 1_200, "{text}");
        }
        assert_eq!((site.relay.proposed(), site.relay.asked()), (vec![], 0));
    }
}

#[test]
fn other_tools_refuse_arguments_that_they_do_not_take() {
    let id = "0199f3a0-0000-7000-8000-0000000000aa";
    for era in ERAS {
        let site = Site::new();
        for (tool, arguments, place) in [
            ("list_design_sessions", json!({"all": true}), "the arguments"),
            ("pair_design_session", json!({}), "the arguments"),
            ("pair_design_session", json!({"code": "x".repeat(33)}), "/code"),
            ("pair_design_session", json!({"code": 7}), "/code"),
            ("get_invocation", json!({"invocation": id.to_ascii_uppercase()}), "/invocation"),
            ("get_invocation", json!({"invocation": id, "wait": 56}), "/wait"),
            ("get_invocation", json!({"invocation": id, "wait": -1}), "/wait"),
            ("get_invocation", json!({"invocation": id, "wait": 0.5}), "/wait"),
            ("cancel_invocation", json!({"invocation": "1"}), "/invocation"),
        ] {
            let result = site.call(era, "me", tool, &arguments).result();
            assert_eq!(result["isError"], true, "{tool} {arguments}: {result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(place), "{tool}: {text}");
        }
        assert_eq!(site.relay.asked(), 0);
    }
}

#[test]
fn a_number_that_is_none_is_no_message_at_all() {
    let site = Site::new();
    let session = site.begin("me", "2025-11-25");
    for number in ["NaN", "Infinity", "-Infinity", "01", "1e", ".5"] {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"move_node","arguments":{{"node":"0:1","x":{number},"y":0}}}}}}"#
        );
        match site.server.send("me", Some(&session), &[], message.as_bytes()) {
            Reply::Ready(answer) => assert_eq!(answer.status, Status::BadRequest, "{number}"),
            _ => panic!("{number} was taken"),
        }
    }
    assert_eq!(site.relay.asked(), 0);
}

#[test]
fn with_several_sessions_and_none_named_the_refusal_lists_them() {
    let site = Site::new();
    let mut needed = refusal("session_needed");
    let ids = ["0199f3a0-0000-7000-8000-0000000000aa", "0199f3a0-0000-7000-8000-0000000000bb"];
    needed.sessions = vec![session(ids[0], "Login"), session(ids[1], "Home")];
    site.relay.refuse(needed);
    let result = site.call(Era::Modern, "me", "list_pages", &json!({})).result();
    assert_eq!(result["isError"], true);
    let listed = result["structuredContent"]["sessions"].as_array().unwrap();
    let told: Vec<&Value> = listed.iter().map(|it| &it["session"]).collect();
    assert_eq!(told, ids);
    assert_eq!(site.relay.proposed(), []);
}

#[test]
fn a_token_without_the_scope_of_the_tool_asks_for_nothing() {
    let others = [
        ("cancel_invocation", Scope::Invoke),
        ("get_invocation", Scope::Read),
        ("list_design_sessions", Scope::Read),
        ("pair_design_session", Scope::Pair),
        ("propose_design_steps", Scope::Invoke),
    ];
    let actions = DesignAction::ALL.iter().map(|it| (it.as_str(), it.scope()));
    for (tool, scope) in actions.chain(others) {
        let site = Site::new();
        let other = Scope::ALL.iter().copied().filter(|it| *it != scope).collect();
        let caller = Caller { scopes: other, ..caller("me") };
        let params = json!({"name": tool, "arguments": {}});
        let session = site.begin("me", "2025-11-25");
        let legacy = request(7, "tools/call", &params).to_string();
        let legacy = site.server.send_as(&caller, Some(&session), &[], legacy.as_bytes());
        let headers =
            [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)];
        let modern = request(7, "tools/call", &enveloped(params, &json!({}))).to_string();
        let modern = site.server.send_as(&caller, None, &headers, modern.as_bytes());
        for reply in [legacy, modern] {
            let Reply::Ready(answer) = reply else { panic!("{tool} was begun") };
            assert_eq!((answer.status, answer.scope), (Status::Forbidden, Some(scope)), "{tool}");
        }
        assert_eq!(site.relay.asked(), 0, "{tool}");
    }
}

/// Good calls of every action, each with one fault of its era or envelope.
#[test]
fn faults_of_era_and_envelope_reach_no_plugin() {
    let site = Site::new();
    let session = site.begin("me", "2025-11-25");
    let mut tried = 0;
    for action in DesignAction::ALL {
        let params = json!({"name": action.as_str(), "arguments": example(*action).0});
        let good = enveloped(params.clone(), &json!({}));
        let version = ("mcp-protocol-version", MODERN);
        let (method, name) = (("mcp-method", "tools/call"), ("mcp-name", action.as_str()));
        let mut future = good.clone();
        future["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2027-01-01".into();
        let mut poor = good.clone();
        poor["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        let faults: [Fault<'_>; 10] = [
            (None, vec![], &params),
            (Some("another"), vec![], &params),
            (Some(&session), vec![("mcp-protocol-version", "2025-06-18")], &params),
            (Some(&session), vec![version, method, name], &params),
            (None, vec![method, name], &good),
            (None, vec![version, name], &good),
            (None, vec![version, method], &good),
            (None, vec![version, method, ("mcp-name", "list_files")], &good),
            (None, vec![("mcp-protocol-version", "2027-01-01"), method, name], &future),
            (None, vec![version, method, name], &poor),
        ];
        for (session, headers, params) in faults {
            let message = request(7, "tools/call", params).to_string();
            match site.server.send("me", session, &headers, message.as_bytes()) {
                Reply::Ready(answer) => assert_ne!(answer.status, Status::Ok, "{headers:?}"),
                _ => panic!("{action} {headers:?} was begun"),
            }
            tried += 1;
        }
        let batch = json!([request(7, "tools/call", &params)]).to_string();
        for (session, headers) in [(Some(session.as_str()), vec![]), (None, vec![version])] {
            match site.server.send("me", session, &headers, batch.as_bytes()) {
                Reply::Ready(answer) => assert_ne!(answer.status, Status::Ok, "a batch"),
                _ => panic!("a batch was begun"),
            }
        }
    }
    assert_eq!((tried, site.relay.asked()), (140, 0));
}

#[test]
fn a_call_that_waits_is_not_part_of_a_batch() {
    let site = Site::new();
    let session = site.begin("me", "2025-03-26");
    let waiting = request(7, "tools/call", &json!({"name": "list_pages", "arguments": {}}));
    let other = json!({"name": "list_design_sessions", "arguments": {}});
    let batch = json!([waiting, request(8, "tools/call", &other)]).to_string();
    let Reply::Blocking(run) = site.server.send("me", Some(&session), &[], batch.as_bytes()) else {
        panic!("not answered together")
    };
    let answers: Value = serde_json::from_str(&run().message.unwrap()).unwrap();
    assert_eq!(answers[0]["error"]["code"], -32_600, "{answers}");
    assert_eq!(answers[1]["id"], 8);
    assert!(answers[1]["result"].is_object(), "{answers}");
    assert_eq!(site.relay.proposed(), []);
}
