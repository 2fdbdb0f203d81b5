//! The signals of a whole service, in process: what a snapshot finds, that a signal fires and recovers
//! once, that a failed evaluation disturbs nothing, and what operators and machines are shown.

mod counters;

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use log::Level;
use serde_json::Value;
use svc::domain::reconcile::ReconcileKind;
use svc::domain::slo::{POLICY, Signal, SignalState, SignalStatus};
use svc::http::message::Surface;
use svc::metrics::LookupOutcome;
use svc::store::LeasePolicy;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::slo::SloWorker;

use crate::support::World;
use crate::support::clock::ManualClock;
use crate::support::log::{Line, lines_of};
use crate::support::world::{LONG, RETRY, TOKEN, commit, json, open_raw, webhooks};

const PATH: &str = "/api/v1/operator/slo";
const POLL: Duration = Duration::from_secs(15);

fn worker(world: &World) -> SloWorker {
    SloWorker::new(
        world.store.clone(),
        Arc::<ManualClock>::clone(&world.clock),
        Arc::clone(&world.app.metrics),
        world.app.slo.clone(),
    )
}

/// Evaluates, and lets the poll interval pass.
fn step(world: &World, worker: &mut SloWorker) {
    assert_eq!(worker.step(), Next::Wait);
    world.clock.advance(POLL);
}

fn status(world: &World, signal: Signal) -> SignalStatus {
    let report = world.app.slo.get().unwrap();
    *report.signals.iter().find(|status| status.rule.signal == signal).unwrap()
}

fn slo(world: &World) -> Value {
    let answer = world.operate(Method::GET, PATH, &[]);
    assert_eq!(answer.status, 200);
    json(&answer)
}

/// Puts a reconciliation into the file whose deadline is so long over.
fn overdue(world: &World, by: Duration) {
    let deadline = svc::runtime::clock::Clock::now(world.clock.as_ref()).minus(by).micros();
    open_raw(&world.database())
        .execute(
            "INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
                installation_id, status, next_check_at, deadline_at, created_at, updated_at) \
             VALUES ('r', 'workflow_attempt', 'a_test', 's', 1, 'open', ?1, ?1, ?1, ?1)",
            [deadline],
        )
        .unwrap();
}

fn reject(world: &World, count: u32) {
    for _ in 0..count {
        let headers = [("host", "localhost"), ("content-type", "application/json")];
        let target = "/webhooks/forge";
        let answer = world.send(Surface::Public, Method::POST, target, &headers, b"{}".to_vec());
        assert_eq!(answer.status, 401);
    }
}

#[test]
fn a_snapshot_finds_what_waits_and_what_was_given_up() {
    let mut world = World::new();
    let began = svc::runtime::clock::Clock::now(world.clock.as_ref());
    let empty = world.store.sli_snapshot().unwrap();
    assert_eq!(empty.backlog.waiting(), (0, true));
    assert_eq!((empty.oldest_unprocessed_at, empty.first_deadline_at), (None, None));
    assert_eq!((empty.dead_letters, empty.lease_expiries), (0, 0));
    assert!(empty.disk_free_bytes.is_some_and(|bytes| bytes > 0));

    world.deliver(&webhooks(1).installation("suspend"));
    world.settle();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    world.clock.advance(POLL);
    world.deliver(&webhooks(2).push_tag("v1", &commit(1)));
    overdue(&world, Duration::from_secs(400));
    let found = world.store.sli_snapshot().unwrap();
    assert_eq!(found.oldest_unprocessed_at, Some(began.plus(POLL)));
    assert_eq!(found.backlog.waiting(), (1, true));
    assert_eq!(found.dead_letters, 1);
    assert_eq!(found.first_deadline_at, Some(began.plus(POLL).minus(Duration::from_secs(400))));

    let policy = LeasePolicy { lease: Duration::from_secs(60), retry: RETRY };
    assert_eq!(world.store.claim_jobs(9, "vanished", policy).unwrap().len(), 1);
    world.clock.advance(LONG);
    assert_eq!(world.store.claim_jobs(9, "next", policy).unwrap().len(), 1);
    assert_eq!(world.store.sli_snapshot().unwrap().lease_expiries, 1);
}

#[test]
fn a_webhook_whose_job_is_lost_has_an_age() {
    let mut world = World::new();
    let came = svc::runtime::clock::Clock::now(world.clock.as_ref());
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.tamper("DELETE FROM control_plane_jobs");
    world.clock.advance(POLL);
    assert_eq!(world.store.sli_snapshot().unwrap().oldest_unprocessed_at, Some(came));
    step(&world, &mut worker(&world));
    assert_eq!(status(&world, Signal::OldestInbox).value, Some(POLL.as_secs()));
}

#[test]
fn a_webhook_that_is_done_or_given_up_has_no_age() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    world.settle();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    assert_eq!(world.dead_letters(1).len(), 1);
    assert_eq!(world.store.sli_snapshot().unwrap().oldest_unprocessed_at, None);
}

#[test]
fn each_evaluation_is_a_line_at_the_default_level() {
    let world = World::new();
    let mut worker = worker(&world);
    let lines = lines_of(|| {
        for _ in 0..3 {
            step(&world, &mut worker);
        }
    });
    let is_evaluation = |line: &&Line| line.event() == "worker.control_plane_slo_evaluation";
    let levels: Vec<Level> = lines.iter().filter(is_evaluation).map(|line| line.level).collect();
    assert_eq!(levels, [Level::Info; 3]);
}

#[test]
fn rejected_webhooks_fire_once_and_recover_once() {
    let world = World::new();
    let mut worker = worker(&world);
    step(&world, &mut worker);
    reject(&world, 19);
    step(&world, &mut worker);
    assert_eq!(status(&world, Signal::WebhookRejections).state, SignalState::Inactive);
    reject(&world, 1);
    step(&world, &mut worker);
    let fired = status(&world, Signal::WebhookRejections);
    assert_eq!((fired.state, fired.value), (SignalState::Firing, Some(20)));
    let mut changes = 0;
    for _ in 0..60 {
        let before = status(&world, Signal::WebhookRejections).state;
        step(&world, &mut worker);
        changes += u32::from(status(&world, Signal::WebhookRejections).state != before);
    }
    let over = status(&world, Signal::WebhookRejections);
    assert_eq!((over.state, over.value, changes), (SignalState::Inactive, Some(0), 1));
}

#[test]
fn failures_at_the_forge_are_counted_by_their_outcome() {
    let world = World::new();
    let mut worker = worker(&world);
    step(&world, &mut worker);
    for outcome in LookupOutcome::ALL {
        for _ in 0..10 {
            world.app.metrics.lookups.count((ReconcileKind::WorkflowAttempt, *outcome));
        }
    }
    step(&world, &mut worker);
    assert_eq!(status(&world, Signal::LookupFailures).value, Some(10));
    assert_eq!(slo(&world)["health"], "degraded");
}

#[test]
fn a_failed_evaluation_disturbs_neither_readiness_nor_what_gates_remember() {
    let world = World::new();
    let mut worker = worker(&world);
    overdue(&world, Duration::from_secs(400));
    step(&world, &mut worker);
    step(&world, &mut worker);
    let before = slo(&world);
    let file = open_raw(&world.database());
    file.execute_batch("ALTER TABLE reconciliation_items RENAME TO hidden").unwrap();
    step(&world, &mut worker);
    assert_eq!(slo(&world), before);
    assert_eq!(
        world.app.metrics.slo_evaluations.sum(|labels| labels == [("outcome", "failed")]),
        1
    );
    assert!(world.app.readiness().is_ready());
    file.execute_batch("ALTER TABLE hidden RENAME TO reconciliation_items").unwrap();
    assert_eq!(status(&world, Signal::ReconciliationOverdue).state, SignalState::Pending);
    step(&world, &mut worker);
    assert_eq!(status(&world, Signal::ReconciliationOverdue).state, SignalState::Firing);
    assert!(world.app.readiness().is_ready(), "a critical signal says nothing about readiness");
}

#[test]
fn a_wall_clock_that_steps_back_fires_nothing_and_hides_an_age() {
    let mut world = World::new();
    let mut worker = worker(&world);
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    step(&world, &mut worker);
    assert_eq!(status(&world, Signal::OldestInbox).value, Some(0));
    world.clock.step_back(LONG);
    step(&world, &mut worker);
    assert!(world.app.slo.get().unwrap().firing().next().is_none());
    assert_eq!(status(&world, Signal::OldestInbox).value, Some(0), "the last that was known");
}

#[test]
fn operators_see_the_policy_before_and_after_the_first_evaluation() {
    let world = World::new();
    let unknown = slo(&world);
    assert_eq!(unknown["policyVersion"], "forge-cloud-ga-v1");
    assert_eq!((&unknown["health"], &unknown["evaluatedAt"]), (&"unknown".into(), &Value::Null));
    step(&world, &mut worker(&world));
    let known = slo(&world);
    assert_eq!((&known["health"], known["evaluatedAt"].is_string()), (&"healthy".into(), true));
    let names: Vec<&str> =
        known["signals"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    let policy: Vec<&str> = POLICY.iter().map(|rule| rule.signal.as_str()).collect();
    assert_eq!(names, policy);
    let gates: Vec<_> = known["signals"].as_array().unwrap().iter().map(|s| &s["gate"]).collect();
    for gate in [
        serde_json::json!({"kind": "duration", "seconds": 60}),
        serde_json::json!({"kind": "consecutive_snapshots", "snapshots": 3}),
    ] {
        assert!(gates.contains(&&gate), "{gate}: {gates:?}");
    }
    assert_eq!(world.operate(Method::GET, &format!("{PATH}?limit=1"), &[]).status, 400);
}

#[test]
fn the_signals_are_for_operators_only() {
    let world = World::new();
    let host = ("host", "localhost");
    let ask = |surface, headers: &[(&str, &str)]| {
        world.send(surface, Method::GET, PATH, headers, Vec::new()).status
    };
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(ask(Surface::Control, &[host]), 401);
    assert_eq!(ask(Surface::Public, &[host, ("authorization", &bearer)]), 404);
    assert_eq!(ask(Surface::Control, &[host, ("authorization", &bearer)]), 200);
}

#[test]
fn machines_see_every_signal_and_the_example_rules_name_what_there_is() {
    let world = World::new();
    assert!(!world.app.metrics_text().contains("svc_slo_signal"), "nothing is known yet");
    step(&world, &mut worker(&world));
    let text = world.app.metrics_text();
    for rule in &POLICY {
        let (signal, severity) = (rule.signal.as_str(), rule.severity.as_str());
        let active =
            format!("\nsvc_slo_signal_active{{signal=\"{signal}\",severity=\"{severity}\"}} 0\n");
        assert!(text.contains(&active), "{text}");
        assert!(text.contains(&format!("\nsvc_slo_signal_value{{signal=\"{signal}\",")), "{text}");
    }
    let rules = include_str!("../../packaging/prometheus/svc.rules.yml");
    let part = |c: char| c.is_ascii_lowercase() || c == '_';
    let names: Vec<&str> = rules.split(|c| !part(c)).filter(|w| w.starts_with("svc_")).collect();
    assert!(names.len() >= 5);
    for name in names {
        assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
    }
}
