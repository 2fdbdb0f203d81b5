//! Instants for people: as they are seen from now on a terminal, exact in UTC elsewhere, where a script may read them or
//! they may be read later.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// How instants are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) now: Timestamp,
    /// Instants are shown as they are, not as seen from now.
    pub(crate) is_exact: bool,
}

impl Times {
    /// Returns how long ago an instant was. What lies ahead, because two clocks differ, is `0s ago`.
    pub(crate) fn ago(self, at: Timestamp) -> String {
        if self.is_exact { at.to_string() } else { ago(self.now, at) }
    }

    /// Returns how far ahead an instant is, or how long ago it was.
    pub(crate) fn relative(self, at: Timestamp) -> String {
        if self.is_exact || at <= self.now { self.ago(at) } else { ahead(self.now, at) }
    }

    /// Returns an instant, and on a terminal how long ago it was.
    pub(crate) fn both(self, at: Timestamp) -> String {
        if self.is_exact { at.to_string() } else { format!("{at} ({})", ago(self.now, at)) }
    }

    /// Returns when something is done: `now` once its instant is there, before that the instant, and on a terminal how
    /// far ahead it is.
    pub(crate) fn due(self, at: Timestamp) -> String {
        match self.is_exact {
            _ if at <= self.now => "now".to_owned(),
            true => format!("at {at}"),
            false => format!("{} ({at})", ahead(self.now, at)),
        }
    }
}

fn ago(now: Timestamp, at: Timestamp) -> String {
    format!("{} ago", length(now.since(at)))
}

fn ahead(now: Timestamp, at: Timestamp) -> String {
    format!("in {}", length(at.since(now)))
}

/// Returns a time in the one unit that matters.
fn length(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        // Hours up to two days: "1d" would stand for anything from 24 to 47 hours.
        3_600..172_800 => format!("{}h", seconds / 3_600),
        172_800.. => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);
    const SEEN: Times = Times { now: NOW, is_exact: false };
    const EXACT: Times = Times { now: NOW, is_exact: true };

    #[test]
    fn one_unit_is_enough() {
        for (seconds, expected) in [
            (0, "0s ago"),
            (59, "59s ago"),
            (60, "1m ago"),
            (3_599, "59m ago"),
            (3_600, "1h ago"),
            (172_799, "47h ago"),
            (172_800, "2d ago"),
            (86_400 * 400, "400d ago"),
        ] {
            assert_eq!(SEEN.ago(NOW.minus(Duration::from_secs(seconds))), expected);
        }
        assert_eq!(SEEN.ago(NOW.plus(Duration::from_secs(5))), "0s ago");
    }

    #[test]
    fn what_lies_ahead_is_told_from_now() {
        let later = NOW.plus(Duration::from_secs(90));
        let earlier = NOW.minus(Duration::from_secs(90));
        assert_eq!(SEEN.relative(later), "in 1m");
        assert_eq!(SEEN.relative(earlier), "1m ago");
        assert_eq!(SEEN.both(earlier), "2026-11-21T08:58:30.000000Z (1m ago)");
        assert_eq!(SEEN.due(later), "in 1m (2026-11-21T09:01:30.000000Z)");
        assert_eq!(SEEN.due(earlier), "now");
        assert_eq!(SEEN.due(NOW), "now");
    }

    #[test]
    fn what_is_exact_is_the_same_whenever_it_is_read() {
        let later = NOW.plus(Duration::from_secs(90));
        let earlier = NOW.minus(Duration::from_secs(90));
        assert_eq!(EXACT.ago(earlier), "2026-11-21T08:58:30.000000Z");
        assert_eq!(EXACT.relative(later), "2026-11-21T09:01:30.000000Z");
        assert_eq!(EXACT.both(earlier), "2026-11-21T08:58:30.000000Z");
        assert_eq!(EXACT.due(later), "at 2026-11-21T09:01:30.000000Z");
        assert_eq!(EXACT.due(earlier), "now");
    }
}
