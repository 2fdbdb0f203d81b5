//! Codes: one answer for whatever is wrong with one, and few tries.

use serde_json::{Value, json};
use svc::demo::plugin::event::Event;

use super::world::{World, closed, code, confirm, event, ready};
use crate::daemon::ask::{Answer, Ask};

/// A code that no plugin shows; a random one is this with a chance of one in 2^40.
const WRONG: &str = "0000-0000";

#[test]
fn a_wrong_a_used_and_an_expired_code_are_answered_alike() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.page();
    page.connect().unwrap();
    let used = code(&mut page);
    let claimed = agent.good("pair_design_session", &json!({ "code": used.to_lowercase() }));
    assert_eq!(
        (&claimed["tool"], &claimed["file"]),
        (&json!("test"), &json!("a file")),
        "{claimed}"
    );
    let mut gone = world.page();
    gone.connect().unwrap();
    let expired = code(&mut gone);
    gone.drop_socket();
    let answers: Vec<Value> = [WRONG, &used, "no code at all"]
        .into_iter()
        .map(|code| agent.bad("pair_design_session", &json!({ "code": code })))
        .collect();
    assert_eq!(answers[0]["code"], "not_found");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    // The end of a socket is seen soon, and not at once.
    world.await_connections(1);
    assert_eq!(agent.bad("pair_design_session", &json!({ "code": expired })), answers[0]);
    // Who used the code goes on.
    confirm(&mut page);
}

#[test]
fn after_five_wrong_codes_there_is_a_pause() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.page();
    page.connect().unwrap();
    let right = code(&mut page);
    for _ in 0..5 {
        let answer = agent.bad("pair_design_session", &json!({ "code": WRONG }));
        assert_eq!(answer["code"], "not_found");
    }
    for code in [WRONG, &right] {
        let answer = agent.bad("pair_design_session", &json!({ "code": code }));
        assert_eq!(answer["code"], "too_many_codes", "{answer}");
        let wait = answer["retryAfterSeconds"].as_u64().unwrap();
        assert!((1..=600).contains(&wait), "{answer}");
    }
}

/// Returns the request that claims a pairing.
fn claim(world: &World, code: &str) -> Ask {
    let opening = world.opening();
    Ask::post("/relay/v1/pairings/claim")
        .header("Host", &opening.host)
        .header("Content-Type", "application/json")
        .body(json!({ "code": code }).to_string())
}

#[test]
fn the_route_for_people_pairs_and_answers_alike() {
    let world = World::local(&[]);
    let endpoint = &world.service.daemon.public;
    let mut page = world.page();
    page.connect().unwrap();
    let right = code(&mut page);
    let claimed = endpoint.ask(&claim(&world, &right));
    assert_eq!(claimed.status, 200, "{claimed:?}");
    let body = claimed.json();
    assert_eq!((&body["tool"], &body["file"]), (&json!("test"), &json!("a file")), "{body}");
    assert!(body["pairing"].is_string() && body["expiresAt"].is_string(), "{body}");
    let answers: Vec<Answer> = [&right, WRONG, WRONG, WRONG, WRONG]
        .iter()
        .map(|code| endpoint.ask(&claim(&world, code)))
        .collect();
    assert_eq!(answers[0].status, 404, "{:?}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    let sixth = endpoint.ask(&claim(&world, WRONG));
    assert_eq!(sixth.status, 429, "{sixth:?}");
    let wait: u64 = sixth.header("retry-after").parse().unwrap();
    assert!((1..=600).contains(&wait), "{sixth:?}");
    confirm(&mut page);
}

#[test]
fn one_person_s_wrong_codes_are_not_another_s() {
    let world = World::with_tokens(&[]);
    let [ada, bob] = ["ada", "bob"].map(|subject| world.agent_of(subject, "a-client"));
    let mut page = world.page();
    page.connect().unwrap();
    let right = code(&mut page);
    for _ in 0..3 {
        assert_eq!(bob.bad("pair_design_session", &json!({ "code": WRONG }))["code"], "not_found");
    }
    let claimed = ada.good("pair_design_session", &json!({ "code": right }));
    assert_eq!(claimed["state"], "claimed");
    // Whose it is now does not show.
    let used = bob.bad("pair_design_session", &json!({ "code": right }));
    assert_eq!(used["code"], "not_found", "{used}");
    let who = event(&mut page, "the question", |event| match event {
        Event::Claimed { account, client } => Some((account.clone(), client.clone())),
        _ => None,
    });
    assert_eq!(who, ("ada".to_owned(), "a-client".to_owned()));
    page.confirm(true);
    ready(&mut page);
    assert_eq!(world.states(&ada).len(), 1);
    assert_eq!(world.states(&bob), []);
}

#[test]
fn without_a_token_or_its_scope_nothing_is_claimed() {
    let world = World::with_tokens(&[]);
    let mut page = world.page();
    page.connect().unwrap();
    let right = code(&mut page);
    let endpoint = &world.service.daemon.public;
    assert_eq!(endpoint.ask(&claim(&world, &right)).status, 401);
    let read = world.bearer(&[("sub", "ada"), ("scope", "mcp:read")]);
    let refused = endpoint.ask(&claim(&world, &right).header("Authorization", read));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.header("www-authenticate").contains("mcp:pair"), "{refused:?}");
    let pair = world.bearer(&[("sub", "ada"), ("scope", "mcp:read mcp:pair")]);
    let claimed = endpoint.ask(&claim(&world, &right).header("Authorization", pair));
    assert_eq!(claimed.status, 200, "{claimed:?}");
}

#[test]
fn a_person_who_refuses_lets_no_subject_in() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.page();
    page.connect().unwrap();
    let first = code(&mut page);
    agent.good("pair_design_session", &json!({ "code": first }));
    event(&mut page, "the question", |it| matches!(it, Event::Claimed { .. }).then_some(()));
    page.confirm(false);
    assert_eq!(closed(&mut page).1, Some(4410));
    assert_eq!(world.states(&agent), []);
    page.connect().unwrap();
    assert_ne!(code(&mut page), first);
}

#[test]
fn an_answer_that_the_device_did_not_sign_is_none() {
    let world = World::local(&[]);
    let agent = world.agent();
    let mut page = world.page();
    page.tamper = Some(Box::new(|mut frame| {
        if frame["type"] == "confirm" {
            // Signed as a refusal, sent as consent.
            frame["accept"] = true.into();
        }
        vec![frame]
    }));
    page.connect().unwrap();
    let code = code(&mut page);
    agent.good("pair_design_session", &json!({ "code": code }));
    event(&mut page, "the question", |it| matches!(it, Event::Claimed { .. }).then_some(()));
    page.confirm(false);
    assert_eq!(closed(&mut page), (vec!["bad_proof".to_owned()], Some(4403)));
    assert_eq!(world.states(&agent), []);
}
