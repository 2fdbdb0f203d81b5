//! The operator API in process: scope, pages, and that a foreign item and an absent one are the same.
//! The tables of outcomes and statuses are seen on the real daemon, in `daemon`.

mod host;
mod replay;

use http::Method;
use svc::domain::outbox::EffectKind;
use svc::http::message::Surface;
use svc::http::routes;
use svc::store::NEWEST_STEP;

use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{ACTOR, TOKEN, bytes, commit, json, open_raw, outcome, webhooks};

fn with_dead_letters(count: u32) -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    for number in 1..=count {
        world.deliver(&webhooks(1).push_tag(&format!("v{number}"), &commit(number)));
    }
    world.settle();
    world
}

/// A handler that asks for a variable that its route's pattern does not name panics here.
#[test]
fn every_handler_finds_the_variables_of_its_path() {
    let world = World::new();
    let id = "0199f3a0-0000-7000-8000-00000000000a";
    let values = [
        ("{installationId}", "1"),
        ("{itemType}", "job"),
        ("{itemId}", id),
        ("{releaseRunId}", id),
        ("{attemptId}", id),
        ("{reconciliationId}", id),
        ("{name}", "maps"),
        ("{file}", "ui.html"),
        // Events of the audit log have numbers.
        ("audit-events/{id}", "audit-events/1"),
        ("{id}", id),
    ];
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("host", "localhost"),
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", "k"),
    ];
    // The gate of the fixture has tests of its own.
    let routes = routes::listing().filter(|(_, _, path)| !path.starts_with("/fixture/"));
    for (surfaces, method, pattern) in routes {
        let fill = |path: String, (name, value): (&str, &str)| path.replace(name, value);
        let target = values.into_iter().fold(pattern.to_owned(), fill);
        assert!(!target.contains('{'), "{target}");
        let answer = world.send(surfaces[0], method.clone(), &target, &headers, b"{}".to_vec());
        // A close says why, and who looks ids up says which.
        let is_incomplete = answer.status == 400
            && (pattern.ends_with("/close") || pattern.ends_with("{installationId}/ids"));
        // Nothing is wrong with the form of the request: nothing kept the handler from reading on.
        let status = answer.status.as_u16();
        // A reload is refused, because this world has no settings to read.
        let is_refused = status == 409 && pattern == "/api/v1/reload";
        let is_usual = [200, 401, 404, 422, 503].contains(&status);
        assert!(is_usual || is_refused || is_incomplete, "{method} {pattern}: {status}");
    }
}

#[test]
fn pages_neither_skip_nor_repeat_though_the_clock_stands_still() {
    let world = with_dead_letters(25);
    for limit in [1, 7, 24, 25, 26, 100] {
        let mut seen = Vec::new();
        let mut before = String::new();
        loop {
            let target =
                format!("/api/v1/operator/installations/1/dead-letters?limit={limit}{before}");
            let page = json(&world.operate(Method::GET, &target, &[]));
            let items = page["items"].as_array().unwrap();
            assert!(items.len() <= limit);
            assert!(seen.len() <= 25, "a page comes again");
            seen.extend(items.iter().map(|item| item["itemId"].as_str().unwrap().to_owned()));
            match page["nextBefore"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(seen.len(), 25, "limit {limit}");
        let mut newest_first = seen.clone();
        newest_first.sort();
        newest_first.dedup();
        assert_eq!(newest_first.len(), 25, "limit {limit}");
        newest_first.reverse();
        assert_eq!(seen, newest_first, "ids rise as they are made");
    }
}

#[test]
fn a_foreign_item_and_an_absent_one_get_the_same_answer() {
    let world = with_dead_letters(1);
    let (_, id) = world.only_dead_letter(1);
    let absent = "0199f3a0-0000-7000-8000-00000000000a";
    for suffix in ["", "/replay"] {
        let method = if suffix.is_empty() { Method::GET } else { Method::POST };
        let ask = |installation: i64, item: &str| {
            let target = format!(
                "/api/v1/operator/installations/{installation}/dead-letters/job/{item}{suffix}"
            );
            let answer = world.operate(method.clone(), &target, &[("idempotency-key", "k")]);
            (answer.status, format!("{:?}", answer.headers), bytes(&answer).to_vec())
        };
        assert_eq!(ask(2, &id), ask(2, absent));
        assert_eq!(ask(2, &id), ask(1, absent));
        assert_eq!(ask(2, &id).0, 404);
    }
    assert!(world.dead_letters(2).is_empty());
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM operator_operations"), 0);
}

#[test]
fn a_foreign_side_effect_is_not_replayed_either() {
    let mut world = World::new();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(kind, "outbox");
    assert_eq!(world.replay(2, (&kind, &id), "k").0, 404);
    assert_eq!(world.replay(1, ("job", &id), "k").0, 404, "its id is of the other kind");
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 0);
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 0);
}

#[test]
fn a_replay_is_audited_once_and_answers_the_same_for_ever() {
    let world = with_dead_letters(1);
    let (kind, id) = world.only_dead_letter(1);
    let first = world.replay(1, (&kind, &id), "key-1");
    assert_eq!((first.0, first.1.as_str()), (200, "replayed"));
    let world = world.restart();
    let again = world.replay(1, (&kind, &id), "key-1");
    assert_eq!((again.0, again.1.as_str()), (200, "already_applied"));
    assert_eq!(again.2, first.2);
    let event: String = world.ask(
        "SELECT event || ' ' || actor || ' ' || operation_id || ' ' || item_type FROM audit_events",
    );
    assert_eq!(event, format!("control_plane.dead_letter_replayed {ACTOR} key-1 job"));
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 1);
    let absent = "0199f3a0-0000-7000-8000-00000000000a";
    assert_eq!(world.replay(1, ("job", absent), "key-1").0, 422, "the key comes before the item");
    assert_eq!(world.replay(2, (&kind, &id), "key-1").0, 422);
}

#[test]
fn a_replayed_item_that_dies_again_can_be_replayed_again() {
    let world = with_dead_letters(1);
    for round in 0..3 {
        let (kind, id) = world.only_dead_letter(1);
        assert_eq!(world.replay(1, (&kind, &id), &format!("round-{round}")).0, 200);
        world.settle();
    }
    assert_eq!(world.dead_letters(1).len(), 1);
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM dead_letters"), 4);
}

#[test]
fn authentication_comes_before_everything_else() {
    let world = with_dead_letters(0);
    let mut answers = Vec::new();
    for (method, target) in [
        (Method::GET, "/api/v1/operator/installations/1/dead-letters"),
        (Method::GET, "/api/v1/operator/installations/1/dead-letters?limit=0"),
        (Method::DELETE, "/api/v1/operator/installations"),
        (Method::GET, "/api/v1/operator/nothing/here"),
        (Method::GET, "/api/v1/operator"),
    ] {
        for authorization in ["", "Bearer wrong", &format!("Basic {TOKEN}")] {
            let headers = [("host", "localhost"), ("authorization", authorization)];
            let answer = world.send(Surface::Control, method.clone(), target, &headers, Vec::new());
            assert_eq!(outcome(&answer), (401, "unauthenticated".to_owned()), "{target}");
            answers.push(bytes(&answer).to_vec());
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "an unauthenticated caller learns nothing");
}

#[test]
fn the_operator_api_is_not_on_the_public_surface() {
    let world = with_dead_letters(0);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("host", "localhost"), ("authorization", bearer.as_str())];
    for target in ["/api/v1/operator/installations", "/metrics"] {
        let answer = world.send(Surface::Public, Method::GET, target, &headers, Vec::new());
        assert_eq!(answer.status, 404, "{target}");
    }
}

#[test]
fn the_operator_address_answers_to_its_own_names_only() {
    let world = with_dead_letters(0);
    let bearer = format!("Bearer {TOKEN}");
    for (host, status) in [
        ("localhost:7081", 200),
        ("127.0.0.1:7081", 200),
        ("[::1]:7081", 200),
        ("evil.example", 400),
        ("localhost.evil.example:7081", 400),
    ] {
        let headers = [("host", host), ("authorization", bearer.as_str())];
        let target = "/api/v1/operator/installations";
        let answer = world.send(Surface::Operator, Method::GET, target, &headers, Vec::new());
        assert_eq!(answer.status, status, "{host}");
    }
}

#[test]
fn a_closed_dead_letter_leaves_the_list_and_stays_in_the_table() {
    let mut world = World::new();
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_check_run_update_failed");
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
    world.settle();
    assert!(world.dead_letters(1).is_empty());
    let resolution: String = world.ask("SELECT resolution FROM dead_letters");
    assert_eq!(resolution, "replayed");
}

#[test]
fn an_outdated_writer_is_shut_out_and_says_so() {
    let mut world = World::new();
    open_raw(&world.database())
        .execute("UPDATE schema_compatibility SET oldest_writer_step = ?1", [NEWEST_STEP + 1])
        .unwrap();
    let answer = world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    assert_eq!(answer, (503, "unavailable".to_owned()));
    let ready = world.send(
        Surface::Control,
        Method::GET,
        "/health/ready",
        &[("host", "localhost")],
        Vec::new(),
    );
    assert_eq!(ready.status, 503);
    assert_eq!(json(&ready)["store"], "outdated");
}

#[test]
fn words_of_a_newer_version_are_shown_and_are_never_safe() {
    let world = with_dead_letters(2);
    open_raw(&world.database())
        .execute(
            "UPDATE dead_letters SET reason_code = 'of_tomorrow', error_class = 'of_tomorrow', \
                replay_class = 'of_tomorrow' WHERE id = 1",
            [],
        )
        .unwrap();
    let letters = world.dead_letters(1);
    assert_eq!(letters.len(), 2);
    assert_eq!(letters[1]["reasonCode"], "of_tomorrow");
    assert_eq!(letters[1]["replaySafe"], false);
    let id = letters[1]["itemId"].as_str().unwrap();
    assert_eq!(world.replay(1, ("job", id), "k").0, 409);
}
