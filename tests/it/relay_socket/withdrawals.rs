//! What was approved and is then over before it began: the plugin is told, with the reason, by whichever process ends it.

use std::time::Duration;

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::domain::id::{InvocationId, ProposalId};
use svc::domain::relay::CardDecision;
use svc::domain::relay::invocation::Withdrawal;

use super::world::{Agent, World, card, cards, ended, event, settled, title};
use crate::daemon::wait_for;

/// Proposes to change the title twice and approves both. The page has not read the order to carry the first one out, so
/// the second one waits for its turn. Returns the second one, with its card.
fn waiting(agent: &Agent, page: &mut Plugin) -> (InvocationId, ProposalId) {
    let running = agent.propose_title("first");
    let second = agent.propose_title("second");
    let cards = cards(page, 2);
    for proposal in &cards {
        page.decide(*proposal, CardDecision::Approved);
    }
    agent.await_state(running, "running");
    wait_for("the approval", || {
        // With a grant that is short, its turn may have come too late already.
        let state = agent.stands(second)["state"].clone();
        (state == "approved" || state == "expired").then_some(())
    });
    (second, cards[1])
}

/// Waits until a card is withdrawn; returns it, and why.
fn withdrawn(page: &mut Plugin) -> (ProposalId, Withdrawal) {
    event(page, "the card to go", |event| match event {
        Event::Withdrawn(of, why) => Some((*of, *why)),
        _ => None,
    })
}

fn cancel(agent: &Agent, invocation: InvocationId) {
    let arguments = json!({ "invocation": invocation.to_string() });
    assert_eq!(agent.good("cancel_invocation", &arguments)["state"], "cancelled");
}

#[test]
fn an_approval_that_is_taken_back_goes_off_the_screen_with_the_reason() {
    let world = World::local(&[]);
    let (agent, operator) = (world.agent(), world.operator());
    let mut page = world.paired(&agent);
    let (second, proposal) = waiting(&agent, &mut page);
    cancel(&agent, second);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::Cancelled));
    settled(&mut page);

    let (second, proposal) = waiting(&agent, &mut page);
    assert_eq!(operator.deny(second), 200);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::DeniedByOperator));
    settled(&mut page);
    assert_eq!((title(&page).as_str(), page.host().open().effects.len()), ("first", 2));
}

#[test]
fn an_approval_whose_turn_comes_too_late_goes_off_the_screen() {
    let world = World::local(&[("SVC_RELAY_GRANT_SECONDS", "5")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let (second, proposal) = waiting(&agent, &mut page);
    assert_eq!(agent.await_state(second, "expired")["reason"], "grant_expired");
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::Expired));
    assert_eq!((title(&page).as_str(), page.host().open().effects.len()), ("first", 1));
}

#[test]
fn steps_behind_one_that_was_never_heard_of_go_off_the_screen() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let steps = json!([
        { "action": "get_node", "arguments": { "node": Document::TITLE } },
        { "action": "set_text", "arguments": { "node": Document::TITLE, "text": "second" } },
    ]);
    let pending = agent.bad("propose_design_steps", &json!({ "steps": steps }));
    let of_step = |at: usize| pending["steps"][at]["invocation"].as_str().unwrap().parse().unwrap();
    let (first, second): (InvocationId, InvocationId) = (of_step(0), of_step(1));
    // The result of the first step is lost.
    page.tamper = Some(Box::new(|frame: Value| match frame["type"].as_str() {
        Some("result") => Vec::new(),
        _ => vec![frame],
    }));
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    // A read is waited for longer than other things are here.
    agent.await_state_within(Duration::from_secs(60), first, "unknown");
    assert_eq!(agent.await_state(second, "cancelled")["reason"], "step_failed");
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::Expired));
}

#[test]
fn what_another_process_ends_goes_off_the_screen_with_the_same_reason() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let other = world.beside();
    let (elsewhere, operator) = (other.agent(), other.operator());

    // Not decided yet.
    let invocation = agent.propose_title("first");
    let proposal = card(&mut page);
    cancel(&elsewhere, invocation);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::Cancelled));
    let invocation = agent.propose_title("first");
    let proposal = card(&mut page);
    assert_eq!(operator.deny(invocation), 200);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::DeniedByOperator));

    // Approved, and waiting for its turn.
    let (second, proposal) = waiting(&agent, &mut page);
    cancel(&elsewhere, second);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::Cancelled));
    let (second, proposal) = waiting(&agent, &mut page);
    assert_eq!(operator.deny(second), 200);
    assert_eq!(withdrawn(&mut page), (proposal, Withdrawal::DeniedByOperator));
    assert_eq!((title(&page).as_str(), page.host().open().effects.len()), ("first", 2));
}
