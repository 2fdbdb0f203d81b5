//! Two processes at one database: a call that comes to the one reaches the page at the other, until that one is killed.

use std::time::Duration;

use serde_json::json;
use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::{BrowserProfile, Host};
use svc::demo::plugin::document::Document;
use svc::demo::plugin::socket::Opening;

use super::world::{FILE, World, approve, ready};
use crate::daemon::ask::Endpoint;
use crate::daemon::wait_within;

/// When a process that was killed has been missed, at the latest.
const MISSED: Duration = Duration::from_secs(60);

#[test]
fn a_page_at_another_process_is_reached_until_that_one_is_killed() {
    let mut world = World::local(&[]);
    let agent = world.agent();
    let control = world.service.site.path("other.sock");
    world.service.site.set("SVC_CONTROL_SOCKET", control.to_str().unwrap());
    let mut other = world.service.site.start();
    let Endpoint::Tcp(address) = other.public.clone() else { panic!("no TCP") };
    let host = Host::new(Document::sample());
    let mut page = Plugin::new(Opening::local(address), BrowserProfile::new().unwrap(), host, FILE);
    page.connect().unwrap();
    let session = world.pair(&agent, &mut page);
    let invocation = agent.propose_title("Sign in");
    approve(&mut page);
    agent.await_state(invocation, "succeeded");
    let state = || world.states(&agent).remove(0).1;
    other.kill();
    assert_eq!(state(), "connected", "it could not say that its sockets have closed");
    wait_within(MISSED, "away", || (state() == "away").then_some(()));
    let arguments = json!({ "node": Document::TITLE, "text": "Sign on" });
    assert_eq!(agent.bad("set_text", &arguments)["code"], "session_away");
    // The process that is left takes the page up.
    let mut back = world.other_page(&page);
    back.connect().unwrap();
    assert_eq!(ready(&mut back), (session, 2));
    let invocation = agent.propose("set_text", &arguments);
    approve(&mut back);
    agent.await_state(invocation, "succeeded");
}
