//! Instants for people.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// Returns how long ago an instant was, in the one unit that matters. What lies ahead, because two clocks
/// differ, is `0s ago`.
pub(crate) fn ago(now: Timestamp, then: Timestamp) -> String {
    format!("{} ago", length(now.since(then)))
}

/// Returns how far ahead an instant is, or how long ago it was.
pub(crate) fn relative(now: Timestamp, then: Timestamp) -> String {
    if then > now { format!("in {}", length(then.since(now))) } else { ago(now, then) }
}

/// Returns when something is done: `now` once its instant is there, before that how far ahead it is,
/// and the instant itself.
pub(crate) fn due(now: Timestamp, then: Timestamp) -> String {
    if then > now { format!("in {} ({then})", length(then.since(now))) } else { "now".to_owned() }
}

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

    #[test]
    fn one_unit_is_enough() {
        let then = Timestamp::from_micros(1_795_251_600_000_000);
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
            assert_eq!(ago(then.plus(Duration::from_secs(seconds)), then), expected);
        }
        assert_eq!(ago(then.minus(Duration::from_secs(5)), then), "0s ago");
    }

    #[test]
    fn what_lies_ahead_is_told_from_now() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let later = now.plus(Duration::from_secs(90));
        let earlier = now.minus(Duration::from_secs(90));
        assert_eq!(relative(now, later), "in 1m");
        assert_eq!(relative(now, earlier), "1m ago");
        assert_eq!(due(now, later), "in 1m (2026-11-21T09:01:30.000000Z)");
        assert_eq!(due(now, earlier), "now");
        assert_eq!(due(now, now), "now");
    }
}
