//! The only source of chance, and the maker of our identifiers.

use ring::rand::{SecureRandom as _, SystemRandom};
use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::logging;

/// Gives random bytes. Tests put a seeded source behind it.
pub trait Random: Send {
    /// Fills `bytes`. Ends the process when the system has no randomness to give, because nothing
    /// that needs it is safe without.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// The system's generator.
#[derive(Debug)]
pub struct SystemEntropy(SystemRandom);

impl SystemEntropy {
    /// Returns the system's generator.
    #[must_use]
    pub fn new() -> Self {
        Self(SystemRandom::new())
    }
}

impl Default for SystemEntropy {
    fn default() -> Self {
        Self::new()
    }
}

impl Random for SystemEntropy {
    fn fill(&mut self, bytes: &mut [u8]) {
        if self.0.fill(bytes).is_err() {
            log::error!(event = "random.failed"; "the system gave no random bytes");
            logging::flush();
            // Not a panic: workers catch panics and would go on.
            std::process::abort();
        }
    }
}

/// Makes identifiers, secrets and jitter from one source.
pub struct Ids {
    source: Box<dyn Random>,
    last: u128,
}

impl Ids {
    /// Returns a maker over `source`.
    #[must_use]
    pub fn new(source: Box<dyn Random>) -> Self {
        Self { source, last: 0 }
    }

    /// Returns a `UUIDv7` that is greater than every one this maker returned before, also within a
    /// millisecond and when the clock steps back.
    pub fn uuid(&mut self, now: Timestamp) -> Uuid {
        // A time before 1970 has no UUIDv7. Zero keeps the order, because the successor of the last one is taken.
        let millis = u64::try_from(now.micros() / 1_000).unwrap_or(0);
        let tail = self.bytes::<10>();
        let fresh = uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid().as_u128();
        // The successor keeps version and variant: the tail below them has 62 bits to count in.
        self.last = if fresh > self.last { fresh } else { self.last + 1 };
        Uuid::from_u128(self.last)
    }

    /// Returns an identifier made of such a `UUIDv7`.
    pub fn id<T: From<Uuid>>(&mut self, now: Timestamp) -> T {
        self.uuid(now).into()
    }

    /// Returns random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.source.fill(&mut bytes);
        bytes
    }

    /// Returns a number from 0 to just below 1.
    pub fn fraction(&mut self) -> f64 {
        // A double holds 32 bits exactly, and dividing by 2^32 keeps the result below 1.
        f64::from(u32::from_le_bytes(self.bytes())) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_within_a_millisecond_and_when_the_clock_steps_back() {
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let mut last = Uuid::nil();
        for step in 0..10_000 {
            let now = Timestamp::from_micros(1_795_251_600_000_000 - step);
            let id = ids.uuid(now);
            assert!(id > last);
            assert_eq!(id.get_version_num(), 7);
            last = id;
        }
    }
}
