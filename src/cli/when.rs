//! Instants as people type them: a time, a date, or an age.

use std::time::Duration;

use crate::domain::time::Timestamp;

/// An instant that was typed. An age is resolved once for a run, so that all its requests mean the same instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    At(Timestamp),
    Ago(Duration),
}

impl When {
    /// Reads `2026-11-21T09:00:00Z`, `2026-11-22`, which is its beginning in UTC, or `90s`, `15m`, `2h`, `3d`, `1w`.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        age(text)
            .map(Self::Ago)
            .or_else(|| Timestamp::parse_rounding_up(&format!("{text}T00:00:00Z")).map(Self::At))
            .or_else(|| Timestamp::parse_rounding_up(text).map(Self::At))
            .ok_or(
                "not a time such as 2026-11-21T09:00:00Z, a date such as 2026-11-22, or an age such as 90s, 15m, 2h, 3d or 1w",
            )
    }

    /// Returns the instant, as seen from `now`.
    pub(crate) fn instant(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(instant) => instant,
            Self::Ago(age) => now.minus(age),
        }
    }
}

/// Longest duration.
const DURATION_MAX: Duration = Duration::from_secs(7 * 86_400);

/// Reads a duration: `90`, which is seconds, or `90s`, `15m`, `2h`, `3d`.
pub(crate) fn duration(text: &str) -> Result<Duration, &'static str> {
    let seconds = age(&format!("{text}s"));
    seconds
        .or_else(|| age(text))
        .filter(|duration| (Duration::from_secs(1)..=DURATION_MAX).contains(duration))
        .ok_or("the duration must be from one second to a week, such as 30, 90s, 10m or 2h")
}

fn age(text: &str) -> Option<Duration> {
    let (count, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };
    let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
    let count: u32 = count.parse().ok().filter(|_| is_number)?;
    Some(Duration::from_secs(seconds * u64::from(count)))
}

/// Of what time rows of a list are wanted.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Period {
    /// Select only items since this time, such as 2026-11-21T09:00:00Z, 2026-11-21 (its beginning in UTC) or 2h (two hours ago); the
    /// time of a dead letter is when it failed, that of a release run or an audit event when it was created, and that of a
    /// reconciliation when it was detected
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    since: Option<When>,

    /// Select only items before this time; a date means its beginning in UTC, and 2h means two hours ago
    #[arg(long, value_name = "WHEN", value_parser = When::parse)]
    until: Option<When>,
}

impl Period {
    /// Returns the first instant, and the one after the last, as seen from `now`.
    pub(crate) fn instants(self, now: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
        let instant = |when: Option<When>| when.map(|when| when.instant(now));
        (instant(self.since), instant(self.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_795_251_600_000_000);

    fn at(text: &str) -> Option<String> {
        Some(When::parse(text).ok()?.instant(NOW).to_string())
    }

    #[test]
    fn times_dates_and_ages_are_instants() {
        for (text, instant) in [
            ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00.000000Z"),
            ("2026-11-21T09:00:00+01:00", "2026-11-21T08:00:00.000000Z"),
            ("2026-11-22", "2026-11-22T00:00:00.000000Z"),
            ("0s", "2026-11-21T09:00:00.000000Z"),
            ("90s", "2026-11-21T08:58:30.000000Z"),
            ("15m", "2026-11-21T08:45:00.000000Z"),
            ("2h", "2026-11-21T07:00:00.000000Z"),
            ("3d", "2026-11-18T09:00:00.000000Z"),
            ("1w", "2026-11-14T09:00:00.000000Z"),
            ("4294967295w", "0001-01-01T00:00:00.000000Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(instant), "{text}");
        }
    }

    #[test]
    fn a_duration_is_in_seconds_or_has_a_unit() {
        for (text, seconds) in
            [("1", 1), ("30", 30), ("90s", 90), ("10m", 600), ("2h", 7_200), ("1w", 604_800)]
        {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "0", "0s", "-1", "1.5", "8d", "s", "1 m", "soon"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_things_is_refused() {
        for text in [
            "",
            "h",
            "2",
            "2 h",
            "+2h",
            "-2h",
            "2H",
            "1.5h",
            "2hours",
            "99999999999h",
            "yesterday",
            "2026-11-22T09:00:00",
            "2026-13-01",
            "2026-02-30",
            "22.11.2026",
            "\u{b2}h",
            "2\u{2009}h",
        ] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
