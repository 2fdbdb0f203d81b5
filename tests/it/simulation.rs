//! Deterministic simulation: real stores of several replicas on one file, real workers, a stateful
//! forge, a clock that is moved, and one seed that decides everything.
//!
//! While a worker waits for the forge, other replicas go on, so their steps interleave at every cut: a
//! call may fail, hang past its lease, come back after its effect was lost or carried out, or never
//! come back because its process died. After every step the invariants are looked at; in the end the
//! faults stop, and everything must come to rest. Some seeds run once more on a disk that is full or broken
//! now and then (`disk`).
//!
//! `SVC_SIMULATION_SEEDS=1000 cargo test --test it simulation -- --nocapture` runs a campaign;
//! `SVC_SIMULATION_SEED=n` runs one seed and prints its trace. A seed that failed once goes into
//! `tests/data/simulation/seeds.txt` and is run for ever.

mod actions;
mod chance;
mod disk;
mod forge;
mod invariants;
mod results;
pub(crate) mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use svc::domain::reconcile::ReconcileCode;
use svc::runtime::clock::{Clock as _, SystemClock};

use self::disk::{Disk, DiskFault};
use self::world::World;
use crate::support::campaign::number;

/// Steps of one seed, the nested ones not counted.
const STEPS: u64 = 2_000;
/// Seeds of a run without a larger number from its caller; `tests/run` asks for a million steps. Fewer bring about only a part of
/// what can happen, which is no fault.
const SEEDS: u64 = 30;

/// Codes that put an item off.
const RECHECKS: &[ReconcileCode] = &[
    ReconcileCode::WorkflowPending,
    ReconcileCode::ForgeResultCallbackPending,
    ReconcileCode::ForgeWorkflowNotFound,
    ReconcileCode::ForgeLookupFailed,
    ReconcileCode::ForgeCheckRunUpdateFailed,
    ReconcileCode::ForgeCheckRunNotFound,
    ReconcileCode::ForgeCheckRunLookupFailed,
    ReconcileCode::EffectUnproved,
    ReconcileCode::ForgeTokenLag,
];
/// Codes no item ends with: those that only put it off, and what no seed brings about.
const NEVER_ENDS: &[ReconcileCode] = &[
    ReconcileCode::WorkflowPending,
    ReconcileCode::ForgeResultCallbackPending,
    ReconcileCode::ForgeLookupFailed,
    ReconcileCode::ForgeTokenLag,
    ReconcileCode::EffectUnproved,
    ReconcileCode::SubjectUnreadable,
    ReconcileCode::CrashLoop,
];
/// What becomes of results.
const RESULTS: &[&str] = &[
    "accepted",
    "accepted_at_risk",
    "rejected",
    "repeated",
    "credential_reused",
    "already_ended",
    "attempt_superseded",
    "other_commit",
    "other_workflow_run",
    "workflow_run_taken",
];

/// Threads that run seeds.
const HANDS: usize = 2;
/// Of so many seeds, one more is run on a disk that fails.
const DISK_SHARE: u64 = 20;

/// What a run came to.
#[derive(Default)]
struct Report {
    hash: u64,
    steps: u64,
    simulated: Duration,
    counters: BTreeMap<(&'static str, &'static str), u64>,
    releases_run: i64,
    succeeded: i64,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.steps += other.steps;
        self.simulated += other.simulated;
        for (cell, count) in other.counters {
            *self.counters.entry(cell).or_default() += count;
        }
    }
}

#[test]
fn invariants_hold_whatever_fails() {
    let began = SystemClock::new();
    let seeds = seeds();
    let seed_count = u64::try_from(seeds.len()).unwrap();
    // Seeds know nothing of each other: a few threads halve the wait.
    let on_a_disk_that_fails = Disk::that_fails().is_some();
    let count = if on_a_disk_that_fails { 1 } else { HANDS };
    let hands: Vec<_> = (0..count)
        .map(|hand| {
            let own: Vec<u64> = seeds.iter().copied().skip(hand).step_by(count).collect();
            let run_all = move || own.into_iter().map(run).collect::<Vec<_>>();
            svc::runtime::thread::spawn(&format!("simulation-{hand}"), run_all).unwrap()
        })
        .collect();
    let mut total = Report::default();
    let (mut seeds_with_a_release, mut seeds_with_a_success) = (0, 0);
    for hand in hands {
        for report in hand.join().unwrap_or_else(|panic| resume_unwind(panic)) {
            seeds_with_a_release += u64::from(report.releases_run > 0);
            seeds_with_a_success += u64::from(report.succeeded > 0);
            total.add(report);
        }
    }
    let with = (seeds_with_a_release, seeds_with_a_success);
    print_summary(&total, &seeds, with, began.monotonic());
    if on_a_disk_that_fails {
        for fault in DiskFault::ALL {
            let cell = ("disk", fault.name());
            assert!(total.counters.contains_key(&cell), "the disk was never {}", fault.name());
        }
        assert!(total.counters.contains_key(&("disk", "replica ended")), "no replica noticed");
        for outcome in ["ok", "disk_full", "disk_failed"] {
            let cell = ("checkpoint", outcome);
            assert!(total.counters.contains_key(&cell), "no checkpoint was {outcome}");
        }
    } else if seed_count >= SEEDS {
        assert_matrix_is_full(&total.counters);
        assert!(seeds_with_a_success * 5 >= seed_count, "too few seeds succeed");
    }
}

#[test]
fn invariants_hold_on_a_disk_that_fails() {
    let seeds = number("SVC_SIMULATION_SEEDS").unwrap_or(SEEDS);
    disk::simulate("simulation::invariants_hold_whatever_fails", (seeds / DISK_SHARE).max(2));
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in [1, 2, 3] {
        assert_eq!(run(seed).hash, run(seed).hash, "seed {seed}");
    }
}

/// Runs one seed; says how to run it again when it fails.
fn run(seed: u64) -> Report {
    let world = Arc::new(World::new(seed));
    let played = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..STEPS {
            let fails = world.break_disk_now_and_then();
            actions::step(&world, 0);
            if fails {
                world.mend_disk();
            }
            invariants::check(&world);
        }
        world.stop_faults();
        actions::come_to_rest(&world);
        invariants::look_at_everything(&world);
        invariants::at_rest(&world);
    }));
    if let Err(panic) = played {
        world.print_trace();
        eprintln_seed(seed);
        resume_unwind(panic);
    }
    world.report()
}

fn print_summary(total: &Report, seeds: &[u64], with: (u64, u64), took: Duration) {
    let mut lines = vec![format!(
        "simulation: {} steps, {} seeds, {:.1} simulated days in {:.1} s ({:.0} times faster), \
         {} seeds ran a release, {} saw one succeed",
        total.steps,
        seeds.len(),
        total.simulated.as_secs_f64() / 86_400.0,
        took.as_secs_f64(),
        total.simulated.as_secs_f64() / took.as_secs_f64(),
        with.0,
        with.1,
    )];
    for ((cut, fault), count) in &total.counters {
        lines.push(format!("  {cut:<18} {fault:<16} {count:>8}"));
    }
    say(&lines.join("\n"));
}

fn assert_matrix_is_full(counters: &BTreeMap<(&'static str, &'static str), u64>) {
    for word in RESULTS {
        assert!(counters.contains_key(&("result", *word)), "no result was {word}");
    }
    for code in ReconcileCode::ALL {
        let then = |then| counters.contains_key(&(then, code.as_str()));
        assert!(then("end") || NEVER_ENDS.contains(code), "no item ends with {code}");
        assert!(then("recheck") || !RECHECKS.contains(code), "no item is put off with {code}");
    }
    for cut in forge::CUTS {
        for fault in forge::faults_at(cut) {
            assert!(
                counters.contains_key(&(*cut, fault.name())),
                "never: {} at {cut}",
                fault.name()
            );
        }
    }
}

fn eprintln_seed(seed: u64) {
    let test = match Disk::that_fails() {
        Some(_) => "simulation::invariants_hold_on_a_disk_that_fails",
        None => "simulation::invariants_hold_whatever_fails",
    };
    say(&format!("run it again: SVC_SIMULATION_SEED={seed} cargo test --test it {test}"));
}

#[expect(clippy::print_stderr, reason = "a summary for who runs it")]
fn say(text: &str) {
    eprintln!("{text}");
}

fn seeds() -> Vec<u64> {
    if let Some(seed) = number("SVC_SIMULATION_SEED") {
        return vec![seed];
    }
    let kept = include_str!("../data/simulation/seeds.txt");
    let kept = kept.lines().filter(|line| !line.starts_with('#')).map(|line| line.parse().unwrap());
    kept.chain(1..=number("SVC_SIMULATION_SEEDS").unwrap_or(SEEDS)).collect()
}
