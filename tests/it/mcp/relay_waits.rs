//! How a call waits for a person, and what becomes of it when its client goes.

use std::time::Duration;

use serde_json::{Value, json};
use svc::mcp::relay::Ended;
use svc::relay::action::DesignAction;

use super::relay_site::{ERAS, Era, Site};
use super::relay_tools::{assert_fits, example};

#[test]
fn a_call_waits_for_a_person_without_a_thread_and_says_so_where_it_is_asked_to() {
    let progress = |site: &Site, era, session: Option<&str>| {
        let params = json!({
            "name": "get_node", "arguments": {"node": "0:1"}, "_meta": {"progressToken": "p"}
        });
        match session {
            Some(session) => site.within("me", session, params),
            None => site.call_with(era, "me", params, &json!({})),
        }
    };
    for era in [Era::Legacy("2024-11-05"), Era::Legacy("2025-03-26"), ERAS[0], ERAS[1]] {
        let site = Site::new();
        let sent = progress(&site, era, None);
        assert!(!sent.is_late, "a client that wants to know how far it is takes a stream");
        for _ in 0..11 {
            site.relay.look();
        }
        let told: Vec<Value> = sent
            .client
            .messages()
            .iter()
            .map(|it| serde_json::from_str::<Value>(it).unwrap()["params"].clone())
            .collect();
        let numbers: Vec<&Value> = told.iter().map(|it| &it["progress"]).collect();
        assert_eq!(numbers, [0, 5, 10], "{told:?}");
        for one in told {
            assert_eq!(one["progressToken"], "p");
            let message = json!("waiting for a person in Penpot: Login");
            let is_told = era != Era::Legacy("2024-11-05");
            assert_eq!(one.get("message"), is_told.then_some(&message), "{era:?}");
        }
        site.relay.end(Ended::TimeOver);
        assert!(sent.is_answered());
    }
}

#[test]
fn a_client_of_the_modern_era_that_goes_takes_back_what_has_not_begun() {
    for (how, is_taken_back) in [(Ended::TimeOver, true), (Ended::Stopping, false)] {
        let site = Site::new();
        let sent = site.call(Era::Modern, "me", "set_text", &json!({"node": "0:1", "text": "t"}));
        sent.client.leave();
        match how {
            Ended::TimeOver => site.relay.look(),
            _ => site.relay.end(how),
        }
        assert!(site.relay.waits().is_empty());
        assert_eq!(site.relay.cancelled().len(), usize::from(is_taken_back));
        assert!(!sent.is_answered());
    }
}

#[test]
fn what_a_client_of_the_legacy_era_has_proposed_goes_on_without_it() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let site = Site::new();
        let sent = site.call(
            Era::Legacy(revision),
            "me",
            "set_text",
            &json!({"node": "0:1", "text": "t"}),
        );
        sent.client.leave();
        site.relay.look();
        site.relay.end(Ended::TimeOver);
        assert_eq!(site.relay.cancelled(), [], "{revision}");
        let id = site.relay.last();
        let found = site.call(ERAS[0], "me", "get_invocation", &json!({"invocation": id}));
        assert_eq!(found.result()["structuredContent"]["state"], "proposed");
    }
}

#[test]
fn a_request_that_a_client_of_the_legacy_era_cancels_is_taken_back() {
    let site = Site::new();
    let session = site.begin("me", "2025-11-25");
    let params = json!({"name": "set_text", "arguments": {"node": "0:1", "text": "t"}});
    let sent = site.within("me", &session, params);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    drop(site.server.send("me", Some(&session), &[], cancelled.to_string().as_bytes()));
    site.relay.look();
    assert_eq!(site.relay.cancelled().len(), 1);
    assert!(!sent.is_answered());
}

#[test]
fn looking_an_invocation_up_waits_only_if_it_is_asked_to_and_takes_nothing_back() {
    for era in ERAS {
        let site = Site::new();
        drop(site.call(era, "me", "list_pages", &json!({})));
        let id = site.relay.last();
        for (wait, wanted) in [(json!(0), 0), (json!(7), 7), (json!(55), 20), (Value::Null, 0)] {
            site.relay.end(Ended::TimeOver);
            let mut arguments = json!({"invocation": id, "wait": wait});
            if wait.is_null() {
                arguments.as_object_mut().unwrap().remove("wait");
            }
            let sent = site.call(era, "me", "get_invocation", &arguments);
            let waits: Vec<u64> = site.relay.waits().iter().map(Duration::as_secs).collect();
            let waited: Vec<u64> = [wanted].into_iter().filter(|it| *it > 0).collect();
            assert_eq!((waits, sent.is_answered()), (waited, wanted == 0), "{wait}");
            sent.client.leave();
            site.relay.look();
        }
        assert_eq!(site.relay.cancelled(), []);
        site.relay.succeed(&example(DesignAction::ListPages).1);
        let sent = site.call(era, "me", "get_invocation", &json!({"invocation": id, "wait": 9}));
        let result = sent.result();
        assert_eq!(result.get("isError"), None);
        assert_fits(&site, "get_invocation", &result);
    }
}
