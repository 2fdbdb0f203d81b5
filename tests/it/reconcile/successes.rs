//! When a reconciler last succeeded: only an answer of the forge moves that on, or a poll that finds nothing due while
//! the forge has answered about everything that is open.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::reconcile::workflow::Lookup;
use svc::domain::reconcile::{ReconcileKind, Unavailable};
use svc::domain::time::Timestamp;
use svc::runtime::clock::Clock as _;
use svc::store::Ticks;
use svc::workers::driver::Worker as _;

use super::{PAST_DEADLINE, item, running};
use crate::support::World;
use crate::support::world::RULES;

const POLL: Duration = Duration::from_secs(5);
const UNAVAILABLE: Unavailable = Unavailable { class: ErrorClass::Unavailable, wait_until: None };

fn ticks(world: &World) -> Ticks {
    world.store.ticks(ReconcileKind::WorkflowAttempt.worker()).unwrap()
}

fn success(world: &World) -> Option<Timestamp> {
    ticks(world).last_success_at
}

/// A release that does not end, with an item about it that is due.
fn stale() -> World {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    world
}

#[test]
fn polls_through_an_outage_of_the_forge_are_no_successes() {
    let world = stale();
    assert_eq!(success(&world), None);
    world.forge.workflow_run_is(Lookup::Unavailable(UNAVAILABLE));
    world.reconcile().step();
    for _ in 0..11 {
        world.clock.advance(POLL);
        world.reconcile().step();
        assert_eq!(success(&world), None, "nothing is due, and nothing was answered");
    }
    assert_eq!(ticks(&world).last_poll_at, Some(world.clock.now()), "it does poll");
    world.clock.advance(POLL);
    world.forge.workflow_run_is(Lookup::Pending);
    world.reconcile().step();
    assert_eq!(success(&world), Some(world.clock.now()), "it was answered");
    world.clock.advance(POLL);
    world.reconcile().step();
    assert_eq!(
        success(&world),
        Some(world.clock.now()),
        "nothing is due, and everything was answered"
    );
}

#[test]
fn an_item_that_another_holder_has_keeps_its_latest_outcome() {
    let world = stale();
    world.forge.workflow_run_is(Lookup::Unavailable(UNAVAILABLE));
    world.reconcile().step();
    world.clock.advance(RULES.next_check);
    let kind = ReconcileKind::WorkflowAttempt;
    let claim = |owner| world.store.claim_reconcile(kind, owner, PAST_DEADLINE, Vec::new());
    assert!(claim("holder").unwrap().claim.is_some());
    world.clock.advance(POLL);
    assert!(claim("another").unwrap().claim.is_none());
    assert_eq!(success(&world), None);
}

#[test]
fn a_poll_that_may_not_claim_what_is_due_is_no_success() {
    let world = stale();
    let until = world.clock.now().plus(PAST_DEADLINE);
    world.store.pause(svc::domain::id::InstallationId::try_from(1).unwrap(), until).unwrap();
    world.reconcile().step();
    assert_eq!((item(&world).as_str(), success(&world)), ("open -", None));
}

#[test]
fn an_answer_that_may_be_the_lag_of_a_fresh_token_is_no_success() {
    let world = stale();
    world.clock.advance(PAST_DEADLINE);
    world.forge.workflow_run_is(Lookup::NotFound);
    world.reconcile().step();
    assert_eq!((item(&world).as_str(), success(&world)), ("open forge_token_lag", None));
    world.reconcile().step();
    assert_eq!(success(&world), None);
}

#[test]
fn a_service_with_nothing_to_reconcile_succeeds_at_its_first_poll() {
    let world = World::new();
    assert_eq!(world.app.readiness().last_successful_workflow_reconciliation_at, None);
    world.reconcile().step();
    let now = Some(world.clock.now());
    assert_eq!(world.app.readiness().last_successful_workflow_reconciliation_at, now);
    assert_eq!(world.app.readiness().last_successful_check_run_reconciliation_at, now);
}
