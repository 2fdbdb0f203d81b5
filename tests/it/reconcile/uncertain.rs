//! Effects in doubt: proved, disproved, or left.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::uncertain::Observation;
use svc::domain::reconcile::{ReconcileCode, ReconcileKind, Unavailable};
use svc::workers::driver::Worker as _;

use super::PAST_DEADLINE;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RETRY, RULES, commit, webhooks};

/// A release whose dispatch is given up in doubt.
fn uncertain_dispatch(plan: Plan) -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::WorkflowDispatch, plan);
    world.settle();
    world
}

/// A release whose check run may have been created; each holder that looked for it since has vanished.
fn uncertain_creation(plan: Plan) -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::CheckRunCreate, plan);
    world.settle();
    world.tamper(&format!(
        "UPDATE outbox SET attempt_count = {}, status = 'leased', claim_id = zeroblob(16), \
            lease_expires_at = 0 WHERE kind = 'check_run_create'",
        RETRY.attempts_max
    ));
    world.settle();
    assert_eq!(replay_class(&world), "create_uncertain");
    world
}

/// Why the only dead letter may or may not be replayed.
fn replay_class(world: &World) -> String {
    world.ask("SELECT replay_class FROM dead_letters WHERE resolution IS NULL")
}

fn item(world: &World) -> String {
    world.ask("SELECT status || ' ' || outcome_code FROM reconciliation_items ORDER BY id LIMIT 1")
}

#[test]
fn a_run_that_names_the_attempt_proves_its_dispatch() {
    let world = uncertain_dispatch(Plan::LostAfter);
    assert_eq!(replay_class(&world), "dispatch_uncertain");
    world.forge.dispatched_run_is(Observation::WorkflowRun(77.try_into().unwrap()));
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "completed effect_proved");
    assert!(world.dead_letters(1).is_empty());
    assert_eq!(world.ask::<i64>("SELECT workflow_run_id FROM release_run_attempts"), 77);
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    world.settle();
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 1);
    world.reconcile_after(RULES.observation);
    let observed = "SELECT count(*) FROM reconciliation_items WHERE reason = 'running_stale'";
    assert_eq!(world.ask::<i64>(observed), 1, "observation begins");
}

#[test]
fn a_dispatch_nothing_proves_stays_a_dead_letter() {
    let world = uncertain_dispatch(Plan::LostBefore);
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open effect_unproved");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(item(&world), "completed forge_dispatch_unconfirmed");
    assert_eq!(replay_class(&world), "dispatch_uncertain");
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
    world.reconcile_after(PAST_DEADLINE);
    let items = "SELECT count(*) FROM reconciliation_items WHERE reason = 'dispatch_uncertain'";
    assert_eq!(world.ask::<i64>(items), 1, "it is not found again");
}

#[test]
fn a_run_of_another_attempt_proves_nothing() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let taken: i64 = world.ask("SELECT workflow_run_id FROM release_run_attempts");
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
    world.settle();
    world.forge.dispatched_run_is(Observation::WorkflowRun(taken.try_into().unwrap()));
    world.reconcile_after(RULES.observation);
    assert_eq!(replay_class(&world), "dispatch_uncertain");
}

#[test]
fn a_check_run_that_exists_proves_its_creation_and_the_release_goes_on() {
    let world = uncertain_creation(Plan::LostAfter);
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "completed effect_proved");
    world.settle();
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 1);
}

#[test]
fn a_check_run_that_does_not_exist_may_be_created_by_replay() {
    let world = uncertain_creation(Plan::LostBefore);
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "too-early").0, 409);
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "completed effect_disproved");
    assert_eq!(replay_class(&world), "proved_absent");
    assert_eq!(world.replay(1, (&kind, &id), "now").0, 200);
    let lookups = world.forge.lookups();
    world.settle();
    assert_eq!(world.forge.lookups(), lookups + 1, "it is looked for once more before it is made");
    assert_eq!(world.forge.count(EffectKind::CheckRunCreate, None), 1);
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
}

#[test]
fn asking_for_another_attempt_ends_the_doubt() {
    let mut world = uncertain_dispatch(Plan::LostAfter);
    world.reconcile_after(RULES.observation);
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    world.reconcile_after(Duration::from_secs(60));
    assert_eq!(item(&world), "completed already_repaired");
}

#[test]
fn a_look_the_forge_did_not_answer_is_no_success_even_when_it_ends_the_item() {
    let world = uncertain_dispatch(Plan::LostBefore);
    world.clock.advance(RULES.observation);
    world.detect().step();
    world.clock.advance(PAST_DEADLINE);
    let kind = ReconcileKind::WorkflowAttempt;
    let claim = world
        .store
        .claim_reconcile(kind, "it", Duration::from_secs(60), Vec::new())
        .unwrap()
        .claim
        .unwrap();
    let why = Unavailable { class: ErrorClass::Unavailable, wait_until: None };
    let seen = svc::store::Observation::Uncertain(Observation::Unavailable(why));
    let settled = world.store.apply_observation(&claim, seen, RULES).unwrap();
    assert_eq!(
        (settled.code, settled.next_check_at),
        (ReconcileCode::ForgeDispatchUnconfirmed, None)
    );
    assert_eq!(world.store.ticks(kind.worker()).unwrap().last_success_at, None);
}
