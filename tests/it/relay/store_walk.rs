//! Random walks over the store: people, agents, and pages that reload, freeze with an order unread, thaw, or lose their
//! journal; two processes at one file, of which each may end between a commit and what was to be told; a clock that jumps.
//! After every step the invariants are looked at, in the rows and in the audit log; in the end everything must come to
//! rest.
//!
//! `SVC_RELAY_WALKS=2000 cargo test --test it relay::store_walk -- --nocapture` is a campaign; `SVC_RELAY_WALK=n` walks
//! one of them. Steps have weights, because an evenly random walk hardly ever gets to `running`; the run prints how often
//! each state was reached.

mod callers;
mod invariants;
mod page;
mod people;
mod world;

use svc::domain::relay::invocation::State;

use self::world::World;
use crate::support::campaign::{number, number_or};

/// Walks of a run without a larger number from its caller, and steps of each.
const WALKS: usize = 24;
const STEPS: usize = 1_200;

/// What breaks the relay when a plugin does it wrong. What a store may do wrong is in `tests/planted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    JournalAfterTheEffect,
    ExecuteIsAcceptedTwice,
}

/// Walks so far; returns the world, or what was wrong.
fn walk(seed: u64, defect: Option<Defect>) -> Result<World, String> {
    let mut world = World::begin(seed, defect);
    for _ in 0..STEPS {
        world.step();
        world.look();
        if let Some(violation) = world.violation.take() {
            return Err(violation);
        }
    }
    world.end();
    world.violation.take().map_or(Ok(world), Err)
}

#[test]
#[expect(clippy::print_stdout, reason = "a walk that reaches nothing shows nothing")]
fn walks_over_the_store_hold_and_reach_every_state() {
    let seeds = match number("SVC_RELAY_WALK") {
        Some(seed) => seed..seed + 1,
        None => 0..u64::try_from(number_or("SVC_RELAY_WALKS", WALKS)).unwrap(),
    };
    let is_whole = seeds.end - seeds.start >= u64::try_from(WALKS).unwrap();
    let walks = seeds.end - seeds.start;
    let (mut reached, mut effects, mut late, mut lost) = (vec![0; State::ALL.len()], 0, 0, 0);
    for seed in seeds {
        let world = walk(seed, None).unwrap_or_else(|violation| panic!("walk {seed}: {violation}"));
        for (place, state) in State::ALL.iter().enumerate() {
            reached[place] += world.reached.get(state).copied().unwrap_or(0);
        }
        effects += world.effects();
        late += world.late;
        lost += world.lost;
    }
    println!(
        "{walks} walks of {STEPS} steps; {effects} effects, {late} proofs came late, {lost} times a process ended"
    );
    for (state, count) in State::ALL.iter().zip(&reached) {
        println!("reached {state}: {count}");
        assert!(!is_whole || *count >= 10, "{state} was reached {count} times");
    }
    assert!(!is_whole || late >= 10);
}

#[test]
#[expect(clippy::print_stdout, reason = "how soon each is found")]
fn walks_over_the_store_find_what_a_plugin_does_wrong() {
    for defect in [Defect::JournalAfterTheEffect, Defect::ExecuteIsAcceptedTwice] {
        let found = (0..200).find_map(|seed| Some((seed, walk(seed, Some(defect)).err()?)));
        let (seed, violation) = found.unwrap_or_else(|| panic!("{defect:?} was not found"));
        println!("{defect:?}: walk {seed}: {violation}");
    }
}
