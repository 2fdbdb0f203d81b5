//! The inbox against its jobs.

use std::time::Duration;

use svc::domain::reconcile::{ReconcileKind, ReconcileReason};
use svc::runtime::clock::Clock as _;
use svc::store::Observation;
use svc::workers::driver::Worker as _;

use super::{item, items};
use crate::support::World;
use crate::support::world::{RULES, commit, webhooks};

fn delivered() -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world
}

#[test]
fn what_agrees_is_left_alone() {
    let world = delivered();
    world.reconcile_after(RULES.observation);
    world.settle();
    world.reconcile_after(Duration::ZERO);
    assert_eq!(items(&world), 0);
}

#[test]
fn a_lost_job_is_made_again_once_the_window_is_over() {
    let world = delivered();
    world.tamper("DELETE FROM control_plane_jobs; UPDATE webhook_inbox SET state = 'processing'");
    world.reconcile_after(RULES.observation - Duration::from_secs(1));
    assert_eq!(items(&world), 0);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(item(&world), "completed lifecycle_job_missing");
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "accepted");
    world.settle();
    assert_eq!(world.ask::<String>("SELECT status FROM release_runs"), "running");
    assert_eq!(
        world.ask::<i64>(
            "SELECT count(*) FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
             WHERE j.idempotency_key = i.idempotency_key"
        ),
        1
    );
}

#[test]
fn an_inbox_row_follows_its_job() {
    let world = delivered();
    for state in ["processed", "dead_letter", "processing"] {
        world.tamper(&format!("UPDATE webhook_inbox SET state = '{state}'"));
        world.reconcile_after(Duration::ZERO);
        assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "accepted");
    }
    world.settle();
    world.tamper("UPDATE webhook_inbox SET state = 'accepted', normalized_actions = '[]'");
    world.reconcile_after(Duration::ZERO);
    assert_eq!(world.ask::<String>("SELECT state FROM webhook_inbox"), "processed");
    assert_eq!(
        world.ask::<Option<String>>("SELECT normalized_actions FROM webhook_inbox"),
        None,
        "what is done is forgotten"
    );
    assert_eq!(items(&world), 4);
    assert_eq!(world.forge.lookups(), 0, "the forge is not asked");
}

#[test]
fn terminal_rows_without_a_job_stay_as_they_are() {
    for state in ["processed", "dead_letter", "ignored"] {
        let world = delivered();
        world.tamper(&format!(
            "DELETE FROM control_plane_jobs; UPDATE webhook_inbox SET state = '{state}'"
        ));
        world.reconcile_after(RULES.observation);
        assert_eq!(items(&world), 0, "{state}");
    }
}

#[test]
fn a_repair_that_was_made_elsewhere_is_nothing_to_do() {
    let world = delivered();
    world.tamper("DELETE FROM control_plane_jobs");
    world.clock.advance(RULES.observation);
    world.detect().step();
    let lease = Duration::from_secs(60);
    let polled =
        world.store.claim_reconcile(ReconcileKind::WebhookInbox, "it", lease, Vec::new()).unwrap();
    let claim = polled.claim.unwrap();
    assert_eq!(claim.item.reason, ReconcileReason::LifecycleJobMissing);
    world.tamper(
        "INSERT INTO control_plane_jobs (job_id, idempotency_key, inbox_id, installation_id, status, \
            available_at, created_at, updated_at) \
         SELECT '0199f3a0-0000-7000-8000-00000000000a', idempotency_key, inbox_id, installation_id, \
            'available', 0, 0, 0 FROM webhook_inbox",
    );
    world.store.apply_observation(&claim, Observation::Inbox, RULES).unwrap();
    assert_eq!(item(&world), "completed already_repaired");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM control_plane_jobs"), 1);
}

#[test]
fn a_long_inbox_is_read_a_stretch_at_a_time() {
    let world = delivered();
    world.tamper(
        "INSERT INTO webhook_inbox (inbox_id, idempotency_key, event, body_sha256, state, received_at, \
            updated_at) \
         WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) \
         SELECT i, i, 'ping', x'00', 'ignored', 0, 0 FROM n; \
         INSERT INTO webhook_inbox (inbox_id, idempotency_key, event, installation_id, body_sha256, \
            state, received_at, updated_at) \
         VALUES (40000, 'last', 'push', 1, x'00', 'accepted', 0, 0)",
    );
    let mut detect = world.detect();
    detect.step();
    assert_eq!(items(&world), 0);
    detect.step();
    assert_eq!(items(&world), 1, "the last row");
    assert_eq!(detect.inbox_after, None, "and from the beginning again");
}

#[test]
fn an_inbox_full_of_drift_is_opened_a_bounded_number_at_a_time_and_what_is_open_is_not_hurried() {
    let mut world = World::new();
    for number in 0..600 {
        world.deliver(&webhooks(1).push_tag(&format!("v{number}"), &commit(1)));
    }
    world.tamper("UPDATE webhook_inbox SET state = 'processing'");
    let mut after = None;
    let mut detect = || {
        let now = world.clock.now();
        let found =
            world.store.detect(ReconcileKind::WebhookInbox, RULES, now, &mut after).unwrap();
        (found.items.len(), found.more)
    };
    assert_eq!(detect(), (500, true));
    assert_eq!(detect(), (100, false));
    assert_eq!(detect(), (0, false), "from the beginning, and none of it is new");
    assert_eq!(items(&world), 600);
}
