//! Reconciliation in process: what was lost is found after the observation window, looked at until the
//! deadline, and repaired; and what must not be touched is not.

mod check_run;
mod events;
mod interrupted;
mod late;
mod lifecycle;
mod not_ours;
mod successes;
mod uncertain;
mod undecided;
mod workflow;

use std::time::Duration;

use svc::domain::lease::Claim;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::ReconcileKind;
use svc::domain::reconcile::task::ReconcileTask;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::time::Timestamp;
use svc::store::Error;
use svc::workers::driver::Worker as _;

use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, pace, webhooks};

/// A release whose workflow runs and does not end.
fn running() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    world
}

/// A release that has failed, and whose end is still to be shown at the forge.
fn failed() -> World {
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    world
}

/// A release that has failed, and whose end the forge refused to show.
fn unpublished() -> World {
    let world = failed();
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    assert_eq!(world.dead_letters(1).len(), 1);
    world
}

/// The only open dead letter: its class, and whether it may be replayed.
fn replay_class(world: &World) -> String {
    world
        .ask("SELECT replay_class || ' ' || replay_safe FROM dead_letters WHERE resolution IS NULL")
}

/// The newest item: status and code.
fn newest_item(world: &World) -> String {
    world.ask(
        "SELECT status || ' ' || coalesce(outcome_code, '-') FROM reconciliation_items \
         ORDER BY id DESC LIMIT 1",
    )
}

/// The only item: status and code.
fn item(world: &World) -> String {
    world.ask("SELECT status || ' ' || coalesce(outcome_code, '-') FROM reconciliation_items")
}

fn items(world: &World) -> i64 {
    world.ask("SELECT count(*) FROM reconciliation_items")
}

/// The release run: status and reason.
fn release(world: &World) -> String {
    world.ask("SELECT status || ' ' || coalesce(failure_reason, '-') FROM release_runs")
}

const LEASE: Duration = Duration::from_secs(60);

/// Just past the deadline of what was detected at the last step.
const PAST_DEADLINE: Duration = Duration::from_secs(RULES.deadline.as_secs() + 1);

fn claim(world: &World, lease: Duration) -> Option<Box<Claim<ReconcileTask>>> {
    world
        .store
        .claim_reconcile(ReconcileKind::WorkflowAttempt, "it", lease, Vec::new())
        .unwrap()
        .claim
}

#[test]
fn a_look_that_is_given_back_is_due_again_at_once() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let first = claim(&world, LEASE).unwrap();
    assert!(claim(&world, LEASE).is_none());
    world.store.postpone_reconcile(&first, Timestamp::MIN).unwrap();
    let second = claim(&world, LEASE).unwrap();
    assert_eq!(second.item.id, first.item.id);
    assert!(matches!(
        world.store.postpone_reconcile(&first, Timestamp::MIN),
        Err(Error::LeaseLost)
    ));
}

#[test]
fn a_look_leads_to_a_write_only_while_enough_of_its_lease_is_left() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let held = claim(&world, LEASE).unwrap();
    let begin =
        |claim: &Claim<ReconcileTask>, needed| world.store.begin_write(claim, needed, pace());
    assert_eq!(begin(&held, LEASE).unwrap(), None);
    world.clock.advance(Duration::from_micros(1));
    assert!(matches!(begin(&held, LEASE), Err(Error::LeaseLost)));
    world.clock.advance(LEASE);
    let taken_over = claim(&world, LEASE).unwrap();
    assert!(matches!(begin(&held, Duration::ZERO), Err(Error::LeaseLost)));
    assert_eq!(begin(&taken_over, LEASE).unwrap(), None);
}

#[test]
fn each_look_whose_holder_vanished_is_an_expired_lease() {
    let mut world = running();
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    world.clock.advance(RULES.observation);
    world.detect().step();
    for _ in 0..2 {
        assert!(claim(&world, LEASE).is_some());
    }
    world.clock.advance(LEASE);
    assert!(claim(&world, LEASE).is_some());
    assert_eq!(world.store.sli_snapshot().unwrap().lease_expiries, 2);
}
