//! Looks that are interrupted: the lease is lost while the forge answers, or the worker is stopped.

use std::sync::Arc;
use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::workflow::Lookup;
use svc::domain::reconcile::{ReconcileKind, Unavailable};
use svc::forge::CheckRunLookup;
use svc::metrics::LookupOutcome;
use svc::workers::driver::Worker as _;

use super::{PAST_DEADLINE, item, release, running};
use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{LONG, RULES};

const UNAVAILABLE: Unavailable = Unavailable { class: ErrorClass::Unavailable, wait_until: None };

/// A release that has ended, whose end the forge refused to show, and an item that is due for it.
fn unpublished() -> World {
    let (world, attempt) = results::started();
    attempt.send(&world, &results::body("accepted"), "t1");
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    world.clock.advance(RULES.observation);
    world.detect().step();
    world
}

fn published(world: &World) -> bool {
    world.ask("SELECT forge_check_published_at IS NOT NULL FROM release_runs")
}

#[test]
fn a_check_run_is_not_written_to_once_another_holder_has_the_item() {
    let world = unpublished();
    let updates = world.forge.updates();
    let (clock, store) = (Arc::clone(&world.clock), world.store.clone());
    world.forge.during_next_lookup(move || {
        // Longer than any lease: while the forge answered, another replica took the item over.
        clock.advance(LONG);
        let polled =
            store.claim_reconcile(ReconcileKind::ReleaseRun, "another", LONG, Vec::new()).unwrap();
        assert!(polled.claim.is_some());
    });
    world.reconcile().step();
    assert_eq!(world.forge.updates(), updates, "the forge is written to without the lease");
    assert!(!published(&world));
    let holder = "SELECT status || ' ' || lease_owner FROM reconciliation_items";
    assert_eq!(world.ask::<String>(holder), "leased another");
}

#[test]
fn a_check_run_is_not_written_to_when_the_call_may_outlast_the_lease() {
    let world = unpublished();
    let updates = world.forge.updates();
    let clock = Arc::clone(&world.clock);
    // A lease is four minutes, a call is a minute and a half at most.
    world.forge.during_next_lookup(move || clock.advance(Duration::from_secs(151)));
    world.reconcile().step();
    assert_eq!((world.forge.updates(), published(&world)), (updates, false));
    assert_eq!(item(&world), "open -", "the item is given back and due at once");
    world.reconcile().step();
    assert_eq!((world.forge.updates(), published(&world)), (updates + 1, true));
}

#[test]
fn a_look_that_our_own_stop_cuts_short_fails_no_release() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    // From the deadline on, a forge that does not answer ends the release.
    world.clock.advance(PAST_DEADLINE);
    world.forge.workflow_run_is(Lookup::Unavailable(UNAVAILABLE));
    let mut worker = world.reconcile();
    let stop = worker.notify.clone();
    world.forge.during_next_lookup(move || stop.stop());
    worker.step();
    assert_eq!((item(&world).as_str(), release(&world).as_str()), ("open -", "running -"));
    assert_eq!(world.ask::<i64>("SELECT attempt_count FROM reconciliation_items"), 0);
    let ticks = world.store.ticks(ReconcileKind::WorkflowAttempt.worker()).unwrap();
    assert_eq!(ticks.last_success_at, None);
    world.reconcile().step();
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed", "the next look counts");
}

#[test]
fn a_look_at_a_check_run_that_our_own_stop_cuts_short_records_no_failure() {
    let world = unpublished();
    world.clock.advance(PAST_DEADLINE);
    world.forge.next_check_run_lookup(CheckRunLookup::Unavailable(UNAVAILABLE));
    let mut worker = world.reconcile();
    let stop = worker.notify.clone();
    world.forge.during_next_lookup(move || stop.stop());
    worker.step();
    assert_eq!(item(&world), "open -");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 0);
    let noted = "SELECT last_publication_error IS NOT NULL FROM release_run_results";
    assert!(!world.ask::<bool>(noted));
}

#[test]
fn a_look_that_our_own_stop_cuts_short_is_no_failed_lookup() {
    let failed = |world: &World| {
        world.app.metrics.lookups.sum(|(_, outcome)| outcome == LookupOutcome::Failed)
    };
    let stuck = || {
        let world = running();
        world.forge.workflow_run_is(Lookup::Unavailable(UNAVAILABLE));
        world.clock.advance(RULES.observation);
        world.detect().step();
        world
    };
    let unshown = || {
        let world = unpublished();
        for _ in 0..2 {
            world.forge.next_check_run_lookup(CheckRunLookup::Unavailable(UNAVAILABLE));
        }
        world
    };
    for world in [stuck(), unshown()] {
        let mut worker = world.reconcile();
        let stop = worker.notify.clone();
        world.forge.during_next_lookup(move || stop.stop());
        worker.step();
        assert_eq!((world.forge.lookups(), failed(&world)), (1, 0), "the forge did not fail");
        world.reconcile().step();
        assert_eq!((world.forge.lookups(), failed(&world)), (2, 1), "without a stop it did");
    }
}
