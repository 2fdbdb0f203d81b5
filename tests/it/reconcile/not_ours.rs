//! Writing to a check run: never to one that is not ours, never again without need, and never inside a wait
//! that the forge asked for.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::{EffectKind, SendResult};
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::forge::CheckRunLookup;
use svc::runtime::clock::Clock as _;
use svc::store::LeasePolicy;
use svc::workers::driver::Worker as _;

use super::{PAST_DEADLINE, failed, newest_item, replay_class, running, unpublished};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RETRY, RULES, commit, pace, webhooks};

const POLICY: LeasePolicy = LeasePolicy { lease: Duration::from_secs(240), retry: RETRY };

fn updates_asked(world: &World) -> usize {
    world.forge.asked(EffectKind::CheckRunUpdate)
}

#[test]
fn a_check_run_that_is_known_not_to_be_ours_is_never_replayed() {
    let world = unpublished();
    assert_eq!(replay_class(&world), "repeatable 1");
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    assert_eq!(replay_class(&world), "binding_mismatch 0");
    let (kind, id) = world.only_dead_letter(1);
    let asked = updates_asked(&world);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
    world.settle();
    assert_eq!(updates_asked(&world), asked);
}

#[test]
fn an_update_that_waits_when_the_mismatch_is_seen_is_given_up_unsent() {
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    world.tamper("UPDATE outbox SET available_at = 9e15 WHERE status = 'available'");
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    world.tamper("UPDATE outbox SET available_at = 0 WHERE status = 'available'");
    let asked = updates_asked(&world);
    world.settle();
    assert_eq!(updates_asked(&world), asked);
    assert_eq!(replay_class(&world), "binding_mismatch 0");
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_check_run_binding_mismatch");
}

#[test]
fn an_answer_about_another_check_run_publishes_nothing_and_ends_all_updates() {
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Mismatch);
    world.settle();
    assert_eq!(replay_class(&world), "binding_mismatch 0");
    let published = "SELECT count(forge_check_published_at) FROM release_runs";
    assert_eq!(world.ask::<i64>(published), 0);
    let (lookups, asked) = (world.forge.lookups(), updates_asked(&world));
    world.reconcile_after(RULES.observation);
    assert_eq!(newest_item(&world), "completed forge_check_run_binding_mismatch");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!((world.forge.lookups(), updates_asked(&world)), (lookups, asked));
}

#[test]
fn an_update_that_was_applied_at_the_deadline_is_read_before_it_is_called_failed() {
    let world = unpublished();
    world.clock.advance(RULES.observation);
    world.detect().step();
    world.clock.advance(PAST_DEADLINE);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::LostAfter);
    world.reconcile_after(Duration::ZERO);
    assert_eq!(newest_item(&world), "completed publication_reconciled");
}

#[test]
fn a_refused_update_is_repeated_only_once_the_check_run_has_changed() {
    for (class, calls) in [(ErrorClass::Validation, 1), (ErrorClass::Permission, 4)] {
        let world = unpublished();
        let before = updates_asked(&world);
        (0..20).for_each(|_| {
            world.forge.plan(EffectKind::CheckRunUpdate, Plan::RefusedAs(class));
        });
        world.reconcile_after(RULES.observation);
        for _ in 0..20 {
            world.reconcile_after(RULES.next_check);
        }
        let asked = || updates_asked(&world) - before;
        assert_eq!(asked(), calls, "{class}");
        assert_eq!(newest_item(&world), "open forge_check_run_update_failed");
        world.forge.next_check_run_lookup(CheckRunLookup::Different([9; 32].into()));
        world.reconcile_after(RULES.next_check);
        assert_eq!(asked(), calls + 1, "{class}: it has changed");
        world.reconcile_after(PAST_DEADLINE);
        assert!(asked() <= calls + 2, "{class}");
    }
}

#[test]
fn an_open_update_that_meets_another_check_run_ends_the_one_that_waits_behind_it() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    let mut outbox = world.outbox();
    for _ in 0..2 {
        outbox.step();
    }
    let open = world.store.claim_message("sender", POLICY, pace(), Vec::new()).unwrap().unwrap();
    assert_eq!(open.item.kind, EffectKind::CheckRunUpdate);
    world.store.begin_send(&open, Duration::ZERO, pace()).unwrap();
    // The release ends while the call is under way.
    world.tamper("UPDATE release_run_attempts SET updated_at = 0");
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(Duration::ZERO);
    world.store.settle_message(&open, SendResult::CheckRunMismatch, false, None, RETRY).unwrap();
    world.settle();
    assert_eq!(updates_asked(&world), 0, "the end is not sent to it either");
    assert_eq!(replay_class(&world), "binding_mismatch 0");
}

#[test]
fn an_update_that_is_claimed_when_the_mismatch_is_seen_does_not_leave() {
    let world = failed();
    let claim = world.store.claim_message("sender", POLICY, pace(), Vec::new()).unwrap().unwrap();
    world.tamper("UPDATE release_run_attempts SET check_run_mismatch_at = 1");
    let begun = world.store.begin_send(&claim, Duration::ZERO, pace()).unwrap();
    assert_eq!(begun, Some(world.clock.now()), "it is claimed anew, and given up");
    let refused = SendResult::Refused(ErrorClass::Validation);
    world.store.settle_message(&claim, refused, false, None, RETRY).unwrap();
    assert_eq!(replay_class(&world), "binding_mismatch 0", "however it ended");
}

#[test]
fn a_wait_that_is_stated_for_an_update_is_kept_before_it_is_read_again() {
    let world = unpublished();
    let until = world.clock.now().plus(RULES.observation + Duration::from_secs(700));
    let lookups = world.forge.lookups();
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::LostAndAskedToWait(until));
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.next_check);
    assert_eq!(world.forge.lookups(), lookups + 1, "nothing is asked until then");
    world.reconcile_after(Duration::from_secs(700));
    assert_eq!(newest_item(&world), "completed publication_reconciled");
}

#[test]
fn a_look_for_a_check_run_that_may_be_lag_costs_no_try() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    world.forge.plan(EffectKind::CheckRunCreate, Plan::LostAfter);
    world.outbox().step();
    let claim = || {
        world.clock.advance(RETRY.delay_max);
        world.store.claim_message("sender", POLICY, pace(), Vec::new()).unwrap().unwrap()
    };
    for returns in 0..3 {
        let lag = SendResult::Uncertain(ErrorClass::NotFound, None);
        let claim = claim();
        assert_eq!((claim.item.try_count, claim.item.lag_count), (2, returns));
        world.store.settle_message(&claim, lag, true, None, RETRY).unwrap();
    }
    assert!(claim().item.sent_before, "it is still in doubt");
}
