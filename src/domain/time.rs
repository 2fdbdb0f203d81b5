//! Instants as the product stores and shows them: integer microseconds UTC, RFC 3339 with `Z`.
//! Reading the clock is not done here.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use jiff::fmt::temporal::Pieces;

/// An instant. Shape: microseconds since 1970-01-01T00:00:00Z, within the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The greatest instant that can be shown.
    pub const MAX: Self = Self(253_402_207_199_999_999);
    /// The least instant that can be shown.
    pub const MIN: Self = Self(-62_135_596_800_000_000);

    /// Returns the instant of a count of microseconds, brought into the range that can be shown.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        if micros > Self::MAX.0 {
            Self::MAX
        } else if micros < Self::MIN.0 {
            Self::MIN
        } else {
            Self(micros)
        }
    }

    /// Returns microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the instant `delay` later, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, delay: Duration) -> Self {
        let micros = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Returns the instant `delay` earlier, at least [`Timestamp::MIN`].
    #[must_use]
    pub fn minus(self, delay: Duration) -> Self {
        let micros = i64::try_from(delay.as_micros()).unwrap_or(i64::MAX);
        Self::from_micros(self.0.saturating_sub(micros))
    }

    /// Returns the time from `earlier` to here; zero when `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads an ISO 8601 instant with an offset, `2026-11-21T09:00:00Z`. Anything finer than a microsecond is rounded up,
    /// so that an exclusive upper bound never loses the row it was taken from. What is beyond the range that can be
    /// shown becomes its end.
    #[must_use]
    pub fn parse_rounding_up(text: &str) -> Option<Self> {
        // The parser is more generous: blanks, zone names, years of six digits, leap seconds.
        let bytes = text.as_bytes();
        let is_plain = bytes.first().is_some_and(u8::is_ascii_digit)
            && bytes.get(10).is_some_and(|b| b"Tt".contains(b))
            && bytes.get(17) != Some(&b'6')
            && bytes.iter().all(|b| b.is_ascii_digit() || b"-:.TtZz+".contains(b));
        if !is_plain {
            return None;
        }
        let (text, is_finer) = cut_fraction(text);
        let pieces = Pieces::parse(text.as_ref()).ok()?;
        let (local, offset) =
            (pieces.date().to_datetime(pieces.time()?), pieces.to_numeric_offset()?);
        let Ok(instant) = offset.to_timestamp(local) else {
            // The last day of the year 9999, and the first of the year 0: the parser leaves room for offsets.
            return Some(if local.year() > 0 { Self::MAX } else { Self::MIN });
        };
        let nanos = instant.as_nanosecond();
        // The Euclidean forms round down first, before 1970 too, so that the addition always rounds up.
        let rounds_up = is_finer || nanos.rem_euclid(1_000) > 0;
        let micros = nanos.div_euclid(1_000) + i128::from(rounds_up);
        Some(Self::from_micros(i64::try_from(micros).ok()?))
    }
}

/// Digits of a fraction that the parser reads.
const FRACTION_DIGITS: usize = 9;

/// Cuts a fraction to the digits that the parser reads; says whether one that was cut away is not zero.
fn cut_fraction(text: &str) -> (Cow<'_, str>, bool) {
    let Some((whole, rest)) = text.split_once('.') else { return (text.into(), false) };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, offset) = rest.split_at(end);
    let Some((kept, cut)) = digits.split_at_checked(FRACTION_DIGITS) else {
        return (text.into(), false);
    };
    (format!("{whole}.{kept}{offset}").into(), cut.bytes().any(|digit| digit != b'0'))
}

/// How HTTP writes an instant (RFC 9110, section 5.6.7).
const HTTP_DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

impl Timestamp {
    /// Reads the instant of a header such as `Date`, `Sun, 06 Nov 1994 08:49:37 GMT`. Older forms are not read.
    #[must_use]
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let read = jiff::civil::DateTime::strptime(HTTP_DATE, text).ok()?;
        let zoned = read.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Self::from_micros(zoned.timestamp().as_microsecond()))
    }

    /// Returns it as such a header has it, without its fraction of a second.
    #[must_use]
    pub fn http_date(self) -> String {
        let instant = jiff::Timestamp::from_microsecond(self.0).unwrap_or_default();
        instant.strftime(HTTP_DATE).to_string()
    }

    /// Returns by how many seconds the clock of a server, whose `Date` arrived now, is ahead of ours; `None` if it
    /// cannot be read.
    #[must_use]
    pub fn seconds_behind(self, date: &str) -> Option<i64> {
        let ahead = Self::parse_http_date(date)?.0.saturating_sub(self.0);
        // A date has no fraction of a second: rounded up, clocks that agree are no second apart.
        Some(-(-ahead).div_euclid(1_000_000))
    }
}

/// Shown with exactly six digits: `2026-11-21T09:00:00.000001Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(instant) => write!(f, "{instant:.6}"),
            // Cannot happen within MIN and MAX, and `Display` must not panic in a log line.
            Err(_) => f.write_str("invalid"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_six_digits_and_reads_them_back() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1, "1970-01-01T00:00:00.000001Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_795_251_600_123_456, "2026-11-21T09:00:00.123456Z"),
        ] {
            let instant = Timestamp::from_micros(micros);
            assert_eq!(instant.to_string(), text);
            assert_eq!(Timestamp::parse_rounding_up(text), Some(instant));
        }
    }

    #[test]
    fn rounds_finer_instants_up() {
        let parse = |text: &str| Timestamp::parse_rounding_up(text).map(Timestamp::micros);
        assert_eq!(parse("1970-01-01T00:00:00.0000010Z"), Some(1));
        assert_eq!(parse("1970-01-01T00:00:00.0000011Z"), Some(2));
        assert_eq!(parse("1969-12-31T23:59:59.9999995Z"), Some(0));
        assert_eq!(parse("1970-01-01T01:00:00+01:00"), Some(0));
        let zeros = "0".repeat(10_000);
        assert_eq!(parse(&format!("1970-01-01T00:00:00.{zeros}Z")), Some(0));
        assert_eq!(parse(&format!("1970-01-01T00:00:00.{zeros}1Z")), Some(1));
        assert_eq!(parse(&format!("1970-01-01T00:00:00.000001{zeros}1Z")), Some(2));
        assert_eq!(parse(&format!("1969-12-31T23:59:59.9999990{zeros}1+00:00")), Some(0));
    }

    #[test]
    fn reads_lower_case_and_every_year_of_four_digits() {
        let parse = Timestamp::parse_rounding_up;
        assert_eq!(parse("1970-01-01t00:00:00z"), Some(Timestamp(0)));
        assert_eq!(parse("9999-12-30T21:59:59.999999Z"), Some(Timestamp::MAX));
        for late in [
            "9999-12-30T21:59:59.9999991Z",
            "9999-12-30T22:00:00Z",
            "9999-12-31T23:59:59.999999999Z",
            "9999-12-31T23:59:59-23:59",
        ] {
            assert_eq!(parse(late), Some(Timestamp::MAX), "{late}");
        }
        for early in ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "0000-01-01T00:00:00Z"] {
            assert_eq!(parse(early), Some(Timestamp::MIN), "{early}");
        }
    }

    #[test]
    fn reads_the_date_of_an_answer() {
        let parse = |text| Timestamp::parse_http_date(text).map(Timestamp::micros);
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777_000_000));
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        for text in [
            "",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 PST",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_an_instant() {
        for text in [
            "",
            "1",
            "now",
            "2026-11-21",
            "2026-11-21T09:00:00",
            "2026-02-30T00:00:00Z",
            "2026-11-21 09:00:00Z",
            "2026-11-21T09:00:00Z[UTC]",
            "2026-11-21T09:00:60Z",
            "-002026-11-21T09:00:00Z",
            "2026-11-21T09:00:00.Z",
            "2026-11-21T09:00:00.1.2Z",
            "2026-11-21T09:00:00.1234567890.1Z",
            "2026-11-21T09:00:00.1234567890",
            "2026-11-21T09:00:00,5Z",
            "9999-12-31T24:00:00Z",
            "10000-01-01T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse_rounding_up(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_that_agree_are_no_second_apart() {
        let now = Timestamp::from_micros(1_795_251_600_999_999);
        let date = now.http_date();
        assert_eq!(date, "Sat, 21 Nov 2026 09:00:00 GMT");
        assert_eq!(now.seconds_behind(&date), Some(0));
        let later = now.plus(Duration::from_secs(90)).http_date();
        assert_eq!(now.seconds_behind(&later), Some(90));
        assert_eq!(now.seconds_behind("yesterday"), None);
    }

    #[test]
    fn the_bounds_can_be_shown() {
        assert_ne!(Timestamp::MAX.to_string(), "invalid");
        assert_ne!(Timestamp::MIN.to_string(), "invalid");
        assert_eq!(Timestamp::MAX.plus(Duration::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.minus(Duration::MAX), Timestamp::MIN);
    }
}
