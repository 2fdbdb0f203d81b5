//! Files: one click for a second one, and what happens when another one is opened in the same page.

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::domain::relay::CardDecision;
use svc::domain::relay::invocation::Withdrawal;

use super::world::{World, approve, assert_quiet, card, closed, confirm, ended, event, ready};

fn asked(page: &mut Plugin) {
    event(page, "the question", |it| match it {
        Event::Claimed { .. } => Some(()),
        Event::Code(code) => panic!("a code: {code}"),
        _ => None,
    });
}

/// The events that a person's confirmation led to, which keep its signature.
fn confirmed(events: &[Value]) -> Vec<&str> {
    let confirmed = events.iter().filter(|event| event["pairing"].is_string());
    confirmed.map(|event| event["event"].as_str().unwrap()).collect()
}

#[test]
fn a_second_file_of_a_known_device_is_one_click_and_no_code() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let mut second = world.other_page(&page);
    second.open(Some("another file"), "another file", "a page");
    second.connect().unwrap();
    asked(&mut second);
    assert_eq!(world.states(&agent).len(), 1, "nothing before the click");
    second.confirm(true);
    let (session, epoch) = ready(&mut second);
    assert_ne!(Some(session), page.session());
    assert_eq!(epoch, 1);
    assert_eq!(world.states(&agent).len(), 2);
    let arguments = json!({ "node": Document::TITLE, "text": "x", "session": session.to_string() });
    agent.propose("set_text", &arguments);
    approve(&mut second);
    // And a refusal makes none.
    let mut third = world.other_page(&page);
    third.open(Some("a third file"), "a third file", "a page");
    third.connect().unwrap();
    asked(&mut third);
    third.confirm(false);
    assert_eq!(closed(&mut third).1, Some(4410));
    assert_eq!(world.states(&agent).len(), 2);
    assert_quiet(&mut page);
    let events = world.operator().audit();
    assert_eq!(
        confirmed(&events),
        ["relay.device_paired", "relay.session_opened", "relay.session_opened"]
    );
}

#[test]
fn a_file_without_a_key_is_a_session_of_its_own_page() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let mut drafts: Vec<Plugin> = (0..2).map(|_| world.other_page(&page)).collect();
    let mut sessions = vec![page.session().unwrap()];
    for draft in &mut drafts {
        draft.open(None, "a draft", "a page");
        draft.connect().unwrap();
        sessions.push(confirm(draft));
    }
    sessions.dedup();
    assert_eq!(sessions.len(), 3);
    // The same page comes back to the same session, a new one does not.
    drafts[0].connect().unwrap();
    assert_eq!(ready(&mut drafts[0]), (sessions[1], 2));
    drafts[0].reload();
    drafts[0].connect().unwrap();
    asked(&mut drafts[0]);
    assert!(page.is_ready());
    page.drop_socket();
}

#[test]
fn another_page_of_the_file_is_told_and_nothing_else_happens() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.open(Some("a file"), "a file", "Archive");
    crate::daemon::wait_for("the name of the page", || {
        let listed = agent.good("list_design_sessions", &json!({}));
        (listed["sessions"][0]["page"] == "Archive").then_some(())
    });
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    agent.await_state(invocation, "succeeded");
}

#[test]
fn another_file_ends_what_was_proposed_and_needs_a_click() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let session = page.session().unwrap();
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.allow(15);
    page.open(Some("another file"), "another file", "a page");
    let withdrawn = event(&mut page, "the card to go, or the question", |it| match it {
        Event::Withdrawn(of, why) => Some(Some((*of, *why))),
        Event::Claimed { .. } => Some(None),
        _ => None,
    });
    assert!(withdrawn.is_none_or(|it| it == (proposal, Withdrawal::Expired)), "{withdrawn:?}");
    let stands = agent.await_state(invocation, "expired");
    assert_eq!(stands["reason"], "file_changed", "{stands}");
    if withdrawn.is_some() {
        asked(&mut page);
    }
    page.confirm(true);
    assert_eq!(ready(&mut page).0, session, "it is the same session, of another file");
    let listed = agent.good("list_design_sessions", &json!({}));
    let only = &listed["sessions"][0];
    assert_eq!((&only["file"], &only["allowanceUntil"]), (&json!("another file"), &json!(null)));
    let second = agent.propose_title("Sign on");
    approve(&mut page);
    agent.await_state(second, "succeeded");
    let events = world.operator().audit();
    assert_eq!(
        confirmed(&events),
        ["relay.device_paired", "relay.session_opened", "relay.session_opened"]
    );
}
