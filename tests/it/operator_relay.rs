//! What operators see of the relay, and what they can end. Metadata alone; and there is no way to approve.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::crypto::sha256;
use svc::domain::digest::Digest;
use svc::domain::id::{InvocationId, ProposalId, RelaySessionId};
use svc::domain::relay::allowance::Length;
use svc::domain::relay::invocation::Report;
use svc::domain::relay::{ActionEffect, RelayReason};
use svc::http::message::Surface;
use svc::runtime::clock::Clock as _;
use svc::store::relay::{Effects, NewAllowance};

use crate::support::World;
use crate::support::relay::{APPROVAL, CLIENT, KEPT, Plugin, Relay, SUBJECT, proof};
use crate::support::world::{ACTOR, bytes, json as body, outcome};

const BASE: &str = "/api/v1/operator/relay";
const ABSENT: &str = "0199f3a0-0000-7000-8000-00000000000a";
const LISTS: [(&str, &str); 4] = [
    ("sessions", "session"),
    ("devices", "device"),
    ("invocations", "invocation"),
    ("audit-events", "seq"),
];

fn get(world: &World, rest: &str) -> Value {
    let answer = world.operate(Method::GET, &format!("{BASE}/{rest}"), &[]);
    assert_eq!(answer.status, 200, "{rest}: {:?}", body(&answer));
    assert!(!String::from_utf8_lossy(bytes(&answer)).contains("canary"), "{rest}");
    body(&answer)
}

/// Sends a request; returns the status, and the outcome if there is a body.
fn ask(world: &World, method: Method, rest: &str) -> (u16, Value) {
    let answer = world.operate(method, &format!("{BASE}/{rest}"), &[]);
    let is_empty = bytes(&answer).is_empty();
    let said = if is_empty { Value::Null } else { body(&answer)["outcome"].clone() };
    (answer.status.as_u16(), said)
}

/// Returns a service and what has its plugins; the relay itself is off.
fn world() -> (World, Relay) {
    let world = World::new();
    let relay = Relay::new(&world.store, &world.clock);
    (world, relay)
}

fn plugin(relay: &Relay, number: u8) -> Plugin {
    relay.pair(number, SUBJECT, number)
}

/// Proposes one step.
fn propose(relay: &Relay, plugin: &Plugin, call: u8) -> (ProposalId, InvocationId) {
    let (proposal, steps) = relay.propose(plugin, &[ActionEffect::Write], call);
    (proposal, steps[0])
}

fn names(page: &Value, name: &str) -> Vec<String> {
    let name = |item: &Value| item[name].to_string().trim_matches('"').to_owned();
    page["items"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn lists_have_metadata_and_each_item_is_shown_alone() {
    let (world, relay) = world();
    let plugin = plugin(&relay, 1);
    let (invocation, _) = relay.run(&plugin, ActionEffect::Write, 1);
    for (list, name) in LISTS {
        let page = get(&world, list);
        assert_eq!(page["nextBefore"], Value::Null);
        let items = page["items"].as_array().unwrap();
        assert!(!items.is_empty(), "{list}");
        for (item, id) in items.iter().zip(names(&page, name)) {
            assert_eq!(&get(&world, &format!("{list}/{id}")), item, "{list}");
            assert_eq!(item["subject"], SUBJECT, "{list}");
        }
    }
    let session = &get(&world, "sessions")["items"][0];
    assert_eq!((&session["state"], &session["tool"]), (&json!("connected"), &json!("penpot")));
    assert_eq!(session["device"], plugin.device.to_string());
    let shown = get(&world, &format!("invocations/{invocation}"));
    assert_eq!((&shown["state"], &shown["action"]), (&json!("running"), &json!("set_text")));
    assert_eq!((&shown["client"], &shown["decidedBy"]), (&json!(CLIENT), &json!("person")));
    let events = names(&get(&world, "audit-events"), "event");
    assert_eq!(events.last().unwrap(), "relay.device_paired");
    assert_eq!(events.first().unwrap(), "relay.claimed");
}

#[test]
fn pages_neither_skip_nor_repeat() {
    let (world, relay) = world();
    for number in 1..=7 {
        let plugin = plugin(&relay, number);
        propose(&relay, &plugin, number);
    }
    for (list, name) in LISTS {
        let whole = names(&get(&world, &format!("{list}?limit=100")), name);
        assert!(whole.len() >= 7, "{list}");
        for limit in [1, 3, 7, 8] {
            let (mut seen, mut before) = (Vec::new(), String::new());
            loop {
                let page = get(&world, &format!("{list}?limit={limit}{before}"));
                seen.extend(names(&page, name));
                assert!(seen.len() <= whole.len(), "{list}: a page comes again");
                let Some(next) = page["nextBefore"].as_str() else { break };
                before = format!("&before={next}");
            }
            assert_eq!(seen, whole, "{list} by {limit}");
        }
    }
}

#[test]
fn what_cannot_be_understood_or_is_not_there_is_said_so() {
    let (world, relay) = world();
    plugin(&relay, 1);
    for (list, _) in LISTS {
        for query in ["limit=0", "limit=101", "before=x", "before=", "limit=1&limit=1", "status=x"]
        {
            let answer = ask(&world, Method::GET, &format!("{list}?{query}"));
            assert_eq!(answer, (400, json!("invalid_request")), "{list}?{query}");
        }
        let unknown = if list == "audit-events" { "999" } else { ABSENT };
        let answer = ask(&world, Method::GET, &format!("{list}?before={unknown}"));
        assert_eq!(answer, (400, json!("invalid_request")), "{list}");
        for id in [unknown, "x", "%20", "0"] {
            let answer = ask(&world, Method::GET, &format!("{list}/{id}"));
            assert_eq!(answer, (404, json!("not_found")), "{list}/{id}");
        }
    }
    for (method, rest) in [
        (Method::DELETE, format!("sessions/{ABSENT}")),
        (Method::DELETE, format!("devices/{ABSENT}")),
        (Method::POST, format!("invocations/{ABSENT}/deny")),
        (Method::DELETE, "sessions/x".to_owned()),
    ] {
        assert_eq!(ask(&world, method, &rest), (404, json!("not_found")), "{rest}");
    }
    for (method, rest) in [
        (Method::DELETE, "invocations/1"),
        (Method::DELETE, "audit-events/1"),
        (Method::POST, "sessions"),
        (Method::PUT, "devices/1"),
        (Method::POST, "audit-events/verify"),
    ] {
        assert_eq!(ask(&world, method, rest), (405, json!("method_not_allowed")), "{rest}");
    }
    // An operator is not the person.
    let approve = format!("invocations/{ABSENT}/approve");
    assert_eq!(ask(&world, Method::POST, &approve), (404, json!("not_found")));
}

#[test]
fn without_the_token_there_is_one_answer_and_on_the_public_surface_no_route() {
    let world = World::new();
    for rest in ["sessions", "devices/1", "invocations/1/deny", "audit-events/verify", "nothing"] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let target = format!("{BASE}/{rest}");
            let headers = [("host", "localhost")];
            let send = |surface| {
                let answer = world.send(surface, method.clone(), &target, &headers, Vec::new());
                outcome(&answer)
            };
            assert_eq!(send(Surface::Control), (401, "unauthenticated".to_owned()), "{target}");
            assert_eq!(send(Surface::Public).0, 404, "{target}");
        }
    }
}

#[test]
fn the_status_counts_what_is_open_and_says_that_the_relay_is_off() {
    let (world, relay) = world();
    let status = || {
        let answer = world.operate(Method::GET, BASE, &[]);
        assert_eq!(answer.status, 200);
        body(&answer)
    };
    let counts = |connected: u32, waiting: u32, running: u32| {
        json!({
            "enabled": false,
            "sessionsConnected": connected,
            "sessionsSuspended": 0,
            "sessionsAway": 0,
            "proposalsWaiting": waiting,
            "invocationsRunning": running,
        })
    };
    assert_eq!(status(), counts(0, 0, 0));
    let (first, second) = (plugin(&relay, 1), plugin(&relay, 2));
    let (proposal, _) = propose(&relay, &first, 1);
    propose(&relay, &first, 2);
    assert_eq!(status(), counts(2, 2, 0));
    relay.approve(&first, proposal);
    assert_eq!(status(), counts(2, 1, 1));
    ask(&world, Method::DELETE, &format!("sessions/{}", second.held.session));
    assert_eq!(status(), counts(1, 1, 1));
}

#[test]
fn a_session_ends_once_and_what_waited_in_it_is_cancelled() {
    let (world, relay) = world();
    let plugin = plugin(&relay, 1);
    let (_, invocation) = propose(&relay, &plugin, 1);
    let session: RelaySessionId = plugin.held.session;
    let rest = format!("sessions/{session}");
    for _ in 0..2 {
        assert_eq!(ask(&world, Method::DELETE, &rest), (204, Value::Null));
    }
    assert_eq!(get(&world, &rest)["state"], "ended");
    let invocation = get(&world, &format!("invocations/{invocation}"));
    assert_eq!(
        (&invocation["state"], &invocation["reason"]),
        (&json!("cancelled"), &json!("revoked"))
    );
    let events = get(&world, "audit-events");
    let ended: Vec<&Value> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["event"] == "relay.session_ended")
        .collect();
    assert_eq!(ended.len(), 1, "ending it again is nothing new");
    assert_eq!((&ended[0]["actor"], &ended[0]["decidedBy"]), (&json!(ACTOR), &json!("operator")));
}

#[test]
fn a_device_is_revoked_once_with_its_sessions() {
    let (world, relay) = world();
    let (mine, other) = (plugin(&relay, 1), plugin(&relay, 2));
    let rest = format!("devices/{}", mine.device);
    for _ in 0..2 {
        assert_eq!(ask(&world, Method::DELETE, &rest), (204, Value::Null));
    }
    let device = get(&world, &rest);
    assert_eq!(device["state"], "revoked");
    assert!(device["revokedAt"].is_string());
    assert_eq!(get(&world, &format!("sessions/{}", mine.held.session))["state"], "ended");
    assert_eq!(get(&world, &format!("sessions/{}", other.held.session))["state"], "connected");
    assert_eq!(get(&world, &format!("devices/{}", other.device))["state"], "active");
}

#[test]
fn what_has_not_begun_can_be_denied_and_what_runs_cannot() {
    let (world, relay) = world();
    let plugin = plugin(&relay, 1);
    let (_, waiting) = propose(&relay, &plugin, 1);
    let deny = |rest: &str| {
        let answer = world.operate(Method::POST, &format!("{BASE}/invocations/{rest}/deny"), &[]);
        (answer.status.as_u16(), body(&answer))
    };
    for _ in 0..2 {
        let (status, denied) = deny(&waiting.to_string());
        assert_eq!((status, &denied["state"]), (200, &json!("cancelled")));
        assert_eq!(denied["reason"], "denied_by_operator");
        assert_eq!(denied, get(&world, &format!("invocations/{waiting}")));
    }
    let (running, _) = relay.run(&plugin, ActionEffect::Write, 2);
    let (status, refused) = deny(&running.to_string());
    assert_eq!((status, &refused["outcome"]), (409, &json!("too_late")));
    assert_eq!(get(&world, &format!("invocations/{running}"))["state"], "running");
}

/// `too_late` says that it was, or may have been, carried out.
#[test]
fn a_denial_is_too_late_only_for_what_may_have_happened() {
    let (world, relay) = world();
    let plugin = plugin(&relay, 1);
    let deny = |invocation: InvocationId| {
        ask(&world, Method::POST, &format!("invocations/{invocation}/deny"))
    };
    let reports = [
        (Report::Succeeded, 409),
        (Report::Failed(RelayReason::PluginFailed), 200),
        (Report::Stale, 200),
        (Report::Unusable(RelayReason::BadResult), 409),
    ];
    for (number, (report, status)) in (1..).zip(reports) {
        let (invocation, grant) = relay.run(&plugin, ActionEffect::Write, number);
        assert_eq!(deny(invocation).0, 409, "it runs: {report:?}");
        world.store.relay_report(plugin.held, grant, report).unwrap();
        assert_eq!(deny(invocation).0, status, "{report:?}");
    }
    let refusals: [fn(&Relay, &Plugin, ProposalId) -> Effects; 2] =
        [Relay::deny, Relay::cannot_show];
    for (number, refuse) in (10..).zip(refusals) {
        let (proposal, invocation) = propose(&relay, &plugin, number);
        refuse(&relay, &plugin, proposal);
        assert_eq!(deny(invocation).0, 200);
    }
    let (_, expired) = propose(&relay, &plugin, 20);
    world.clock.advance(APPROVAL);
    world.store.relay_expire(KEPT).unwrap();
    assert_eq!(deny(expired).0, 200);
}

/// An allowance is that of the page in which it was given, until its end.
#[test]
fn the_list_of_sessions_shows_only_an_allowance_that_can_be_used() {
    let (world, relay) = world();
    let plugin = plugin(&relay, 1);
    let shown = || {
        let listed = get(&world, "sessions")["items"][0]["allowanceUntil"].clone();
        let alone = get(&world, &format!("sessions/{}", plugin.held.session));
        assert_eq!(alone["allowanceUntil"], listed);
        listed
    };
    let allow = |page| {
        let allowance = NewAllowance { page, length: Length::Quarter, proof: proof(1) };
        world.store.relay_allow(plugin.held, allowance).unwrap();
    };
    assert_eq!(shown(), Value::Null);
    allow(plugin.page);
    let until = world.clock.now().plus(Duration::from_mins(15));
    assert_eq!(shown(), until.to_string());
    world.clock.advance(Duration::from_mins(15));
    assert_eq!(shown(), Value::Null, "it has run out");
    allow(relay.reloaded(&plugin).page);
    assert_eq!(shown(), Value::Null, "it is another page's");
}

#[test]
fn the_audit_log_is_verified_up_to_the_first_event_that_does_not_hold() {
    let (world, relay) = world();
    let none = json!({"valid": 0, "invalid": 0, "notCheckable": 0, "firstInvalid": null});
    let empty = json!(
        {"rows": 0, "head": null, "intact": true, "firstBroken": null, "signatures": none}
    );
    assert_eq!(get(&world, "audit-events/verify"), empty);
    let plugin = plugin(&relay, 1);
    relay.run(&plugin, ActionEffect::Write, 1);
    let events = get(&world, "audit-events");
    let newest = &events["items"][0];
    let whole = get(&world, "audit-events/verify");
    assert_eq!((&whole["intact"], &whole["rows"]), (&json!(true), &newest["seq"]));
    assert_eq!(whole["head"], newest["hash"]);
    world.tamper(
        "DROP TRIGGER relay_audit_events_are_not_changed; \
         UPDATE relay_audit_events SET client = 'another' WHERE seq = 3;",
    );
    let broken = get(&world, "audit-events/verify");
    assert_eq!((&broken["intact"], &broken["firstBroken"]), (&json!(false), &json!(3)));
    assert_eq!(broken["rows"], 2);
}

/// The hashes are no secret: everyone who can write to the file can compute them. The keys of devices are not in it.
#[test]
fn in_a_log_that_was_written_anew_the_signatures_tell() {
    let old = "UPDATE relay_audit_events SET pairing_id = NULL, nonce = NULL, public_key = NULL, \
        card_sha256 = NULL, signature = CASE event WHEN 'relay.approved' THEN signature END;";
    let changes = [
        ("", (3, 0, 0, Value::Null)),
        ("UPDATE relay_audit_events SET epoch = 2 WHERE seq = 5;", (2, 1, 0, json!(5))),
        ("UPDATE relay_audit_events SET signature = NULL WHERE seq = 5;", (2, 1, 0, json!(5))),
        (
            "UPDATE relay_audit_events SET pairing_id = session_id WHERE seq = 2;",
            (2, 1, 0, json!(2)),
        ),
        (
            "UPDATE relay_audit_events SET event = 'relay.denied' WHERE seq = 5;",
            (2, 1, 0, json!(5)),
        ),
        (
            "UPDATE relay_audit_events SET public_key = zeroblob(65) WHERE seq = 1;",
            (0, 3, 0, json!(1)),
        ),
        // The key is that of the event in which the device was paired.
        ("UPDATE relay_devices SET public_key = zeroblob(65);", (3, 0, 0, Value::Null)),
        (old, (0, 0, 3, Value::Null)),
    ];
    for (change, (valid, invalid, not_checkable, first_invalid)) in changes {
        let (world, relay) = world();
        let plugin = plugin(&relay, 1);
        relay.run(&plugin, ActionEffect::Write, 1);
        world.tamper(&format!("DROP TRIGGER relay_audit_events_are_not_changed; {change}"));
        write_hashes_anew(&world);
        let found = get(&world, "audit-events/verify");
        assert_eq!((&found["intact"], &found["rows"]), (&json!(true), &json!(6)), "{change}");
        let expected = json!({
            "valid": valid, "invalid": invalid, "notCheckable": not_checkable,
            "firstInvalid": first_invalid,
        });
        assert_eq!(found["signatures"], expected, "{change}");
    }
}

/// Gives every event of the audit log the hash of what it says now.
fn write_hashes_anew(world: &World) {
    let listed = get(world, "audit-events?limit=100")["items"].as_array().unwrap().clone();
    let mut before = Digest::from([0; 32]);
    for event in listed.iter().rev() {
        let mut members = event.as_object().unwrap().clone();
        members.retain(|name, value| !value.is_null() && name != "hash" && name != "prevHash");
        let text = serde_json::to_string(&members).unwrap();
        let hash = sha256::of(&[before.as_bytes().as_slice(), text.as_bytes()].concat());
        world.tamper(&format!(
            "UPDATE relay_audit_events SET prev_hash = x'{before}', hash = x'{hash}' WHERE seq = {};",
            event["seq"]
        ));
        before = hash;
    }
}
