//! How often something has happened to each of many of late: a count within a window, in a table of bounded size. Pure:
//! the time is an argument.
//!
//! Where a [`RateLimiter`](crate::runtime::rate_limiter::RateLimiter) grants at a pace, this one says "so many within
//! so long, and then none".

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::Duration;

/// What happened of late.
#[derive(Debug)]
pub struct SlidingWindow<K> {
    max: usize,
    window: Duration,
    keys_max: usize,
    happened: HashMap<K, VecDeque<Duration>>,
}

impl<K: Eq + Hash> SlidingWindow<K> {
    /// Returns one that lets `max` happen to a key within `window`. At most `keys_max` keys are remembered: beyond them
    /// nothing is let happen to further ones, because a forgotten one could begin anew.
    #[must_use]
    pub fn new(max: usize, window: Duration, keys_max: usize) -> Self {
        Self { max, window, keys_max, happened: HashMap::new() }
    }

    /// Says whether it may happen once more. `now` is monotonic.
    ///
    /// # Errors
    /// How long to wait.
    pub fn check(&mut self, key: &K, now: Duration) -> Result<(), Duration> {
        let window = self.window;
        let over = |at: &Duration| now.saturating_sub(*at) >= window;
        if let Some(happened) = self.happened.get_mut(key) {
            while happened.front().is_some_and(over) {
                happened.pop_front();
            }
            return match happened.front() {
                Some(first) if happened.len() >= self.max => {
                    Err((*first + window).saturating_sub(now))
                }
                _ => Ok(()),
            };
        }
        // Only when the table is full, because this reads every key.
        if self.happened.len() >= self.keys_max {
            // The newest event decides: while it counts, a key that is forgotten could begin anew.
            self.happened.retain(|_, happened| happened.back().is_some_and(|at| !over(at)));
        }
        if self.happened.len() < self.keys_max { Ok(()) } else { Err(window) }
    }

    /// Takes back what was noted at an instant: it did not happen after all.
    pub fn take_back(&mut self, key: &K, at: Duration) {
        if let Some(happened) = self.happened.get_mut(key) {
            // From the back, where the newest are.
            if let Some(place) = happened.iter().rposition(|noted| *noted == at) {
                happened.remove(place);
            }
            // An empty entry would use up one of `keys_max` without limiting anything.
            if happened.is_empty() {
                self.happened.remove(key);
            }
        }
    }

    /// Notes that it has happened.
    pub fn note(&mut self, key: K, now: Duration) {
        let happened = self.happened.entry(key).or_default();
        // Only the last `max` events decide, and a queue without a limit would let any client fill the memory.
        if happened.len() >= self.max {
            happened.pop_front();
        }
        happened.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn so_many_within_the_window_and_then_none() {
        let mut window = SlidingWindow::new(2, at(10), 4);
        for (now, wanted) in [
            (0, Ok(())),
            (3, Ok(())),
            (3, Err(at(7))),
            (9, Err(at(1))),
            (10, Ok(())),
            (10, Err(at(3))),
        ] {
            let checked = window.check(&'a', at(now));
            assert_eq!(checked, wanted, "at {now}");
            if checked.is_ok() {
                window.note('a', at(now));
            }
        }
        assert_eq!(window.check(&'b', at(10)), Ok(()));
    }

    #[test]
    fn what_is_taken_back_has_not_happened() {
        let mut window = SlidingWindow::new(2, at(10), 4);
        window.note('a', at(0));
        window.note('a', at(1));
        window.take_back(&'a', at(1));
        window.take_back(&'a', at(5));
        window.take_back(&'b', at(0));
        assert_eq!(window.check(&'a', at(2)), Ok(()));
        window.note('a', at(2));
        assert_eq!(window.check(&'a', at(2)), Err(at(8)));
        window.take_back(&'a', at(0));
        window.take_back(&'a', at(2));
        assert!(window.happened.is_empty());
    }

    #[test]
    fn keys_are_bounded_and_those_that_are_over_make_room() {
        let mut window = SlidingWindow::new(1, at(10), 2);
        window.note('a', at(0));
        window.note('b', at(5));
        assert_eq!(window.check(&'c', at(9)), Err(at(10)));
        assert_eq!(window.check(&'c', at(10)), Ok(()));
        assert_eq!(window.happened.len(), 1);
    }
}
