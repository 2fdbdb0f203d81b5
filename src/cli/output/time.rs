//! Instants for people.

use crate::domain::time::Timestamp;

/// Returns how long ago an instant was, in the one unit that matters; text that is not an instant
/// stays as it is. What lies ahead, because two clocks differ, is `0s ago`.
pub(crate) fn ago(now: Timestamp, then: &str) -> String {
    let Some(instant) = Timestamp::parse_rounding_up(then) else {
        return then.to_owned();
    };
    let seconds = now.since(instant).as_secs();
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..172_800 => format!("{}h ago", seconds / 3_600),
        172_800.. => format!("{}d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
}
