//! The status of the service: its sums are those of the lists, and nothing in it belongs to one installation.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use svc::domain::outbox::EffectKind;
use svc::runtime::clock::Clock as _;

use super::{add_row, get};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{commit, json as body, webhooks};

fn status(world: &World) -> Value {
    let answer = world.operate(Method::GET, "/api/v1/status", &[]);
    assert_eq!(answer.status, 200);
    body(&answer)
}

#[test]
fn its_sums_are_those_of_all_installations() {
    let mut world = World::new();
    for installation in [1, 2] {
        add_row(&mut world, installation, 1);
        for number in 2..=3 {
            world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
            let commit = commit(number + u32::try_from(installation).unwrap() * 1_000);
            world.deliver(&webhooks(installation).push_tag(&format!("v{number}"), &commit));
            world.settle();
            world.clock.advance(Duration::from_secs(1));
        }
    }
    world.tamper(
        "UPDATE dead_letters SET replay_class = 'of_tomorrow', replay_safe = 0 WHERE id % 3 = 0;
         UPDATE reconciliation_items SET status = 'dead_letter', finished_at = 5 WHERE installation_id = 2",
    );
    world.deliver(&webhooks(1).push_tag("v9", &commit(9)));
    let backlog = &status(&world)["backlog"];
    let summaries = [1, 2].map(|installation| get(&world, installation, "dead-letters/summary"));
    let sum = |name: &str| summaries.iter().map(|one| one[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(backlog["deadLetters"]["count"], sum("count"));
    assert!((1..sum("count")).contains(&sum("replaySafeCount")), "{summaries:?}");
    assert_eq!(backlog["deadLettersReplaySafe"], sum("replaySafeCount"));
    let oldest = summaries.iter().map(|one| one["oldestFailedAt"].as_str().unwrap()).min();
    assert_eq!(backlog["deadLetters"]["oldestAt"].as_str(), oldest);
    for (queue, count) in [
        ("webhooks", 1),
        ("jobs", 1),
        ("outbox", 0),
        ("reconciliationItems", 1),
        ("reconciliationItemsGivenUp", 1),
    ] {
        assert_eq!(backlog[queue]["count"], count, "{queue}: {backlog}");
        assert_eq!(backlog[queue]["oldestAt"].is_null(), count == 0, "{queue}: {backlog}");
    }
}

#[test]
fn nothing_in_it_belongs_to_one_installation() {
    let mut world = World::new();
    add_row(&mut world, 1, 1);
    let account = get(&world, 1, "releases")["items"][0]["repository"].as_str().unwrap().to_owned();
    let text = status(&world).to_string();
    assert!(!text.contains(&account) && !text.contains("installationId"), "{text}");
}

#[test]
fn a_pause_is_shown_with_its_installation_until_it_ends() {
    let mut world = World::new();
    add_row(&mut world, 1, 1);
    add_row(&mut world, 2, 1);
    let until = world.clock.now().plus(Duration::from_secs(60));
    world.store.pause(2.try_into().unwrap(), until).unwrap();
    let paused = |world: &World| -> Vec<Value> {
        let page = body(&world.operate(Method::GET, "/api/v1/operator/installations", &[]));
        page["items"].as_array().unwrap().iter().map(|item| item["pausedUntil"].clone()).collect()
    };
    assert_eq!(paused(&world), [Value::Null, until.to_string().into()]);
    assert_eq!(status(&world)["backlog"]["installationsPaused"], 1);
    world.clock.advance(Duration::from_secs(60));
    assert_eq!(paused(&world), [Value::Null, Value::Null]);
    assert_eq!(status(&world)["backlog"]["installationsPaused"], 0);
}
