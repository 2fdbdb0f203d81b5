//! Time and chance that a test sets.

use std::sync::Mutex;
use std::time::Duration;

use svc::domain::time::Timestamp;
use svc::runtime::clock::Clock;
use svc::runtime::random::Random;

/// A clock that stands still until it is moved.
pub(crate) struct ManualClock(Mutex<(Timestamp, Duration)>);

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self(Mutex::new((Timestamp::from_micros(1_795_251_600_000_000), Duration::ZERO)))
    }

    /// Both readings go on.
    pub(crate) fn advance(&self, by: Duration) {
        let mut readings = self.0.lock().unwrap();
        *readings = (readings.0.plus(by), readings.1 + by);
    }

    /// Wall time goes back; monotonic time does not.
    pub(crate) fn step_back(&self, by: Duration) {
        let mut readings = self.0.lock().unwrap();
        readings.0 = readings.0.minus(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap().0
    }

    fn monotonic(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}

/// Chance from a seed: the same seed, the same bytes.
pub(crate) struct SeededRandom(pub(crate) u64);

impl Random for SeededRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            // SplitMix64: one step a byte is slow, and simple.
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            *byte = (mixed ^ (mixed >> 31)).to_le_bytes()[0];
        }
    }
}
