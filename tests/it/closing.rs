//! A dead letter that an operator closes: nothing is sent, nothing behind it goes on, and its release ends all the same.

use std::time::Duration;

use http::Method;
use svc::domain::outbox::{CheckRunStatus, EffectKind};
use svc::domain::reconcile::ReconcileKind;
use svc::domain::release::Conclusion;
use svc::http::message::Surface;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::sweep::Sweep;

use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::world::{ACTOR, RETRY, RULES, TOKEN, commit, json, outcome, webhooks};

const DAY: Duration = Duration::from_secs(86_400);
const MESSAGES: &str = "SELECT group_concat(kind || ' ' || status || iif(payload = '', ' cleared', ''), ', ') \
    FROM (SELECT * FROM outbox ORDER BY id)";
const RELEASE: &str = "SELECT status || ' ' || coalesce(failure_reason, '-') FROM release_runs";

/// A release of which this effect goes wrong.
fn release_with(kind: EffectKind, plan: Plan) -> World {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.forge.plan(kind, plan);
    world.settle();
    world
}

/// Closes the one dead letter there is, and returns it.
fn close_only(world: &World) -> (String, String) {
    let (kind, id) = world.only_dead_letter(1);
    let (status, outcome, _) = world.close(1, (&kind, &id), "close", "the repository was deleted");
    assert_eq!((status, outcome.as_str()), (200, "closed"));
    (kind, id)
}

fn asked(world: &World) -> Vec<usize> {
    EffectKind::ALL.iter().map(|kind| world.forge.asked(*kind)).collect()
}

#[test]
fn nothing_is_sent_and_nothing_behind_it_goes_on_and_the_release_ends_at_its_deadline() {
    let world = release_with(EffectKind::CheckRunCreate, Plan::Refused);
    let (kind, id) = close_only(&world);
    assert!(world.dead_letters(1).is_empty());
    let sent = asked(&world);
    let held = "check_run_create dead_letter cleared, workflow_dispatch held";
    assert_eq!(world.ask::<String>(MESSAGES), held);
    world.reconcile_after(RULES.deadline - Duration::from_secs(1));
    assert_eq!(world.ask::<String>(RELEASE), "queued -", "not before the deadline");
    assert_eq!(world.ask::<String>(MESSAGES), held);
    world.reconcile_after(Duration::from_secs(1));
    assert_eq!(world.ask::<String>(RELEASE), "failed dead_letter_closed");
    world.settle();
    let ended = "check_run_create dead_letter cleared, workflow_dispatch superseded cleared";
    assert_eq!(world.ask::<String>(MESSAGES), ended);
    assert_eq!(asked(&world), sent);
    let answer = world.replay(1, (&kind, &id), "later");
    assert_eq!((answer.0, answer.1.as_str()), (409, "not_replayable"));
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM reconciliation_items"), 0);
}

#[test]
fn who_closed_it_and_why_is_audited_once_and_the_same_request_gets_the_same_answer() {
    let world = release_with(EffectKind::WorkflowDispatch, Plan::Refused);
    let (kind, id) = world.only_dead_letter(1);
    let reason = "größe 大: \"not needed\" any more";
    let (status, outcome, event) = world.close(1, (&kind, &id), "k", reason);
    assert_eq!((status, outcome.as_str()), (200, "closed"));
    let same = (200, "already_applied".to_owned(), event.clone());
    assert_eq!(world.close(1, (&kind, &id), "k", reason), same);
    for (key, reason, expected) in [
        ("k", "another reason", (422, "operation_conflict".to_owned(), None)),
        ("other", reason, (409, "not_open".to_owned(), None)),
    ] {
        assert_eq!(world.close(1, (&kind, &id), key, reason), expected);
    }
    assert_eq!(world.replay(1, (&kind, &id), "k").0, 422);
    assert_eq!(world.close(2, (&kind, &id), "foreign", reason).0, 404);
    let target = "/api/v1/operator/installations/1/audit-events";
    let events = json(&world.operate(Method::GET, target, &[]))["items"].clone();
    assert_eq!(events.as_array().unwrap().len(), 1);
    for (member, expected) in [
        ("auditEventId", event.as_deref().unwrap()),
        ("event", "control_plane.dead_letter_closed"),
        ("actor", ACTOR),
        ("operationId", "k"),
        ("itemType", "outbox"),
        ("itemId", &id),
        ("reason", reason),
    ] {
        assert_eq!(events[0][member], expected, "{member}");
    }
    let world = world.restart();
    assert_eq!(world.close(1, (&kind, &id), "k", reason), same);
}

/// The run may exist: the check run says so, and its result still counts.
#[test]
fn a_closed_dispatch_that_may_have_started_a_run_is_looked_for_no_more_and_the_end_says_so() {
    let world = release_with(EffectKind::WorkflowDispatch, Plan::LostBefore);
    world.reconcile_after(RULES.observation);
    close_only(&world);
    let looks = world.forge.lookups();
    let world = world.restart();
    world.reconcile_after(RULES.next_check);
    assert_eq!(world.ask::<String>(RELEASE), "dispatching -");
    world.reconcile_after(RULES.deadline);
    assert_eq!(world.ask::<String>(RELEASE), "failed forge_dispatch_unconfirmed");
    world.settle();
    let shown = world.forge.shows(world.forge.last_check_run());
    let Some(CheckRunStatus::Completed { conclusion, unconfirmed, .. }) = shown else {
        panic!("the check run is shown as {shown:?}")
    };
    assert_eq!((conclusion, unconfirmed), (Conclusion::Failure, true));
    assert_eq!(world.forge.lookups(), looks);
    let items = "SELECT group_concat(status || ' ' || outcome_code) FROM reconciliation_items";
    assert_eq!(world.ask::<String>(items), "completed already_repaired");
}

#[test]
fn the_check_of_a_closed_dispatch_can_be_run_again_before_the_deadline() {
    let mut world = release_with(EffectKind::WorkflowDispatch, Plan::Refused);
    close_only(&world);
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    assert_eq!(world.ask::<String>(RELEASE), "running -");
    world.detect().step();
    world.clock.advance(RULES.deadline);
    let ended = world.store.end_closed(RULES).unwrap();
    assert!(ended.is_empty(), "{ended:?}");
    assert_eq!(world.ask::<String>(RELEASE), "running -");
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM outbox WHERE closed_at IS NOT NULL"), 0);
}

#[test]
fn what_was_closed_by_a_clock_that_was_ahead_has_its_time_from_now_on() {
    let world = release_with(EffectKind::WorkflowDispatch, Plan::Refused);
    close_only(&world);
    world.tamper("UPDATE outbox SET closed_at = closed_at + 1000000 WHERE closed_at IS NOT NULL");
    assert_eq!(world.store.end_closed(RULES).unwrap(), []);
    let last = Duration::from_millis(1);
    world.clock.advance(RULES.deadline - last);
    assert_eq!(world.store.end_closed(RULES).unwrap(), []);
    world.clock.advance(last);
    assert_eq!(world.store.end_closed(RULES).unwrap().len(), 1);
}

#[test]
fn a_look_that_was_under_way_when_it_was_closed_lets_nothing_go() {
    let world = release_with(EffectKind::CheckRunCreate, Plan::LostAfter);
    // Each holder that looked for it since has vanished.
    world.tamper(&format!(
        "UPDATE outbox SET attempt_count = {}, status = 'leased', claim_id = zeroblob(16), \
            lease_expires_at = 0 WHERE kind = 'check_run_create'",
        RETRY.attempts_max
    ));
    world.settle();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let lease = Duration::from_secs(60);
    let kind = ReconcileKind::WorkflowAttempt;
    let claim = world.store.claim_reconcile(kind, "it", lease, Vec::new()).unwrap().claim.unwrap();
    close_only(&world);
    let found = svc::domain::reconcile::uncertain::Observation::CheckRun(7.try_into().unwrap());
    let seen = svc::store::Observation::Uncertain(found);
    world.store.apply_observation(&claim, seen, RULES).unwrap();
    let held = "check_run_create dead_letter cleared, workflow_dispatch held";
    assert_eq!(world.ask::<String>(MESSAGES), held);
}

#[test]
fn a_closed_job_is_cleared_and_its_inbox_row_stays_as_its_job_says() {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    let (kind, id) = close_only(&world);
    let states = "SELECT j.status || ' ' || i.state || ' ' || coalesce(i.normalized_actions, '-') \
        FROM control_plane_jobs j JOIN webhook_inbox i USING (inbox_id) \
        WHERE j.status <> 'completed'";
    assert_eq!(world.ask::<String>(states), "dead_letter dead_letter -");
    world.deliver(&webhooks(1).installation("unsuspend"));
    world.settle();
    world.reconcile_after(RULES.deadline);
    assert_eq!(world.ask::<String>(states), "dead_letter dead_letter -");
    assert_eq!(world.replay(1, (&kind, &id), "later").0, 409);
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM release_runs"), 0);
}

#[test]
fn what_was_closed_is_deleted_like_what_was_replayed() {
    let world = release_with(EffectKind::CheckRunCreate, Plan::Refused);
    close_only(&world);
    let sweep = |world: &World| {
        let mut sweeper = Sweep {
            store: world.store.clone(),
            retention: 30 * DAY,
            release_retention: 60 * DAY,
            releases_swept: None,
            delay_max: RETRY.delay_max,
            metrics: std::sync::Arc::clone(&world.app.metrics),
        };
        while sweeper.step() == Next::Rest {}
        let count = |table: &str| world.ask::<i64>(&format!("SELECT count(*) FROM {table}"));
        (count("outbox"), count("release_runs"), count("dead_letters"), count("audit_events"))
    };
    // Nothing reconciled for a month: the release has not ended, and its effect is still needed for that.
    world.clock.advance(31 * DAY);
    assert_eq!(sweep(&world), (2, 1, 1, 1));
    world.reconcile_after(Duration::ZERO);
    assert_eq!(world.ask::<String>(RELEASE), "failed dead_letter_closed");
    world.clock.advance(31 * DAY);
    assert_eq!(sweep(&world), (0, 1, 1, 1));
    world.clock.advance(31 * DAY);
    assert_eq!(sweep(&world), (0, 0, 1, 1));
}

#[test]
fn a_closed_update_of_a_check_run_ends_no_release() {
    let world = release_with(EffectKind::CheckRunUpdate, Plan::Refused);
    close_only(&world);
    world.clock.advance(RULES.deadline * 2);
    assert_eq!(world.store.end_closed(RULES).unwrap(), []);
    let attempt = results::current(&world);
    assert_eq!(attempt.send(&world, &results::body("accepted"), "t1").0, 200);
    world.settle();
    assert_eq!(world.ask::<String>(RELEASE), "succeeded -");
    let shown = world.forge.shows(world.forge.last_check_run());
    assert!(matches!(shown, Some(CheckRunStatus::Completed { .. })), "{shown:?}");
}

#[test]
fn a_close_without_a_key_or_a_readable_reason_changes_nothing() {
    let world = release_with(EffectKind::CheckRunCreate, Plan::Refused);
    let (kind, id) = world.only_dead_letter(1);
    let target = format!("/api/v1/operator/installations/1/dead-letters/{kind}/{id}/close");
    let bearer = format!("Bearer {TOKEN}");
    let send = |headers: &[(&str, &str)], body: &str| {
        let base = [("host", "localhost"), ("authorization", bearer.as_str())];
        let headers = [&base, headers].concat();
        let body = body.as_bytes().to_vec();
        outcome(&world.send(Surface::Control, Method::POST, &target, &headers, body))
    };
    let json_type = ("content-type", "application/json");
    let good = r#"{"reason":"x"}"#;
    assert_eq!(send(&[json_type], good).0, 400, "no key");
    assert_eq!(send(&[json_type, ("idempotency-key", "a b")], good).0, 400);
    assert_eq!(send(&[("idempotency-key", "k")], good).0, 415);
    let long = format!(r#"{{"reason":"{}"}}"#, "ä".repeat(201));
    for body in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"reason":""}"#,
        r#"{"reason":" "}"#,
        r#"{"reason":7}"#,
        r#"{"reason":"a\nb"}"#,
        r#"{"reason":"\u202eb"}"#,
        r#"{"reason":"x","actor":"y"}"#,
        r#"{"reason":"x","reason":"y"}"#,
        &long,
    ] {
        let (status, word) = send(&[json_type, ("idempotency-key", "k")], body);
        assert_eq!((status, word.as_str()), (400, "invalid_request"), "{body}");
    }
    assert_eq!(world.ask::<i64>("SELECT count(*) FROM audit_events"), 0);
    assert_eq!(world.dead_letters(1).len(), 1);
    let longest = format!(r#"{{"reason":"{}"}}"#, "大".repeat(200));
    assert_eq!(send(&[json_type, ("idempotency-key", "k")], &longest).0, 200);
}

#[test]
fn a_reconciliation_that_was_given_up_is_closed_under_the_rules_of_replay_and_its_deadline_holds() {
    let mut world = World::new();
    world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
    world.settle();
    world.clock.advance(RULES.observation);
    world.detect().step();
    let id: String = world.ask("SELECT reconciliation_id FROM reconciliation_items");
    let reason = "the release was repeated";
    let word = |(status, outcome, _): (u16, String, Option<String>)| (status, outcome);
    let close =
        |world: &World, key: &str, reason: &str| world.close_reconciliation(1, &id, key, reason);
    assert_eq!(word(close(&world, "early", reason)), (409, "not_open".to_owned()));
    world.tamper(
        "UPDATE reconciliation_items SET status = 'dead_letter', outcome_code = 'crash_loop', \
            finished_at = created_at",
    );
    let closed = close(&world, "k", reason);
    assert_eq!((closed.0, closed.1.as_str()), (200, "closed"));
    let same = (200, "already_applied".to_owned(), closed.2.clone());
    assert_eq!(close(&world, "k", reason), same);
    assert_eq!(word(close(&world, "k", "other")), (422, "operation_conflict".to_owned()));
    assert_eq!(word(close(&world, "k2", reason)), (409, "not_open".to_owned()));
    assert_eq!(world.close_reconciliation(2, &id, "k3", reason).0, 404);
    assert_eq!(world.close(1, ("job", &id), "k", reason).0, 422, "the key is one for all");
    // The beginning of its id still means it, so that a command that has only that can be repeated.
    let prefix = id.get(..8).unwrap();
    let target =
        format!("/api/v1/operator/installations/1/ids?type=reconciliation_item&prefix={prefix}");
    assert_eq!(json(&world.operate(Method::GET, &target, &[]))["ids"][0], id.as_str());
    let world = world.restart();
    assert_eq!(close(&world, "k", reason), same);
    let audited =
        "SELECT event || ' ' || item_type || ' ' || actor || ' ' || reason FROM audit_events";
    let expected =
        format!("control_plane.reconciliation_closed reconciliation_item {ACTOR} {reason}");
    assert_eq!(world.ask::<String>(audited), expected);
    world.reconcile_after(RULES.deadline);
    assert_eq!(world.ask::<String>(RELEASE), "failed forge_workflow_lookup_failed");
}
