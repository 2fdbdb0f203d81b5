//! Several steps on one card: each has a grant of its own, in order, and the first that does not succeed ends the rest.

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::domain::id::InvocationId;
use svc::domain::relay::CardDecision;
use svc::relay::frame::Outcome;

use super::world::{Agent, World, card, ended, settled, title};

/// Proposes steps; returns their invocations.
fn propose(agent: &Agent, steps: &[Value]) -> Vec<InvocationId> {
    let pending = agent.bad("propose_design_steps", &json!({ "steps": steps }));
    assert_eq!(pending["status"], "approval_pending", "{pending}");
    let of_step = |step: &Value| step["invocation"].as_str().unwrap().parse().unwrap();
    pending["steps"].as_array().unwrap().iter().map(of_step).collect()
}

fn rename(name: &str) -> Value {
    json!({ "action": "rename_node", "arguments": { "node": Document::RECTANGLE, "name": name } })
}

fn name(page: &Plugin) -> String {
    page.host().open().document.node(Document::RECTANGLE).unwrap().name.clone()
}

#[test]
fn twenty_steps_are_one_card_and_twenty_grants() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let steps: Vec<Value> = (0..20).map(|number| rename(&format!("name {number}"))).collect();
    let invocations = propose(&agent, &steps);
    let proposal = card(&mut page);
    assert_eq!(page.card(proposal).unwrap().lines.len(), 20);
    page.decide(proposal, CardDecision::Approved);
    let grants: Vec<_> = (0..20).map(|_| ended(&mut page)).collect();
    for (place, (grant, invocation, outcome)) in grants.iter().enumerate() {
        assert_eq!((*invocation, *outcome), (invocations[place], Outcome::Succeeded));
        assert_eq!(page.host().times(*grant), 1);
    }
    for invocation in &invocations {
        agent.await_state(*invocation, "succeeded");
    }
    assert_eq!(name(&page), "name 19");
    assert_eq!(page.host().open().effects.len(), 20);
    let approved = world.operator().audit();
    assert_eq!(approved.iter().filter(|it| it["event"] == "relay.claimed").count(), 20);
    // Each is one step to undo.
    assert!(page.host().open().document.undo());
    assert_eq!(name(&page), "name 18");
}

#[test]
fn a_failing_middle_step_ends_those_behind_it() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let steps: Vec<Value> = (0..20).map(|number| rename(&format!("name {number}"))).collect();
    let invocations = propose(&agent, &steps);
    let proposal = card(&mut page);
    page.tamper = Some(Box::new({
        let mut results = 0;
        move |frame| {
            results += u32::from(frame["type"] == "result");
            match results {
                11 if frame["type"] == "result" => vec![json!({
                    "type": "result", "grant": frame["grant"], "outcome": "failed", "error": {"code": "no"}
                })],
                _ => vec![frame],
            }
        }
    }));
    page.decide(proposal, CardDecision::Approved);
    for _ in 0..11 {
        ended(&mut page);
    }
    agent.await_state(invocations[10], "failed");
    for (place, invocation) in invocations.iter().enumerate() {
        let stands = agent.stands(*invocation);
        let (state, reason) = match place {
            0..10 => ("succeeded", json!(null)),
            10 => ("failed", json!("plugin_failed")),
            _ => ("cancelled", json!("step_failed")),
        };
        assert_eq!((&stands["state"], &stands["reason"]), (&json!(state), &reason), "{place}");
    }
    assert_eq!(page.host().open().effects.len(), 11);
}

#[test]
fn a_step_works_on_what_an_earlier_one_made() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let place = |more: Value| {
        let mut arguments = json!({ "x": 1, "y": 2.0005, "width": 30, "height": 40 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    let steps = [
        json!({ "action": "create_frame", "arguments": place(json!({})) }),
        json!({ "action": "create_rectangle", "arguments": place(json!({ "parent": { "step": 0 } })) }),
        json!({ "action": "set_fill", "arguments": { "node": { "step": 1 }, "color": "#00ff00" } }),
        json!({ "action": "delete_node", "arguments": { "node": { "step": 0 } } }),
    ];
    let invocations = propose(&agent, &steps);
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    for _ in 0..4 {
        ended(&mut page);
    }
    let deleted = agent.await_state(invocations[3], "succeeded");
    assert_eq!(deleted["value"]["deleted"], 2, "{deleted}");
    assert_eq!(page.host().open().document.len(), 3);
}

#[test]
fn what_is_taken_back_in_the_middle_goes_no_further() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let steps: Vec<Value> = (0..5).map(|number| rename(&format!("name {number}"))).collect();
    let invocations = propose(&agent, &steps);
    let proposal = card(&mut page);
    // The first result does not leave, so that the second step waits.
    let held = std::sync::Arc::new(std::sync::Mutex::new(None));
    page.tamper = Some(Box::new({
        let held = std::sync::Arc::clone(&held);
        move |frame| match frame["type"] == "result" {
            true => {
                *held.lock().unwrap() = Some(frame);
                Vec::new()
            }
            false => vec![frame],
        }
    }));
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    let too_late =
        agent.call("cancel_invocation", &json!({ "invocation": invocations[0].to_string() }));
    for invocation in &invocations[1..] {
        let stands = agent.await_state(*invocation, "cancelled");
        assert_eq!(stands["reason"], "cancelled_by_caller", "{stands} {too_late}");
    }
    assert_eq!(agent.stands(invocations[0])["state"], "running");
    page.tamper = None;
    let result = held.lock().unwrap().take().unwrap();
    page.send_value(&result);
    settled(&mut page);
    agent.await_state(invocations[0], "succeeded");
    assert_eq!((name(&page).as_str(), title(&page).as_str()), ("name 0", "Log in"));
}
