//! Decisions: only what stood on the screen, by the device of the session, for this epoch, once.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::BrowserProfile;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::domain::digest::Digest;
use svc::domain::id::ProposalId;
use svc::domain::relay::CardDecision;
use svc::domain::relay::invocation::Withdrawal;
use svc::relay::digest;
use svc::relay::frame::DecidedInPlugin;
use svc::relay::proof::DecisionText;

use super::world::{World, approve, card, closed, ended, event, ready, settled, title};

/// What is signed, in words that a test can change.
#[derive(Clone)]
struct Lie {
    signer: Option<BrowserProfile>,
    session: Option<&'static str>,
    epoch: u64,
    arguments: Option<Digest>,
    signed_preview: Option<Digest>,
    sent_preview: Option<Digest>,
    by: DecidedInPlugin,
    signed_as: CardDecision,
}

impl Lie {
    /// No lie.
    fn none(page: &Plugin) -> Self {
        Self {
            signer: None,
            session: None,
            epoch: page.epoch(),
            arguments: None,
            signed_preview: None,
            sent_preview: None,
            by: DecidedInPlugin::Person,
            signed_as: CardDecision::Approved,
        }
    }

    /// Returns the decision about a card that sets the title to `text`.
    fn frame(&self, page: &Plugin, proposal: ProposalId, text: &str) -> Value {
        let Value::Object(arguments) = json!({ "node": Document::TITLE, "text": text }) else {
            panic!()
        };
        let preview = page.card(proposal).unwrap().preview;
        let own = page.session().unwrap();
        let text = DecisionText {
            session: self.session.map_or(own, |session| session.parse().unwrap()),
            epoch: self.epoch,
            proposal,
            arguments: &[self.arguments.unwrap_or(digest::arguments("set_text", &arguments))],
            preview: self.signed_preview.unwrap_or(preview),
            decision: self.signed_as,
            by: self.by,
        };
        let signer = self.signer.as_ref().unwrap_or(page.device());
        json!({
            "type": "decision",
            "proposal": proposal,
            "previewSha256": self.sent_preview.unwrap_or(preview),
            "decision": "approved",
            "by": self.by,
            "signature": signer.sign(&text.text()).unwrap(),
        })
    }
}

#[test]
fn an_approval_of_something_else_closes_the_socket_and_changes_nothing() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let other = Digest::from([7; 32]);
    let stranger = BrowserProfile::new().unwrap();
    type Change = Box<dyn Fn(&mut Lie)>;
    let lies: [(&str, Change); 9] = [
        ("another device", Box::new(move |lie| lie.signer = Some(stranger.clone()))),
        (
            "another session",
            Box::new(|lie| {
                lie.session = Some("0199f3a0-0000-7000-8000-00000000000a");
            }),
        ),
        ("an earlier epoch", Box::new(|lie| lie.epoch -= 1)),
        ("a later epoch", Box::new(|lie| lie.epoch += 1)),
        ("other arguments", Box::new(move |lie| lie.arguments = Some(other))),
        (
            "another preview than was shown",
            Box::new(move |lie| {
                (lie.signed_preview, lie.sent_preview) = (Some(other), Some(other));
            }),
        ),
        ("another preview than is said", Box::new(move |lie| lie.signed_preview = Some(other))),
        ("by an allowance, for a write", Box::new(|lie| lie.by = DecidedInPlugin::Allowance)),
        ("signed as a denial", Box::new(|lie| lie.signed_as = CardDecision::Denied)),
    ];
    for (what, change) in lies {
        let proposal = card(&mut page);
        agent.await_state(invocation, "shown");
        let mut lie = Lie::none(&page);
        change(&mut lie);
        page.send_value(&lie.frame(&page, proposal, "Sign in"));
        assert_eq!(closed(&mut page).1, Some(4400), "{what}");
        page.connect().unwrap();
        ready(&mut page);
    }
    let proposal = card(&mut page);
    agent.await_state(invocation, "shown");
    assert_eq!(page.host().open().effects.len(), 0);
    let counted = || {
        let metrics = world.service.daemon.metrics();
        let lines = metrics.lines().filter(|line| line.starts_with("svc_relay_decisions_total{"));
        lines.map(ToOwned::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(counted(), Vec::<String>::new());
    // What was made by hand is as good as the page's own.
    let honest = Lie::none(&page).frame(&page, proposal, "Sign in");
    let approving = Arc::new(Mutex::new(Some(honest)));
    page.tamper = Some(Box::new(move |frame| match frame["type"] == "decision" {
        true => approving.lock().unwrap().take().into_iter().collect(),
        false => vec![frame],
    }));
    page.decide(proposal, CardDecision::Approved);
    settled(&mut page);
    assert_eq!(title(&page), "Sign in");
    assert_eq!(counted(), ["svc_relay_decisions_total{by=\"person\",decision=\"approved\"} 1"]);
    let approvals = world.operator().audit();
    let approved = approvals.iter().filter(|event| event["event"] == "relay.approved");
    assert_eq!(approved.count(), 1, "{approvals:#?}");
}

#[test]
fn an_approval_by_an_allowance_needs_one() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose("list_pages", &json!({}));
    let proposal = card(&mut page);
    let step = digest::arguments("list_pages", &serde_json::Map::new());
    let mut lie = Lie::none(&page);
    lie.by = DecidedInPlugin::Allowance;
    lie.arguments = Some(step);
    page.send_value(&lie.frame(&page, proposal, ""));
    assert_eq!(closed(&mut page).1, Some(4400));
    assert!(["proposed", "shown"].contains(&agent.stands(invocation)["state"].as_str().unwrap()));
    assert_eq!(page.host().open().effects.len(), 0);
}

#[test]
fn a_decision_of_something_that_was_never_proposed_changes_nothing() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    let mut frame = Lie::none(&page).frame(&page, proposal, "Sign in");
    frame["proposal"] = "0199f3a0-0000-7000-8000-00000000000a".into();
    page.send_value(&frame);
    assert_eq!(closed(&mut page).1, Some(4400));
    let state = agent.stands(invocation)["state"].clone();
    assert!(["proposed", "shown"].contains(&state.as_str().unwrap()), "{state}");
}

#[test]
fn the_same_decision_twice_is_one() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.tamper = Some(Box::new(|frame| match frame["type"] == "decision" {
        true => vec![frame.clone(), frame],
        false => vec![frame],
    }));
    let invocation = agent.propose_title("Sign in");
    let grant = approve(&mut page);
    assert_eq!(page.host().times(grant), 1);
    assert_eq!(page.host().times_of(invocation), 1);
    agent.await_state(invocation, "succeeded");
    // The socket is still open, and works.
    let second = agent.propose_title("Sign on");
    approve(&mut page);
    agent.await_state(second, "succeeded");
    let approved = |event: &&Value| event["event"] == "relay.approved";
    assert_eq!(world.operator().audit().iter().filter(approved).count(), 2);
}

#[test]
fn a_denial_is_kept_and_said() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Denied);
    let stands = agent.await_state(invocation, "denied");
    assert_eq!(stands["value"], Value::Null, "{stands}");
    // An approval that comes after it changes nothing.
    page.tamper = None;
    assert_eq!(title(&page), "Log in");
    assert_eq!(page.host().open().effects.len(), 0);
}

#[test]
fn an_approval_after_its_time_is_worth_nothing() {
    let world = World::local(&[("SVC_RELAY_APPROVAL_SECONDS", "30")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    let late = Lie::none(&page).frame(&page, proposal, "Sign in");
    page.asleep_after = None;
    let end = svc::runtime::clock::SystemClock::new();
    let withdrawn = |event: &Event| match event {
        Event::Withdrawn(of, why) => Some((*of, *why)),
        _ => None,
    };
    // It takes half a minute, so it is waited for twice as long as anything else.
    let mut found = None;
    while found.is_none() {
        use svc::runtime::clock::Clock as _;
        assert!(end.monotonic() < crate::daemon::PATIENCE * 3, "no end of its time");
        found = withdrawn(&page.pump(crate::daemon::PATIENCE));
    }
    assert_eq!(found, Some((proposal, Withdrawal::Expired)));
    let stands = agent.await_state(invocation, "expired");
    assert_eq!(stands["reason"], "proposal_expired", "{stands}");
    page.send_value(&late);
    // Late is no fault: the socket works on.
    let second = agent.propose_title("Sign on");
    approve(&mut page);
    agent.await_state(second, "succeeded");
    assert_eq!(agent.stands(invocation)["state"], "expired");
    assert_eq!(page.host().open().effects.len(), 1);
}

#[test]
fn what_is_taken_back_in_time_never_runs() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let operator = world.operator();
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    let arguments = json!({ "invocation": invocation.to_string() });
    let cancelled = agent.good("cancel_invocation", &arguments);
    assert_eq!(cancelled["state"], "cancelled", "{cancelled}");
    let withdrawn = |event: &Event| match event {
        Event::Withdrawn(of, why) => Some((*of, *why)),
        _ => None,
    };
    let found = event(&mut page, "the card to go", withdrawn);
    assert_eq!(found, (proposal, Withdrawal::Cancelled));
    let denied = agent.propose_title("Sign on");
    let proposal = card(&mut page);
    assert_eq!(operator.deny(denied), 200);
    let found = event(&mut page, "the card to go", withdrawn);
    assert_eq!(found, (proposal, Withdrawal::DeniedByOperator));
    assert_eq!(agent.await_state(denied, "cancelled")["reason"], "denied_by_operator");
    let third = agent.propose_title("Sign up");
    approve(&mut page);
    agent.await_state(third, "succeeded");
    assert_eq!(operator.deny(third), 409, "it has ended");
    assert_eq!(page.host().open().effects.len(), 1);
}

#[test]
fn what_changed_since_it_was_shown_is_stale() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.host().open().document.type_text(Document::TITLE, "by hand");
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    agent.await_state(invocation, "stale");
    assert_eq!(title(&page), "by hand");
    assert_eq!(page.host().open().effects.len(), 0);
}

#[test]
fn what_cannot_be_shown_has_failed() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let arguments = json!({ "node": "9:9", "text": "x" });
    let answer = agent.call("set_text", &arguments);
    let invocation = answer["structuredContent"]["invocation"].as_str().unwrap().parse().unwrap();
    event(&mut page, "a decision", |it| matches!(it, Event::Decided(_)).then_some(()));
    let stands = agent.await_state(invocation, "failed");
    assert_eq!(stands["reason"], "no_such_node", "{stands}");
    let events = world.operator().audit();
    let last = events.last().unwrap();
    assert_eq!(
        (&last["event"], &last["decidedBy"]),
        (&json!("relay.denied"), &json!("plugin")),
        "{last}"
    );
}

#[test]
fn three_denials_silence_a_client_for_a_while() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for text in ["one", "two", "three"] {
        let invocation = agent.propose_title(text);
        let proposal = card(&mut page);
        page.decide(proposal, CardDecision::Denied);
        agent.await_state(invocation, "denied");
    }
    let refused = agent.bad("set_text", &json!({ "node": Document::TITLE, "text": "four" }));
    assert_eq!(refused["code"], "cooling_off", "{refused}");
    let wait = refused["retryAfterSeconds"].as_u64().unwrap();
    assert!((1..=600).contains(&wait), "{refused}");
}
