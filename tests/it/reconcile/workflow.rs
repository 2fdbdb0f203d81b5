//! Stuck attempts.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::{CheckRunStatus, EffectKind};
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{ReconcileKind, Unavailable, uncertain};
use svc::domain::release::Conclusion;
use svc::store::{Error, Observation};
use svc::workers::driver::Worker as _;

use super::{PAST_DEADLINE, item, items, release, running};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, open_store, webhooks};

/// What the check run of the release shows at the forge.
fn shown(world: &World) -> Option<Conclusion> {
    match world.forge.shows(world.forge.last_check_run()) {
        Some(CheckRunStatus::Completed { conclusion, .. }) => Some(conclusion),
        _ => None,
    }
}

#[test]
fn nothing_is_looked_at_within_the_observation_window() {
    let world = running();
    world.reconcile_after(RULES.observation - Duration::from_secs(1));
    assert_eq!((items(&world), world.forge.lookups()), (0, 0));
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(item(&world), "open workflow_pending");
    assert_eq!(world.forge.lookups(), 1);
}

#[test]
fn a_run_that_does_not_end_times_out_at_the_deadline_and_the_forge_is_told() {
    let world = running();
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.deadline - Duration::from_secs(1));
    assert_eq!(release(&world), "running -");
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(release(&world), "timed_out forge_workflow_deadline_exceeded");
    assert_eq!(item(&world), "completed forge_workflow_deadline_exceeded");
    world.settle();
    assert_eq!(shown(&world), Some(Conclusion::TimedOut));
    assert_eq!(
        world.ask::<i64>("SELECT forge_check_published_at IS NOT NULL FROM release_runs"),
        1
    );
    let lookups = world.forge.lookups();
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!((items(&world), world.forge.lookups()), (1, lookups), "it is not found again");
}

#[test]
fn a_success_without_a_result_is_awaited_and_then_a_failure() {
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Success));
    world.reconcile_after(RULES.observation);
    assert_eq!(release(&world), "reporting -");
    assert_eq!(item(&world), "open forge_result_callback_pending");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(release(&world), "failed forge_result_callback_missing");
    world.settle();
    assert_eq!(shown(&world), Some(Conclusion::Failure));
}

#[test]
fn a_run_that_ended_badly_ends_the_release_at_the_first_look() {
    let world = running();
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Cancelled));
    world.reconcile_after(RULES.observation);
    assert_eq!(release(&world), "failed forge_workflow_cancelled");
    assert_eq!(world.ask::<String>("SELECT status FROM release_run_attempts"), "failed");
    assert_eq!(world.ask::<String>("SELECT forge_conclusion FROM release_runs"), "failure");
}

#[test]
fn after_downtime_it_is_looked_at_before_it_is_decided() {
    let world = running();
    world.reconcile_after(RULES.observation);
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::TimedOut));
    let lookups = world.forge.lookups();
    world.reconcile_after(Duration::from_secs(86_400));
    assert_eq!(world.forge.lookups(), lookups + 1);
    assert_eq!(release(&world), "timed_out forge_workflow_timed_out");
}

#[test]
fn a_forge_that_asks_to_wait_is_left_alone() {
    let world = running();
    let until = {
        use svc::runtime::clock::Clock as _;
        world.clock.now().plus(RULES.observation + Duration::from_secs(600))
    };
    world.forge.workflow_run_is(Lookup::Unavailable(Unavailable {
        class: ErrorClass::RateLimited,
        wait_until: Some(until),
    }));
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open forge_lookup_failed");
    world.reconcile_after(Duration::from_secs(599));
    assert_eq!(world.forge.lookups(), 1, "paused");
    world.forge.workflow_run_is(Lookup::Pending);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(world.forge.lookups(), 2);
    assert_eq!(item(&world), "open workflow_pending");
}

#[test]
fn a_forge_that_asks_to_wait_is_asked_about_nothing_of_its_installation() {
    use svc::runtime::clock::Clock as _;
    let mut world = running();
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    let until = world.clock.now().plus(RULES.observation + Duration::from_secs(600));
    world.forge.workflow_run_is(Lookup::Unavailable(Unavailable {
        class: ErrorClass::RateLimited,
        wait_until: Some(until),
    }));
    world.reconcile_after(RULES.observation);
    assert_eq!((items(&world), world.forge.lookups()), (2, 1));
    world.reconcile_after(Duration::from_secs(599));
    assert_eq!(world.forge.lookups(), 1, "paused");
    world.forge.workflow_run_is(Lookup::Pending);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(world.forge.lookups(), 1 + 2);
}

/// A release whose dispatch was accepted by a forge that does not say which run it started.
fn running_unnamed() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::Unnamed);
    world.settle();
    assert_eq!(release(&world), "running -");
    world
}

#[test]
fn a_run_without_a_number_is_found_by_its_title_and_then_observed() {
    let world = running_unnamed();
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open workflow_pending");
    world.forge.dispatched_run_is(uncertain::Observation::WorkflowRun(77.try_into().unwrap()));
    world.reconcile_after(RULES.next_check);
    assert_eq!(item(&world), "completed run_identified");
    assert_eq!(world.ask::<i64>("SELECT workflow_run_id FROM release_run_attempts"), 77);
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    assert_eq!(release(&world), "failed forge_workflow_failure");
}

#[test]
fn a_run_that_is_not_found_is_as_good_as_one_that_does_not_end() {
    let world = running_unnamed();
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "timed_out forge_workflow_deadline_exceeded");
    let world = running_unnamed();
    let why = Unavailable { class: ErrorClass::Unavailable, wait_until: None };
    world.forge.dispatched_run_is(uncertain::Observation::Unavailable(why));
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open forge_lookup_failed");
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed");
}

#[test]
fn a_webhook_about_the_run_makes_the_next_look_soon() {
    let mut world = running();
    world.reconcile_after(RULES.observation);
    let run: i64 = world.ask("SELECT workflow_run_id FROM release_runs");
    world.deliver(&webhooks(2).workflow_run("completed", run));
    world.settle();
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(world.forge.lookups(), 1, "of another installation");
    world.deliver(&webhooks(1).workflow_run("completed", run));
    world.settle();
    world.reconcile_after(Duration::ZERO);
    assert_eq!(world.forge.lookups(), 2);
}

#[test]
fn what_a_lost_claim_saw_is_discarded() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let lease = Duration::from_secs(10);
    let claim = |owner| {
        world
            .store
            .claim_reconcile(ReconcileKind::WorkflowAttempt, owner, lease, Vec::new())
            .unwrap()
    };
    let stale = claim("first").claim.unwrap();
    assert!(claim("second").claim.is_none(), "it is leased");
    world.clock.advance(lease);
    let fresh = claim("second").claim.unwrap();
    let seen = Observation::Workflow(Lookup::Completed(RunConclusion::Failure));
    let applied = world.store.apply_observation(&stale, seen, RULES);
    assert!(matches!(applied, Err(Error::LeaseLost)), "{applied:?}");
    assert_eq!(release(&world), "running -");
    let pending = Observation::Workflow(Lookup::Pending);
    world.store.apply_observation(&fresh, pending, RULES).unwrap();
    assert_eq!(item(&world), "open workflow_pending");
}

#[test]
fn a_newer_attempt_or_an_end_closes_the_item_without_a_look() {
    for (change, code) in [
        ("UPDATE release_run_attempts SET status = 'superseded'", "completed attempt_superseded"),
        ("UPDATE release_run_attempts SET status = 'succeeded'", "completed already_ended"),
    ] {
        let world = running();
        world.reconcile_after(RULES.observation);
        world.tamper(change);
        world.reconcile_after(Duration::from_secs(60));
        assert_eq!(item(&world), code);
        assert_eq!(world.forge.lookups(), 1);
        assert_eq!(release(&world), "running -");
    }
}

#[test]
fn an_attempt_that_ended_while_it_was_looked_at_is_left_alone() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let lease = Duration::from_secs(10);
    let claimed = world
        .store
        .claim_reconcile(ReconcileKind::WorkflowAttempt, "it", lease, Vec::new())
        .unwrap();
    world.tamper("UPDATE release_run_attempts SET status = 'succeeded'");
    let seen = Observation::Workflow(Lookup::Completed(RunConclusion::Failure));
    world.store.apply_observation(&claimed.claim.unwrap(), seen, RULES).unwrap();
    assert_eq!(item(&world), "completed already_ended");
    assert_eq!(release(&world), "running -");
}

#[test]
fn what_is_opened_is_told_once() {
    let world = running();
    world.clock.advance(RULES.observation);
    let detect = || {
        use svc::runtime::clock::Clock as _;
        let now = world.clock.now();
        let found =
            world.store.detect(ReconcileKind::WorkflowAttempt, RULES, now, &mut None).unwrap();
        (found.items.len(), found.more)
    };
    assert_eq!(detect(), (1, false));
    assert_eq!(detect(), (0, false));
}

#[test]
fn two_replicas_open_one_item() {
    let world = running();
    let other = open_store(&world.database(), &world.clock, 9);
    world.clock.advance(RULES.observation);
    world.detect().step();
    let mut detect = world.detect();
    detect.store = other;
    detect.step();
    assert_eq!(items(&world), 1);
}

#[test]
fn an_installation_that_is_gone_is_not_asked_about() {
    let mut world = running();
    world.deliver(&webhooks(1).installation("suspend"));
    world.settle();
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open forge_lookup_failed");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed");
    assert_eq!(world.forge.lookups(), 0);
}

#[test]
fn a_thousand_stuck_attempts_of_one_installation_cost_sixty_looks_a_minute() {
    let mut world = World::new();
    for number in 1..=80 {
        world.deliver(&webhooks(1).push_tag(&format!("v{number}"), &commit(number)));
    }
    world.deliver(&webhooks(2).push_tag("v1", &commit(1)));
    world.settle();
    world.reconcile_after(RULES.observation);
    assert_eq!(world.forge.lookups(), 60 + 1, "the other installation has its own");
    world.reconcile_after(Duration::from_secs(59));
    assert_eq!(world.forge.lookups(), 60 + 1);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(world.forge.lookups(), 60 + 1 + 60 + 1);
}

#[test]
fn an_item_that_no_holder_survives_is_given_up_and_the_release_is_not_touched() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let lease = Duration::from_secs(10);
    for _ in 0..8 {
        let polled = world
            .store
            .claim_reconcile(ReconcileKind::WorkflowAttempt, "dies", lease, Vec::new())
            .unwrap();
        assert!(polled.claim.is_some());
        world.clock.advance(lease);
    }
    let polled = world
        .store
        .claim_reconcile(ReconcileKind::WorkflowAttempt, "dies", lease, Vec::new())
        .unwrap();
    assert!(polled.claim.is_none());
    assert_eq!(polled.closed.len(), 1);
    assert_eq!(item(&world), "dead_letter crash_loop");
    assert_eq!(release(&world), "running -");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(items(&world), 1, "it is not found again");
}

#[test]
fn a_clock_that_was_ahead_neither_hides_an_attempt_nor_stretches_its_deadline() {
    let mut world = World::new();
    let year = Duration::from_secs(365 * 86_400);
    world.clock.advance(year);
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    world.clock.step_back(year);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(items(&world), 1, "it is as good as old");
    world.clock.advance(year);
    world.tamper("DELETE FROM reconciliation_items");
    world.reconcile_after(RULES.observation);
    world.clock.step_back(year);
    world.store.clamp_future_times(Duration::from_secs(600)).unwrap();
    world.reconcile_after(Duration::from_secs(1));
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(release(&world), "timed_out forge_workflow_deadline_exceeded");
}

#[test]
fn polls_and_successes_are_noted_for_readiness() {
    let world = running();
    let why = Unavailable { class: ErrorClass::Unavailable, wait_until: None };
    world.reconcile_after(Duration::from_secs(10));
    world.forge.workflow_run_is(Lookup::Unavailable(why));
    world.clock.advance(RULES.observation);
    world.detect().step();
    world.reconcile().step();
    let ticks = world.store.ticks("workflow_reconciliation").unwrap();
    assert!(ticks.last_poll_at > ticks.last_success_at, "{ticks:?}");
    world.forge.workflow_run_is(Lookup::Pending);
    world.reconcile_after(Duration::from_secs(60));
    let ticks = world.store.ticks("workflow_reconciliation").unwrap();
    assert_eq!(ticks.last_poll_at, ticks.last_success_at);
    for kind in ReconcileKind::ALL {
        assert!(world.store.ticks(kind.worker()).unwrap().last_poll_at.is_some(), "{kind}");
    }
}
