//! What is said of a release run at every point of its way: what happens next, and when.

use std::time::Duration;

use serde_json::{Value, json};
use svc::domain::outbox::EffectKind;
use svc::runtime::clock::Clock as _;
use svc::workers::driver::Worker as _;

use super::{get, ids};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::reconciliation::{self, Item};
use crate::support::world::{RETRY, commit, open_raw, pace, webhooks};

/// A world whose one release run waits to be worked on.
fn released() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    world
}

fn only(world: &World) -> Value {
    let id = ids(&get(world, 1, "releases"), "releaseRunId").remove(0);
    get(world, 1, &format!("releases/{id}"))
}

/// Says what is next: code, seconds from now, seconds to the deadline, and whether a letter is named.
fn next(world: &World) -> (String, Option<u64>, Option<u64>, bool) {
    let next = only(world)["next"].take();
    let seconds = |name: &str| {
        let text = next[name].as_str()?;
        let at = svc::domain::time::Timestamp::parse_rounding_up(text).unwrap();
        Some(at.since(world.clock.now()).as_secs())
    };
    let code = next["code"].as_str().unwrap().to_owned();
    (code, seconds("at"), seconds("deadlineAt"), next["deadLetterId"].is_string())
}

fn word(code: &str) -> (String, Option<u64>, Option<u64>, bool) {
    (code.to_owned(), None, None, false)
}

#[test]
fn a_release_that_goes_well_says_each_step() {
    let world = released();
    for code in ["send_check_run_create", "send_workflow_dispatch", "send_check_run_update"] {
        assert_eq!(next(&world), (code.to_owned(), Some(0), None, false));
        world.outbox().step();
    }
    assert_eq!(next(&world), word("awaits_result"));
    let shown = only(&world);
    let attempt = &shown["attempts"][0];
    for (name, value) in [
        ("status", json!("running")),
        ("gitRef", json!("refs/tags/v1")),
        ("headSha", json!(commit(1))),
        ("repository", json!("org-1/app")),
        ("attemptNumber", json!(1)),
        ("decision", Value::Null),
        ("workflowRunId", attempt["workflowRunId"].clone()),
        ("checkRunId", attempt["checkRunId"].clone()),
        ("finishedAt", Value::Null),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    assert!(attempt["workflowRunId"].is_string() && attempt["checkRunId"].is_string());
    assert_eq!((&attempt["number"], &attempt["status"]), (&json!(1), &json!("running")));
}

#[test]
fn a_claimed_message_is_waited_for_until_its_lease_ends() {
    let world = released();
    let lease = Duration::from_secs(60);
    let policy = svc::store::LeasePolicy { lease, retry: RETRY };
    let claimed = world.store.claim_message("another", policy, pace(), Vec::new()).unwrap();
    assert!(claimed.is_some());
    assert_eq!(next(&world), ("awaits_answer".to_owned(), None, Some(60), false));
}

#[test]
fn tries_that_failed_are_counted_until_the_effect_is_done_or_dead() {
    let world = released();
    let failed = || only(&world)["next"]["failedTries"].clone();
    assert_eq!(failed(), json!(0));
    for tries in 1..RETRY.attempts_max {
        world.forge.plan(EffectKind::CheckRunCreate, Plan::NotSent);
        world.clock.advance(Duration::from_secs(600));
        world.outbox().step();
        assert_eq!(failed(), json!(tries));
        assert_eq!(next(&world).0, "send_check_run_create");
    }
    let policy = svc::store::LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };
    world.clock.advance(Duration::from_secs(600));
    assert!(world.store.claim_message("another", policy, pace(), Vec::new()).unwrap().is_some());
    assert_eq!(next(&world).0, "awaits_answer");
    assert_eq!(failed(), json!(RETRY.attempts_max - 1), "the try that goes on has not failed");
}

#[test]
fn a_pause_of_the_installation_is_waited_for() {
    let world = released();
    let until = world.clock.now().plus(Duration::from_secs(90));
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::RateLimited(until));
    world.settle();
    assert_eq!(next(&world), ("send_check_run_update".to_owned(), Some(90), None, false));
}

#[test]
fn a_refused_dispatch_waits_for_an_operator() {
    let world = released();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
    world.settle();
    assert_eq!(next(&world), ("operator_replay".to_owned(), None, None, true));
    let letter = world.only_dead_letter(1).1;
    let next = only(&world)["next"].take();
    assert_eq!(next["deadLetterId"], json!(letter));
    assert_eq!(next["reasonCode"], json!("forge_dispatch_rejected"));
}

#[test]
fn a_dispatch_in_doubt_is_a_persons_once_no_worker_looks() {
    let world = released();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
    world.settle();
    assert_eq!(next(&world), ("operator_rerequest".to_owned(), None, None, true));
    let attempt: String = world.ask("SELECT attempt_id FROM release_run_attempts");
    reconciliation::add(&world, 2, &Item::of_attempt("of_a_stranger", &attempt));
    assert_eq!(next(&world).0, "operator_rerequest", "an item of another installation is not ours");
    reconciliation::add(&world, 1, &Item::of_attempt("dispatch_uncertain", &attempt));
    assert_eq!(next(&world), ("recheck".to_owned(), Some(60), Some(1_800), true));
}

#[test]
fn a_silent_workflow_run_is_looked_at_until_its_deadline() {
    let world = released();
    world.settle();
    let attempt: String = world.ask("SELECT attempt_id FROM release_run_attempts");
    reconciliation::add(&world, 1, &Item::of_attempt("running_stale", &attempt));
    assert_eq!(next(&world), ("recheck".to_owned(), Some(60), Some(1_800), false));
    let raw = open_raw(&world.database());
    raw.execute("UPDATE release_runs SET status = 'reporting'", []).unwrap();
    assert_eq!(next(&world), ("awaits_result".to_owned(), Some(60), Some(1_800), false));
}

#[test]
fn an_ended_release_is_over_once_the_forge_shows_it() {
    let world = released();
    world.settle();
    let raw = open_raw(&world.database());
    let end = "UPDATE release_runs SET status = 'failed', conclusion = 'failure', \
        failure_reason = 'forge_workflow_failure', finished_at = updated_at";
    raw.execute(end, []).unwrap();
    assert_eq!(next(&world), word("awaits_reconciliation"));
    let release: String = world.ask("SELECT release_run_id FROM release_runs");
    reconciliation::add(&world, 1, &Item::of_release(&release));
    assert_eq!(next(&world), ("recheck".to_owned(), Some(60), Some(1_800), false));
    raw.execute("UPDATE release_runs SET forge_check_published_at = updated_at", []).unwrap();
    assert_eq!(next(&world), word("nothing"));
    let shown = only(&world);
    assert_eq!(shown["conclusion"], json!("failure"));
    assert_eq!(shown["failureReason"], json!("forge_workflow_failure"));
    assert!(shown["forgeCheckPublishedAt"].is_string());
}

#[test]
fn a_publication_that_failed_for_good_is_a_persons() {
    let world = released();
    world.settle();
    let raw = open_raw(&world.database());
    let end = "UPDATE release_runs SET status = 'succeeded', decision = 'accepted', \
        conclusion = 'success', finished_at = updated_at";
    raw.execute(end, []).unwrap();
    let result = "INSERT INTO release_run_results (release_run_id, attempt_id, decision, \
            payload_sha256, accepted_payload, last_publication_error, created_at, updated_at) \
        SELECT release_run_id, ?1, 'accepted', x'00', 'a payload of the tenant', \
            'forge_check_run_not_found', 1, 1 FROM release_runs";
    let attempt: String = world.ask("SELECT attempt_id FROM release_run_attempts");
    raw.execute(result, [&attempt]).unwrap();
    assert_eq!(next(&world), word("operator_investigate"));
    let shown = only(&world);
    assert_eq!(shown["lastPublicationError"], json!("forge_check_run_not_found"));
    assert!(!shown.to_string().contains("a payload of the tenant"));
    assert_eq!(shown["status"], json!("succeeded"));
}

#[test]
fn the_next_attempt_stands_before_the_one_it_replaced() {
    let mut world = released();
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
    world.settle();
    let check_run: i64 = world.ask("SELECT check_run_id FROM release_run_attempts");
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    let shown = only(&world);
    let attempts = shown["attempts"].as_array().unwrap();
    let told: Vec<_> =
        attempts.iter().map(|one| (one["number"].as_u64(), one["status"].as_str())).collect();
    assert_eq!(told, [(Some(2), Some("running")), (Some(1), Some("superseded"))]);
    assert_eq!(shown["attemptNumber"], json!(2));
    assert_eq!(next(&world), word("awaits_result"));
}
