//! Pages that go, freeze, come back or are replaced, and a daemon that stops: every call reports its state at once, and
//! nothing is done twice or said to have failed that was done.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::{Cut, Event, Point};
use svc::domain::id::InvocationId;
use svc::domain::relay::CardDecision;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

use super::world::{Agent, World, approve, card, closed, ended, event, ready, settled, title};
use crate::daemon::wait_within;

/// Longer than two pings take to be missed.
const SUSPENDED: Duration = Duration::from_secs(60);
/// Longer than the deadline of a read.
const READ_DEADLINE: Duration = Duration::from_secs(16);

fn refusal(agent: &Agent) -> Value {
    agent.bad("set_text", &json!({ "node": Document::TITLE, "text": "x" }))["code"].clone()
}

/// Approves the next card; the page is cut at a point of what follows.
fn cut_at(page: &mut Plugin, point: Point, cut: Cut) {
    page.at = Some(Box::new(move |now, _| if now == point { cut } else { Cut::Nothing }));
    let proposal = card(page);
    page.decide(proposal, CardDecision::Approved);
    event(page, "the cut", |it| (*it == Event::Cut).then_some(()));
    page.at = None;
}

#[test]
fn a_page_that_dies_in_the_middle_leaves_its_journal_to_the_next_one() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for (point, state, reason, times) in [
        // The old page may be frozen with the order unread, and carry it out later.
        (Point::Told, "unknown", json!("page_replaced"), 0),
        (Point::Begun, "unknown", json!("interrupted"), 0),
        (Point::Done, "unknown", json!("interrupted"), 1),
        (Point::Noted, "succeeded", Value::Null, 1),
        (Point::Reported, "succeeded", Value::Null, 1),
    ] {
        let invocation = agent.propose_title(&format!("{point:?}"));
        cut_at(&mut page, point, Cut::Page);
        page.connect().unwrap();
        ready(&mut page);
        let stands = agent.await_state(invocation, state);
        assert_eq!(
            (&stands["reason"], page.host().times_of(invocation)),
            (&reason, times),
            "{point:?}"
        );
    }
    // Nothing is in the way of what comes next.
    let invocation = agent.propose_title("at last");
    approve(&mut page);
    agent.await_state(invocation, "succeeded");
}

#[test]
fn a_lost_connection_costs_nothing_that_was_done() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for point in Point::ALL {
        let invocation = agent.propose_title(&format!("{point:?}"));
        cut_at(&mut page, point, Cut::Connection);
        page.connect().unwrap();
        ready(&mut page);
        let stands = agent.await_state(invocation, "succeeded");
        assert_eq!(page.host().times_of(invocation), 1, "{point:?}: {stands}");
    }
}

#[test]
fn an_order_that_never_arrived_has_failed() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    agent.await_state(invocation, "running");
    // The order is on its way, and is never read.
    page.connect().unwrap();
    ready(&mut page);
    let stands = agent.await_state(invocation, "failed");
    assert_eq!(stands["reason"], "not_delivered", "{stands}");
    assert_eq!(title(&page), "Log in");
    assert_eq!(page.host().open().effects.len(), 0);
}

#[test]
fn what_was_unknown_is_settled_by_a_late_result() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.tamper = Some(Box::new(|frame| match frame["type"] == "result" {
        true => Vec::new(),
        false => vec![frame],
    }));
    let invocation = agent.propose("list_pages", &json!({}));
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    let (grant, _, _) = ended(&mut page);
    assert_eq!(agent.stands(invocation)["state"], "running");
    // It answers pings, and says nothing of the result.
    let clock = SystemClock::new();
    while clock.monotonic() < READ_DEADLINE {
        page.pump(Duration::from_millis(100));
    }
    let stands = agent.await_state(invocation, "unknown");
    assert_eq!(stands["reason"], "deadline_passed", "{stands}");
    // Session and lane are free again.
    page.tamper = None;
    let next = agent.propose_title("Sign in");
    approve(&mut page);
    agent.await_state(next, "succeeded");
    let pages = json!({ "pages": [], "truncated": false });
    page.send_value(
        &json!({"type": "result", "grant": grant, "outcome": "succeeded", "value": pages}),
    );
    settled(&mut page);
    let stands = agent.await_state(invocation, "succeeded");
    assert_eq!((&stands["settledLate"], &stands["value"]), (&json!(true), &pages), "{stands}");
    let events = world.operator().audit();
    assert!(events.iter().any(|event| event["event"] == "relay.settled_late"));
}

#[test]
fn a_session_without_a_socket_is_away_and_keeps_nothing_for_later() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let first = agent.propose_title("Sign in");
    let name = json!({ "node": Document::RECTANGLE, "name": "Header" });
    let second = agent.propose("rename_node", &name);
    card(&mut page);
    page.drop_socket();
    world.await_state(&agent, "away");
    assert_eq!(refusal(&agent), "session_away");
    // What waited is shown again, and can be approved.
    page.connect().unwrap();
    ready(&mut page);
    world.await_state(&agent, "connected");
    for invocation in [first, second] {
        approve(&mut page);
        agent.await_state(invocation, "succeeded");
    }
}

#[test]
fn a_page_that_is_closed_is_away_and_one_that_leaves_ends_its_session() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.unload();
    world.await_state(&agent, "away");
    page.connect().unwrap();
    ready(&mut page);
    let invocation = agent.propose_title("Sign in");
    card(&mut page);
    page.leave();
    assert_eq!(closed(&mut page).1, Some(4404));
    assert_eq!(world.states(&agent), []);
    assert_eq!(agent.await_state(invocation, "cancelled")["reason"], "revoked");
    assert_eq!(refusal(&agent), "no_such_session");
}

#[test]
fn of_two_tabs_with_one_file_the_last_one_has_the_session() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut first = world.paired(&agent);
    let session = first.session().unwrap();
    let invocation = agent.propose_title("Sign in");
    card(&mut first);
    let mut second = world.other_page(&first);
    second.connect().unwrap();
    assert_eq!(ready(&mut second), (session, 2));
    assert_eq!(closed(&mut first).1, Some(4409));
    // The card is where the person is now.
    approve(&mut second);
    agent.await_state(invocation, "succeeded");
    assert_eq!(world.states(&agent), [(session.to_string(), "connected".to_owned())]);
    // "Use here".
    first.connect().unwrap();
    assert_eq!(ready(&mut first), (session, 3));
    assert_eq!(closed(&mut second).1, Some(4409));
}

#[test]
fn a_frozen_page_is_suspended_at_once_and_back_with_its_first_answer() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.asleep_after = None;
    let invocation = agent.propose_title("Sign in");
    wait_within(SUSPENDED, "suspended", || match world.states(&agent).as_slice() {
        [(_, state)] => (state == "suspended").then_some(()),
        other => panic!("{other:?}"),
    });
    assert_eq!(refusal(&agent), "session_suspended");
    // It thaws, and what waits in its socket is read.
    let proposal = card(&mut page);
    while page.pump(Duration::from_millis(100)) != Event::Nothing {}
    world.await_state(&agent, "connected");
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    agent.await_state(invocation, "succeeded");
}

#[test]
fn a_page_that_was_asleep_runs_nothing_that_it_had_not_read() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let invocation = agent.propose_title("Sign in");
    let proposal = card(&mut page);
    page.decide(proposal, CardDecision::Approved);
    agent.await_state(invocation, "running");
    assert!(Notify::new().pause(Duration::from_secs(26)));
    let why = event(&mut page, "its refusal", |event| match event {
        Event::Refused(why) => Some(*why),
        _ => None,
    });
    assert_eq!(why, "asleep");
    page.connect().unwrap();
    ready(&mut page);
    agent.await_state(invocation, "failed");
    assert_eq!(page.host().open().effects.len(), 0);
}

#[test]
fn a_restart_of_the_daemon_is_told_and_survived() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let session = page.session().unwrap();
    let waiting = agent.propose_title("Sign in");
    card(&mut page);
    let world = world.restart();
    assert_eq!(closed(&mut page).1, Some(1012));
    page.opening = world.opening();
    page.connect().unwrap();
    assert_eq!(ready(&mut page), (session, 2));
    let agent = world.agent();
    approve(&mut page);
    agent.await_state(waiting, "succeeded");
    world.operator().audit();
}

#[test]
fn a_stop_in_the_middle_of_an_action_leaves_it_to_the_journal() {
    for (point, cut, expected) in [
        (Point::Begun, Cut::Nothing, "succeeded"),
        (Point::Done, Cut::Nothing, "succeeded"),
        (Point::Done, Cut::Page, "unknown"),
    ] {
        let mut world = World::local(&[]);
        let agent = world.agent();
        let mut page = world.paired(&agent);
        let invocation: InvocationId = agent.propose_title("Sign in");
        let pid = world.service.daemon.pid();
        page.at = Some(Box::new(move |now, _| {
            if now != point {
                return Cut::Nothing;
            }
            rustix::process::kill_process(pid, Signal::TERM).unwrap();
            // Until the daemon has gone, or nearly so.
            assert!(Notify::new().pause(Duration::from_millis(300)));
            cut
        }));
        let proposal = card(&mut page);
        page.decide(proposal, CardDecision::Approved);
        event(&mut page, "the end", |it| matches!(it, Event::Closed(_) | Event::Cut).then_some(()));
        assert_eq!(world.service.daemon.ended().code(), Some(0));
        world.service.daemon = world.service.site.start();
        page.at = None;
        page.opening = world.opening();
        page.connect().unwrap();
        ready(&mut page);
        let agent = world.agent();
        let stands = agent.await_state(invocation, expected);
        assert_eq!(page.host().times_of(invocation), 1, "{point:?}: {stands}");
    }
}

#[test]
fn on_the_way_to_a_stop_nothing_new_begins() {
    let world = World::local(&[("SVC_RELAY_WAIT_SECONDS", "15")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let held = agent.call_aside("set_text", &json!({ "node": Document::TITLE, "text": "Sign in" }));
    card(&mut page);
    // A call that is held does not hold up the stop.
    let world = world.restart();
    let answered = held.join();
    if let Ok(result) = answered {
        assert_eq!(result["isError"], true, "{result}");
    }
    assert_eq!(closed(&mut page).1, Some(1012));
    assert_eq!(title(&page), "Log in");
    assert_eq!(world.states(&world.agent()).len(), 1);
}
