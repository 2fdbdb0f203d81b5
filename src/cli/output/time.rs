//! Instants for people.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// Returns how long ago an instant was, in the one unit that matters; text that is not an instant
/// stays as it is. What lies ahead, because two clocks differ, is `0s ago`.
pub(crate) fn ago(now: Timestamp, then: &str) -> String {
    let Some(instant) = Timestamp::parse_rounding_up(then) else {
        return then.to_owned();
    };
    format!("{} ago", length(now.since(instant)))
}

/// Returns how far ahead an instant is, or how long ago it was.
pub(crate) fn relative(now: Timestamp, then: &str) -> String {
    match Timestamp::parse_rounding_up(then) {
        Some(instant) if instant > now => format!("in {}", length(instant.since(now))),
        Some(_) | None => ago(now, then),
    }
}

/// Returns when something is done: `now` once its instant is there, before that how far ahead it is,
/// and the instant itself.
pub(crate) fn due(now: Timestamp, then: &str) -> String {
    match Timestamp::parse_rounding_up(then) {
        Some(instant) if instant > now => {
            format!("in {} ({instant})", length(instant.since(now)))
        }
        Some(_) => "now".to_owned(),
        None => then.to_owned(),
    }
}

fn length(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
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
            assert_eq!(ago(then.plus(Duration::from_secs(seconds)), &then.to_string()), expected);
        }
        assert_eq!(ago(then.minus(Duration::from_secs(5)), &then.to_string()), "0s ago");
        assert_eq!(ago(then, "yesterday"), "yesterday");
    }

    #[test]
    fn what_lies_ahead_is_told_from_now() {
        let now = Timestamp::from_micros(1_795_251_600_000_000);
        let later = now.plus(Duration::from_secs(90)).to_string();
        let earlier = now.minus(Duration::from_secs(90)).to_string();
        assert_eq!(relative(now, &later), "in 1m");
        assert_eq!(relative(now, &earlier), "1m ago");
        assert_eq!(due(now, &later), "in 1m (2026-11-21T09:01:30.000000Z)");
        assert_eq!(due(now, &earlier), "now");
        assert_eq!(due(now, &now.to_string()), "now");
        assert_eq!(due(now, "soon"), "soon");
    }
}
