//! NDJSON: a card on each line. Which lines there are, for every reader of them.

use memchr::memchr;

/// Returns every line that is to be a card, with its number from 1 and without its end. One that is
/// empty, or has nothing but the carriage return of its end, is skipped.
pub fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..)
        .zip(whole(text))
        .map(|(number, line)| (number, without_end(line)))
        .filter(|(_, line)| !line.is_empty())
}

/// Cuts a text behind the end of every line.
fn whole(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let (line, behind) = rest.split_at(end);
        rest = behind;
        // The last line may lack its end, and a text that ends with a line feed has no further line.
        (!line.is_empty()).then_some(line)
    })
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_are_counted_and_skipped() {
        let text = b"a\n\n\r\nb\r\n\r\r\n \nc\r";
        let expected: [(u64, &[u8]); 5] = [(1, b"a"), (4, b"b"), (5, b"\r"), (6, b" "), (7, b"c")];
        assert_eq!(lines(text).collect::<Vec<_>>(), expected);
        assert_eq!(lines(b"").count(), 0);
    }
}
