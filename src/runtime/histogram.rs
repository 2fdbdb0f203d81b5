//! How long things took, counted in fixed buckets. Two additions for each observation, and no lock, so that it may be
//! used where work is done.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds, and in seconds as text; one set for everything that is measured.
const BOUNDS: [(u64, &str); 18] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
    (60_000_000, "60"),
    (300_000_000, "300"),
    (3_600_000_000, "3600"),
];

/// Durations by bucket, and their sum.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    /// Those longer than every bound.
    longer: AtomicU64,
    sum_micros: AtomicU64,
}

/// What a histogram has counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// For each bound, in seconds as text, how many took no longer.
    pub up_to: Vec<(&'static str, u64)>,
    /// How many there were.
    pub count: u64,
    /// How long they took together.
    pub sum: Duration,
}

impl Histogram {
    /// Buckets one that took so long.
    pub fn observe(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let place = BOUNDS.partition_point(|(bound, _)| *bound < micros);
        // `Relaxed`: the numbers are only shown, and order no other access.
        self.buckets.get(place).unwrap_or(&self.longer).fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns how long they took together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_micros.load(Ordering::Relaxed))
    }

    /// Returns what was counted.
    #[must_use]
    pub fn buckets(&self) -> Buckets {
        let mut count = 0;
        let up_to = BOUNDS.iter().zip(&self.buckets).map(|((_, bound), bucket)| {
            count += bucket.load(Ordering::Relaxed);
            (*bound, count)
        });
        let up_to = up_to.collect();
        Buckets { up_to, count: count + self.longer.load(Ordering::Relaxed), sum: self.sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_bucket_and_what_is_longer_than_all_counts_too() {
        let histogram = Histogram::default();
        for micros in [0, 500, 501, 1_000_000, 3_600_000_001] {
            histogram.observe(Duration::from_micros(micros));
        }
        let Buckets { up_to, count, sum } = histogram.buckets();
        let of = |bound: &str| up_to.iter().find(|(known, _)| *known == bound).unwrap().1;
        assert_eq!([of("0.0005"), of("0.001"), of("0.5"), of("1"), of("3600")], [2, 3, 3, 4, 4]);
        assert_eq!((count, sum), (5, Duration::from_micros(3_601_001_002)));
    }

    #[test]
    fn the_text_of_a_bound_is_the_bound() {
        for (micros, text) in BOUNDS {
            let seconds: f64 = text.parse().unwrap();
            assert!((Duration::from_micros(micros).as_secs_f64() - seconds).abs() < 1e-9, "{text}");
        }
        assert!(BOUNDS.is_sorted());
    }
}
