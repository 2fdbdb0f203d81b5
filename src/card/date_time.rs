//! Instants: a calendar date, `T`, hours and minutes, optional seconds with an optional fraction, and
//! an offset. Seconds may be left out, which RFC 3339 does not allow; nothing else differs from it
//! but that letters are upper case and no leap second is known.

/// Why a text is no instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Date,
    Month,
    Day,
    Separator,
    Time,
    Hour,
    Minute,
    Second,
    Fraction,
    Offset,
    NoOffset,
    OffsetRange,
    Trailing,
}

impl Fault {
    /// Returns the reason, for a person.
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Date => "it does not begin with a date such as 2026-11-21",
            Self::Month => "there is no such month",
            Self::Day => "that month has no such day",
            Self::Separator => "an upper-case T must separate date and time",
            Self::Time => "hours and minutes such as 09:00 must follow the T",
            Self::Hour => "the hour is above 23",
            Self::Minute => "the minute is above 59",
            Self::Second => "seconds must be two digits, 00 to 59",
            Self::Fraction => "digits must follow the point of the fraction",
            Self::Offset => "the offset must be Z, or a time such as +01:00",
            Self::NoOffset => "it has no offset: it must end with Z or an offset such as +01:00",
            Self::OffsetRange => "the offset is above 23:59",
            Self::Trailing => "there is text after the offset",
        }
    }
}

pub(super) fn check(text: &[u8]) -> Result<(), Fault> {
    let rest = date(text)?;
    let rest = rest.strip_prefix(b"T").ok_or(Fault::Separator)?;
    let (hour, minute, mut rest) = hours_and_minutes(rest).ok_or(Fault::Time)?;
    within(hour, 23, Fault::Hour)?;
    within(minute, 59, Fault::Minute)?;
    if let Some(seconds) = rest.strip_prefix(b":") {
        let (second, behind) = two(seconds).ok_or(Fault::Second)?;
        within(second, 59, Fault::Second)?;
        rest = fraction(behind)?;
    }
    offset(rest)
}

fn date(text: &[u8]) -> Result<&[u8], Fault> {
    let (century, rest) = two(text).ok_or(Fault::Date)?;
    let (year, rest) = two(rest).ok_or(Fault::Date)?;
    let (month, rest) = dashed(rest).ok_or(Fault::Date)?;
    let (day, rest) = dashed(rest).ok_or(Fault::Date)?;
    let days = days(century * 100 + year, month).ok_or(Fault::Month)?;
    if day == 0 || day > days { Err(Fault::Day) } else { Ok(rest) }
}

fn dashed(text: &[u8]) -> Option<(u32, &[u8])> {
    two(text.strip_prefix(b"-")?)
}

/// Returns how many days a month has.
const fn days(year: u32, month: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 if leap => Some(29),
        2 => Some(28),
        _ => None,
    }
}

fn hours_and_minutes(text: &[u8]) -> Option<(u32, u32, &[u8])> {
    let (hour, rest) = two(text)?;
    let (minute, rest) = two(rest.strip_prefix(b":")?)?;
    Some((hour, minute, rest))
}

fn fraction(text: &[u8]) -> Result<&[u8], Fault> {
    let Some(digits) = text.strip_prefix(b".") else { return Ok(text) };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 { Err(Fault::Fraction) } else { Ok(digits.get(length..).unwrap_or_default()) }
}

fn offset(text: &[u8]) -> Result<(), Fault> {
    let rest = match text {
        [] => return Err(Fault::NoOffset),
        [b'Z', rest @ ..] => rest,
        [b'+' | b'-', rest @ ..] => {
            let (hour, minute, rest) = hours_and_minutes(rest).ok_or(Fault::Offset)?;
            within(hour, 23, Fault::OffsetRange)?;
            within(minute, 59, Fault::OffsetRange)?;
            rest
        }
        _ => return Err(Fault::Offset),
    };
    if rest.is_empty() { Ok(()) } else { Err(Fault::Trailing) }
}

/// Reads two ASCII digits.
fn two(text: &[u8]) -> Option<(u32, &[u8])> {
    let ([tens, ones], rest) = text.split_first_chunk()?;
    let digit = |byte: &u8| char::from(*byte).to_digit(10);
    Some((digit(tens)? * 10 + digit(ones)?, rest))
}

fn within(value: u32, max: u32, fault: Fault) -> Result<(), Fault> {
    if value > max { Err(fault) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_what_is_wrong() {
        for (text, fault) in [
            ("2026-11-21T09:00Z", None),
            ("2026-11-21", Some(Fault::Separator)),
            ("2023-02-29T00:00Z", Some(Fault::Day)),
            ("2026-13-01T00:00Z", Some(Fault::Month)),
            ("2026-11-21T09:00", Some(Fault::NoOffset)),
            ("2026-11-21T09:00+0100", Some(Fault::Offset)),
            ("2026-11-21T09:00+24:00", Some(Fault::OffsetRange)),
            ("2026-11-21T09:00Z\n", Some(Fault::Trailing)),
        ] {
            assert_eq!(check(text.as_bytes()).err(), fault, "{text}");
        }
    }
}
