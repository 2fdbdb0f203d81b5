//! Calls of agents: held for a person, pending, the same again, and reads that a person lets go by.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::domain::relay::CardDecision;
use svc::relay::frame::Outcome;

use super::world::{World, approve, assert_quiet, card, cards, ended, event, settled, title};
use crate::mcp::{call, request};

#[test]
fn a_write_is_shown_approved_and_done_while_its_call_is_held() {
    let world = World::local(&[("SVC_RELAY_WAIT_SECONDS", "15")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let held = agent.call_aside("set_text", &json!({ "node": Document::TITLE, "text": "Sign in" }));
    let proposal = card(&mut page);
    let shown = page.card(proposal).unwrap();
    let row = ("text".to_owned(), Some("Log in".to_owned()), "Sign in".to_owned());
    assert_eq!(shown.lines[0].rows, [row]);
    assert_eq!(title(&page), "Log in", "nothing happens before the consent");
    page.decide(proposal, CardDecision::Approved);
    let (grant, invocation, outcome) = ended(&mut page);
    assert_eq!(outcome, Outcome::Succeeded);
    let result = held.join().unwrap();
    let content = &result["structuredContent"];
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(content["state"], "succeeded");
    assert_eq!(content["value"], json!({ "node": Document::TITLE, "old": "Log in" }));
    assert_eq!(content["session"], page.session().unwrap().to_string().as_str());
    assert_eq!(content["file"], "a file");
    assert_eq!(content["invocation"], invocation.to_string().as_str());
    assert_eq!(settled(&mut page), grant);
    assert_eq!((page.host().times(grant), title(&page).as_str()), (1, "Sign in"));
    let events = world.operator().audit();
    let words: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        words,
        [
            "relay.device_paired",
            "relay.session_opened",
            "relay.proposed",
            "relay.shown",
            "relay.approved",
            "relay.claimed",
            "relay.settled"
        ]
    );
    let signed = events.iter().find(|event| event["event"] == "relay.approved").unwrap();
    assert_eq!(signed["signature"].as_str().unwrap().len(), 128, "{signed}");
    assert_eq!(signed["decidedBy"], "person");
    assert!(!json!(events).to_string().contains("Sign in"), "no arguments in the audit log");
}

#[test]
fn the_same_call_again_is_the_same_card() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let first = agent.propose_title("Sign in");
    assert_eq!(agent.propose_title("Sign in"), first);
    assert_ne!(agent.propose_title("Sign on"), first);
    let proposals = cards(&mut page, 2);
    assert_eq!(proposals.len(), 2);
    page.decide(proposals[0], CardDecision::Denied);
    agent.await_state(first, "denied");
    assert_ne!(agent.propose_title("Sign in"), first, "once it has ended, it is another one");
}

#[test]
fn a_client_that_goes_takes_back_what_no_other_call_waits_for() {
    let settings = [("MCP_V2_EXPERIMENTAL", "true"), ("SVC_RELAY_WAIT_SECONDS", "30")];
    let world = World::local(&settings);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let open = |text: &str| {
        let arguments = json!({ "node": Document::TITLE, "text": text });
        let params = json!({
            "name": "set_text", "arguments": arguments, "_meta": { "progressToken": "p" }
        });
        let mut stream = world.service.open(&world.service.standalone(1, "tools/call", params));
        // It waits.
        stream.message();
        stream
    };
    let withdrawn = |event: &Event| match event {
        Event::Withdrawn(proposal, _) => Some(*proposal),
        _ => None,
    };
    let stays = |page: &mut Plugin| {
        let gone = page.until(Duration::from_secs(4), |_, event| withdrawn(event));
        assert_eq!(gone, None, "another call waits for it");
    };
    let [first, second] = [open("Sign in"), open("Sign in")];
    let proposal = card(&mut page);
    drop(first);
    stays(&mut page);
    drop(second);
    assert_eq!(event(&mut page, "the card to go", withdrawn), proposal, "no call waits for it");
    // A client of the legacy era that has gone may ask for it later.
    let mut legacy = TcpStream::connect(world.service.address()).unwrap();
    let call = agent.ask("set_text", &json!({ "node": Document::TITLE, "text": "Sign on" }));
    legacy.write_all(&call.to_bytes()).unwrap();
    let proposal = card(&mut page);
    drop((legacy, open("Sign on")));
    stays(&mut page);
    page.decide(proposal, CardDecision::Approved);
    ended(&mut page);
    settled(&mut page);
    assert_eq!(title(&page), "Sign on");
}

#[test]
fn so_many_proposals_wait_and_no_more() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    for number in 0..8 {
        agent.propose_title(&format!("title {number}"));
    }
    let arguments = json!({ "node": Document::TITLE, "text": "one more" });
    let refused = agent.bad("set_text", &arguments);
    assert_eq!(refused["code"], "busy", "{refused}");
    assert!(refused["message"].as_str().unwrap().starts_with("8 "), "{refused}");
    let first = card(&mut page);
    page.decide(first, CardDecision::Approved);
    ended(&mut page);
    settled(&mut page);
    agent.propose("set_text", &arguments);
}

#[test]
fn a_client_proposes_only_so_often() {
    let world = World::local(&[("SVC_RELAY_PROPOSALS_PER_MINUTE", "3")]);
    let agent = world.agent();
    let _page = world.paired(&agent);
    let mut refused = Value::Null;
    for number in 0..10 {
        let answer =
            agent.bad("set_text", &json!({ "node": Document::TITLE, "text": number.to_string() }));
        if answer["code"] == "too_many_proposals" {
            refused = answer;
            break;
        }
    }
    let wait = refused["retryAfterSeconds"].as_u64();
    assert!(wait.is_some_and(|wait| (1..=60).contains(&wait)), "{refused}");
}

#[test]
fn a_person_lets_reads_go_by_for_a_while_and_nothing_else() {
    let world = World::local(&[("SVC_RELAY_WAIT_SECONDS", "15")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.allow(15);
    let listed = crate::daemon::wait_for("the allowance", || {
        page.pump(Duration::from_millis(10));
        let listed = agent.good("list_design_sessions", &json!({}));
        listed["sessions"][0]["allowanceUntil"].is_string().then_some(listed)
    });
    assert_eq!(listed["sessions"][0]["state"], "connected");
    let held = agent.call_aside("list_pages", &json!({}));
    event(&mut page, "a decision", |it| matches!(it, Event::Decided(_)).then_some(()));
    settled(&mut page);
    let pages = held.join().unwrap();
    assert_eq!(pages["structuredContent"]["value"]["pages"][0]["name"], "Login", "{pages}");
    // A write has its card all the same.
    let held = agent.call_aside("set_text", &json!({ "node": Document::TITLE, "text": "Sign in" }));
    approve(&mut page);
    assert_eq!(held.join().unwrap()["structuredContent"]["state"], "succeeded");
    // When it is over, a read has its card again.
    page.allow(0);
    let held = agent.call_aside("get_selection", &json!({}));
    let (grant, by) = (approve(&mut page), "person");
    held.join().unwrap();
    let events = world.operator().audit();
    let decided = |event: &&Value| event["event"] == "relay.approved";
    let who: Vec<&str> =
        events.iter().filter(decided).map(|event| event["decidedBy"].as_str().unwrap()).collect();
    assert_eq!(who, ["allowance", "person", by], "{grant}");
    for word in ["relay.allowance_given", "relay.allowance_ended"] {
        assert_eq!(events.iter().filter(|event| event["event"] == word).count(), 1, "{word}");
    }
}

#[test]
fn an_allowance_is_the_page_s_that_gave_it() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    page.tamper = Some(Box::new(|mut frame| {
        if frame["type"] == "allowance" {
            // Signed for a quarter of an hour.
            frame["minutes"] = 60.into();
        }
        vec![frame]
    }));
    page.allow(15);
    assert_eq!(super::world::closed(&mut page), (vec!["bad_proof".to_owned()], Some(4400)));
    assert_eq!(
        agent.good("list_design_sessions", &json!({}))["sessions"][0]["allowanceUntil"],
        Value::Null
    );
}

#[test]
fn without_a_session_several_are_named_and_foreign_ones_are_unknown() {
    let world = World::with_tokens(&[]);
    let [ada, bob] = ["ada", "bob"].map(|subject| world.agent_of(subject, "a-client"));
    let mut pages: Vec<_> = (0..2).map(|_| world.paired(&ada)).collect();
    let arguments = json!({ "node": Document::TITLE, "text": "Sign in" });
    let several = ada.bad("set_text", &arguments);
    assert_eq!(several["code"], "session_needed", "{several}");
    assert_eq!(several["sessions"].as_array().unwrap().len(), 2, "{several}");
    let none = bob.bad("set_text", &arguments);
    assert_eq!(none["code"], "no_such_session", "{none}");
    let session = pages[1].session().unwrap().to_string();
    let with = |session: &str| {
        let mut arguments = arguments.clone();
        arguments["session"] = session.into();
        arguments
    };
    let foreign = bob.bad("set_text", &with(&session));
    let unknown = bob.bad("set_text", &with("0199f3a0-0000-7000-8000-00000000000a"));
    assert_eq!(foreign, unknown);
    let invocation = ada.propose("set_text", &with(&session));
    let proposal = card(&mut pages[1]);
    for tool in ["get_invocation", "cancel_invocation"] {
        let ask = |id: &str| bob.bad(tool, &json!({ "invocation": id }));
        let foreign = ask(&invocation.to_string());
        assert_eq!(foreign, ask("0199f3a0-0000-7000-8000-00000000000a"), "{tool}");
        // The approval's id is no way either.
        assert_eq!(foreign, ask(&proposal.to_string()), "{tool}");
    }
    pages[1].decide(proposal, CardDecision::Approved);
    ended(&mut pages[1]);
    ada.await_state(invocation, "succeeded");
    assert_eq!(title(&pages[0]), "Log in");
}

#[test]
fn what_is_no_call_reaches_no_plugin() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let deep = (0..9).fold(json!(1), |inner, _| json!({ "x": inner }));
    let text = |text: Value| json!({ "node": Document::TITLE, "text": text });
    let step = |arguments: Value| json!({ "action": "set_text", "arguments": arguments });
    for (tool, arguments, place) in [
        ("set_text", json!({ "node": Document::TITLE }), "text"),
        ("set_text", json!({ "node": Document::TITLE, "text": "x", "more": 1 }), "no members but"),
        ("set_text", text(json!("x".repeat(10_001))), "/text"),
        ("set_text", text(json!("x".repeat(70_000))), ""),
        ("move_node", json!({ "node": Document::TITLE, "x": 1e99, "y": 0 }), "/x"),
        ("move_node", json!({ "node": Document::TITLE, "x": "NaN", "y": 0 }), "/x"),
        ("resize_node", json!({ "node": Document::TITLE, "width": 0.0001, "height": 1 }), "/width"),
        ("set_text", text(deep), ""),
        ("set_text", json!({ "node": { "step": 0 }, "text": "x" }), "/node/step"),
        ("propose_design_steps", json!({ "steps": [] }), ""),
        ("propose_design_steps", json!({ "steps": vec![step(text("x".into())); 21] }), ""),
        (
            "propose_design_steps",
            json!({ "steps": [step(json!({ "node": { "step": 0 }, "text": "x" }))] }),
            "/node/step",
        ),
        (
            "propose_design_steps",
            json!({ "steps": [step(json!({ "node": { "step": 1 }, "text": "x" })), step(text("x".into()))] }),
            "/node/step",
        ),
    ] {
        let result = agent.call(tool, &arguments);
        let shown = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert!(shown.contains(place), "{tool} {place}: {shown}");
    }
    assert_eq!(world.operator().list("invocations"), Vec::<Value>::new());
    assert_quiet(&mut page);
}

#[test]
fn faults_of_era_and_envelope_reach_no_plugin() {
    let world = World::local(&[("MCP_V2_EXPERIMENTAL", "true")]);
    let agent = world.agent();
    let mut page = world.paired(&agent);
    let service = &world.service;
    let good = call(1, "set_text", &json!({ "node": Document::TITLE, "text": "x" }));
    let session = service.begin("2025-06-18");
    let mut broken = vec![
        service.post(&good),
        service.within("0123456789abcdef0123456789abcdef", &good),
        service.within(&session, &json!([good])),
        service.within(&session, &good).header("MCP-Protocol-Version", "1999-01-01"),
        service.post(&good).header("MCP-Protocol-Version", "2026-07-28"),
        service.within(&session, &request(2, "tools/call", &json!({ "arguments": {} }))),
        service.within(&session, &good).header("Origin", "https://evil.example"),
    ];
    broken.push(service.standalone(3, "tools/call", good["params"].clone()).without("Mcp-Name"));
    for ask in broken {
        let answer = service.ask(&ask);
        let is_error = answer.status >= 400 || answer.json()["error"].is_object();
        assert!(is_error, "{ask:?}: {answer:?} {}", answer.text());
    }
    assert_eq!(world.operator().list("invocations"), Vec::<Value>::new());
    assert_quiet(&mut page);
}
