//! What strangers can make us say as often as they like is said only now and then, with how often it
//! was left unsaid: a log that is flooded loses the lines that matter. Counters count all of it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// From one line to the next.
const EVERY: Duration = Duration::from_secs(10);

/// One kind of line.
#[derive(Debug, Default)]
pub struct Seldom(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    said_at: Option<Duration>,
    unsaid: u64,
}

impl Seldom {
    /// Returns how many lines were left unsaid since the last one when it is time for another;
    /// otherwise this one is left unsaid. `now` is monotonic.
    pub fn due(&self, now: Duration) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.said_at.is_some_and(|said_at| now.saturating_sub(said_at) < EVERY) {
            state.unsaid += 1;
            return None;
        }
        state.said_at = Some(now);
        Some(std::mem::take(&mut state.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_said_at_once_and_the_others_are_counted() {
        let (seldom, start) = (Seldom::default(), Duration::from_secs(1_000));
        assert_eq!(seldom.due(start), Some(0));
        for _ in 0..999 {
            assert_eq!(seldom.due(start + EVERY - Duration::from_millis(1)), None);
        }
        assert_eq!(seldom.due(start + EVERY), Some(999));
        assert_eq!(seldom.due(start + EVERY * 2), Some(0));
    }
}
