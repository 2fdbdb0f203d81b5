//! One tenant never delays another: an installation whose every call fails, with a thousand items, beside a
//! healthy one. The real workers run on threads of their own, as many as the daemon has, in virtual
//! time: one thread runs at once, and time passes only while all of them wait, so that a call of 14 s
//! takes none here and a run is always the same.
//!
//! `cargo test --test it fairness -- --nocapture` prints how long either installation waited.

mod forge;
mod limits;
mod turns;
mod virtual_time;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc::domain::pace::Pace;
use svc::metrics::Metrics;
use svc::runtime::clock::Clock as _;
use svc::runtime::notify::Notify;
use svc::store::Store;
use svc::workers::driver::{Next, Worker};
use svc::workers::jobs::{Jobs, Unreturned};
use svc::workers::outbox::Outbox;
use svc::workers::reconcile::{Detect, Reconcile};
use svc::workers::shares::Shares;

use self::forge::{Failure, Forge, WAYS};
use self::virtual_time::VirtualTime;
use crate::simulation::world::memory;
use crate::support::ManualClock;
use crate::support::World;
use crate::support::world::{
    RETRY, RULES, commit, installation, open_raw, open_store, plan, webhooks,
};

/// Its every call fails.
const SICK: i64 = 1;
/// Nothing of it fails.
const HEALTHY: i64 = 2;
/// What the sick one has to be looked at, and to be sent.
const ITEMS: u32 = 500;
/// Releases of the healthy one, and attempts of it that are stuck.
const RELEASES: u32 = 12;
/// From one release of the healthy one to the next.
const EVERY: Duration = Duration::from_secs(20);
/// How long a run lasts.
const LASTS: Duration = Duration::from_secs(600);

/// The daemon's own numbers.
const SENDERS: u64 = 4;
const RECONCILERS: u64 = 2;

#[test]
fn a_healthy_installation_does_not_wait_for_a_sick_one() {
    let folder = tempfile::tempdir_in(memory()).unwrap();
    let alone = folder.path().join("alone.db");
    prepare(&alone, 0);
    let beside = folder.path().join("beside.db");
    prepare(&beside, ITEMS);
    let quiet = run(&alone, None);
    say(&format!("{:<28} {:>26}   {:>26}", "longest waits, in seconds:", "healthy", "sick"));
    say(&format!("{:<28} {}", "alone", quiet.healthy));
    for way in WAYS {
        let copy = folder.path().join("way.db");
        std::fs::copy(&beside, &copy).unwrap();
        let waits = run(&copy, Some(*way));
        say(&format!("{:<28} {}   {}", way.name(), waits.healthy, waits.sick));
        waits.healthy.assert_close_to(&quiet.healthy, way.call(), way.name());
    }
}

/// Makes a file in which either installation has attempts that run and do not end, and the sick one as
/// many deliveries that start a release.
fn prepare(path: &Path, items: u32) {
    let mut world = World::new();
    for (tenant, count) in [(SICK, items), (HEALTHY, RELEASES)] {
        for number in 0..count {
            world.deliver(&webhooks(tenant).push_tag(&format!("v{number}"), &commit(number)));
        }
    }
    world.settle_all();
    for number in items..2 * items {
        world.deliver(&webhooks(SICK).push_tag(&format!("v{number}"), &commit(number)));
    }
    assert!(world.store.close(Duration::from_secs(60)));
    std::fs::copy(world.database(), path).unwrap();
}

/// How long an installation waited at most: from its delivery to its dispatch, from the detection of a
/// stuck attempt to the end of its release, and from the detection of drift to its repair.
struct Waits {
    dispatch: Option<f64>,
    end: Option<f64>,
    drift: Option<f64>,
}

struct Both {
    healthy: Waits,
    sick: Waits,
}

impl std::fmt::Display for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |wait: Option<f64>| wait.map_or("never".to_owned(), |wait| format!("{wait:.1}"));
        write!(f, "{:>8} {:>8} {:>8}", text(self.dispatch), text(self.end), text(self.drift))
    }
}

impl Waits {
    /// At most twice as long, and one call.
    fn assert_close_to(&self, alone: &Self, call: Duration, way: &str) {
        for (what, wait, alone) in [
            ("dispatch", self.dispatch, alone.dispatch),
            ("end", self.end, alone.end),
            ("drift", self.drift, alone.drift),
        ] {
            let wait = wait.unwrap_or(f64::INFINITY);
            let most = alone.unwrap() * 2.0 + call.as_secs_f64();
            assert!(wait <= most, "{way}: {what} took {wait:.1} s, at most {most:.1} s is fair");
        }
    }
}

fn run(path: &Path, failure: Option<Failure>) -> Both {
    let clock = Arc::new(ManualClock::new());
    // Past everything that happened while the file was prepared.
    clock.advance(Duration::from_secs(86_400));
    let began = clock.now();
    let store = open_store(path, &clock, 7);
    let time = VirtualTime::new(Arc::clone(&clock));
    let forge =
        Arc::new(Forge::new(Arc::clone(&time), Arc::clone(&clock), installation(SICK), failure));
    for (name, worker, poll) in workers(&store, &clock, &forge) {
        time.spawn(name, worker, poll, LASTS);
    }
    outside(&time, &store, path);
    time.run();
    assert!(store.close(Duration::from_secs(60)));
    let waits = |tenant| Waits {
        dispatch: longest(
            path,
            "SELECT max(o.finished_at - j.created_at) / 1e6, count(*) FROM outbox o \
             JOIN release_runs r USING (release_run_id) \
             JOIN webhook_inbox i ON i.installation_id = r.forge_installation_id \
             JOIN control_plane_jobs j ON j.inbox_id = i.inbox_id \
             WHERE o.kind = 'workflow_dispatch' AND o.status = 'completed' AND r.created_at > :began \
                AND j.finished_at = r.created_at AND o.installation_id = :tenant",
            tenant,
            began,
        ),
        end: longest(
            path,
            "SELECT max(r.finished_at - i.created_at) / 1e6, count(*) FROM reconciliation_items i \
             JOIN release_runs r ON r.current_attempt_id = i.subject_id \
             WHERE i.reason = 'running_stale' AND r.finished_at > :began \
                AND i.installation_id = :tenant",
            tenant,
            began,
        ),
        drift: longest(
            path,
            "SELECT max(finished_at - created_at) / 1e6, count(*) FROM reconciliation_items \
             WHERE kind = 'webhook_inbox' AND finished_at > :began AND installation_id = :tenant",
            tenant,
            began,
        ),
    };
    Both { healthy: waits(HEALTHY), sick: waits(SICK) }
}

/// The workers of a daemon, with how long each waits for news.
fn workers(
    store: &Store,
    clock: &Arc<ManualClock>,
    forge: &Arc<Forge>,
) -> Vec<(String, Box<dyn Worker>, Duration)> {
    let metrics = Arc::new(Metrics::default());
    let pace = Pace::per_minute(60);
    let (sending, looking) = (Shares::of_pool(SENDERS), Shares::of_pool(RECONCILERS));
    let jobs = Jobs {
        store: store.clone(),
        owner: "jobs".to_owned(),
        retry: RETRY,
        plan: plan(),
        outbox: Notify::new(),
        metrics: Arc::clone(&metrics),
        unreturned: Unreturned::default(),
    };
    let detect = Detect {
        store: store.clone(),
        clock: Arc::<ManualClock>::clone(clock),
        rules: RULES,
        reconcile: Notify::new(),
        inbox_after: None,
    };
    let mut workers: Vec<(String, Box<dyn Worker>, Duration)> = vec![
        ("jobs".to_owned(), Box::new(jobs), Duration::from_secs(1)),
        ("detect".to_owned(), Box::new(detect), Duration::from_secs(30)),
    ];
    for number in 0..SENDERS {
        let outbox = Outbox {
            store: store.clone(),
            forge: Arc::<Forge>::clone(forge),
            owner: "senders".to_owned(),
            retry: RETRY,
            pace,
            shares: sending.clone(),
            notify: Notify::new(),
            metrics: Arc::clone(&metrics),
        };
        workers.push((format!("outbox-{number}"), Box::new(outbox), Duration::from_secs(1)));
    }
    let at_the_forge = (0..RECONCILERS).map(|_| Reconcile::AT_THE_FORGE);
    for (number, kinds) in at_the_forge.chain([Reconcile::IN_THE_STORE]).enumerate() {
        let reconcile = Reconcile {
            kinds,
            store: store.clone(),
            forge: Arc::<Forge>::clone(forge),
            owner: "reconcilers".to_owned(),
            rules: RULES,
            pace,
            shares: looking.clone(),
            notify: Notify::new(),
            outbox: Notify::new(),
            jobs: Notify::new(),
            metrics: Arc::clone(&metrics),
        };
        workers.push((format!("reconcile-{number}"), Box::new(reconcile), Duration::from_secs(5)));
    }
    workers
}

/// What happens outside: the healthy one pushes tags, and an inbox row of it drifts now and then.
fn outside(time: &Arc<VirtualTime>, store: &Store, path: &Path) {
    let (store, path) = (store.clone(), path.to_owned());
    // Beyond the deliveries the file was prepared with.
    let mut number = 900_000;
    let step = move || {
        number += 1;
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        let tag = format!("v{number}");
        store.record_delivery(limits::push(&id, HEALTHY, &tag, number)).unwrap();
        // A job that is done is authoritative: its inbox row follows it again.
        open_raw(&path)
            .execute(
                "UPDATE webhook_inbox SET state = 'processing' WHERE inbox_id = (SELECT max(inbox_id) \
                 FROM control_plane_jobs WHERE status = 'completed' AND installation_id = ?1)",
                [HEALTHY],
            )
            .unwrap();
        Next::Wait
    };
    time.spawn("outside".to_owned(), Box::new(Stepping(step)), EVERY, EVERY * RELEASES);
}

/// A worker made of a step.
struct Stepping<F>(F);

impl<F: FnMut() -> Next + Send> Worker for Stepping<F> {
    fn name(&self) -> &'static str {
        "outside"
    }

    fn step(&mut self) -> Next {
        (self.0)()
    }
}

/// The longest of some waits, in seconds; nothing when there was none.
fn longest(
    path: &Path,
    sql: &str,
    tenant: i64,
    began: svc::domain::time::Timestamp,
) -> Option<f64> {
    let params = rusqlite::named_params! { ":tenant": tenant, ":began": began.micros() };
    open_raw(path).query_row(sql, params, |row| row.get(0)).unwrap()
}

#[expect(clippy::print_stderr, reason = "a table for who runs it")]
fn say(text: &str) {
    eprintln!("{text}");
}
