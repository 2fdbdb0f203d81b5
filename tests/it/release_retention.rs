//! What becomes of release runs that finished long ago: they go with all that belongs to them, what something needs stays,
//! and nothing is left that refers to what has gone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use proptest::prelude::*;
use svc::domain::outbox::EffectKind;
use svc::runtime::clock::Clock as _;
use svc::simulator::Webhook;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::sweep::Sweep;

use crate::results;
use crate::support::World;
use crate::support::forge::Plan;
use crate::support::reconciliation::{self, Item};
use crate::support::world::{RETRY, RULES, commit, json, open_raw, outcome, webhooks};

const DAY: Duration = Duration::from_secs(86_400);
const RETENTION: Duration = Duration::from_secs(30 * 86_400);
const RELEASE_RETENTION: Duration = Duration::from_secs(400 * 86_400);

fn sweeper(world: &World) -> Sweep {
    Sweep {
        store: world.store.clone(),
        retention: RETENTION,
        release_retention: RELEASE_RETENTION,
        releases_swept: None,
        delay_max: RETRY.delay_max,
        metrics: Arc::clone(&world.app.metrics),
    }
}

fn sweep(world: &World) {
    let mut sweeper = sweeper(world);
    while sweeper.step() == Next::Rest {}
}

fn count(world: &World, table: &str) -> i64 {
    world.ask(&format!("SELECT count(*) FROM {table}"))
}

fn releases(world: &World) -> BTreeSet<String> {
    let database = open_raw(&world.database());
    let mut statement = database.prepare("SELECT release_run_id FROM release_runs").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn operator(world: &World, rest: &str) -> (u16, String, serde_json::Value) {
    let target = format!("/api/v1/operator/installations/1/{rest}");
    let answer = world.operate(Method::GET, &target, &[]);
    let (status, outcome) = outcome(&answer);
    (status, outcome, json(&answer))
}

/// Nothing refers to a release run, or to an attempt, that has gone.
fn assert_whole(world: &World) {
    let database = open_raw(&world.database());
    for (what, sql) in [
        ("reference", "SELECT count(*) FROM pragma_foreign_key_check"),
        (
            "reconciliation item without its subject",
            "SELECT count(*) FROM reconciliation_items i WHERE kind <> 'webhook_inbox' \
                AND NOT EXISTS (SELECT 1 FROM release_runs r WHERE r.release_run_id = i.subject_id) \
                AND NOT EXISTS (SELECT 1 FROM release_run_attempts a WHERE a.attempt_id = i.subject_id)",
        ),
        (
            "release run without its attempt",
            "SELECT count(*) FROM release_runs r WHERE NOT EXISTS \
                (SELECT 1 FROM release_run_attempts a WHERE a.attempt_id = r.current_attempt_id)",
        ),
        (
            "open dead letter without its item",
            "SELECT count(*) FROM dead_letters d WHERE resolution IS NULL \
                AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.outbox_id = d.item_id) \
                AND NOT EXISTS (SELECT 1 FROM control_plane_jobs j WHERE j.job_id = d.item_id)",
        ),
    ] {
        let broken: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(broken, 0, "{what}");
    }
}

/// A release run that has ended by its result and was shown at the forge.
fn finished() -> (World, results::Attempt) {
    let (world, attempt) = results::started();
    let (status, _) = attempt.send(&world, &results::body("accepted"), "t1");
    assert_eq!(status, 200);
    world.settle();
    (world, attempt)
}

#[test]
fn a_release_goes_with_all_that_belongs_to_it_but_its_audit_events() {
    let (mut world, _) = finished();
    let check_run = world.forge.last_check_run().get();
    world.deliver(&webhooks(1).check_run_rerequested(check_run, &commit(1)));
    world.settle();
    let second = results::current(&world);
    assert_eq!(second.send(&world, &results::body("rejected"), "t2").0, 200);
    // The credential of another release proves nothing here: it is refused, which is audited.
    assert_ne!(second.send(&world, &results::body("accepted"), "t3").0, 200);
    world.settle();
    let release = releases(&world).pop_first().unwrap();
    // A failure that was recorded for good is kept as long as its release.
    reconciliation::add(&world, 1, &Item::of_release(&release));
    world.tamper(
        "UPDATE reconciliation_items SET status = 'completed', finished_at = created_at, \
            outcome_code = 'forge_check_run_not_found'",
    );
    let audited = count(&world, "audit_events");
    assert!(audited > 0);
    world.clock.advance(RELEASE_RETENTION - DAY);
    sweep(&world);
    assert_eq!(operator(&world, &format!("releases/{release}")).0, 200, "it is not old yet");
    assert_eq!([count(&world, "outbox"), count(&world, "reconciliation_items")], [0, 1]);
    world.clock.advance(2 * DAY);
    sweep(&world);
    for table in [
        "release_runs",
        "release_run_attempts",
        "release_run_results",
        "result_callbacks",
        "reconciliation_items",
    ] {
        assert_eq!(count(&world, table), 0, "{table}");
    }
    assert_eq!(count(&world, "audit_events"), audited);
    assert_whole(&world);
    let metrics = world.app.metrics_text();
    assert!(metrics.contains("svc_swept_rows_total{kind=\"release\"} 1\n"), "{metrics}");
    // What operators see of it, and the sender of a late result.
    let (status, said, _) = operator(&world, &format!("releases/{release}"));
    assert_eq!((status, said.as_str()), (404, "not_found"));
    let (status, _, page) = operator(&world, "releases");
    assert_eq!((status, page["items"].as_array().map(Vec::len)), (200, Some(0)));
    let (status, said, _) = operator(&world, &format!("releases?before={release}"));
    assert_eq!((status, said.as_str()), (400, "invalid_request"));
    let events = operator(&world, "audit-events").2["items"].as_array().map(Vec::len);
    assert_eq!(events, usize::try_from(audited).ok());
    assert_eq!(second.send(&world, &results::body("rejected"), "t4").0, 401);
}

/// What keeps an old release run, and what ends that.
type Need = (&'static str, fn(&mut World, &str), fn(&mut World));

const NEEDS: [Need; 5] = [
    (
        "a dead letter of an effect",
        |world, _| {
            world.tamper(
                "UPDATE outbox SET status = 'dead_letter', payload = '{}' \
                 WHERE id = (SELECT max(id) FROM outbox)",
            );
        },
        |world| world.tamper("UPDATE outbox SET status = 'superseded'"),
    ),
    (
        "a reconciliation of the release run",
        |world, release| reconciliation::add(world, 1, &Item::of_release(release)),
        |world| world.tamper("DELETE FROM reconciliation_items"),
    ),
    (
        "a reconciliation of its attempt that was given up, until its deadline is applied",
        |world, _| {
            let attempt: String = world.ask("SELECT attempt_id FROM release_run_attempts");
            reconciliation::add(world, 1, &Item::of_attempt("running_stale", &attempt));
            world.tamper(
                "UPDATE reconciliation_items SET status = 'dead_letter', finished_at = created_at",
            );
        },
        |world| world.tamper("UPDATE reconciliation_items SET deadline_applied_at = finished_at"),
    ),
    (
        "a dead job of its repository",
        |world, _| {
            world.deliver(&webhooks(1).installation("suspend"));
            world.settle();
            world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
            world.settle();
            world.only_dead_letter(1);
        },
        |world| {
            world.deliver(&webhooks(1).installation("unsuspend"));
            world.settle();
            let (item_type, id) = world.only_dead_letter(1);
            assert_eq!(world.replay(1, (&item_type, &id), "key").0, 200);
            world.settle();
            assert_eq!(count(world, "release_runs"), 1, "it was released before");
        },
    ),
    ("a webhook of its repository that waits for its job", |_, _| {}, |world| world.settle()),
];

#[test]
fn what_something_needs_stays_until_it_is_done() {
    for (what, need, end) in NEEDS {
        let (mut world, _) = finished();
        let release = releases(&world).pop_first().unwrap();
        need(&mut world, &release);
        world.clock.advance(RELEASE_RETENTION + DAY);
        if what.starts_with("a webhook") {
            world.deliver(&webhooks(1).push_tag("v1", &commit(1)));
        }
        sweep(&world);
        assert_eq!(releases(&world).len(), 1, "{what}");
        assert_whole(&world);
        end(&mut world);
        world.clock.advance(RETENTION + DAY);
        sweep(&world);
        assert_eq!(releases(&world).len(), 0, "{what}");
        assert_whole(&world);
    }
}

#[test]
fn a_release_that_has_not_finished_is_never_old() {
    let (world, _) = results::started();
    world.clock.advance(10 * RELEASE_RETENTION);
    sweep(&world);
    assert_eq!(releases(&world).len(), 1);
}

#[test]
fn a_backlog_of_webhooks_comes_first() {
    let (world, _) = finished();
    world.clock.advance(RELEASE_RETENTION + DAY);
    world.tamper(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 501) \
         INSERT INTO webhook_inbox (idempotency_key, event, body_sha256, state, received_at, updated_at) \
         SELECT 'forge:' || n, 'push', zeroblob(32), 'accepted', 0, 0 FROM n",
    );
    sweep(&world);
    assert_eq!(releases(&world).len(), 1);
    world.tamper("DELETE FROM webhook_inbox WHERE idempotency_key = 'forge:1'");
    sweep(&world);
    assert_eq!(releases(&world).len(), 0);
}

/// Writes finished release runs with an attempt each; the first `needed` have an open reconciliation.
fn many(world: &World, rows: u32, needed: u32) {
    let at = world.clock.now().micros();
    world.tamper(&format!(
        "BEGIN; \
         CREATE TEMP TABLE n AS WITH RECURSIVE n (n) AS \
            (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {rows}) \
            SELECT n, format('0199f3a0-0000-7000-8000-%012d', n) AS release, \
                format('0199f3a0-0000-7000-9000-%012d', n) AS attempt FROM n; \
         INSERT INTO release_runs (release_run_id, forge_installation_id, repository_id, git_ref, \
            head_sha, status, conclusion, current_attempt_id, created_at, updated_at, finished_at) \
         SELECT release, 1, 10, 'refs/tags/v' || n, '{}', 'failed', 'failure', attempt, {at}, {at}, \
            {at} FROM n; \
         INSERT INTO release_run_attempts (attempt_id, release_run_id, attempt_number, nonce, status, \
            created_at, updated_at) SELECT attempt, release, 1, release, 'failed', {at}, {at} FROM n; \
         INSERT INTO reconciliation_items (reconciliation_id, kind, reason, subject_id, \
            installation_id, status, next_check_at, deadline_at, created_at, updated_at) \
         SELECT release, 'release_run', 'reporting_stale', release, 1, 'open', {at}, {at}, {at}, {at} \
            FROM n WHERE n <= {needed}; \
         COMMIT",
        commit(1)
    ));
}

#[test]
fn a_batch_that_is_needed_does_not_keep_those_behind_it_and_costs_one_look_at_a_time() {
    let world = World::new();
    many(&world, 250, 100);
    world.clock.advance(RELEASE_RETENTION + DAY);
    let mut sweeper = sweeper(&world);
    let mut step = || (sweeper.step(), releases(&world).len());
    assert_eq!(step(), (Next::Wait, 250), "the first hundred are needed");
    assert_eq!(step(), (Next::Rest, 150), "it goes on behind them");
    assert_eq!(step(), (Next::Wait, 100), "to the end");
    assert_eq!(step(), (Next::Wait, 100), "and begins anew");
    world.tamper("DELETE FROM reconciliation_items");
    assert_eq!([step().1, step().1], [100, 0], "behind them, then from the beginning");
    assert_whole(&world);
}

#[test]
fn what_the_database_takes_up_is_a_metric() {
    let world = World::new();
    many(&world, 250, 0);
    world.clock.advance(RELEASE_RETENTION + DAY);
    sweep(&world);
    let text = world.app.metrics_text();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {text}")).parse::<i64>().unwrap()
    };
    let pragma = |name: &str| world.ask::<i64>(&format!("PRAGMA {name}"));
    let page = pragma("page_size");
    assert_eq!(value("svc_store_database_bytes"), pragma("page_count") * page);
    assert_eq!(value("svc_store_free_bytes"), pragma("freelist_count") * page);
    assert!(value("svc_store_free_bytes") >= page, "the sweep leaves free pages");
    let log = world.database().with_extension("db-wal").metadata().unwrap().len();
    assert_eq!(value("svc_store_log_bytes"), i64::try_from(log).unwrap());
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Event {
    Push(u32),
    PushThatDies(u32),
    PushWhileSuspended(u32),
    Rerequest,
    Result,
    Reconcile,
    Replay,
    Settle,
    Days(u32),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (1..5_u32).prop_map(Event::Push),
        2 => (1..5_u32).prop_map(Event::PushThatDies),
        1 => (1..5_u32).prop_map(Event::PushWhileSuspended),
        2 => Just(Event::Rerequest),
        2 => Just(Event::Result),
        2 => Just(Event::Reconcile),
        2 => Just(Event::Replay),
        3 => Just(Event::Settle),
        4 => (1..450_u32).prop_map(Event::Days),
    ]
}

fn push(number: u32) -> Webhook {
    webhooks(1).push_tag(&format!("v{number}"), &commit(number))
}

fn happen(world: &mut World, event: Event, key: usize) {
    match event {
        Event::Push(number) => drop(world.deliver(&push(number))),
        Event::PushThatDies(number) => {
            world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
            world.deliver(&push(number));
            world.settle();
        }
        Event::PushWhileSuspended(number) => {
            world.deliver(&webhooks(1).installation("suspend"));
            world.settle();
            world.deliver(&push(number));
            world.settle();
            world.deliver(&webhooks(1).installation("unsuspend"));
        }
        Event::Rerequest if count(world, "release_runs WHERE check_run_id IS NOT NULL") > 0 => {
            let (run, sha): (i64, String) = open_raw(&world.database())
                .query_row(
                    "SELECT check_run_id, head_sha FROM release_runs \
                     WHERE check_run_id IS NOT NULL ORDER BY id LIMIT 1",
                    [],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .unwrap();
            world.deliver(&webhooks(1).check_run_rerequested(run, &sha));
        }
        Event::Result if count(world, "release_runs") > 0 => {
            results::current(world).send(world, &results::body("accepted"), &format!("t{key}"));
        }
        Event::Rerequest | Event::Result => {}
        Event::Reconcile => {
            for _ in 0..3 {
                world.reconcile_after(RULES.deadline);
                world.settle();
            }
        }
        Event::Replay => {
            for letter in world.dead_letters(1) {
                let text = |name: &str| letter[name].as_str().unwrap().to_owned();
                let (item_type, id) = (text("itemType"), text("itemId"));
                world.replay(1, (&item_type, &id), &format!("key-{key}-{id}"));
            }
        }
        Event::Settle => world.settle(),
        Event::Days(days) => world.clock.advance(days * DAY),
    }
}

/// The release runs that must stay, asked in another way than the sweep asks.
fn must_stay(world: &World) -> BTreeSet<String> {
    let oldest = world.clock.now().minus(RELEASE_RETENTION).micros();
    let database = open_raw(&world.database());
    let mut statement = database
        .prepare(
            "SELECT release_run_id FROM release_runs WHERE finished_at IS NULL OR finished_at >= ?1 \
             UNION SELECT o.release_run_id FROM outbox o JOIN dead_letters d ON d.item_id = o.outbox_id \
                WHERE d.resolution IS NULL \
             UNION SELECT release_run_id FROM outbox WHERE status IN ('held', 'available', 'leased') \
             UNION SELECT a.release_run_id FROM release_run_attempts a JOIN reconciliation_items i \
                ON i.subject_id IN (a.attempt_id, a.release_run_id) WHERE i.status IN ('open', 'leased') \
             UNION SELECT r.release_run_id FROM release_runs r JOIN webhook_inbox w USING (repository_id) \
                JOIN control_plane_jobs j USING (inbox_id) WHERE j.status <> 'completed'",
        )
        .unwrap();
    statement.query_map([oldest], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_happens_only_what_nothing_needs_goes(events in prop::collection::vec(event(), 1..24)) {
        let mut world = World::new();
        for (key, event) in events.into_iter().enumerate() {
            happen(&mut world, event, key);
            let (before, needed) = (releases(&world), must_stay(&world));
            let audited = count(&world, "audit_events");
            sweep(&world);
            let after = releases(&world);
            prop_assert!(needed.is_subset(&after), "{event:?}: {:?}", needed.difference(&after));
            prop_assert!(after.is_subset(&before));
            prop_assert_eq!(count(&world, "audit_events"), audited);
            assert_whole(&world);
        }
        // Once nothing is under way, all that is old goes.
        for _ in 0..4 {
            world.settle_for_good();
            world.reconcile_after(RULES.deadline);
        }
        world.clock.advance(RELEASE_RETENTION + RETENTION);
        sweep(&world);
        world.clock.advance(RETENTION);
        sweep(&world);
        prop_assert_eq!(releases(&world), must_stay(&world));
    }
}
