//! How often each of many may ask: a token bucket for each, in a table of bounded size. Pure: the time is an
//! argument.
//!
//! A bucket is one instant, when it will be full again; one that is full says nothing and is forgotten. When
//! so many ask at once that there is no room for another bucket, all who have none of their own share one.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// Time between two sweeps of full buckets: each sweep reads the whole table.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// How much a bucket grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// From one request to the next in the long run.
    pub interval: Duration,
    /// Requests at once; none counts as one.
    pub burst: u32,
}

impl Rate {
    /// Returns a rate of so many requests a second, none of which counts as one.
    #[must_use]
    pub fn per_second(count: u32, burst: u32) -> Self {
        Self { interval: Duration::from_secs(1) / count.max(1), burst }
    }

    /// Returns a rate of so many requests a minute, which may all come at once.
    #[must_use]
    pub fn per_minute(count: u32) -> Self {
        Self { interval: Duration::from_mins(1) / count.max(1), burst: count }
    }
}

/// The buckets.
#[derive(Debug)]
pub struct RateLimiter<K> {
    rate: Rate,
    buckets_max: usize,
    /// When each bucket is full again.
    full_at: HashMap<K, Duration>,
    /// The same of the bucket that is shared.
    shared_full_at: Duration,
    sweep_at: Duration,
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// Returns full buckets, of which at most `buckets_max` are kept at once.
    #[must_use]
    pub fn new(rate: Rate, buckets_max: usize) -> Self {
        Self {
            rate,
            buckets_max,
            full_at: HashMap::new(),
            shared_full_at: Duration::ZERO,
            sweep_at: Duration::ZERO,
        }
    }

    /// Grants one request. `now` is monotonic.
    ///
    /// # Errors
    /// How long to wait for the next one, more than nothing.
    pub fn take(&mut self, key: K, now: Duration) -> Result<(), Duration> {
        let interval = self.rate.interval;
        let depth = interval * self.rate.burst.max(1);
        let full_at = self.bucket(key, now);
        // The bucket is one instant that a grant moves ahead by an interval; idle time before `now` earns nothing
        // extra.
        let next = (*full_at).max(now) + interval;
        let wait = next.saturating_sub(now + depth);
        if !wait.is_zero() {
            return Err(wait);
        }
        // Only a grant moves the instant, so a client that keeps asking is not put off any longer.
        *full_at = next;
        Ok(())
    }

    /// Takes back what was granted last: it was not used.
    pub fn give_back(&mut self, key: &K) {
        let interval = self.rate.interval;
        // A key without a bucket of its own was granted from the shared one.
        let full_at = self.full_at.get_mut(key).unwrap_or(&mut self.shared_full_at);
        *full_at = full_at.saturating_sub(interval);
    }

    fn bucket(&mut self, key: K, now: Duration) -> &mut Duration {
        let is_room = self.full_at.len() < self.buckets_max || self.full_at.contains_key(&key);
        if !is_room && self.sweep_at <= now {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.sweep_at = now + SWEEP_INTERVAL;
        }
        if is_room || self.full_at.len() < self.buckets_max {
            self.full_at.entry(key).or_insert(now)
        } else {
            // Sharing instead of evicting: an evicted bucket would come back full, and a crowd of keys would gain
            // bursts.
            &mut self.shared_full_at
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: Rate = Rate { interval: Duration::from_millis(500), burst: 3 };

    fn millis(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn each_has_a_burst_and_then_its_rate() {
        let mut limiter = RateLimiter::new(RATE, 8);
        for (at, who, wanted) in [
            (0, 'a', Ok(())),
            (0, 'a', Ok(())),
            (0, 'a', Ok(())),
            (0, 'a', Err(500)),
            (0, 'b', Ok(())),
            (499, 'a', Err(1)),
            (500, 'a', Ok(())),
            (500, 'a', Err(500)),
            (9_000, 'a', Ok(())),
            (9_000, 'a', Ok(())),
            (9_000, 'a', Ok(())),
            (9_000, 'a', Err(500)),
        ] {
            assert_eq!(limiter.take(who, millis(at)), wanted.map_err(millis), "{who} at {at}");
        }
    }

    #[test]
    fn what_was_not_used_is_given_back() {
        let mut limiter = RateLimiter::new(RATE, 8);
        for _ in 0..100 {
            limiter.take('a', millis(0)).unwrap();
            limiter.give_back(&'a');
        }
        for _ in 0..3 {
            limiter.take('a', millis(0)).unwrap();
        }
        assert_eq!(limiter.take('a', millis(0)), Err(millis(500)));
    }

    #[test]
    fn those_for_whom_there_is_no_room_share_a_bucket_until_there_is() {
        let mut limiter = RateLimiter::new(RATE, 2);
        for who in ['a', 'b', 'c', 'd', 'e'] {
            limiter.take(who, millis(0)).unwrap();
        }
        assert_eq!(limiter.take('f', millis(0)), Err(millis(500)));
        limiter.take('a', millis(0)).unwrap();
        assert_eq!(limiter.full_at.len(), 2);
        // By then the first two are forgotten.
        for _ in 0..3 {
            limiter.take('f', millis(2_000)).unwrap();
        }
    }

    proptest! {
        #[test]
        fn no_key_gets_more_and_the_table_is_bounded(
            asked in prop::collection::vec((0_u64..400, 0_u8..6), 0..200)
        ) {
            let (mut limiter, mut now, mut granted) = (RateLimiter::new(RATE, 4), 0, Vec::new());
            for (after, who) in asked {
                now += after;
                match limiter.take(who, millis(now)) {
                    Ok(()) => granted.push((now, who)),
                    Err(wait) => {
                        prop_assert!(wait > Duration::ZERO && wait <= millis(500));
                    }
                }
                prop_assert!(limiter.full_at.len() <= 4);
            }
            for who in 0..6 {
                let own: Vec<u64> =
                    granted.iter().filter(|(_, it)| *it == who).map(|(at, _)| *at).collect();
                // A bucket of its own and the shared one, at most: six at once, and four a second.
                for (first, from) in own.iter().enumerate() {
                    for (count, to) in (1_u64..).zip(own.iter().skip(first)) {
                        prop_assert!(count <= 6 + (to - from) * 4 / 1_000 + 1);
                    }
                }
            }
        }
    }
}
