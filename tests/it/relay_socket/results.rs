//! Results: for the grant in flight, of the session that was told, fitting what the action gives.

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::domain::relay::CardDecision;

use super::world::{World, approve, card, closed, confirm, ended, ready, settled};

/// Text that must stand in no log.
const MARK: &str = "a-text-of-the-document";

/// Sends something else as the value of each result.
fn answering(value: Value) -> svc::demo::plugin::Tamper {
    Box::new(move |mut frame| {
        if frame["type"] == "result" {
            frame["value"] = value.clone();
        }
        vec![frame]
    })
}

/// Approves the next card, whatever comes of it.
fn let_it(page: &mut Plugin) {
    let proposal = card(page);
    page.decide(proposal, CardDecision::Approved);
    ended(page);
}

#[test]
fn a_result_that_does_not_fit_has_failed_where_nothing_was_changed() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let good = json!({"nodes": [], "truncated": false});
    let mut more = good.clone();
    more["more"] = MARK.into();
    for (depth, value) in [json!({ "more": MARK }), json!(MARK), json!(null), json!([MARK]), more]
        .into_iter()
        .enumerate()
    {
        page.tamper = Some(answering(value.clone()));
        let invocation = agent.propose("find_nodes", &json!({ "limit": depth + 1 }));
        let_it(&mut page);
        let stands = agent.await_state(invocation, "failed");
        assert_eq!(
            (&stands["reason"], &stands["value"]),
            (&json!("bad_result"), &Value::Null),
            "{value}"
        );
        settled(&mut page);
    }
    page.tamper = Some(answering(good));
    let invocation = agent.propose("find_nodes", &json!({}));
    let_it(&mut page);
    agent.await_state(invocation, "succeeded");
    assert!(!world.has_logged(MARK), "a result was logged");
}

#[test]
fn a_result_that_does_not_fit_says_nothing_about_a_change() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.tamper = Some(answering(json!({ "node": Document::TITLE, "old": 7, "more": MARK })));
    let invocation = agent.propose_title("Sign in");
    let_it(&mut page);
    let stands = agent.await_state(invocation, "unknown");
    assert_eq!(stands["reason"], "bad_result", "{stands}");
    // The journal proves it later.
    page.tamper = None;
    page.connect().unwrap();
    ready(&mut page);
    let stands = agent.await_state(invocation, "succeeded");
    assert_eq!(
        (&stands["settledLate"], &stands["valueGone"]),
        (&json!(true), &json!(true)),
        "{stands}"
    );
    settled(&mut page);
    assert_eq!(page.host().times_of(invocation), 1);
    assert!(!world.has_logged(MARK), "a result was logged");
}

#[test]
fn a_result_that_is_too_large_has_failed_and_one_that_no_frame_may_be_closes() {
    let world = World::local(&[("SVC_RELAY_RESULT_BYTES", "65536")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let node = |bytes: usize| {
        json!({"node": {"id": "1:1", "name": "x", "kind": "text", "box": {"x": 0, "y": 0, "width": 1, "height": 1},
               "fill": null, "opacity": null, "text": MARK.repeat(bytes / MARK.len()), "children": []}, "truncated": false})
    };
    // What the operator does not want, what no read gives, and what is no value at all.
    let values = [node(100_000), node(256 << 10), json!("x".repeat(7 << 20))];
    for (depth, value) in values.into_iter().enumerate() {
        page.tamper = Some(answering(value));
        let arguments = json!({ "node": Document::FRAME, "depth": depth });
        let invocation = agent.propose("get_node", &arguments);
        let_it(&mut page);
        let stands = agent.await_state(invocation, "failed");
        assert_eq!(stands["reason"], "result_too_large", "{stands}");
        settled(&mut page);
    }
    page.tamper = Some(answering(node(30_000)));
    let invocation = agent.propose("get_node", &json!({ "node": Document::TITLE }));
    let_it(&mut page);
    agent.await_state(invocation, "succeeded");
    settled(&mut page);
    page.tamper = Some(answering(json!("x".repeat(8 << 20))));
    let invocation = agent.propose("get_node", &json!({ "node": Document::TITLE }));
    let_it(&mut page);
    assert_eq!(closed(&mut page).1, Some(4413));
    page.tamper = None;
    page.connect().unwrap();
    ready(&mut page);
    // It was carried out, and its journal says so; what it gave is lost.
    let stands = agent.await_state(invocation, "succeeded");
    assert_eq!(stands["valueGone"], true, "{stands}");
    assert!(!world.has_logged(MARK), "a result was logged");
}

#[test]
fn a_write_whose_result_is_too_large_says_nothing_about_the_change() {
    let world = World::local(&[("SVC_RELAY_RESULT_BYTES", "65536")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let old = "x".repeat(100_000);
    page.tamper = Some(answering(json!({ "node": Document::TITLE, "old": old })));
    let invocation = agent.propose_title("Sign in");
    let_it(&mut page);
    let stands = agent.await_state(invocation, "unknown");
    assert_eq!(stands["reason"], "result_too_large", "{stands}");
}

#[test]
fn an_image_may_be_as_large_as_results_are() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let bytes = "iVBORw0KGgoA".repeat(500_000);
    page.tamper = Some(answering(json!({ "mimeType": "image/png", "data": bytes })));
    let invocation = agent.propose("export_image", &json!({ "node": Document::FRAME }));
    let_it(&mut page);
    agent.await_state(invocation, "succeeded");
    let result = agent.call("get_invocation", &json!({ "invocation": invocation.to_string() }));
    let content = result["content"].as_array().unwrap();
    let image = content.iter().find(|item| item["type"] == "image").unwrap();
    assert_eq!(image["data"].as_str().unwrap().len(), bytes.len());
    assert_eq!(result["structuredContent"]["value"], json!({ "mimeType": "image/png" }));
}

#[test]
fn a_result_for_nothing_that_was_claimed_closes_the_socket() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    card(&mut page);
    let never = "0199f3a0-0000-7000-8000-00000000000a";
    page.send_value(
        &json!({"type": "result", "grant": never, "outcome": "succeeded", "value": {}}),
    );
    assert_eq!(closed(&mut page), (vec!["no_such_grant".to_owned()], Some(4400)));
    let state = agent.stands(invocation)["state"].clone();
    assert!(["proposed", "shown"].contains(&state.as_str().unwrap()), "{state}");
}

#[test]
fn a_result_for_another_session_s_grant_closes_the_socket() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    // Another file of the same profile, and so of the same person.
    let mut other = world.other_page(&page);
    other.open(Some("another file"), "another file", "a page");
    other.connect().unwrap();
    confirm(&mut other);
    let session = page.session().unwrap().to_string();
    let arguments = json!({ "node": Document::TITLE, "text": "Sign in", "session": session });
    let invocation = agent.propose("set_text", &arguments);
    // The page acts, and its answer is lost.
    page.tamper = Some(Box::new(|frame| match frame["type"] == "result" {
        true => Vec::new(),
        false => vec![frame],
    }));
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    let (grant, _, _) = ended(&mut page);
    let result =
        json!({"type": "result", "grant": grant, "outcome": "failed", "error": {"code": "no"}});
    other.send_value(&result);
    assert_eq!(closed(&mut other), (vec!["no_such_grant".to_owned()], Some(4400)));
    assert_eq!(agent.stands(invocation)["state"], "running");
    // The page comes back, and its journal says how it was.
    page.tamper = None;
    page.connect().unwrap();
    ready(&mut page);
    agent.await_state(invocation, "succeeded");
}

#[test]
fn a_result_that_was_settled_changes_nothing_any_more() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let grant = approve(&mut page);
    for result in [
        json!({"type": "result", "grant": grant, "outcome": "failed", "error": {"code": "no"}}),
        json!({"type": "result", "grant": grant, "outcome": "stale"}),
        json!({"type": "result", "grant": grant, "outcome": "succeeded", "value": {"node": "x", "old": "y"}}),
    ] {
        page.send_value(&result);
        assert_eq!(settled(&mut page), grant, "{result}");
        let stands = agent.stands(invocation);
        assert_eq!(stands["state"], "succeeded", "{result}");
        assert_eq!(stands["value"], json!({"node": Document::TITLE, "old": "Log in"}), "{result}");
    }
    let events = world.operator().audit();
    let of_it =
        events.iter().filter(|event| event["invocation"] == invocation.to_string().as_str());
    let words: Vec<&str> = of_it.map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        words,
        ["relay.proposed", "relay.shown", "relay.approved", "relay.claimed", "relay.settled"]
    );
}

#[test]
fn the_words_of_a_plugin_become_no_reason() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for (word, reason) in [("no_such_node", "no_such_node"), ("lease_lost", "plugin_failed")] {
        page.tamper = Some(Box::new(move |mut frame| {
            if frame["type"] == "result" {
                let message = MARK.to_owned();
                frame = json!({"type": "result", "grant": frame["grant"], "outcome": "failed",
                               "error": {"code": word, "message": message}});
            }
            vec![frame]
        }));
        let invocation = agent.propose_title(word);
        let_it(&mut page);
        let stands = agent.await_state(invocation, "failed");
        assert_eq!(stands["reason"], reason, "{stands}");
        assert!(!stands.to_string().contains(MARK), "{stands}");
    }
    assert!(!world.has_logged(MARK), "the words of a page were logged");
}
