//! Levels of the recent past, as few as are needed to say what a level was a window ago.

use std::collections::VecDeque;
use std::time::Duration;

/// Any two samples with another between them lie at least this part of a window apart.
const PARTS: u32 = 16;

/// Levels over one window of monotonic time, and the youngest level that is older than that.
#[derive(Clone, Debug)]
pub(super) struct History {
    window: Duration,
    /// Oldest first.
    samples: VecDeque<(Duration, u64)>,
}

impl History {
    pub(super) const fn new(window: Duration) -> Self {
        Self { window, samples: VecDeque::new() }
    }

    /// Notes the level of now. Of samples that lie close together the first and the last are kept.
    pub(super) fn note(&mut self, now: Duration, level: u64) {
        // Samples rise in time; what reads them relies on that.
        if self.samples.back().is_some_and(|(last, _)| now <= *last) {
            return;
        }
        let before_last = self.samples.len().checked_sub(2).and_then(|at| self.samples.get(at));
        // At most about 2 * PARTS samples, however often snapshots are taken.
        if before_last.is_some_and(|(at, _)| now.saturating_sub(*at) < self.window / PARTS) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, level));
        // The front is the youngest that is a window old, as long as there is one so old.
        while self.samples.get(1).is_some_and(|(at, _)| now.saturating_sub(*at) >= self.window) {
            self.samples.pop_front();
        }
    }

    /// Returns the level a window ago, or the first there was since.
    pub(super) fn first(&self) -> Option<u64> {
        self.samples.front().map(|(_, level)| *level)
    }

    /// Returns the level half a window ago, if it was noted then.
    pub(super) fn middle(&self, now: Duration) -> Option<u64> {
        let old = |at: &Duration| now.saturating_sub(*at) >= self.window / 2;
        self.samples.iter().rev().find(|(at, _)| old(at)).map(|(_, level)| *level)
    }

    /// Says whether it goes back a whole window.
    pub(super) fn is_whole(&self, now: Duration) -> bool {
        let first = self.samples.front();
        first.is_some_and(|(at, _)| now.saturating_sub(*at) >= self.window)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.samples.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_back_a_window_and_no_further() {
        let mut history = History::new(Duration::from_secs(160));
        for second in 0..1_000 {
            let now = Duration::from_secs(second);
            history.note(now, second);
            let first = history.first().unwrap();
            let past = second - first;
            assert_eq!(history.is_whole(now), second >= 160, "{second}");
            assert!(past <= 170, "{second}: {past}");
            assert!(history.len() <= 36, "{second}");
        }
        assert_eq!(history.middle(Duration::from_secs(999)).unwrap() / 10, 91);
    }

    #[test]
    fn of_samples_within_a_part_of_the_window_two_are_kept() {
        for (last, kept) in [(9, 2), (10, 3)] {
            let mut history = History::new(Duration::from_secs(160));
            for second in [0, 5, last] {
                history.note(Duration::from_secs(second), second);
            }
            assert_eq!(history.len(), kept, "{last}");
        }
    }

    #[test]
    fn time_that_stands_still_or_goes_back_adds_nothing() {
        let mut history = History::new(Duration::ZERO);
        for second in [5, 5, 4, 0] {
            history.note(Duration::from_secs(second), second);
        }
        assert_eq!((history.len(), history.first()), (1, Some(5)));
    }
}
