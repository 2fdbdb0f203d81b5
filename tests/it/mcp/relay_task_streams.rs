//! The end of tasks, as clients hear of it on their streams.

use serde_json::{Value, json};
use svc::mcp::relay::Ended;
use svc::mcp::revision::MODERN;
use svc::mcp::{Reply, Status};
use svc::relay::action::DesignAction;

use super::in_process::caller;
use super::relay_site::{Era, Sent, Site};
use super::relay_tools::example;
use super::{enveloped, request};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn takes_tasks() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// Calls a tool that is not decided in time; returns the id of its task.
fn task(site: &Site) -> String {
    let params = json!({"name": "set_text", "arguments": {"node": "0:1", "text": "t"}});
    let sent = site.call_with(Era::Modern, "me", params, &takes_tasks());
    site.relay.end(Ended::TimeOver);
    sent.result()["taskId"].as_str().unwrap().to_owned()
}

/// Opens a stream for tasks.
fn listen(site: &Site, who: &str, ids: &Value) -> Sent {
    let params = json!({"notifications": {"taskIds": ids}});
    site.standalone(who, "subscriptions/listen", params, &takes_tasks())
}

fn messages(sent: &Sent) -> Vec<Value> {
    let messages = sent.client.messages();
    messages.iter().map(|message| serde_json::from_str(message).unwrap()).collect()
}

/// Returns what is agreed to be heard on a stream.
fn agreed(sent: &Sent) -> Value {
    let first = messages(sent).remove(0);
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"][SUBSCRIPTION], 7);
    first["params"]["notifications"].clone()
}

#[test]
fn the_end_of_a_task_is_told_as_it_would_be_found() {
    let site = Site::new();
    let id = task(&site);
    let sent = listen(&site, "me", &json!([id]));
    assert_eq!(agreed(&sent), json!({"taskIds": [id]}));
    site.relay.look();
    assert_eq!(messages(&sent).len(), 1, "nothing has ended yet");
    site.relay.succeed(&example(DesignAction::SetText).1);
    site.relay.end(Ended::Settled);
    let mut told = messages(&sent).remove(1);
    assert_eq!(told["method"], "notifications/tasks");
    let params = told["params"].as_object_mut().unwrap();
    assert_eq!(params.remove("_meta").unwrap(), json!({SUBSCRIPTION: 7}));
    assert_eq!(params["status"], "completed");
    let found = site.standalone("me", "tasks/get", json!({"taskId": id}), &takes_tasks()).result();
    let found = found.as_object().unwrap().iter();
    let found = found.filter(|(name, _)| *name != "_meta" && *name != "resultType");
    assert_eq!(*params, found.map(|(name, value)| (name.clone(), value.clone())).collect());
    site.relay.end(Ended::Settled);
    assert_eq!(messages(&sent).len(), 2, "it is told once");
}

#[test]
fn only_tasks_of_the_caller_are_agreed_to_and_each_once() {
    let site = Site::new();
    let id = task(&site);
    let none = "0199f3a0-0000-7000-8000-ffffffffffff";
    for (who, ids, wanted) in [
        ("me", json!([id, none, id, 7, null]), json!({"taskIds": [id]})),
        ("bob", json!([id, none]), json!({})),
        ("me", json!([none]), json!({})),
        ("me", json!([]), json!({})),
        ("me", json!(id), json!({})),
    ] {
        let sent = listen(&site, who, &ids);
        assert_eq!(agreed(&sent), wanted, "{who} {ids}");
        assert_eq!(site.relay.waits().len(), wanted.as_object().unwrap().len(), "{who} {ids}");
        site.relay.end(Ended::Stopping);
        assert_eq!(messages(&sent).len(), 1, "a service that stops says nothing of them");
    }
}

#[test]
fn of_very_many_tasks_some_are_agreed_to() {
    let site = Site::new();
    let ids: Vec<String> = (0..20).map(|_| task(&site)).collect();
    let sent = listen(&site, "me", &json!(ids));
    assert_eq!(agreed(&sent)["taskIds"], json!(ids[..16]));
}

#[test]
fn a_client_that_does_not_take_tasks_is_told_what_is_missing() {
    let site = Site::new();
    let method = "subscriptions/listen";
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", method)];
    for (ids, is_refused) in [(json!(["x"]), true), (json!([]), true), (Value::Null, false)] {
        let params = json!({"notifications": {"taskIds": ids}});
        let message = request(7, method, &enveloped(params, &json!({}))).to_string();
        match site.server.send_as(&caller("me"), None, &headers, message.as_bytes()) {
            Reply::Ready(answer) => {
                assert!(is_refused, "{ids}");
                assert_eq!(answer.status, Status::BadRequest);
                let answer: Value = serde_json::from_str(&answer.message.unwrap()).unwrap();
                assert_eq!(answer["error"]["code"], -32_021);
                assert_eq!(answer["error"]["data"]["requiredCapabilities"], takes_tasks());
            }
            Reply::Stream(_) => assert!(!is_refused, "{ids}"),
            _ => panic!("neither refused nor a stream"),
        }
    }
}

#[test]
fn a_stream_that_its_client_has_closed_waits_for_nothing() {
    let site = Site::new();
    let sent = listen(&site, "me", &json!([task(&site)]));
    assert_eq!(site.relay.waits().len(), 1);
    sent.client.leave();
    site.relay.look();
    assert!(site.relay.waits().is_empty());
    assert_eq!(site.relay.cancelled(), [], "to hear no more of a task does not end it");
}
