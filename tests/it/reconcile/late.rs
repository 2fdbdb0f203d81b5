//! Observations that are applied late: the attempt they are about has been replaced, and the attempt that
//! replaced it has ended as well. They change nothing.

use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::lease::Claim;
use svc::domain::outbox::EffectKind;
use svc::domain::reconcile::task::ReconcileTask;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{ReconcileCode, ReconcileKind, Unavailable, check_run, uncertain};
use svc::store::Observation;
use svc::workers::driver::Worker as _;

use super::PAST_DEADLINE;
use crate::daemon::database::values;
use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RULES, commit, open_raw, webhooks};

const UNAVAILABLE: Unavailable = Unavailable { class: ErrorClass::Unavailable, wait_until: None };

/// Lets the observation window pass, detects, and claims the item that was found.
fn claimed(world: &World, kind: ReconcileKind) -> Box<Claim<ReconcileTask>> {
    world.clock.advance(RULES.observation);
    world.detect().step();
    // Longer than any test here takes.
    let lease = RULES.deadline * 2;
    world.store.claim_reconcile(kind, "it", lease, Vec::new()).unwrap().claim.unwrap()
}

/// Ends the current attempt by its signed result.
fn end_by_result(world: &World, decision: &str, token: &str) {
    let told = results::current(world).send(world, &results::body(decision), token);
    assert_eq!(told, (200, "recorded".to_owned()));
}

/// Starts the next attempt, whose workflow runs.
fn rerequest(world: &mut World) {
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
}

/// Everything in the file except the item itself and the polls that are noted for readiness.
fn rest(world: &World) -> Vec<(String, String)> {
    let all = values(&open_raw(&world.database())).into_iter();
    let own = ["reconciliation_items.", "worker_ticks."];
    all.filter(|(column, _)| !own.iter().any(|table| column.starts_with(table))).collect()
}

/// Applies an observation that was made long ago, and checks that nothing follows from it.
fn assert_no_effect(
    world: &World,
    claim: &Claim<ReconcileTask>,
    seen: Observation,
    closed_as: ReconcileCode,
) {
    let told = |world: &World| {
        let dispatches = world.forge.count(EffectKind::WorkflowDispatch, None);
        (dispatches, world.forge.updates())
    };
    let (rows, effects) = (rest(world), told(world));
    let settled = world.store.apply_observation(claim, seen, RULES).unwrap();
    assert_eq!((settled.code, settled.next_check_at), (closed_as, None), "{seen:?}");
    assert_eq!(rest(world), rows, "{seen:?}");
    world.settle();
    assert_eq!(told(world), effects, "{seen:?}");
}

#[test]
fn of_a_workflow_run() {
    let lookups = [
        Lookup::Completed(RunConclusion::Failure),
        Lookup::Completed(RunConclusion::TimedOut),
        Lookup::Completed(RunConclusion::Success),
        Lookup::Pending,
        Lookup::NotFound,
        Lookup::Unavailable(UNAVAILABLE),
    ];
    for (lookup, later) in
        lookups.iter().flat_map(|lookup| [Duration::ZERO, PAST_DEADLINE].map(|by| (*lookup, by)))
    {
        let (mut world, _) = results::started();
        let claim = claimed(&world, ReconcileKind::WorkflowAttempt);
        end_by_result(&world, "rejected", "t1");
        world.settle();
        rerequest(&mut world);
        end_by_result(&world, "accepted", "t2");
        world.settle();
        world.clock.advance(later);
        assert_no_effect(
            &world,
            &claim,
            Observation::Workflow(lookup),
            ReconcileCode::AttemptSuperseded,
        );
        assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "succeeded");
    }
}

#[test]
fn of_a_dispatch_in_doubt() {
    let run = uncertain::Observation::WorkflowRun(7_777.try_into().unwrap());
    for seen in
        [run, uncertain::Observation::NoProof, uncertain::Observation::Unavailable(UNAVAILABLE)]
    {
        let mut world = World::new();
        world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
        world.forge.plan(EffectKind::WorkflowDispatch, Plan::LostAfter);
        world.settle();
        let claim = claimed(&world, ReconcileKind::WorkflowAttempt);
        rerequest(&mut world);
        end_by_result(&world, "accepted", "t1");
        world.settle();
        assert_no_effect(
            &world,
            &claim,
            Observation::Uncertain(seen),
            ReconcileCode::AlreadyRepaired,
        );
        assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "succeeded");
    }
}

#[test]
fn of_a_check_run() {
    use check_run::Observation as Seen;
    let seen = [
        Seen::BindingMismatch,
        Seen::Expected,
        Seen::Updated,
        Seen::NotUpdated(UNAVAILABLE),
        Seen::NotFound,
        Seen::Unavailable(UNAVAILABLE),
    ];
    for seen in seen {
        let (mut world, _) = results::started();
        end_by_result(&world, "rejected", "t1");
        world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
        world.settle();
        let claim = claimed(&world, ReconcileKind::ReleaseRun);
        rerequest(&mut world);
        end_by_result(&world, "accepted", "t2");
        world.forge.plan(EffectKind::CheckRunUpdate, Plan::Refused);
        world.settle();
        // An observation that failed is recorded from the deadline on.
        world.clock.advance(PAST_DEADLINE);
        assert_no_effect(
            &world,
            &claim,
            Observation::CheckRun(seen),
            ReconcileCode::AttemptSuperseded,
        );
        let published = "SELECT forge_check_published_at IS NOT NULL FROM release_runs";
        assert!(!world.ask::<bool>(published), "the second attempt is not shown yet");
        world.reconcile_after(Duration::ZERO);
        assert!(world.ask::<bool>(published), "the second attempt has an item of its own");
    }
}
