//! No release stays undecided: one whose dispatch is never confirmed, or whose item was given up, ends at
//! the deadline.

use std::time::Duration;

use http::Method;
use svc::domain::outbox::{CheckRunStatus, EffectKind};
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::release::Conclusion;
use svc::workers::driver::Worker as _;

use super::{PAST_DEADLINE, newest_item, release, replay_class, running, unpublished};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, json, webhooks};

/// A release whose dispatch was sent, and of which it is not known what became of it.
fn uncertain_dispatch() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostBefore);
    world.settle();
    world
}

/// Claims the next item of a kind so often, and vanishes each time.
fn vanish(world: &World, kind: svc::domain::reconcile::ReconcileKind, times: u32) {
    for _ in 0..times {
        let lease = Duration::from_secs(1);
        let polled = world.store.claim_reconcile(kind, "vanishes", lease, Vec::new()).unwrap();
        assert!(polled.claim.is_some());
        world.clock.advance(Duration::from_secs(1));
    }
}

/// The items an operator sees as given up.
fn given_up(world: &World) -> Vec<String> {
    let target = "/api/v1/operator/installations/1/reconciliation-items?status=dead_letter";
    let page = json(&world.operate(Method::GET, target, &[]));
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    items.iter().map(|item| item["outcomeCode"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_dispatch_that_is_never_confirmed_ends_its_release_and_the_check_run_can_be_run_again() {
    let mut world = uncertain_dispatch();
    world.reconcile_after(RULES.observation);
    assert_eq!(release(&world), "dispatching -", "not before the deadline");
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_dispatch_unconfirmed");
    world.settle();
    let check_run = world.forge.last_check_run();
    let shown = world.forge.shows(check_run);
    let Some(CheckRunStatus::Completed { conclusion, unconfirmed, .. }) = shown else {
        panic!("the check run is shown as {shown:?}")
    };
    assert_eq!((conclusion, unconfirmed), (Conclusion::Failure, true), "a run may exist");
    assert_eq!(replay_class(&world), "dispatch_uncertain 0");
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
    world.deliver(&webhooks(1).check_run_rerequested(check_run.get(), &commit(1)));
    world.settle();
    assert_eq!(release(&world), "running -", "another attempt is the way on");
    assert!(world.dead_letters(1).is_empty());
    assert_eq!(world.forge.most(EffectKind::WorkflowDispatch), 1);
}

#[test]
fn the_end_of_an_unconfirmed_dispatch_is_shown_by_a_reconciler_as_well() {
    let world = uncertain_dispatch();
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.deadline);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    world.reconcile_after(RULES.observation);
    let shown = world.forge.shows(world.forge.last_check_run());
    assert!(
        matches!(shown, Some(CheckRunStatus::Completed { unconfirmed: true, .. })),
        "{shown:?}"
    );
}

#[test]
fn a_run_of_another_attempt_leaves_a_dispatch_unconfirmed_until_the_deadline() {
    let mut world = running();
    let taken: i64 = world.ask("SELECT workflow_run_id FROM release_run_attempts");
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
    world.settle();
    let found =
        svc::domain::reconcile::uncertain::Observation::WorkflowRun(taken.try_into().unwrap());
    world.forge.dispatched_run_is(found);
    let of_second = "SELECT status || ' ' || coalesce(failure_reason, '-') FROM release_runs \
        WHERE git_ref = 'refs/tags/v2'";
    world.reconcile_after(RULES.observation);
    assert_eq!(world.ask::<String>(of_second), "dispatching -");
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(world.ask::<String>(of_second), "failed forge_dispatch_unconfirmed");
}

#[test]
fn an_item_that_no_holder_survives_ends_its_release_at_the_deadline() {
    let world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    vanish(&world, svc::domain::reconcile::ReconcileKind::WorkflowAttempt, 8);
    world.reconcile_after(Duration::ZERO);
    assert_eq!(given_up(&world), ["crash_loop"]);
    assert_eq!(release(&world), "running -", "not before the deadline");
    let lookups = world.forge.lookups();
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed");
    assert_eq!((given_up(&world), world.forge.lookups()), (vec!["crash_loop".to_owned()], lookups));
    world.settle();
    let shown = world.forge.shows(world.forge.last_check_run());
    assert!(matches!(shown, Some(CheckRunStatus::Completed { .. })), "{shown:?}");
}

#[test]
fn an_item_whose_subject_does_not_read_ends_its_release_at_the_deadline() {
    let world = running();
    world.tamper("UPDATE release_runs SET head_sha = 'no commit'");
    world.reconcile_after(RULES.observation);
    assert_eq!(
        (given_up(&world), release(&world)),
        (vec!["subject_unreadable".to_owned()], "running -".to_owned())
    );
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed");
}

#[test]
fn a_dispatch_in_doubt_whose_payload_does_not_read_ends_its_release_too() {
    let world = uncertain_dispatch();
    world.tamper("UPDATE outbox SET payload = '?' WHERE kind = 'workflow_dispatch'");
    world.reconcile_after(RULES.observation);
    assert_eq!(newest_item(&world), "dead_letter subject_unreadable");
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_dispatch_unconfirmed");
}

#[test]
fn a_creation_that_cannot_be_looked_for_ends_its_release_and_starts_nothing() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    (0..3).for_each(|_| world.forge.plan(EffectKind::CheckRunCreate, Plan::LostBefore));
    world.settle_for_good();
    assert_eq!(replay_class(&world), "create_uncertain 0");
    world.tamper("UPDATE repositories SET state = 'deleted'");
    world.reconcile_after(RULES.observation);
    assert_eq!(release(&world), "queued -");
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_workflow_lookup_failed");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM outbox WHERE status = 'held'"), 0);
    world.tamper("UPDATE repositories SET state = 'active'");
    world.settle_for_good();
    assert_eq!(world.forge.asked(EffectKind::WorkflowDispatch), 0);
}

#[test]
fn a_given_up_item_that_cannot_be_applied_holds_up_no_other() {
    let mut world = running();
    world.clock.advance(RULES.observation);
    world.detect().step();
    vanish(&world, svc::domain::reconcile::ReconcileKind::WorkflowAttempt, 8);
    world.reconcile_after(Duration::ZERO);
    assert_eq!(given_up(&world), ["crash_loop"]);
    // A stranger's change: the attempt does not know that its release has ended.
    world.tamper(
        "UPDATE release_runs SET status = 'cancelled', finished_at = updated_at, \
            conclusion = 'cancelled', forge_conclusion = 'cancelled'",
    );
    world.deliver(&webhooks(2).push_tag("v1", &commit(1)));
    world.settle();
    world.reconcile_after(RULES.deadline);
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    let other = "SELECT failure_reason FROM release_runs WHERE forge_installation_id = 2";
    assert_eq!(world.ask::<String>(other), "forge_workflow_failure");
    let applied = "SELECT count(deadline_applied_at) FROM reconciliation_items \
        WHERE status = 'dead_letter'";
    assert_eq!(world.ask::<i64>(applied), 1, "it is not tried for ever");
}

#[test]
fn what_an_older_version_left_in_doubt_is_looked_for_again_and_ends() {
    let world = uncertain_dispatch();
    world.reconcile_after(RULES.observation);
    world.tamper(
        "UPDATE reconciliation_items SET status = 'completed', outcome_code = 'effect_unproved', \
            finished_at = updated_at",
    );
    world.reconcile_after(RULES.observation);
    assert_eq!(newest_item(&world), "open effect_unproved");
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "failed forge_dispatch_unconfirmed");
    let items = "SELECT count(*) FROM reconciliation_items WHERE reason = 'dispatch_uncertain'";
    world.reconcile_after(RULES.deadline);
    assert_eq!(world.ask::<i64>(items), 2, "once");
}

#[test]
fn after_an_unconfirmed_end_the_update_that_shows_it_comes_next() {
    let world = uncertain_dispatch();
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.deadline);
    let id: String = world.ask("SELECT release_run_id FROM release_runs");
    let target = format!("/api/v1/operator/installations/1/releases/{id}");
    let next = || {
        let detail = json(&world.operate(Method::GET, &target, &[]));
        detail["next"]["code"].as_str().unwrap_or_else(|| panic!("{detail}")).to_owned()
    };
    assert_eq!(next(), "publish");
    world.settle();
    assert_eq!(next(), "operator_rerequest");
}

#[test]
fn an_item_that_was_given_up_touches_no_later_attempt() {
    let mut world = uncertain_dispatch();
    world.clock.advance(RULES.observation);
    world.detect().step();
    vanish(&world, svc::domain::reconcile::ReconcileKind::WorkflowAttempt, 8);
    world.reconcile_after(Duration::ZERO);
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    world.reconcile_after(RULES.deadline);
    assert_eq!(release(&world), "running -");
}

#[test]
fn a_publication_that_was_given_up_is_recorded_as_failed_at_the_deadline() {
    let world = unpublished();
    world.clock.advance(RULES.observation);
    world.detect().step();
    vanish(&world, svc::domain::reconcile::ReconcileKind::ReleaseRun, 8);
    world.reconcile_after(Duration::ZERO);
    assert_eq!(given_up(&world), ["crash_loop"]);
    let audited = "SELECT count(*) FROM audit_events \
        WHERE event = 'control_plane.forge_check_run_reconciliation_failed' \
            AND reason_code = 'forge_check_run_lookup_failed'";
    assert_eq!(world.ask::<i64>(audited), 0);
    for _ in 0..2 {
        world.reconcile_after(RULES.deadline);
        assert_eq!(world.ask::<i64>(audited), 1, "once");
    }
    assert_eq!(release(&world), "failed forge_workflow_failure", "the release is as it was");
}

#[test]
fn what_cannot_be_read_is_not_replayable() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.tamper("UPDATE webhook_inbox SET normalized_actions = '?'");
    world.settle();
    assert_eq!(replay_class(&world), "unreadable 0");
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.jobs().step();
    world.tamper("UPDATE outbox SET payload = '?' WHERE kind = 'check_run_create'");
    world.settle();
    assert_eq!(replay_class(&world), "unreadable 0");
    let sent = "SELECT count(*) FROM outbox WHERE status = 'dead_letter' AND send_began_at IS NULL";
    assert_eq!(world.ask::<i64>(sent), 1, "it is in no doubt");
}
