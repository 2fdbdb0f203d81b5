//! Random walks through all rules at once: agents, people, a daemon that crashes between commit and frame, and
//! pages that reload, freeze with an order unread, thaw, and are told things twice.
//!
//! An evenly random walk hardly ever gets to `running`, so the steps have weights, and the run prints how often
//! each state was reached. Planted defects must be found, or the walk proves nothing.

mod page;
mod world;

use svc::domain::relay::invocation::State;

use world::World;

/// Walks, and steps of each.
const SEEDS: u64 = 300;
const STEPS: usize = 1_500;

/// What breaks the relay when it is done wrong: three in the rules, one in the store, two in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defect {
    SilenceOfAnotherPageIsNotDelivered,
    JournalAfterTheEffect,
    ExecuteIsAcceptedTwice,
    UnknownIsSentAgain,
    NoIndexOfWhatIsInFlight,
    ARunningOneIsCancelled,
}

const DEFECTS: [Defect; 6] = [
    Defect::SilenceOfAnotherPageIsNotDelivered,
    Defect::JournalAfterTheEffect,
    Defect::ExecuteIsAcceptedTwice,
    Defect::UnknownIsSentAgain,
    Defect::NoIndexOfWhatIsInFlight,
    Defect::ARunningOneIsCancelled,
];

/// Walks so far; returns the world, or what was wrong.
fn walk(seed: u64, defect: Option<Defect>) -> Result<World, String> {
    let mut world = World::begin(seed, defect);
    for _ in 0..STEPS {
        world.step();
        if let Some(violation) = world.violation.take() {
            return Err(violation);
        }
    }
    world.end();
    world.violation.take().map_or(Ok(world), Err)
}

#[test]
#[expect(clippy::print_stdout, reason = "a walk that reaches nothing shows nothing")]
fn walks_hold_and_reach_every_state() {
    let (mut reached, mut effects, mut late) = (vec![0_usize; State::ALL.len()], 0, 0);
    for seed in 0..SEEDS {
        let world = walk(seed, None).unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        for (place, state) in State::ALL.iter().enumerate() {
            reached[place] += world.reached.get(state).copied().unwrap_or(0);
        }
        effects += world.effects;
        late += world.late;
    }
    println!("{SEEDS} walks of {STEPS} steps; {effects} effects, {late} proofs came late");
    for (state, count) in State::ALL.iter().zip(&reached) {
        println!("reached {state}: {count}");
        assert!(*count > 100, "{state} was reached {count} times");
    }
    assert!(late > 100);
}

#[test]
#[expect(clippy::print_stdout, reason = "how soon each is found")]
fn each_planted_defect_is_found() {
    for defect in DEFECTS {
        let found = (0..SEEDS).find_map(|seed| Some((seed, walk(seed, Some(defect)).err()?)));
        let (seed, violation) = found.unwrap_or_else(|| panic!("{defect:?} was not found"));
        println!("{defect:?}: walk {seed}: {violation}");
    }
}
