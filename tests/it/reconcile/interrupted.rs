//! Looks that are interrupted: the lease is lost while the forge answers.

use std::sync::Arc;
use std::time::Duration;

use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::Kind;
use svc::workers::driver::Worker as _;

use super::item;
use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{LONG, RULES};

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
    world.forge.during_next_look(move || {
        // Longer than any lease: while the forge answered, another replica took the item over.
        clock.advance(LONG);
        let polled = store.claim_look(Kind::ReleaseRun, "another", LONG, Vec::new()).unwrap();
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
    world.forge.during_next_look(move || clock.advance(Duration::from_secs(151)));
    world.reconcile().step();
    assert_eq!((world.forge.updates(), published(&world)), (updates, false));
    assert_eq!(item(&world), "open -", "the item is given back and due at once");
    world.reconcile().step();
    assert_eq!((world.forge.updates(), published(&world)), (updates + 1, true));
}
