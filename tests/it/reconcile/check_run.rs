//! Ends the forge does not show.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::outbox::{CheckRunStatus, EffectKind};
use svc::domain::reconcile::Unavailable;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::release::Conclusion;
use svc::forge::CheckRunLookup;

use super::{PAST_DEADLINE, unpublished};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, webhooks};

fn published(world: &World) -> i64 {
    world.ask("SELECT forge_check_published_at IS NOT NULL FROM release_runs")
}

fn item(world: &World) -> String {
    world.ask(
        "SELECT status || ' ' || outcome_code FROM reconciliation_items \
         WHERE kind = 'release_run' ORDER BY id DESC LIMIT 1",
    )
}

fn failures_audited(world: &World) -> i64 {
    world.ask(
        "SELECT count(*) FROM audit_events \
         WHERE event = 'control_plane.forge_check_run_reconciliation_failed'",
    )
}

const UNAVAILABLE: CheckRunLookup =
    CheckRunLookup::Unavailable(Unavailable { class: ErrorClass::Unavailable, wait_until: None });

#[test]
fn an_end_the_forge_does_not_show_is_shown_and_its_dead_letter_closes() {
    let world = unpublished();
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "completed publication_reconciled");
    assert_eq!(published(&world), 1);
    assert!(world.dead_letters(1).is_empty());
    let shown = world.forge.shows(world.forge.last_check_run());
    let Some(CheckRunStatus::Completed { conclusion, .. }) = shown else { panic!("{shown:?}") };
    assert_eq!(conclusion, Conclusion::Failure);
    let lookups = world.forge.lookups();
    world.reconcile_after(PAST_DEADLINE);
    assert_eq!(world.forge.lookups(), lookups);
}

#[test]
fn an_end_the_forge_shows_is_only_noted() {
    let world = unpublished();
    let updates = world.forge.updates();
    world.forge.next_check_run_lookup(CheckRunLookup::Expected);
    world.reconcile_after(RULES.observation);
    assert_eq!((published(&world), world.forge.updates()), (1, updates));
}

#[test]
fn a_check_run_that_is_not_ours_is_never_written_to() {
    let world = unpublished();
    let updates = world.forge.updates();
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "completed forge_check_run_binding_mismatch");
    assert_eq!((published(&world), world.forge.updates()), (0, updates));
    assert_eq!(failures_audited(&world), 1);
    let page = world.operate(http::Method::GET, "/api/v1/operator/installations/1/releases", &[]);
    let told = &crate::support::world::json(&page)["items"][0]["lastPublicationError"];
    assert_eq!(told, "forge_check_run_binding_mismatch", "a release without a result tells, too");
}

fn item_is_completed(world: &World) -> bool {
    let completed = "SELECT count(*) FROM reconciliation_items \
        WHERE reason = 'reporting_stale' AND status = 'completed'";
    world.ask::<i64>(completed) == 1
}

#[test]
fn a_failure_is_stable_only_at_the_deadline_and_changes_nothing_of_the_release() {
    let told = [
        (CheckRunLookup::NotFound, "forge_check_run_not_found"),
        (UNAVAILABLE, "forge_check_run_lookup_failed"),
        (CheckRunLookup::Different([7; 32].into()), "forge_check_run_update_failed"),
    ];
    for (lookup, code) in told {
        let world = unpublished();
        let release = "SELECT status || coalesce(decision, '-') || conclusion || failure_reason \
            || finished_at || forge_conclusion FROM release_runs";
        let before: String = world.ask(release);
        // The last looks: one that is not found may be the lag of a fresh token.
        let lag = [1, 3, 8].map(Duration::from_secs);
        let until_the_deadline = [RULES.observation, Duration::from_secs(60), PAST_DEADLINE];
        for by in until_the_deadline.into_iter().chain(lag) {
            if item_is_completed(&world) {
                break;
            }
            assert_eq!(failures_audited(&world), 0);
            world.forge.next_check_run_lookup(lookup);
            world.forge.plan(EffectKind::CheckRunUpdate, Plan::LostBefore);
            world.reconcile_after(by);
            let code = if item(&world).contains("token_lag") { "forge_token_lag" } else { code };
            assert!(item(&world).ends_with(code), "{}", item(&world));
        }
        assert_eq!(item(&world), format!("completed {code}"));
        assert_eq!(failures_audited(&world), 1);
        assert_eq!(world.ask::<String>(release), before);
        let lookups = world.forge.lookups();
        world.reconcile_after(PAST_DEADLINE);
        assert_eq!((failures_audited(&world), world.forge.lookups()), (1, lookups), "once");
    }
}

#[test]
fn a_recorded_failure_outlives_the_sweep_and_other_items_do_not() {
    let world = unpublished();
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    world.clock.advance(Duration::from_secs(40 * 86_400));
    assert_eq!(world.store.sweep(Duration::from_secs(30 * 86_400)).unwrap().items, 1);
    world.reconcile_after(RULES.observation);
    assert_eq!(failures_audited(&world), 1, "the same failure is not found again");
}

#[test]
fn running_again_closes_the_item_and_a_new_failure_is_found_anew() {
    let mut world = unpublished();
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    assert_eq!(
        world.ask::<Option<String>>("SELECT forge_conclusion FROM release_runs"),
        None,
        "another attempt is told anew"
    );
    world.reconcile_after(RULES.observation);
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    world.forge.next_check_run_lookup(CheckRunLookup::BindingMismatch);
    world.reconcile_after(RULES.observation);
    assert_eq!(failures_audited(&world), 2);
}

#[test]
fn a_release_that_runs_again_while_it_is_looked_at_is_not_called_published() {
    let mut world = unpublished();
    world.reconcile_after(Duration::ZERO);
    world.clock.advance(RULES.observation);
    {
        use svc::workers::driver::Worker as _;
        world.detect().step();
    }
    let lease = Duration::from_secs(60);
    let kind = svc::domain::reconcile::ReconcileKind::ReleaseRun;
    let claim = world.store.claim_reconcile(kind, "it", lease, Vec::new()).unwrap().claim.unwrap();
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    let seen =
        svc::store::Observation::CheckRun(svc::domain::reconcile::check_run::Observation::Updated);
    world.store.apply_observation(&claim, seen, RULES).unwrap();
    assert_eq!(item(&world), "completed attempt_superseded");
    assert_eq!(published(&world), 0);
}

#[test]
fn an_open_update_does_not_hold_up_the_end() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.settle();
    assert_eq!(world.dead_letters(1).len(), 1, "the update to in_progress");
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    assert!(world.dead_letters(1).is_empty(), "the end says all there is to say");
    world.settle();
    assert_eq!(published(&world), 1);
}

#[test]
fn an_open_update_whose_holder_vanished_is_not_sent_after_the_end_was_told() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::NotSent);
    world.settle();
    world.tamper(
        "UPDATE outbox SET status = 'leased', claim_id = zeroblob(16), lease_expires_at = 9e15 \
         WHERE kind = 'check_run_update'",
    );
    world.forge.workflow_run_is(Lookup::Completed(RunConclusion::Failure));
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.observation);
    assert_eq!(published(&world), 1, "by a reconciler: the outbox waits for the lost holder");
    world.tamper("UPDATE outbox SET lease_expires_at = 0 WHERE status = 'leased'");
    world.settle_for_good();
    let shown = world.forge.shows(world.forge.last_check_run());
    assert!(matches!(shown, Some(CheckRunStatus::Completed { .. })), "{shown:?}");
}

#[test]
fn a_later_attempt_is_not_judged_by_the_item_of_an_earlier_one() {
    let mut world = unpublished();
    world.forge.next_check_run_lookup(UNAVAILABLE);
    world.reconcile_after(RULES.observation);
    assert_eq!(item(&world), "open forge_check_run_lookup_failed");
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
    world.tamper(
        "UPDATE release_runs SET status = 'failed', finished_at = updated_at, conclusion = 'failure', \
            forge_conclusion = 'failure'; \
         UPDATE release_run_attempts SET status = 'failed'",
    );
    let lookups = world.forge.lookups();
    world.reconcile_after(PAST_DEADLINE);
    let first = "SELECT status || ' ' || outcome_code FROM reconciliation_items \
        WHERE reason = 'reporting_stale' ORDER BY id LIMIT 1";
    assert_eq!(world.ask::<String>(first), "completed attempt_superseded");
    assert_eq!(
        (failures_audited(&world), world.forge.lookups()),
        (0, lookups),
        "its own window begins"
    );
}
