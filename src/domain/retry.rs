//! When to try again: exponential backoff with jitter, and how often.

use std::time::Duration;

use crate::domain::dead_letter::ErrorClass;

/// Delays before a call is made again that was refused with a fresh token. Each of these calls has a token of
/// its own, and for some seconds a part of the forge may not know it, or not what it may do; support of the
/// forge names such delays.
/// See `docs/decisions/11-fresh-token-lag.md`.
const LAG_DELAYS: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(8)];

/// Returns the delay before a refused call is made again, because the refusal may be lag.
///
/// Returns `None` if the refusal is final: lag never causes this class, or the call was already delayed
/// `lag_count` times, which is all it may be.
#[must_use]
pub fn lag_delay(class: ErrorClass, lag_count: u32) -> Option<Duration> {
    let next = usize::try_from(lag_count).ok()?;
    LAG_DELAYS.get(next).copied().filter(|_| class.may_be_lag())
}

/// How a kind of work is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first one included; at least 1.
    pub attempts_max: u32,
    /// Delay after the first failure.
    pub delay_base: Duration,
    /// Longest delay.
    pub delay_max: Duration,
}

impl RetryPolicy {
    /// Returns the delay after the `attempt`th try failed, or `None` when that was the last.
    ///
    /// The delay doubles with each attempt up to the longest one, and `jitter` (from 0 to 1, random)
    /// takes away up to half of it, so that what failed together does not come back together.
    #[must_use]
    pub fn delay_after(&self, attempt: u32, jitter: f64) -> Option<Duration> {
        if attempt >= self.attempts_max {
            return None;
        }
        // Shifting by 32 places would overflow; the longest delay is reached before that.
        let doublings = attempt.saturating_sub(1).min(30);
        let full = self.delay_base.saturating_mul(1 << doublings).min(self.delay_max);
        Some(full.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        attempts_max: 5,
        delay_base: Duration::from_secs(2),
        delay_max: Duration::from_secs(10),
    };

    #[test]
    fn doubles_to_the_longest_delay_then_ends() {
        let seconds = |attempt| POLICY.delay_after(attempt, 0.0).map(|delay| delay.as_secs());
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(seconds),
            [Some(2), Some(4), Some(8), Some(10), None, None]
        );
    }

    #[test]
    fn jitter_takes_at_most_half() {
        assert_eq!(POLICY.delay_after(1, 1.0), Some(Duration::from_secs(1)));
        assert_eq!(POLICY.delay_after(1, 9.0), Some(Duration::from_secs(1)));
    }

    #[test]
    fn survives_extreme_policies() {
        let policy = RetryPolicy {
            attempts_max: u32::MAX,
            delay_base: Duration::MAX,
            delay_max: Duration::from_secs(1),
        };
        assert_eq!(policy.delay_after(u32::MAX - 1, 0.0), Some(Duration::from_secs(1)));
    }
}
