//! What callers and operators are told of the relay, held to the document.

use std::borrow::Cow;
use std::collections::BTreeSet;

use svc::api::{self, relay};
use svc::domain::relay::{
    ActionEffect, DecidedBy, DesignTool, RelayEventName, device, invocation, session,
};

use super::{Fields, document, time};

const ID: &str = "0198c0de-0000-7000-8000-000000000001";

/// Says whether what may be null is set.
type IsFull = bool;

fn pairing_claim(full: IsFull) -> relay::PairingClaim {
    relay::PairingClaim {
        pairing: ID.parse().unwrap(),
        tool: Cow::Borrowed("penpot"),
        file: full.then(|| "Login".to_owned()),
        expires_at: time(),
    }
}

fn session(full: IsFull) -> relay::RelaySession {
    relay::RelaySession {
        session: ID.parse().unwrap(),
        device: ID.parse().unwrap(),
        subject: "local".to_owned(),
        tool: "penpot".to_owned(),
        state: "ended".to_owned(),
        epoch: 1,
        allowance_until: full.then(time),
        created_at: time(),
        last_seen_at: time(),
        ended_at: full.then(time),
    }
}

fn device(full: IsFull) -> relay::RelayDevice {
    relay::RelayDevice {
        device: ID.parse().unwrap(),
        subject: "local".to_owned(),
        tool: "figma".to_owned(),
        state: "revoked".to_owned(),
        created_at: time(),
        last_seen_at: time(),
        revoked_at: full.then(time),
    }
}

fn invocation(full: IsFull) -> relay::RelayInvocation {
    relay::RelayInvocation {
        invocation: ID.parse().unwrap(),
        proposal: ID.parse().unwrap(),
        step: 0,
        session: ID.parse().unwrap(),
        subject: "local".to_owned(),
        client: String::new(),
        action: "set_text".to_owned(),
        effect: "write".to_owned(),
        arguments_sha256: [1; 32].into(),
        state: "failed".to_owned(),
        reason: full.then(|| "no_such_node".to_owned()),
        settled_late: false,
        decided_by: full.then(|| "person".to_owned()),
        expires_at: time(),
        created_at: time(),
        updated_at: time(),
    }
}

fn audit_event(full: IsFull) -> relay::RelayAuditEvent {
    let text = |text: &str| full.then(|| text.to_owned());
    relay::RelayAuditEvent {
        seq: 1,
        event: "relay.approved".to_owned(),
        subject: "local".to_owned(),
        client: text("agent"),
        device: full.then(|| ID.parse().unwrap()),
        session: full.then(|| ID.parse().unwrap()),
        pairing: full.then(|| ID.parse().unwrap()),
        proposal: full.then(|| ID.parse().unwrap()),
        invocation: full.then(|| ID.parse().unwrap()),
        action: text("set_text"),
        arguments_sha256: full.then(|| [1; 32].into()),
        card_sha256: full.then(|| vec![[1; 32].into()]),
        preview_sha256: full.then(|| [2; 32].into()),
        decided_by: text("person"),
        reason: text("too_late"),
        epoch: full.then_some(1),
        minutes: full.then_some(15),
        nonce: text("AAECAwQFBgcICQoLDA0ODw"),
        public_key: full.then(|| "04".repeat(65)),
        signature: full.then(|| "07".repeat(64)),
        actor: text("ops:oncall"),
        created_at: time(),
        prev_hash: [0; 32].into(),
        hash: [3; 32].into(),
    }
}

fn audit_check(full: IsFull) -> relay::RelayAuditCheck {
    let (head, first_broken) = (full.then(|| [3; 32].into()), full.then_some(2));
    let first_invalid = full.then_some(2);
    let signatures =
        relay::RelaySignatureCheck { valid: 1, invalid: 0, not_checkable: 0, first_invalid };
    relay::RelayAuditCheck { rows: 1, head, intact: !full, first_broken, signatures }
}

fn status(enabled: bool) -> relay::RelayStatus {
    let counts = relay::RelayCounts {
        sessions_connected: 1,
        sessions_suspended: 0,
        sessions_away: 2,
        proposals_waiting: 3,
        invocations_running: 0,
    };
    relay::RelayStatus { enabled, counts }
}

fn page<T>(full: IsFull, item: T) -> api::PageBody<T> {
    api::PageBody { items: vec![item], next_before: full.then(|| ID.to_owned()) }
}

/// Holds their schemas to the shapes of the code.
pub(super) fn hold(checks: Fields) -> Fields {
    let page_of_sessions = |full| page(full, session(full));
    let page_of_devices = |full| page(full, device(full));
    let page_of_invocations = |full| page(full, invocation(full));
    let page_of_events = |full| page(full, audit_event(full));
    checks
        .hold("PairingClaim", &pairing_claim(true), &pairing_claim(false))
        .hold("RelaySession", &session(true), &session(false))
        .hold("RelaySessionPage", &page_of_sessions(true), &page_of_sessions(false))
        .hold("RelayDevice", &device(true), &device(false))
        .hold("RelayDevicePage", &page_of_devices(true), &page_of_devices(false))
        .hold("RelayInvocation", &invocation(true), &invocation(false))
        .hold("RelayInvocationPage", &page_of_invocations(true), &page_of_invocations(false))
        .hold("RelayAuditEvent", &audit_event(true), &audit_event(false))
        .hold("RelayAuditEventPage", &page_of_events(true), &page_of_events(false))
        .hold("RelayStatus", &status(true), &status(false))
        .hold("RelayAuditCheck", &audit_check(true), &audit_check(false))
        .hold("RelaySignatureCheck", &audit_check(true).signatures, &audit_check(false).signatures)
}

#[test]
fn words_of_the_relay_are_those_of_the_code() {
    let document = document();
    let written = |schema: &str, field: &str, keyword: &str| -> BTreeSet<String> {
        let words = &document["components"]["schemas"][schema]["properties"][field][keyword];
        let words = words.as_array().unwrap().iter().filter_map(|word| word.as_str());
        words.map(str::to_owned).collect()
    };
    fn words<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> BTreeSet<String> {
        all.iter().map(|value| word(*value).to_owned()).collect()
    }
    let tools = words(DesignTool::ALL, DesignTool::as_str);
    assert_eq!(written("RelaySession", "tool", "enum"), tools);
    assert_eq!(written("RelayDevice", "tool", "enum"), tools);
    assert_eq!(written("PairingClaim", "tool", "enum"), tools);
    let states = words(session::State::ALL, session::State::as_str);
    assert_eq!(written("RelaySession", "state", "enum"), states);
    let states = words(device::State::ALL, device::State::as_str);
    assert_eq!(written("RelayDevice", "state", "enum"), states);
    let states = words(invocation::State::ALL, invocation::State::as_str);
    assert_eq!(written("RelayInvocation", "state", "enum"), states);
    let effects = words(ActionEffect::ALL, ActionEffect::as_str);
    assert_eq!(written("RelayInvocation", "effect", "enum"), effects);
    let events = words(RelayEventName::ALL, RelayEventName::as_str);
    assert_eq!(written("RelayAuditEvent", "event", "x-extensible-enum"), events);
    let decided_by = words(DecidedBy::ALL, DecidedBy::as_str);
    assert_eq!(written("RelayAuditEvent", "decidedBy", "enum"), decided_by);
}
