//! Killed at any instant, under load, again and again: what was acknowledged is there and comes to its
//! end, and nothing has happened twice.
//!
//! The default run kills some 150 times; `SVC_KILL_ROUNDS=5000` is a campaign. What was under way at
//! the instants is counted, and nothing may be missing among it.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use svc::runtime::notify::Notify;
use svc::runtime::thread;
use svc::simulator::{Call, Fault};

use super::load::{Load, Numbers, Told, age_leases, check, come_to_rest, plan};
use super::process::Daemon;
use super::site::{Site, svcd};
use super::{database, say, wait_for};
use crate::support::campaign::number_or;

/// Starts under load, over all sites.
const ROUNDS: usize = 120;
/// Sites that are killed at the same time.
const SITES: usize = 3;
/// Rounds at one file, at most: what has to come to rest grows with them.
const ROUNDS_OF_A_SITE: usize = 20;
/// Further sites, at most, until a death has fallen at each point.
const FURTHER_SITES: usize = 40;
const SEED: u64 = 0x5EED_0001;

/// How often something was under way when the process died.
type Points = BTreeMap<&'static str, usize>;

/// What must have been under way at one of the deaths, each.
const UNDER_WAY: [&str; 6] = [
    "a start",
    "the intake of a webhook",
    "a job that was claimed",
    "an effect that was claimed",
    "an effect that may have happened",
    "a replay",
];

#[test]
fn nothing_is_lost_and_nothing_is_doubled() {
    let rounds = number_or("SVC_KILL_ROUNDS", ROUNDS);
    let seed = u64::try_from(number_or("SVC_KILL_SEED", 0)).unwrap();
    let sites = rounds.div_ceil(ROUNDS_OF_A_SITE);
    let next = Arc::new(AtomicUsize::new(0));
    let hands: Vec<_> = (0..SITES)
        .map(|_| {
            let next = Arc::clone(&next);
            let hand = move || {
                let mut points = Points::new();
                loop {
                    let site = next.fetch_add(1, Ordering::Relaxed);
                    if site >= sites {
                        return points;
                    }
                    let rounds = ROUNDS_OF_A_SITE.min(rounds - site * ROUNDS_OF_A_SITE);
                    let seed = SEED + seed + u64::try_from(site).unwrap();
                    add(&mut points, kill_again_and_again(rounds, seed));
                }
            };
            thread::spawn("test-hand", hand).unwrap()
        })
        .collect();
    let mut points = Points::new();
    for hand in hands {
        add(&mut points, hand.join().unwrap());
    }
    // Where a death falls is chance: a rare point may need more rounds, and a busy machine moves them.
    let missing = |points: &Points| UNDER_WAY.into_iter().find(|point| !points.contains_key(point));
    for further in sites..sites + FURTHER_SITES {
        if missing(&points).is_none() {
            break;
        }
        let seed = SEED + seed + u64::try_from(further).unwrap();
        add(&mut points, kill_again_and_again(ROUNDS_OF_A_SITE, seed));
    }
    say(&format!("killed at random instants: {points:#?}"));
    assert_eq!(missing(&points), None, "no death fell there");
}

fn add(points: &mut Points, others: Points) {
    for (point, count) in others {
        *points.entry(point).or_default() += count;
    }
}

/// Lives through so many rounds at one file, and comes to rest.
fn kill_again_and_again(rounds: usize, seed: u64) -> Points {
    let site = Site::new();
    let told = Arc::new(Told::default());
    let mut numbers = Numbers::new(seed);
    let mut points = Points::new();
    for round in 0..rounds {
        if round % 3 == 2 {
            kill_a_start(&site, &mut numbers);
            *points.entry("a start").or_default() += 1;
            *points.entry("deaths").or_default() += 1;
        }
        plan(&site, &mut numbers);
        // Something to replay, so that deaths come in the middle of that, too.
        for _ in 0..2 + numbers.below(4) {
            site.forge.plan(Call::Dispatch, Fault::Validation422);
        }
        // It becomes ready on what the one before left behind: leases, a log, the socket.
        let mut daemon = site.start();
        let before = told.acknowledged();
        let load = Load::start(&daemon, &site, &told);
        // Enough to be a load, however slow the disk is; the death comes at random after it.
        wait_for("two deliveries", || (told.acknowledged() >= before + 2).then_some(()));
        assert!(Notify::new().pause(Duration::from_millis(20 + numbers.below(180))));
        if round % 8 == 7 {
            assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
            load.stop();
        } else {
            let cuts =
                [&told.deliveries_cut, &told.replays_cut].map(|cut| cut.swap(0, Ordering::Relaxed));
            assert_eq!(cuts, [0, 0], "questions were left unanswered by a daemon that lived");
            daemon.kill();
            load.stop();
            note(&site, &told, &mut points);
        }
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
        told.deliveries_cut.store(0, Ordering::Relaxed);
        told.replays_cut.store(0, Ordering::Relaxed);
        age_leases(&site);
    }
    assert!(told.acknowledged() > rounds, "{} deliveries are no load", told.acknowledged());
    check(&site, &told, false);
    let mut daemon = site.start();
    come_to_rest(&site);
    daemon.kill();
    check(&site, &told, true);
    points
}

/// Kills a process that is starting.
fn kill_a_start(site: &Site, numbers: &mut Numbers) {
    let mut boot = site.command(svcd()).stderr(Stdio::null()).spawn().unwrap();
    assert!(Notify::new().pause(Duration::from_millis(numbers.below(60))));
    boot.kill().unwrap();
    boot.wait().unwrap();
}

/// Counts what was under way, by what peers saw and what the process left behind.
fn note(site: &Site, told: &Told, points: &mut Points) {
    let database = database::open(&site.database());
    let left = |table: &str, more: &str| {
        let query = format!("SELECT count(*) FROM {table} WHERE status = 'leased' {more}");
        database::number(&database, &query, &[]) > 0
    };
    for (under_way, point) in [
        (true, "deaths"),
        (told.deliveries_cut.load(Ordering::Relaxed) > 0, UNDER_WAY[1]),
        (left("control_plane_jobs", ""), UNDER_WAY[2]),
        (left("outbox", "AND send_began_at IS NULL"), UNDER_WAY[3]),
        (left("outbox", "AND send_began_at IS NOT NULL"), UNDER_WAY[4]),
        (told.replays_cut.load(Ordering::Relaxed) > 0, UNDER_WAY[5]),
    ] {
        if under_way {
            *points.entry(point).or_default() += 1;
        }
    }
}

#[test]
fn two_replicas_on_one_file_do_not_get_in_each_other_s_way() {
    let mut sites = [Site::new(), Site::new()];
    let database = sites[0].database();
    let forge = sites[0].forge.base_url();
    sites[1].set("SVC_DATABASE", database.to_str().unwrap());
    sites[1].set("SVC_FORGE_API_URL", &forge);
    let told = Arc::new(Told::default());
    let mut numbers = Numbers::new(SEED + 1);
    let mut daemons = [sites[0].start(), sites[1].start()];
    let loads = daemons.each_ref().map(|daemon| Load::start(daemon, &sites[0], &told));
    for round in 0..8 {
        plan(&sites[0], &mut numbers);
        assert!(Notify::new().pause(Duration::from_millis(20 + numbers.below(100))));
        // The second comes and goes; the first stays, and answers.
        daemons[1].kill();
        assert!(daemons[0].is_running(), "{round}: {}", daemons[0].log());
        daemons[1] = sites[1].start();
    }
    daemons.iter_mut().for_each(Daemon::kill);
    loads.into_iter().for_each(Load::stop);
    for daemon in &daemons {
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
        assert!(!daemon.log().contains("statement_failed"), "{}", daemon.log());
    }
    assert!(told.acknowledged() > 8, "{} deliveries are no load", told.acknowledged());
    check(&sites[0], &told, false);
}
