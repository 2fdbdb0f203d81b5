//! A result whose credential holds proves which workflow run is the attempt's, whatever became of the
//! dispatch's own answer.

use std::time::Duration;

use svc::domain::event::CommitSha;
use svc::domain::outbox::{EffectKind, SendResult};
use svc::domain::release::Decision;
use svc::domain::result::{NewResult, RecordedResult, ResultRefusal, ResultReport};
use svc::store::{Error, LeasePolicy};

use super::{Attempt, CONFLICT, RECORDED, as_str, body, current};
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{RETRY, RULES, commit, open_raw, pace, webhooks};

const POLICY: LeasePolicy = LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };

fn pushed(plan: Option<Plan>) -> World {
    let mut world = World::new();
    if let Some(plan) = plan {
        world.forge.plan(EffectKind::WorkflowDispatch, plan);
    }
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world
}

fn assert_ended(world: &World, attempt: &Attempt) {
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "succeeded");
    for table in ["release_runs", "release_run_attempts"] {
        let run = world.ask::<i64>(&format!("SELECT workflow_run_id FROM {table}"));
        assert_eq!(run, attempt.run);
    }
    let dispatch = "SELECT status || ' ' || payload FROM outbox WHERE kind = 'workflow_dispatch'";
    assert_eq!(world.ask::<String>(dispatch), "completed ");
    assert!(world.dead_letters(1).is_empty());
    world.settle_for_good();
    let unfinished = "SELECT count(*) FROM outbox WHERE status NOT IN ('completed', 'superseded')";
    assert_eq!(world.ask::<i64>(unfinished), 0);
    let shown = world.forge.shows(world.forge.last_check_run()).unwrap();
    assert_eq!(shown.as_str(), "completed");
    assert!(world.forge.most(EffectKind::WorkflowDispatch) <= 1);
}

/// The credential is compared with the run first; behind it stands the store.
#[test]
fn the_store_takes_no_result_of_another_run_than_the_attempt_s() {
    let world = pushed(None);
    world.settle();
    let attempt = current(&world);
    let result = |run: i64| NewResult {
        release_run: attempt.release_run.parse().unwrap(),
        attempt: attempt.id.parse().unwrap(),
        workflow_run: run.try_into().unwrap(),
        credential: [7; 32].into(),
        report: ResultReport {
            decision: Decision::Accepted,
            head_commit: CommitSha::new(&commit(1)).unwrap(),
        },
        body: "{}".to_owned(),
        body_sha256: [1; 32].into(),
    };
    let other = world.store.record_result(result(attempt.run + 1)).unwrap();
    assert_eq!(other, RecordedResult::Refused(ResultRefusal::OtherWorkflowRun));
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert_eq!(world.store.record_result(result(attempt.run)).unwrap(), RecordedResult::Now);
}

#[test]
fn a_dispatch_given_up_in_doubt_is_proved_and_its_dead_letter_closes() {
    let world = pushed(Some(Plan::LostAfter));
    world.settle();
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_dispatch_uncertain");
    let attempt = current(&world);
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
    let resolution = "SELECT resolution FROM dead_letters";
    assert_eq!(world.ask::<String>(resolution), "completed");
    assert_ended(&world, &attempt);
}

#[test]
fn a_result_that_overtakes_the_dispatch_s_own_answer_proves_it() {
    let mut world = pushed(None);
    let mut jobs = world.jobs();
    svc::workers::driver::Worker::step(&mut jobs);
    svc::workers::driver::Worker::step(&mut world.outbox());
    let claim = world.store.claim_message("sender", POLICY, pace(), Vec::new()).unwrap();
    let claim = claim.expect("the dispatch is due");
    assert_eq!(claim.item.kind, EffectKind::WorkflowDispatch);
    let early = current(&world).send(&world, &body("accepted"), "t0");
    assert_eq!(as_str(&early), CONFLICT, "nothing has left yet");
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "not_dispatched");
    world.store.begin_send(&claim, Duration::from_secs(15), pace()).unwrap();
    let attempt = current(&world);
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
    let run = attempt.run.try_into().unwrap();
    let late =
        world.store.settle_message(&claim, SendResult::Dispatched(Some(run)), false, None, RETRY);
    assert!(matches!(late, Err(Error::LeaseLost)), "{late:?}");
    assert_ended(&world, &attempt);
    world = world.restart();
    assert_ended(&world, &attempt);
}

#[test]
fn a_dispatch_whose_answer_named_no_run_is_told_it() {
    let world = pushed(None);
    world.settle();
    open_raw(&world.database())
        .execute_batch(
            "UPDATE release_runs SET workflow_run_id = NULL; \
             UPDATE release_run_attempts SET workflow_run_id = NULL",
        )
        .unwrap();
    let attempt = current(&world);
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
    assert_ended(&world, &attempt);
}

#[test]
fn a_refused_dispatch_that_ran_after_all_is_not_sent_again() {
    let world = pushed(Some(Plan::Refused));
    world.settle();
    let attempt = current(&world);
    let (kind, id) = world.only_dead_letter(1);
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), RECORDED);
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 409);
    assert_ended(&world, &attempt);
    assert_eq!(world.forge.count(EffectKind::WorkflowDispatch, None), 0);
}

#[test]
fn the_run_of_another_attempt_proves_nothing() {
    let mut world = pushed(Some(Plan::LostAfter));
    world.settle();
    world.deliver(&webhooks(1).push_tag("v2", &commit(2)));
    world.settle();
    let taken: i64 = world.ask("SELECT workflow_run_id FROM release_runs WHERE id = 2");
    let attempt = Attempt { run: taken, ..current(&world) };
    assert_eq!(as_str(&attempt.send(&world, &body("accepted"), "t1")), CONFLICT);
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "workflow_run_taken");
    assert_eq!(world.dead_letters(1)[0]["reasonCode"], "forge_dispatch_uncertain");
    let status = "SELECT status FROM release_runs WHERE id = 1";
    assert_eq!(world.ask::<String>(status), "dispatching");
}

#[test]
fn a_result_after_the_end_of_an_unconfirmed_dispatch_changes_nothing_and_is_audited() {
    let world = pushed(Some(Plan::LostAfter));
    world.settle();
    world.reconcile_after(RULES.observation);
    world.reconcile_after(RULES.deadline);
    let release = "SELECT status || ' ' || failure_reason FROM release_runs";
    assert_eq!(world.ask::<String>(release), "failed forge_dispatch_unconfirmed");
    let late = current(&world).send(&world, &body("accepted"), "t1");
    assert_eq!(as_str(&late), CONFLICT);
    assert_eq!(world.ask::<String>("SELECT reason_code FROM audit_events"), "already_ended");
    assert_eq!(world.ask::<String>(release), "failed forge_dispatch_unconfirmed");
    assert_eq!(world.dead_letters(1)[0]["replaySafe"], false);
}
