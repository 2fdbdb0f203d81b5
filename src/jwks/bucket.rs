//! How often peers may cause requests: each peer once in an interval, all peers together a few times at
//! once and then at a steady rate. Pure: the time is an argument.
//!
//! Only granted requests are remembered, and only while their peer has to wait. All peers together are
//! granted a bounded number in that time, so memory is bounded however many peers ask.

use std::net::IpAddr;
use std::time::Duration;

/// Whom a request is charged to: the address of its client, the /64 of an IPv6 address. Requests
/// without an address share one.
pub type Peer = Option<IpAddr>;

/// How much a bucket grants.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From one request of a peer to its next.
    pub peer_interval: Duration,
    /// Requests of all peers at once, at least one.
    pub burst: u32,
    /// From one request of all peers to the next when the burst is used up.
    pub interval: Duration,
}

/// Requests that were granted.
#[derive(Debug)]
pub struct Bucket {
    limits: Limits,
    /// Those whose peer still has to wait.
    granted: Vec<(Duration, Peer)>,
    /// When the whole burst is available again.
    full_at: Duration,
}

impl Bucket {
    /// Returns a full bucket.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits, granted: Vec::new(), full_at: Duration::ZERO }
    }

    /// Grants a peer one request. `now` is monotonic.
    ///
    /// # Errors
    /// How long the peer has to wait, more than nothing.
    pub fn take(&mut self, peer: Peer, now: Duration) -> Result<(), Duration> {
        let wait = self.wait(peer, now);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.granted.retain(|(at, _)| now.saturating_sub(*at) < self.limits.peer_interval);
        self.granted.push((now, peer));
        self.full_at = self.full_at.max(now) + self.limits.interval;
        Ok(())
    }

    /// Returns how long a peer has to wait until it may be granted a request; zero if it need not wait.
    #[must_use]
    pub fn wait(&self, peer: Peer, now: Duration) -> Duration {
        // A bucket may be this far from full and still have one request to grant.
        let spare = self.limits.interval * self.limits.burst.saturating_sub(1);
        let own = self.granted.iter().rfind(|(_, other)| *other == peer);
        let own = own.map_or(Duration::ZERO, |(at, _)| *at + self.limits.peer_interval);
        own.saturating_sub(now).max(self.full_at.saturating_sub(now + spare))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits {
        peer_interval: Duration::from_secs(60),
        burst: 3,
        interval: Duration::from_secs(10),
    };

    fn peer(number: u8) -> Peer {
        (number > 0).then(|| Ipv4Addr::new(192, 0, 2, number).into())
    }

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn a_peer_takes_one_a_minute_and_all_together_three_and_then_one_each_ten_seconds() {
        let mut bucket = Bucket::new(LIMITS);
        for (second, number, wanted) in [
            (0, 0, Ok(())),
            (0, 0, Err(60)),
            (0, 1, Ok(())),
            (1, 2, Ok(())),
            (1, 3, Err(9)),
            (1, 1, Err(59)),
            (10, 3, Ok(())),
            (10, 4, Err(10)),
            (59, 0, Err(1)),
            (60, 0, Ok(())),
            (60, 1, Ok(())),
            (60, 4, Ok(())),
            (60, 5, Err(10)),
        ] {
            let taken = bucket.take(peer(number), seconds(second));
            assert_eq!(taken, wanted.map_err(seconds), "{number} at {second}");
        }
    }

    proptest! {
        #[test]
        fn what_is_granted_and_remembered_is_bounded_and_a_wait_is_exact(
            asked in prop::collection::vec((0_u64..20_000, 0_u8..12), 0..200)
        ) {
            let (mut bucket, mut now, mut granted) = (Bucket::new(LIMITS), Duration::ZERO, vec![]);
            for (millis, number) in asked {
                now += Duration::from_millis(millis);
                match bucket.take(peer(number), now) {
                    Ok(()) => granted.push((now, number)),
                    Err(wait) => {
                        prop_assert!(!bucket.wait(peer(number), now + wait - Duration::from_nanos(1)).is_zero());
                        prop_assert!(bucket.wait(peer(number), now + wait).is_zero());
                    }
                }
                prop_assert!(bucket.granted.len() <= 3 + 6, "the burst and a minute of intervals");
            }
            for (place, (from, number)) in granted.iter().enumerate() {
                let later = granted.iter().skip(place + 1);
                for (count, (to, other)) in (2_u32..).zip(later) {
                    prop_assert!(number != other || *to - *from >= LIMITS.peer_interval);
                    prop_assert!(*to - *from >= LIMITS.interval * count.saturating_sub(LIMITS.burst));
                }
            }
        }
    }
}
