//! How JSON text is stepped over, byte by byte: white space, strings, numbers, words. Builds nothing.

/// Returns the place of the first byte that is not white space, from a place on.
pub(super) fn space(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the place of the first byte that may not stand in a string as it is: a quote, a backslash
/// or a control character. That of the end when there is none.
pub(super) fn plain(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        // Little-endian on every machine, so that the lowest bits are the first byte.
        let found = special(u64::from_le_bytes(*eight));
        if found != 0 {
            let bits = usize::try_from(found.trailing_zeros()).unwrap_or(0);
            return at + bits / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    at + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Marks the special bytes among eight. The lowest mark is exact; those above it need not be.
const fn special(eight: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    const fn zero(eight: u64) -> u64 {
        eight.wrapping_sub(ONES) & !eight
    }
    // A byte below 0x20 borrows and gets its top bit; `!eight` drops bytes that had it before, as UTF-8 has.
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    let quote = zero(eight ^ (ONES * 0x22));
    let backslash = zero(eight ^ (ONES * 0x5c));
    (control | quote | backslash) & TOPS
}

/// Returns the place behind a string that is known to be closed, given that of its opening quote.
pub(super) fn closed_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        at = plain(bytes, at);
        match bytes.get(at) {
            // The digits behind `\u` are plain bytes.
            Some(b'\\') => at += 2,
            Some(b'"') | None => return at + 1,
            Some(_) => at += 1,
        }
    }
}

/// Returns the place behind a number, or `None` when there is none by the grammar of JSON.
pub(super) fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = if bytes.get(at) == Some(&b'-') { at + 1 } else { at };
    at = match bytes.get(at) {
        // A digit behind a leading zero is left to the caller, who refuses it.
        Some(b'0') => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits(bytes, if signed { at + 2 } else { at + 1 })?;
    }
    Some(at)
}

fn digits(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    (length > 0).then_some(at + length)
}

/// Returns the four hexadecimal digits that stand at a place.
pub(super) fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    let mut value = 0;
    for byte in four {
        value = value * 16 + char::from(*byte).to_digit(16)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_stops_exactly_at_what_is_special() {
        for special in [b'"', b'\\', 0, 9, 0x1f] {
            for place in 0..20 {
                for other in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut bytes = vec![other; 20];
                    bytes[place] = special;
                    assert_eq!(plain(&bytes, 0), place, "{other} {special}");
                }
            }
        }
        assert_eq!(plain(b"abcdefghij", 3), 10);
    }

    #[test]
    fn numbers_are_those_of_json() {
        for (text, length) in
            [("0", 1), ("-0.5e+10,", 8), ("12]", 2), ("1E9", 3), ("01", 1), ("0x1", 1)]
        {
            assert_eq!(number(text.as_bytes(), 0), Some(length), "{text}");
        }
        for text in ["", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "a"] {
            assert_eq!(number(text.as_bytes(), 0), None, "{text}");
        }
    }
}
