//! Calls of the relay's tools as tasks, for clients of the modern era that take them.

use serde_json::{Value, json};
use svc::auth::access_token::Scope;
use svc::mcp::relay::Ended;
use svc::mcp::revision::MODERN;
use svc::mcp::{Caller, Reply, Status};
use svc::relay::action::DesignAction;

use super::fake_relay::refusal;
use super::in_process::caller;
use super::relay_site::{ERAS, Era, Sent, Site};
use super::relay_tools::{assert_fits, example};
use super::{enveloped, request};

const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn takes_tasks() -> Value {
    json!({"extensions": {EXTENSION: {}}})
}

/// Calls a tool as a client that takes tasks.
fn call(site: &Site, era: Era, tool: &str, arguments: &Value) -> Sent {
    let params = json!({"name": tool, "arguments": arguments});
    site.call_with(era, "me", params, &takes_tasks())
}

/// Calls a tool that is not decided in time; returns the id of its task.
fn task(site: &Site, tool: &str, arguments: &Value) -> String {
    let sent = call(site, Era::Modern, tool, arguments);
    site.relay.end(Ended::TimeOver);
    let result = sent.result();
    assert_eq!(result["resultType"], "task", "{result}");
    result["taskId"].as_str().unwrap().to_owned()
}

/// Sends a request about a task.
fn ask(site: &Site, who: &str, method: &str, id: &str) -> Value {
    let mut params = json!({"taskId": id});
    if method == "tasks/update" {
        params["inputResponses"] = json!({"cafe": {"action": "accept"}});
    }
    site.standalone(who, method, params, &takes_tasks()).answer()
}

fn get(site: &Site, id: &str) -> Value {
    let answer = ask(site, "me", "tasks/get", id);
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete", "{answer}");
    assert_eq!(result["taskId"], id);
    result.clone()
}

fn text() -> Value {
    json!({"node": "0:1", "text": "t"})
}

fn steps() -> Value {
    json!({"steps": [
        {"action": "set_text", "arguments": text()}, {"action": "set_text", "arguments": text()}
    ]})
}

#[test]
fn the_extension_is_offered() {
    let site = Site::new();
    let found = site.standalone("me", "server/discover", json!({}), &json!({})).result();
    assert_eq!(found["capabilities"]["extensions"], json!({EXTENSION: {}}));
    assert_eq!(found["capabilities"].get("tasks"), None);
}

#[test]
fn a_call_that_is_not_decided_in_time_becomes_a_task_that_is_durable() {
    for (tool, arguments) in [("set_text", text()), ("propose_design_steps", steps())] {
        for state in ["proposed", "shown", "approved", "running"] {
            let site = Site::new();
            let sent = call(&site, Era::Modern, tool, &arguments);
            site.relay.set(state);
            site.relay.end(Ended::TimeOver);
            let created = sent.result();
            assert_eq!([&created["resultType"], &created["status"]], ["task", "working"]);
            assert_eq!(created["createdAt"], "2026-09-21T14:13:20.000000Z", "{created}");
            assert_eq!(created["lastUpdatedAt"], "2026-09-21T14:13:21.000000Z");
            assert_eq!(created["ttlMs"], 900_000, "five minutes to decide, and ten to look it up");
            assert_eq!(created["pollIntervalMs"], 2_000);
            let message = created["statusMessage"].as_str().unwrap();
            let is_open = ["proposed", "shown"].contains(&state);
            assert_eq!(message.contains("A person must decide"), is_open, "{message}");
            for absent in ["result", "error", "inputRequests", "task", "requestState"] {
                assert_eq!(created.get(absent), None, "{created}");
            }
            let mut found = get(&site, created["taskId"].as_str().unwrap());
            found["resultType"] = "task".into();
            assert_eq!(found, created);
        }
    }
}

#[test]
fn only_a_client_that_takes_tasks_and_waits_gets_one() {
    let pending = |sent: &Sent| sent.result()["structuredContent"]["status"].clone();
    for (era, can) in [
        (Era::Modern, json!({})),
        (Era::Modern, json!({"extensions": {}})),
        (Era::Modern, json!({"extensions": {EXTENSION: true}})),
        (Era::Modern, json!({"tasks": {}})),
        // It cannot declare anything with a request.
        (ERAS[0], json!({})),
    ] {
        let site = Site::new();
        let params = json!({"name": "set_text", "arguments": text()});
        let sent = site.call_with(era, "me", params, &can);
        site.relay.end(Ended::TimeOver);
        assert_eq!(pending(&sent), "approval_pending", "{era:?} {can}");
    }
    let site = Site::new();
    let sent = call(&site, Era::Modern, "set_text", &text());
    site.relay.succeed(&example(DesignAction::SetText).1);
    site.relay.end(Ended::Settled);
    assert_eq!(sent.result()["resultType"], "complete", "it was decided in time");
    // What only looks is no task.
    let id = task(&site, "set_text", &text());
    let sent = call(&site, Era::Modern, "get_invocation", &json!({"invocation": id, "wait": 5}));
    site.relay.end(Ended::TimeOver);
    assert_eq!(pending(&sent), "approval_pending");
}

#[test]
fn a_task_ends_as_its_invocation_does() {
    for (state, status) in [
        ("proposed", "working"),
        ("shown", "working"),
        ("approved", "working"),
        ("running", "working"),
        ("succeeded", "completed"),
        ("failed", "completed"),
        ("stale", "completed"),
        ("denied", "completed"),
        ("expired", "completed"),
        ("unknown", "completed"),
        ("cancelled", "cancelled"),
    ] {
        for (tool, arguments) in [("set_text", text()), ("propose_design_steps", steps())] {
            let site = Site::new();
            let id = task(&site, tool, &arguments);
            match state {
                "succeeded" => site.relay.succeed(&example(DesignAction::SetText).1),
                _ => site.relay.set(state),
            }
            let found = get(&site, &id);
            assert_eq!(found["status"], status, "{state}");
            assert_eq!(found.get("error"), None);
            let is_completed = status == "completed";
            assert_eq!(found.get("result").is_some(), is_completed, "{found}");
            assert_eq!(found.get("statusMessage").is_some(), !is_completed, "{found}");
            if is_completed {
                let result = &found["result"];
                assert_fits(&site, tool, result);
                assert_eq!(result.get("isError").is_some(), state != "succeeded", "{found}");
                assert_eq!(result["resultType"], "complete");
            }
        }
    }
}

#[test]
fn a_proposal_is_worked_on_until_its_last_step_has_ended() {
    let site = Site::new();
    let id = task(&site, "propose_design_steps", &steps());
    let set = |states: [&'static str; 2]| {
        site.relay.change(|step| step.state = states[usize::from(step.step > 0)].into());
        get(&site, &id)["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(set(["succeeded", "running"]), "working");
    assert_eq!(set(["succeeded", "cancelled"]), "completed");
    assert_eq!(set(["stale", "cancelled"]), "completed");
    assert_eq!(set(["cancelled", "cancelled"]), "cancelled");
}

#[test]
fn ending_a_task_takes_back_what_has_not_begun_and_is_acknowledged_whatever_it_finds() {
    for (tool, arguments) in [("set_text", text()), ("propose_design_steps", steps())] {
        for (state, left) in [
            ("proposed", "cancelled"),
            ("shown", "cancelled"),
            ("running", "working"),
            ("succeeded", "completed"),
            ("cancelled", "cancelled"),
        ] {
            let site = Site::new();
            let id = task(&site, tool, &arguments);
            site.relay.set(state);
            for _ in 0..2 {
                let acknowledged = ask(&site, "me", "tasks/cancel", &id);
                let result = acknowledged["result"].as_object().unwrap();
                let names: Vec<&String> = result.keys().filter(|it| *it != "_meta").collect();
                assert_eq!(names, ["resultType"], "{acknowledged}");
                assert_eq!(result["resultType"], "complete");
            }
            assert_eq!(get(&site, &id)["status"], left, "{tool} {state}");
        }
    }
}

#[test]
fn a_person_decides_in_the_plugin_and_no_answer_of_a_client_does() {
    let site = Site::new();
    let id = task(&site, "set_text", &text());
    let acknowledged = ask(&site, "me", "tasks/update", &id);
    assert_eq!(acknowledged["result"]["resultType"], "complete");
    assert_eq!(get(&site, &id)["status"], "working");
    assert_eq!(site.relay.proposed().len(), 1);
}

#[test]
fn a_task_of_another_subject_is_one_that_does_not_exist() {
    for (tool, arguments) in [("set_text", text()), ("propose_design_steps", steps())] {
        let site = Site::new();
        let own = task(&site, tool, &arguments);
        for method in METHODS {
            let foreign = ask(&site, "bob", method, &own);
            assert_eq!(foreign["error"]["code"], -32_602, "{method}: {foreign}");
            for unknown in ["0199f3a0-0000-7000-8000-ffffffffffff", "x", &"x".repeat(5_000)] {
                assert_eq!(foreign, ask(&site, "bob", method, unknown), "{method} {unknown}");
            }
        }
        assert_eq!(site.relay.cancelled(), []);
        assert_eq!(get(&site, &own)["status"], "working");
    }
}

#[test]
fn a_relay_that_cannot_answer_says_nothing_of_whether_there_is_a_task() {
    let site = Site::new();
    let id = task(&site, "set_text", &text());
    site.relay.refuse(refusal("unavailable"));
    for method in METHODS {
        for id in [&id, "0199f3a0-0000-7000-8000-ffffffffffff"] {
            let answer = ask(&site, "me", method, id);
            assert_eq!(answer["error"]["code"], -32_603, "{answer}");
            assert_eq!(answer["error"]["message"], refusal("unavailable").message);
        }
    }
}

/// Sends a request of the modern era that is answered before anything is asked.
fn refused(
    site: &Site,
    caller: &Caller,
    headers: &[(&str, &str)],
    method: &str,
    params: Value,
) -> (Status, Value) {
    let headers: Vec<(&str, &str)> =
        [("mcp-protocol-version", MODERN)].into_iter().chain(headers.iter().copied()).collect();
    let message = request(7, method, &params).to_string();
    match site.server.send_as(caller, None, &headers, message.as_bytes()) {
        Reply::Ready(answer) => {
            let message: Value = serde_json::from_str(&answer.message.unwrap()).unwrap();
            assert_eq!(message["id"], 7);
            (answer.status, message["error"].clone())
        }
        _ => panic!("{method} was taken"),
    }
}

#[test]
fn requests_about_tasks_are_held_to_the_rules_of_their_era() {
    let site = Site::new();
    let id = task(&site, "set_text", &text());
    let before = site.relay.asked();
    let me = caller("me");
    for method in METHODS {
        let mut params = json!({"taskId": id});
        if method == "tasks/update" {
            params["inputResponses"] = json!({});
        }
        let good = enveloped(params.clone(), &takes_tasks());
        let (named, id) = (("mcp-method", method), ("mcp-name", id.as_str()));
        for headers in [
            &[named][..],
            &[named, ("mcp-name", "another")],
            &[id],
            &[("mcp-method", "tools/call"), id],
        ] {
            let (status, error) = refused(&site, &me, headers, method, good.clone());
            let wanted = (Status::BadRequest, json!(-32_020));
            assert_eq!((status, error["code"].clone()), wanted, "{method} {headers:?}");
        }
        let poor = enveloped(params, &json!({"elicitation": {}}));
        let (status, error) = refused(&site, &me, &[named, id], method, poor);
        assert_eq!((status, &error["code"]), (Status::BadRequest, &json!(-32_021)));
        assert_eq!(error["data"]["requiredCapabilities"], takes_tasks());
        for (params, name) in [
            (json!({}), None),
            (json!({"taskId": 7}), None),
            (json!({"taskId": null}), None),
            (json!({"taskId": "x", "inputResponses": []}), Some("x")),
            (json!({"taskId": "x"}), Some("x")),
        ] {
            // Only an update has answers.
            if name.is_some() && method != "tasks/update" {
                continue;
            }
            let headers: Vec<(&str, &str)> =
                [named].into_iter().chain(name.map(|name| ("mcp-name", name))).collect();
            let params = enveloped(params, &takes_tasks());
            let (status, error) = refused(&site, &me, &headers, method, params);
            assert_eq!((status, &error["code"]), (Status::Ok, &json!(-32_602)), "{error}");
        }
    }
    for method in ["tasks/list", "tasks/result"] {
        let params = enveloped(json!({"taskId": id}), &takes_tasks());
        let (status, error) = refused(&site, &me, &[("mcp-method", method)], method, params);
        assert_eq!((status, &error["code"]), (Status::NotFound, &json!(-32_601)), "{method}");
    }
    assert_eq!(site.relay.asked(), before);
}

#[test]
fn ending_a_task_needs_the_scope_of_taking_back() {
    let site = Site::new();
    let id = task(&site, "set_text", &text());
    let poor = Caller { scopes: vec![Scope::Read], ..caller("me") };
    let headers =
        [("mcp-protocol-version", MODERN), ("mcp-method", "tasks/cancel"), ("mcp-name", &id)];
    let params = enveloped(json!({"taskId": id}), &takes_tasks());
    let message = request(7, "tasks/cancel", &params).to_string();
    let Reply::Ready(answer) = site.server.send_as(&poor, None, &headers, message.as_bytes())
    else {
        panic!("it was taken")
    };
    assert_eq!((answer.status, answer.scope), (Status::Forbidden, Some(Scope::Invoke)));
    assert_eq!(get(&site, &id)["status"], "working");
}

#[test]
fn the_legacy_era_has_no_tasks() {
    let site = Site::new();
    let id = task(&site, "set_text", &text());
    let session = site.begin("me", "2025-11-25");
    for method in METHODS.into_iter().chain(["tasks/list", "tasks/result"]) {
        let message = request(7, method, &json!({"taskId": id})).to_string();
        match site.server.send("me", Some(&session), &[], message.as_bytes()) {
            Reply::Ready(answer) => {
                assert!(answer.message.unwrap().contains("-32601"), "{method}");
            }
            _ => panic!("{method} was taken"),
        }
    }
}

#[test]
fn a_client_that_has_its_task_may_go() {
    let site = Site::new();
    let sent = call(&site, Era::Modern, "set_text", &text());
    site.relay.end(Ended::TimeOver);
    let id = sent.result()["taskId"].as_str().unwrap().to_owned();
    sent.client.leave();
    drop(sent);
    site.relay.look();
    assert_eq!(site.relay.cancelled(), []);
    assert_eq!(get(&site, &id)["status"], "working");
}
