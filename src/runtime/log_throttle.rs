//! Log lines that strangers can cause are written at most once in ten seconds, with the number that was
//! suppressed in between: a flooded log loses the lines that matter. Counters count all of them.

use std::sync::Mutex;
use std::time::Duration;

use crate::runtime::mutex::lock;

/// From one line to the next.
const INTERVAL: Duration = Duration::from_secs(10);

/// One kind of line.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    written_at: Option<Duration>,
    suppressed: u64,
}

impl LogThrottle {
    /// Returns how many lines were suppressed since the last one when a line may be written now;
    /// otherwise counts this one as suppressed. `now` is monotonic.
    pub fn due(&self, now: Duration) -> Option<u64> {
        let mut state = lock(&self.0);
        if state.written_at.is_some_and(|written_at| now.saturating_sub(written_at) < INTERVAL) {
            state.suppressed += 1;
            return None;
        }
        state.written_at = Some(now);
        Some(std::mem::take(&mut state.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_written_at_once_and_the_others_are_counted() {
        let (throttle, start) = (LogThrottle::default(), Duration::from_secs(1_000));
        assert_eq!(throttle.due(start), Some(0));
        for _ in 0..999 {
            assert_eq!(throttle.due(start + INTERVAL - Duration::from_millis(1)), None);
        }
        assert_eq!(throttle.due(start + INTERVAL), Some(999));
        assert_eq!(throttle.due(start + INTERVAL * 2), Some(0));
    }
}
