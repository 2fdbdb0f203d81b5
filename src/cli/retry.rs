//! When a replay is sent again. Safe only because every try carries the same idempotency key.

use std::time::Duration;

/// Longest wait the service may ask for; longer than that, the person decides.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Wait after the first failure; doubles with each one.
const WAIT_FIRST: Duration = Duration::from_millis(250);

/// How a try failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setback {
    /// The service asked to come back later.
    Busy { retry_after: Option<Duration> },
    /// The connection broke: whether the request took effect is not known.
    Lost,
    /// No connection came about: nothing was sent.
    Unreachable,
}

/// Returns how long to wait before the next try; `None` when there must be none. `failures` counts
/// this one. A service that does not answer is waited for only if it answered a moment ago, because
/// then it restarts.
pub(crate) fn wait(setback: Setback, failures: u32, retries: u32) -> Option<Duration> {
    if failures > retries {
        return None;
    }
    let doubled = WAIT_FIRST.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    match setback {
        Setback::Busy { retry_after: Some(asked) } => (asked <= WAIT_MAX).then_some(asked),
        Setback::Busy { retry_after: None } | Setback::Lost => Some(doubled.min(WAIT_MAX)),
        Setback::Unreachable => (failures > 1).then_some(doubled.min(WAIT_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn busy(seconds: u64) -> Setback {
        Setback::Busy { retry_after: Some(Duration::from_secs(seconds)) }
    }

    #[test]
    fn waits_double_and_are_bounded() {
        let waits = |setback| [1, 2, 3, 9, 40].map(|failures| wait(setback, failures, 40));
        let [first, second, third, ninth, fortieth] = waits(Setback::Lost);
        assert_eq!(first, Some(Duration::from_millis(250)));
        assert_eq!(second, Some(Duration::from_millis(500)));
        assert_eq!(third, Some(Duration::from_secs(1)));
        assert_eq!(ninth, Some(WAIT_MAX));
        assert_eq!(fortieth, Some(WAIT_MAX));
        assert_eq!(waits(Setback::Busy { retry_after: None }), waits(Setback::Lost));
    }

    #[test]
    fn the_service_says_how_long_up_to_a_bound() {
        assert_eq!(wait(busy(0), 1, 3), Some(Duration::ZERO));
        assert_eq!(wait(busy(10), 1, 3), Some(WAIT_MAX));
        assert_eq!(wait(busy(11), 1, 3), None);
    }

    #[test]
    fn the_tries_end() {
        assert_eq!(wait(Setback::Lost, 1, 0), None);
        assert!(wait(Setback::Lost, 3, 3).is_some());
        assert_eq!(wait(Setback::Lost, 4, 3), None);
        assert_eq!(wait(busy(1), 4, 3), None);
    }

    #[test]
    fn a_service_that_is_not_there_is_waited_for_only_when_it_was() {
        assert_eq!(wait(Setback::Unreachable, 1, 3), None);
        assert!(wait(Setback::Unreachable, 2, 3).is_some());
    }
}
