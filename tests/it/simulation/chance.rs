//! The one source of chance of a run.

use std::sync::Mutex;

use svc::runtime::random::Random as _;

use crate::support::SeededRandom;

pub(super) struct Chance(Mutex<SeededRandom>);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(SeededRandom(seed)))
    }

    /// A number from 0 to just below `end`.
    pub(super) fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.0.lock().unwrap().fill(&mut bytes);
        u64::from_le_bytes(bytes) % end.max(1)
    }

    /// True once in `n` times.
    pub(super) fn one_in(&self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of them; nothing when there is none.
    pub(super) fn pick<'a, T>(&self, of: &'a [T]) -> Option<&'a T> {
        of.get(usize::try_from(self.below(u64::try_from(of.len()).unwrap())).unwrap())
    }
}
