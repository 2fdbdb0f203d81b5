//! The only reader of time.
//!
//! Wall time is stored and compared with stored instants. Monotonic time measures waits and the
//! budgets of calls; it never leaves the process.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::domain::time::Timestamp;

/// Reads time. Tests put a clock of their own behind it.
pub trait Clock: Send + Sync {
    /// Returns wall time.
    fn now(&self) -> Timestamp;

    /// Returns time since an arbitrary start; never goes back.
    fn monotonic(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Returns the machine's clock, its monotonic reading starting at zero.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads time")]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads time")]
    fn now(&self) -> Timestamp {
        let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            // A clock before 1970, as on a machine without a battery, reads as negative and stays in order.
            Err(before) => {
                i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros)
            }
        };
        Timestamp::from_micros(micros)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}
