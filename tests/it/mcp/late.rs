//! A call that only ends late: its answer is JSON, unless its client wants to know how far it is, or takes no JSON.

use serde_json::{Value, json};

use super::request;
use super::service::Service;
use crate::daemon::ask::Ask;

const BOTH: &str = "application/json, text/event-stream";

/// The same call in both eras, by a client that takes these forms.
fn calls(service: &Service, accept: &str, meta: &Value) -> [Ask; 2] {
    let params = json!({"name": "test_late", "arguments": {}, "_meta": meta});
    let session = service.begin("2025-06-18");
    let legacy = service.within(&session, &request(7, "tools/call", &params));
    let modern = service.standalone(7, "tools/call", params);
    [legacy, modern].map(|ask| ask.without("Accept").header("Accept", accept))
}

fn assert_done(message: &Value) {
    assert_eq!(message["id"], 7, "{message}");
    assert_eq!(message["result"]["content"][0]["text"], "done", "{message}");
}

#[test]
fn it_is_answered_with_json() {
    let service = Service::modern(&[]);
    for accept in [BOTH, "application/json", "*/*"] {
        for ask in calls(&service, accept, &json!({})) {
            let answer = service.ask(&ask);
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.header("content-type"), "application/json", "{accept}");
            assert_done(&answer.json());
        }
    }
    // One that takes no stream is not told how far it is.
    for ask in calls(&service, "application/json", &json!({"progressToken": 1})) {
        assert_done(&service.ask(&ask).json());
    }
}

#[test]
fn it_is_answered_with_events_where_the_client_wants_to_know_how_far_it_is() {
    let service = Service::modern(&[]);
    for token in [json!(1), json!("one")] {
        for ask in calls(&service, BOTH, &json!({"progressToken": token})) {
            let told = service.open(&ask).rest();
            assert_eq!(told.len(), 4, "{told:?}");
            for (message, progress) in told.iter().zip([0, 50, 100]) {
                let params = json!({
                    "progressToken": token, "progress": progress, "total": 100, "message": "working"
                });
                assert_eq!(message["params"], params);
            }
            assert_done(&told[3]);
        }
    }
}

#[test]
fn a_client_that_takes_events_alone_gets_one() {
    let service = Service::modern(&[]);
    for ask in calls(&service, "text/event-stream", &json!({})) {
        let told = service.open(&ask).rest();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_done(&told[0]);
    }
}
