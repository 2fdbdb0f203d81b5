//! What an operator is shown of one item that died and of one release: what it is, all that happened to it, and ids as
//! people type them.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use svc::domain::outbox::EffectKind;

use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{ACTOR, RULES, commit, json as body_of, webhooks};

const DAY: Duration = Duration::from_secs(86_400);

fn operator(world: &World, installation: i64, rest: &str) -> (u16, Value) {
    let target = format!("/api/v1/operator/installations/{installation}/{rest}");
    let answer = world.operate(Method::GET, &target, &[]);
    (answer.status.as_u16(), body_of(&answer))
}

/// What happened to an item, without times and ids.
fn history(story: &Value) -> Vec<String> {
    let events = story["history"].as_array().unwrap();
    assert!(events.is_sorted_by_key(|event| event["at"].as_str().unwrap().to_owned()));
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    events
        .iter()
        .map(|event| {
            let names = ["event", "reasonCode", "actor", "reason"];
            names.map(|name| word(&event[name])).join(" ")
        })
        .collect()
}

#[test]
fn the_story_of_an_effect_has_every_death_and_how_it_ended() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1.3.0", &commit(1)));
    for _ in 0..2 {
        world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    }
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    let listed = world.dead_letters(1).remove(0);
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    for (name, value) in listed.as_object().unwrap() {
        assert_eq!(&story[name], value, "{name}");
    }
    let (_, releases) = operator(&world, 1, "releases");
    for (name, value) in [
        ("effectKind", json!("workflow_dispatch")),
        ("jobAction", json!(null)),
        ("releaseRunId", releases["items"][0]["releaseRunId"].clone()),
        ("attemptNumber", json!(1)),
        ("gitRef", json!("refs/tags/v1.3.0")),
        ("status", json!("dead_letter")),
        ("allowed", json!(["replay", "close"])),
    ] {
        assert_eq!(story[name], value, "{name}");
    }
    let died = "died forge_dispatch_rejected - -";
    assert_eq!(history(&story), [died]);

    world.clock.advance(Duration::from_secs(60));
    let (_, _, replayed) = world.replay(1, (&kind, &id), "k1");
    world.clock.advance(Duration::from_secs(60));
    world.settle();
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    let replay = format!("replayed - {ACTOR} -");
    assert_eq!(history(&story), [died, &replay, died]);
    assert_eq!(story["history"][1]["auditEventId"].as_str(), replayed.as_deref());

    world.clock.advance(Duration::from_secs(60));
    let (_, _, closed) = world.close(1, (&kind, &id), "k2", "the repository was deleted");
    let close = format!("closed - {ACTOR} the repository was deleted");
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    assert_eq!(history(&story), [died, &replay, died, &close]);
    assert_eq!(story["history"][3]["auditEventId"].as_str(), closed.as_deref());
    assert_eq!((&story["allowed"], &story["status"]), (&json!([]), &json!("dead_letter")));

    // As long as the audit log is kept: when the effect and its release were deleted long ago, too.
    world.reconcile_after(RULES.deadline);
    world.settle();
    world.tamper(
        "PRAGMA foreign_keys = OFF; DELETE FROM outbox; DELETE FROM release_run_attempts; \
         DELETE FROM release_runs;",
    );
    world.clock.advance(1_000 * DAY);
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    assert_eq!(history(&story), [died, &replay, died, &close]);
    assert_eq!(story["effectKind"], "workflow_dispatch");
    assert_eq!((&story["status"], &story["gitRef"]), (&json!(null), &json!(null)));
    assert_eq!(operator(&world, 2, &format!("dead-letters/{kind}/{id}")).0, 404);
}

#[test]
fn the_story_of_a_job_says_what_it_does_and_nothing_of_its_webhook() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    world.deliver(&webhooks(1).push_tag("v1.3.0", &commit(1)));
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    assert_eq!((&story["jobAction"], &story["effectKind"]), (&json!("release"), &json!(null)));
    assert!(!story.to_string().contains("v1.3.0"), "{story}");
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.settle();
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
    world.settle();
    let (_, story) = operator(&world, 1, &format!("dead-letters/{kind}/{id}"));
    assert_eq!((&story["status"], &story["allowed"]), (&json!("completed"), &json!([])));
    let replay = format!("replayed - {ACTOR} -");
    assert_eq!(history(&story), ["died installation_suspended - -", &replay]);
}

#[test]
fn a_release_shows_its_steps_with_their_times_and_what_they_are_about() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    world.settle();
    let (kind, id) = world.only_dead_letter(1);
    world.clock.advance(Duration::from_secs(60));
    world.replay(1, (&kind, &id), "k");
    world.clock.advance(Duration::from_secs(1));
    world.settle();
    world.reconcile_after(RULES.observation);
    world.clock.advance(Duration::from_secs(1));
    let attempt = results::current(&world);
    assert_eq!(attempt.send(&world, &results::body("accepted"), "t1").0, 200);
    world.clock.advance(Duration::from_secs(1));
    world.settle();
    world.reconcile_after(RULES.next_check);
    let (_, releases) = operator(&world, 1, "releases");
    let release = releases["items"][0]["releaseRunId"].as_str().unwrap().to_owned();
    let (_, shown) = operator(&world, 1, &format!("releases/{release}"));
    let steps = shown["steps"].as_array().unwrap();
    assert!(steps.is_sorted_by_key(|step| step["at"].as_str().unwrap().to_owned()));
    let names: Vec<&str> = steps.iter().map(|step| step["step"].as_str().unwrap()).collect();
    let expected = [
        "created",
        "attempt_started",
        "check_run_created",
        "died",
        "replayed",
        "workflow_dispatched",
        "check_run_updated",
        "reconciliation_opened",
        "result_recorded",
        "ended",
        "check_run_updated",
        "published",
        "reconciliation_ended",
    ];
    assert_eq!(names, expected);
    let of = |step: &str| steps.iter().find(|it| it["step"] == step).unwrap();
    assert_eq!(of("died")["outboxId"], id.as_str());
    assert_eq!(of("died")["code"], "forge_dispatch_rejected");
    assert_eq!(of("reconciliation_opened")["code"], "running_stale");
    let (_, items) = operator(&world, 1, "reconciliation-items?status=completed");
    let item = &items["items"][0]["reconciliationId"];
    assert_eq!(&of("reconciliation_opened")["reconciliationId"], item);
    assert_eq!(of("result_recorded")["code"], "accepted");
}

#[test]
fn ids_are_found_by_their_beginning_and_releases_by_their_tag_within_the_installation() {
    let mut world = World::new();
    for number in 1..=12 {
        world.deliver(&webhooks(1).push_tag(&format!("v1.{number}"), &commit(number)));
        world.forge.plan(EffectKind::CheckRunCreate, Plan::Refused);
        world.settle();
        world.clock.advance(DAY);
    }
    let ids = |installation: i64, kind: &str, prefix: &str| {
        let (status, found) =
            operator(&world, installation, &format!("ids?type={kind}&prefix={prefix}"));
        assert_eq!(status, 200, "{found}");
        let ids = found["ids"].as_array().unwrap().iter();
        let ids: Vec<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
        (ids, found["hasMore"].as_bool().unwrap())
    };
    let letters = world.dead_letters(1);
    assert_eq!(letters.len(), 12);
    for letter in &letters {
        let id = letter["itemId"].as_str().unwrap();
        // 48 bits of time, so the days differ.
        assert_eq!(ids(1, "outbox", id.get(..13).unwrap()), (vec![id.to_owned()], false));
        assert_eq!(ids(1, "outbox", id), (vec![id.to_owned()], false));
        assert_eq!(ids(2, "outbox", id), (Vec::new(), false));
        assert_eq!(ids(1, "job", id), (Vec::new(), false));
    }
    let (several, has_more) = ids(1, "outbox", "0");
    assert_eq!((several.len(), has_more), (10, true));
    let (_, releases) = operator(&world, 1, "releases");
    for release in releases["items"].as_array().unwrap() {
        let id = release["releaseRunId"].as_str().unwrap().to_owned();
        let tag = release["gitRef"].as_str().unwrap().strip_prefix("refs/tags/").unwrap();
        assert_eq!(ids(1, "release_run", tag), (vec![id.clone()], false), "{tag}");
        assert_eq!(ids(1, "release_run", id.get(..13).unwrap()), (vec![id], false));
        assert_eq!(ids(2, "release_run", tag), (Vec::new(), false));
    }
    // A beginning of a tag is not a tag, and nothing that is no id is looked for among ids.
    assert_eq!(ids(1, "release_run", "v1"), (Vec::new(), false));
    assert_eq!(ids(1, "outbox", "%25"), (Vec::new(), false));
    assert_eq!(ids(1, "outbox", "0G"), (Vec::new(), false));
    for wrong in [
        "ids",
        "ids?type=outbox",
        "ids?prefix=0",
        "ids?type=other&prefix=0",
        "ids?type=outbox&prefix=",
        "ids?type=outbox&prefix=0&limit=1",
    ] {
        assert_eq!(operator(&world, 1, wrong).0, 400, "{wrong}");
    }
}
