//! How fast the writes of one installation leave for the forge.

use std::time::Duration;

use crate::domain::time::Timestamp;

const MINUTE: Duration = Duration::from_secs(60);

/// At most so many writes in any minute: a sixth of them may leave at once, the others follow evenly.
///
/// Each write books an interval behind the ones before it. One may leave while what is booked reaches no
/// further ahead than a sixth of the minute's writes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    interval: Duration,
    ahead_max: Duration,
}

impl Pace {
    /// Returns the pace of so many writes in a minute; at least one.
    #[must_use]
    pub fn per_minute(writes: u32) -> Self {
        let writes = writes.max(1);
        // A release needs three writes, so the default pace lets several start without waiting.
        let at_once = (writes / 6).max(1);
        // Rounded up, so that a minute never holds one more.
        let interval = MINUTE / (writes - at_once + 1) + Duration::from_micros(1);
        // The first write needs no lead, hence one less.
        Self { interval, ahead_max: interval * (at_once - 1) }
    }

    /// Returns when a write may leave, which may be past, after what is booked until then.
    #[must_use]
    pub fn ready_at(self, booked_until: Option<Timestamp>, now: Timestamp) -> Timestamp {
        self.booked(booked_until, now).minus(self.ahead_max)
    }

    /// Returns until when is booked once another write leaves now.
    #[must_use]
    pub fn book(self, booked_until: Option<Timestamp>, now: Timestamp) -> Timestamp {
        self.booked(booked_until, now).plus(self.interval)
    }

    /// What reaches further ahead than any booking does was booked by a clock that was ahead.
    fn booked(self, booked_until: Option<Timestamp>, now: Timestamp) -> Timestamp {
        // Ignored, not shortened: a booking by a wrong clock says nothing about the last minute.
        let furthest = now.plus(self.ahead_max + self.interval);
        booked_until.filter(|until| *until <= furthest).map_or(now, |until| until.max(now))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);

    /// When writes leave that want to, each so long after the one before.
    fn leave(pace: Pace, wishes: &[u64]) -> Vec<Timestamp> {
        let (mut now, mut booked, mut left) = (NOW, None, Vec::new());
        for wish in wishes {
            now = now.plus(Duration::from_millis(*wish)).max(pace.ready_at(booked, now));
            booked = Some(pace.book(booked, now));
            left.push(now);
        }
        left
    }

    #[test]
    fn a_sixth_leaves_at_once_and_the_others_evenly() {
        let left = leave(Pace::per_minute(60), &[0; 60]);
        let after = |write: usize| left[write].since(NOW);
        assert_eq!(after(9), Duration::ZERO);
        assert_eq!(after(10).as_millis(), 1_176);
        assert_eq!(after(59).as_secs(), 58);
        let slow = leave(Pace::per_minute(1), &[0, 0]);
        assert_eq!(slow[1].since(NOW).as_secs(), 60);
    }

    #[test]
    fn what_a_clock_that_was_ahead_booked_holds_nothing_up() {
        let pace = Pace::per_minute(60);
        assert!(pace.ready_at(Some(NOW.plus(Duration::from_secs(86_400))), NOW) <= NOW);
    }

    proptest! {
        #[test]
        fn no_minute_has_more(
            writes in 1_u32..200,
            wishes in prop::collection::vec(prop_oneof![Just(0), 0_u64..3_000, 0_u64..90_000], 1..400),
        ) {
            let left = leave(Pace::per_minute(writes), &wishes);
            for (place, from) in left.iter().enumerate() {
                let count = left[place..].iter().take_while(|at| at.since(*from) < MINUTE).count();
                prop_assert!(count <= usize::try_from(writes).expect("it is small"), "{count}");
            }
        }
    }
}
