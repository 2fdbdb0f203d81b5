//! Results whose end the forge does not show: where the failure is noted, and until when it is told.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::forge::CheckRunLookup;
use svc::runtime::clock::Clock as _;

use super::{RECORDED, as_str, body, current, started};
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, json, webhooks};

const ERROR: &str = "SELECT coalesce(last_publication_error, '-') FROM release_run_results";
const NOTED_AT: &str = "SELECT updated_at FROM release_run_results";

#[test]
fn an_end_that_cannot_be_shown_is_noted_beside_the_result() {
    let (world, attempt) = started();
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    let lag = [1, 3, 8].map(Duration::from_secs);
    for by in [RULES.observation, RULES.next_check, RULES.deadline].into_iter().chain(lag) {
        assert_eq!(world.ask::<String>(ERROR), "-");
        world.forge.next_check_run_lookup(CheckRunLookup::NotFound);
        world.reconcile_after(by);
    }
    assert_eq!(world.ask::<String>(ERROR), "forge_check_run_not_found");
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "succeeded");
    let shown = || {
        let list = world.operate(Method::GET, "/api/v1/operator/installations/1/releases", &[]);
        json(&list)["items"][0]["lastPublicationError"].clone()
    };
    assert_eq!(shown(), "forge_check_run_not_found");
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 200);
    world.settle();
    assert_eq!(shown(), Value::Null, "it is published now");
    assert_eq!(world.ask::<String>(ERROR), "-", "by the answer to the update");
    assert_eq!(world.ask::<i64>(NOTED_AT), world.clock.now().micros());
}

#[test]
fn a_look_that_confirms_the_end_clears_the_failure_of_that_attempt_alone() {
    let earlier = "(SELECT attempt_id FROM release_run_attempts WHERE attempt_number = 1)";
    for (attempt, left) in [("attempt_id", "-"), (earlier, "x")] {
        let (mut world, first) = started();
        assert_eq!(as_str(&first.send(&world, &body("rejected"), "t1")), RECORDED);
        world.settle();
        let check_run = world.forge.last_check_run().get();
        world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
        world.settle();
        let second = current(&world);
        assert_eq!(as_str(&second.send(&world, &body("accepted"), "t2")), RECORDED);
        world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
        world.settle();
        world.tamper(&format!(
            "UPDATE release_run_results SET last_publication_error = 'x', attempt_id = {attempt}"
        ));
        world.forge.next_check_run_lookup(CheckRunLookup::Expected);
        world.reconcile_after(RULES.observation);
        let published = "SELECT forge_check_published_at IS NOT NULL FROM release_runs";
        assert!(world.ask::<bool>(published));
        assert_eq!(world.ask::<String>(ERROR), left);
    }
}

#[test]
fn the_failure_of_an_attempt_without_a_result_is_not_noted_beside_another_s() {
    let (mut world, first) = started();
    assert_eq!(as_str(&first.send(&world, &body("rejected"), "t1")), RECORDED);
    world.settle();
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    let item = "SELECT outcome_code FROM reconciliation_items WHERE reason = 'reporting_stale'";
    assert_eq!(world.ask::<String>(item), "forge_check_run_binding_mismatch");
    assert_eq!(world.ask::<String>(ERROR), "-");
}
