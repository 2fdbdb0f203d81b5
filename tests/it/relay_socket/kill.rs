//! Killed at any instant while invocations are proposed, decided and carried out: no effect twice, none unaccounted.
//!
//! A plugin that counts what it does comes back by itself and approves everything; agents propose, alone and several
//! steps at once. The default run makes 200 invocations; `SVC_RELAY_INVOCATIONS=5000 cargo test --test it
//! relay_socket::kill -- --nocapture` is a campaign.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::Host;
use svc::demo::plugin::event::Event;
use svc::demo::plugin::running::Running;
use svc::demo::plugin::socket::Opening;
use svc::domain::id::InvocationId;
use svc::domain::relay::CardDecision;
use svc::runtime::notify::Notify;
use svc::runtime::random::{Ids, SystemEntropy};
use svc::runtime::thread;

use super::world::World;
use crate::daemon::ask::{Ask, Endpoint};
use crate::daemon::{database, say, wait_for, wait_within};
use crate::mcp::{call, initialize};
use crate::support::campaign::number_or;

/// Invocations in all.
const INVOCATIONS: usize = 200;
/// Agents at the same time.
const AGENTS: usize = 2;
/// How much of what counts as progress one life of the daemon sees, less one.
const PROGRESS_MAX: usize = 16;
/// How long it then goes on, in milliseconds, less one.
const PAUSE_MS_MAX: u64 = 20;
/// What must have been under way at one of the deaths, each.
const UNDER_WAY: [&str; 4] = ["proposed", "shown", "approved", "running"];
/// So many cards are decided at once before one is left open until the daemon has died.
const DECIDED_AT_ONCE: usize = 80;
/// The two limits that are raised.
const RAISED: [(&str, &str); 2] =
    [("SVC_RELAY_PROPOSALS_PER_MINUTE", "6000"), ("SVC_RELAY_FRAMES_PER_SECOND", "5000")];

/// Where the daemon is now, and how far everything has come.
struct Stage {
    opening: Mutex<Opening>,
    made: AtomicUsize,
    /// Nothing more is proposed.
    is_over: AtomicBool,
    /// The page need not come back any more.
    is_at_rest: AtomicBool,
    /// What the page has lived through: sessions, ends of actions, and what the daemon knows of them.
    progress: AtomicUsize,
    /// A card is left open on the screen.
    is_looking: AtomicBool,
    /// How the page was treated that it should not have been.
    faults: Mutex<Vec<String>>,
}

#[test]
fn nothing_is_done_twice_and_nothing_is_unaccounted_for() {
    let wanted = number_or("SVC_RELAY_INVOCATIONS", INVOCATIONS);
    say(&format!("raised for this test: {RAISED:?}"));
    let mut world = World::local(&RAISED);
    let page = world.paired(&world.agent());
    let host = page.host().clone();
    let stage = Arc::new(Stage {
        opening: Mutex::new(world.opening()),
        made: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        is_at_rest: AtomicBool::new(false),
        progress: AtomicUsize::new(0),
        is_looking: AtomicBool::new(false),
        faults: Mutex::new(Vec::new()),
    });
    let running = run(page, &stage);
    let agents: Vec<_> = (0..AGENTS).map(|number| propose_on(&stage, number)).collect();
    let mut points: BTreeMap<String, usize> = BTreeMap::new();
    let mut ids = Ids::new(Box::new(SystemEntropy::new()));
    let missing = |points: &BTreeMap<String, usize>| {
        UNDER_WAY.into_iter().find(|point| !points.contains_key(*point))
    };
    // Where a death falls is chance: a rare point may need more of them.
    while stage.made.load(Ordering::Relaxed) < wanted || missing(&points).is_some() {
        // So far it gets, on a machine of any speed, and then a little further.
        let [steps, millis] = ids.bytes();
        let target = stage.progress.load(Ordering::Relaxed) + usize::from(steps) % PROGRESS_MAX;
        wait_for("progress", || (stage.progress.load(Ordering::Relaxed) >= target).then_some(()));
        assert!(Notify::new().pause(Duration::from_millis(u64::from(millis) % PAUSE_MS_MAX)));
        if stage.is_looking.load(Ordering::Relaxed) {
            // What was shown without a decision is recorded within a second.
            wait_for("a card on the screen", || {
                states(&world).iter().any(|(_, state)| state == "shown").then_some(())
            });
        }
        assert_eq!(*stage.faults.lock().unwrap(), Vec::<String>::new());
        world.service.daemon.kill();
        assert!(!world.service.daemon.log().contains("panicked"), "{}", world.service.daemon.log());
        *points.entry("deaths".to_owned()).or_default() += 1;
        for (_, state) in states(&world) {
            if UNDER_WAY.contains(&state.as_str()) {
                *points.entry(state).or_default() += 1;
            }
        }
        world.service.daemon = world.service.site.start();
        *stage.opening.lock().unwrap() = world.opening();
    }
    stage.is_over.store(true, Ordering::Relaxed);
    // A card that was left open comes back after a last death, and is decided.
    world.service.daemon.kill();
    world.service.daemon = world.service.site.start();
    *stage.opening.lock().unwrap() = world.opening();
    agents.into_iter().for_each(|agent| agent.join().unwrap());
    say(&format!("under way at the deaths: {points:?}"));
    // Everything comes to its end: what is shown is approved, what runs is settled.
    wait_within(Duration::from_secs(90), "rest", || {
        let open = |(_, state): &(InvocationId, String)| UNDER_WAY.contains(&state.as_str());
        (!states(&world).iter().any(open)).then_some(())
    });
    stage.is_at_rest.store(true, Ordering::Relaxed);
    drop(running.stop());
    assert_eq!(*stage.faults.lock().unwrap(), Vec::<String>::new());
    account(&world, &host);
    world.operator().audit();
}

/// Runs a page that approves everything, nearly always at once, and comes back by itself.
fn run(page: Plugin, stage: &Arc<Stage>) -> Running {
    let stage = Arc::clone(stage);
    let mut decided = 0;
    let react = move |page: &mut Plugin, event: &Event| match event {
        // One at a time, so that the other agent goes on.
        Event::Card(_)
            if decided == DECIDED_AT_ONCE
                && !stage.is_looking.load(Ordering::Relaxed)
                && !stage.is_over.load(Ordering::Relaxed) =>
        {
            decided = 0;
            stage.is_looking.store(true, Ordering::Relaxed);
        }
        Event::Card(proposal) => {
            decided = (decided + 1).min(DECIDED_AT_ONCE);
            page.decide(*proposal, CardDecision::Approved);
        }
        Event::Ready { .. } | Event::Ended(..) | Event::Settled(_) => {
            stage.progress.fetch_add(1, Ordering::Relaxed);
        }
        Event::Closed(code) => {
            stage.is_looking.store(false, Ordering::Relaxed);
            if !matches!(code, None | Some(1012 | 1001 | 1006)) {
                stage.faults.lock().unwrap().push(format!("closed with {code:?}"));
            }
            while !stage.is_at_rest.load(Ordering::Relaxed) {
                page.opening = stage.opening.lock().unwrap().clone();
                if page.connect().is_ok() || !Notify::new().pause(Duration::from_millis(5)) {
                    break;
                }
            }
        }
        Event::Refused(why) => {
            stage.faults.lock().unwrap().push(format!("the page refused: {why}"));
        }
        Event::Problem(word, text) => {
            stage.faults.lock().unwrap().push(format!("{word}: {text}"));
        }
        _ => {}
    };
    Running::start(page, react).unwrap()
}

/// Proposes one thing after the other, whatever becomes of the daemon.
fn propose_on(stage: &Arc<Stage>, number: usize) -> std::thread::JoinHandle<()> {
    let stage = Arc::clone(stage);
    let body = move || {
        let mut place = 0;
        while !stage.is_over.load(Ordering::Relaxed) {
            // What ends this life of the client is the end of the daemon's.
            drop(live(&stage, number, &mut place));
            assert!(Notify::new().pause(Duration::from_millis(5)));
        }
    };
    thread::spawn("test-agent", body).unwrap()
}

/// One session of a client, until the daemon is gone.
fn live(stage: &Stage, number: usize, place: &mut usize) -> io::Result<()> {
    let opening = stage.opening.lock().unwrap().clone();
    let endpoint = Endpoint::Tcp(opening.address);
    let head = Ask::post("/mcp")
        .header("Host", &opening.host)
        .header("Accept", "application/json, text/event-stream")
        .header("Content-Type", "application/json");
    let begun = endpoint.try_ask(&head.clone().body(initialize("2025-11-25").to_string()))?;
    let head = head.header("Mcp-Session-Id", begun.header("mcp-session-id"));
    while !stage.is_over.load(Ordering::Relaxed) {
        let (tool, arguments, steps) = next(number, *place);
        let message = call(*place, tool, &arguments).to_string();
        let answer = endpoint.try_ask(&head.clone().body(message))?;
        if answer.status != 200 {
            return Ok(());
        }
        let content = answer.json()["result"]["structuredContent"].clone();
        match content["code"].as_str() {
            // Proposed: the next one has other arguments.
            None => {
                *place += 1;
                stage.made.fetch_add(steps, Ordering::Relaxed);
                // Some wait behind each other, and not all of them.
                if place.is_multiple_of(2) {
                    await_end(stage, &endpoint, &head, &content["invocation"])?;
                }
            }
            Some("busy" | "session_away" | "unavailable") => {
                assert!(Notify::new().pause(Duration::from_millis(5)));
            }
            Some(other) => stage.faults.lock().unwrap().push(format!("{other}: {content}")),
        }
    }
    Ok(())
}

/// Asks for an invocation until it has ended, or the daemon has.
fn await_end(stage: &Stage, endpoint: &Endpoint, head: &Ask, invocation: &Value) -> io::Result<()> {
    let message = call("look", "get_invocation", &json!({ "invocation": invocation })).to_string();
    let ask = head.clone().body(message);
    while !stage.is_over.load(Ordering::Relaxed) {
        let answer = endpoint.try_ask(&ask)?;
        let status = answer.json()["result"]["structuredContent"]["status"].clone();
        if answer.status != 200 || status.is_null() {
            return Ok(());
        }
        assert!(Notify::new().pause(Duration::from_millis(5)));
    }
    Ok(())
}

/// Returns what is proposed at a place: a tool, its arguments, and how many steps that makes.
fn next(number: usize, place: usize) -> (&'static str, Value, usize) {
    let rectangle = |x: usize| json!({ "x": x, "y": number, "width": 10, "height": 10 });
    if place.is_multiple_of(4) {
        let step = |n: usize| json!({ "action": "create_rectangle", "arguments": rectangle(place * 10 + n) });
        let steps: Vec<Value> = (0..3).map(step).collect();
        return ("propose_design_steps", json!({ "steps": steps }), 3);
    }
    ("create_rectangle", rectangle(place * 10), 1)
}

fn states(world: &World) -> Vec<(InvocationId, String)> {
    let database = database::open(&world.service.site.database());
    let mut query = database.prepare("SELECT invocation_id, state FROM relay_invocations").unwrap();
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).unwrap();
    let row = |row: rusqlite::Result<(String, String)>| {
        let (id, state) = row.unwrap();
        (id.parse().unwrap(), state)
    };
    rows.map(row).collect()
}

/// Compares what was done with what is said of it.
fn account(world: &World, host: &Host) {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let all = states(world);
    for (invocation, state) in &all {
        *ends.entry(state.clone()).or_default() += 1;
        let times = host.times_of(*invocation);
        match state.as_str() {
            "succeeded" => assert_eq!(times, 1, "{invocation} has succeeded"),
            "unknown" => assert!(times <= 1, "{invocation} is unknown, and was done {times} times"),
            _ => assert_eq!(times, 0, "{invocation} is {state}"),
        }
    }
    say(&format!("how they ended: {ends:?}"));
    let known: Vec<InvocationId> = all.iter().map(|(id, _)| *id).collect();
    for (grant, (invocation, times)) in &host.open().effects {
        assert!(known.contains(invocation), "{grant} was carried out for {invocation}");
        assert_eq!(*times, 1, "{grant}");
    }
    // The page lives on and its journal with it, so it can say of everything how it ended.
    assert_eq!(ends.get("unknown"), None, "{ends:?}");
    assert!(ends.get("succeeded").is_some_and(|count| *count > all.len() / 10), "{ends:?}");
}
