//! How invocations that were not carried out are told: always as errors, each with its next step.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use svc::domain::relay::RelayReason;
use svc::domain::relay::invocation::State;
use svc::mcp::relay::Ended;
use svc::relay::action::DesignAction;

use super::fake_relay::{SESSION, refusal, session};
use super::relay_site::{ERAS, Era, Site};
use super::relay_tools::{assert_fits, example};

const TEXT: [&str; 2] = ["set_text", "propose_design_steps"];

/// Arguments of a tool that sets a text.
fn arguments(tool: &str) -> Value {
    let arguments = json!({"node": "0:1", "text": "cafe"});
    match tool {
        "set_text" => arguments,
        _ => json!({"steps": [{"action": "set_text", "arguments": arguments}]}),
    }
}

fn sentence(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_not_decided_in_time_is_pending_and_an_error() {
    for era in ERAS {
        for tool in TEXT {
            for (state, status, words) in [
                ("proposed", "approval_pending", "a person must decide"),
                ("shown", "approval_pending", "a person must decide"),
                ("approved", "running", "being carried out"),
                ("running", "running", "being carried out"),
            ] {
                for how in [Ended::TimeOver, Ended::Stopping] {
                    let site = Site::new();
                    let sent = site.call(era, "me", tool, &arguments(tool));
                    site.relay.set(state);
                    site.relay.end(how);
                    let result = sent.result();
                    assert_fits(&site, tool, &result);
                    let structured = &result["structuredContent"];
                    assert_eq!(structured["status"], status, "{state}");
                    assert_eq!(structured["invocation"], site.relay.last());
                    assert!(structured["expiresAt"].as_str().unwrap().ends_with('Z'));
                    let sentence = sentence(&result);
                    assert!(sentence.contains(words), "{sentence}");
                    assert!(sentence.contains("get_invocation"), "{sentence}");
                    assert!(sentence.contains(&site.relay.last()), "{sentence}");
                }
            }
        }
    }
}

#[test]
fn every_end_but_success_is_an_error_with_its_own_sentence() {
    let ends = State::ALL.iter().filter(|it| it.is_terminal() && **it != State::Succeeded);
    let mut sentences = BTreeSet::new();
    let site = Site::new();
    for state in ends {
        let reasons = RelayReason::ALL.iter().copied().map(Some).chain([None]);
        for reason in reasons {
            let sent = site.call(Era::Modern, "me", "set_text", &arguments("set_text"));
            site.relay.change(|step| {
                step.state = state.as_str().into();
                step.reason = reason.map(|it| it.as_str().into());
            });
            site.relay.end(Ended::Settled);
            let result = sent.result();
            assert_fits(&site, "set_text", &result);
            assert_eq!(result["structuredContent"]["state"], state.as_str());
            assert_eq!(
                result["structuredContent"]["reason"],
                json!(reason.map(RelayReason::as_str))
            );
            let sentence = sentence(&result);
            let is_unchanged =
                sentence.contains("nothing was changed") || sentence.contains("Nothing was ");
            assert_eq!(is_unchanged, *state != State::Unknown, "{state}: {sentence}");
            assert!(!sentence.contains("cafe") && !sentence.contains("Login"), "{sentence}");
            sentences.insert((state.as_str(), sentence));
        }
    }
    let of = |state: State| sentences.iter().filter(|(of, _)| *of == state.as_str()).count();
    let counted = [
        State::Failed,
        State::Stale,
        State::Denied,
        State::Cancelled,
        State::Expired,
        State::Unknown,
    ];
    assert_eq!(counted.map(of), [6, 1, 1, 5, 4, 1]);
    let all: BTreeSet<&String> = sentences.iter().map(|(_, sentence)| sentence).collect();
    assert_eq!(all.len(), sentences.len(), "no two states say the same");
}

#[test]
fn an_unknown_end_says_to_look_and_that_nothing_is_sent_again() {
    for era in ERAS {
        let site = Site::new();
        let sent = site.call(era, "me", "set_text", &arguments("set_text"));
        site.relay.set("unknown");
        site.relay.end(Ended::Settled);
        let sentence = sentence(&sent.result());
        assert!(sentence.contains("Read the nodes or ask the person"), "{sentence}");
        assert!(sentence.contains("nothing is sent again"), "{sentence}");
        assert_eq!(site.relay.proposed().len(), 1);
        // A late proof settles it, and says so.
        site.relay.succeed(&example(DesignAction::SetText).1);
        site.relay.change(|step| step.settled_late = true);
        let found =
            site.call(era, "me", "get_invocation", &json!({"invocation": site.relay.last()}));
        assert_eq!(found.result().get("isError"), None);
        assert_eq!(found.result()["structuredContent"]["settledLate"], true);
    }
}

#[test]
fn a_step_that_failed_is_what_the_others_are_told_by() {
    let site = Site::new();
    let step = json!({"action": "set_text", "arguments": {"node": "0:1", "text": "t"}});
    let steps = json!({"steps": [step, step, step]});
    let sent = site.call(Era::Modern, "me", "propose_design_steps", &steps);
    site.relay.change(|step| {
        let (state, reason) = match step.step {
            0 => ("succeeded", None),
            1 => ("stale", None),
            _ => ("cancelled", Some("step_failed".into())),
        };
        (step.state, step.reason) = (state.into(), reason);
        step.value = (step.step == 0).then(|| example(DesignAction::SetText).1);
    });
    site.relay.end(Ended::Settled);
    let result = sent.result();
    assert_fits(&site, "propose_design_steps", &result);
    assert!(sentence(&result).contains("has changed since"), "{result}");
    let steps = result["structuredContent"]["steps"].as_array().unwrap();
    let states: Vec<&Value> = steps.iter().map(|it| &it["state"]).collect();
    assert_eq!(states, ["succeeded", "stale", "cancelled"]);
}

#[test]
fn a_value_that_is_gone_is_still_a_success() {
    let site = Site::new();
    let sent = site.call(Era::Modern, "me", "list_pages", &json!({}));
    site.relay.set("succeeded");
    site.relay.change(|step| step.value_gone = true);
    site.relay.end(Ended::Settled);
    let result = sent.result();
    assert_fits(&site, "list_pages", &result);
    assert_eq!(result.get("isError"), None);
    assert_eq!(result["structuredContent"]["valueGone"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("only by the process of svcd that received it"), "{text}");
}

#[test]
fn every_refusal_is_told_with_its_code_and_what_it_knows() {
    let codes = [
        "relay_off",
        "unavailable",
        "no_such_session",
        "session_needed",
        "session_away",
        "session_suspended",
        "cooling_off",
        "busy",
        "too_many_proposals",
        "action_not_supported",
        "not_found",
        "too_many_codes",
        "no_such_invocation",
    ];
    let calls = [
        ("set_text", arguments("set_text")),
        ("propose_design_steps", arguments("propose_design_steps")),
        ("list_design_sessions", json!({})),
        ("pair_design_session", json!({"code": "7K2M-9QXV"})),
        ("get_invocation", json!({"invocation": SESSION})),
        ("cancel_invocation", json!({"invocation": SESSION})),
    ];
    for era in ERAS {
        let site = Site::new();
        for code in codes {
            let mut refusal = refusal(code);
            if code == "session_needed" {
                refusal.sessions = vec![session(SESSION, "Login"), session(SESSION, "Home")];
            }
            refusal.retry_after_seconds = (code == "busy").then_some(7);
            site.relay.refuse(refusal.clone());
            for (tool, arguments) in &calls {
                let result = site.call(era, "me", tool, arguments).result();
                assert_fits(&site, tool, &result);
                assert_eq!(sentence(&result), refusal.message, "{tool}");
                assert_eq!(result["structuredContent"], json!(refusal), "{tool}");
            }
        }
        assert_eq!(site.relay.proposed(), [], "what is refused is not proposed");
    }
}

#[test]
fn clients_without_structured_content_read_the_same_in_a_text() {
    let site = Site::new();
    let mut needed = refusal("session_needed");
    needed.sessions = vec![session(SESSION, "Login")];
    site.relay.refuse(needed.clone());
    let era = Era::Legacy("2024-11-05");
    let result = site.call(era, "me", "list_pages", &json!({})).result();
    assert_eq!(result.get("structuredContent"), None);
    let text = result["content"][1]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!(needed));
}

#[test]
fn taking_back_says_how_it_stands() {
    for era in ERAS {
        for (state, is_error) in
            [("proposed", false), ("running", true), ("succeeded", true), ("denied", true)]
        {
            let site = Site::new();
            drop(site.call(era, "me", "set_text", &arguments("set_text")));
            site.relay.set(state);
            let id = json!({"invocation": site.relay.last()});
            let result = site.call(era, "me", "cancel_invocation", &id).result();
            assert_fits(&site, "cancel_invocation", &result);
            assert_eq!(result.get("isError").is_some(), is_error, "{state}: {result}");
            let left = if state == "proposed" { "cancelled" } else { state };
            assert_eq!(result["structuredContent"]["state"], left);
        }
    }
}
