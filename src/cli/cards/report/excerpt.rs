//! What is shown of a text around a place: the line, two lines before it and two behind it, each cut to the columns
//! there are. Text is escaped, and characters count as many columns as a terminal gives them.

use memchr::{memchr_iter, memrchr_iter};
use unicode_width::UnicodeWidthChar as _;

use crate::cli::output::escape;

/// Lines that are shown on each side.
const CONTEXT: usize = 2;
/// Bytes on each side among which lines are looked for: a text can be one long line with many findings.
const REACH: usize = 1 << 16;

/// The lines around a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Near<'a> {
    pub(super) lines: Vec<&'a str>,
    /// Number of lines before that of the place.
    pub(super) before: usize,
    /// Byte of that line at which the place is.
    pub(super) at: usize,
}

/// Finds the lines around a byte of a text.
pub(super) fn near(text: &str, offset: usize) -> Near<'_> {
    let at = text.floor_char_boundary(offset);
    let from = text.floor_char_boundary(at.saturating_sub(REACH));
    let to = text.floor_char_boundary(at.saturating_add(REACH));
    let front = text.get(from..at).unwrap_or_default();
    let rear = text.get(at..to).unwrap_or_default();
    let starts: Vec<usize> =
        memrchr_iter(b'\n', front.as_bytes()).take(CONTEXT + 1).map(|end| from + end + 1).collect();
    let ends: Vec<usize> =
        memchr_iter(b'\n', rear.as_bytes()).take(CONTEXT + 1).map(|end| at + end).collect();
    // A line that begins or ends out of reach is shown only if it is the line of the place.
    let begin = if starts.len() <= CONTEXT && from == 0 { 0 } else { at_most(&starts, from) };
    let is_last = ends.len() <= CONTEXT && to == text.len();
    let end = if is_last { text.len() } else { at_most(&ends, to) };
    let shown = text.get(begin..end).unwrap_or_default();
    let mut lines: Vec<&str> = shown.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    let before = text.get(begin..at).unwrap_or_default().matches('\n').count();
    // Behind the last line feed is no line.
    if lines.len() > before + 1 && is_last && lines.last() == Some(&"") {
        lines.pop();
    }
    Near { lines, before, at: at - starts.first().copied().unwrap_or(from) }
}

/// Returns the farthest of some places, or where the search ended.
fn at_most(places: &[usize], otherwise: usize) -> usize {
    places.last().copied().unwrap_or(otherwise)
}

/// A line that is cut around a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) shown: String,
    /// Columns before the marker.
    pub(super) indent: usize,
    /// Columns of the marker.
    pub(super) marked: usize,
}

/// Cuts a line around a byte, with `length` bytes to mark.
pub(super) fn around(line: &str, at: usize, length: usize, width: usize) -> Excerpt {
    let (front, rear) = line.split_at_checked(at).unwrap_or((line, ""));
    let all_front = columns(front.chars().rev(), width);
    let all_rear = columns(rear.chars(), width);
    // What one side does not need belongs to the other; if both need more, what follows the place tells more.
    let front_room = all_front.min((width * 2 / 5).max(width.saturating_sub(all_rear)));
    let before = fitting(front.chars().rev(), all_front, front_room);
    let behind = fitting(rear.chars(), all_rear, width - front_room);
    let mut shown = String::new();
    if before.is_cut {
        shown.push(CUT);
    }
    push_plain(&mut shown, front.get(front.len() - before.bytes..).unwrap_or_default());
    push_plain(&mut shown, rear.get(..behind.bytes).unwrap_or_default());
    if behind.is_cut {
        shown.push(CUT);
    }
    let marked = rear.char_indices().take_while(|(at, _)| *at < length.min(behind.bytes));
    let marked: usize = marked.map(|(_, char)| width_of(char)).sum();
    Excerpt { shown, indent: before.columns, marked: marked.max(1) }
}

/// Cuts a line behind its beginning.
pub(super) fn beginning(line: &str, width: usize) -> String {
    around(line, 0, 0, width).shown
}

/// Stands for what is cut off; one column wide.
const CUT: char = '…';

/// What has room of one side of a line.
struct Fitting {
    bytes: usize,
    /// Of the characters, and of what stands for those without room.
    columns: usize,
    is_cut: bool,
}

fn fitting(chars: impl Iterator<Item = char>, all: usize, room: usize) -> Fitting {
    let is_cut = all > room;
    let mut fitting = Fitting { bytes: 0, columns: usize::from(is_cut), is_cut };
    for char in chars {
        let columns = fitting.columns + width_of(char);
        if columns > room {
            break;
        }
        fitting.columns = columns;
        fitting.bytes += char.len_utf8();
    }
    fitting
}

/// Counts columns, up to the first that is too many.
fn columns(chars: impl Iterator<Item = char>, width: usize) -> usize {
    let mut sum = 0;
    for char in chars {
        sum += width_of(char);
        if sum > width {
            break;
        }
    }
    sum
}

/// Returns the columns of a character as `push_plain` writes it.
fn width_of(char: char) -> usize {
    match char {
        '\t' | ' '..='~' => 1,
        _ => escape(char.encode_utf8(&mut [0; 4])).chars().filter_map(|char| char.width()).sum(),
    }
}

/// Adds text without what would move the marker or the terminal.
fn push_plain(shown: &mut String, text: &str) {
    shown.push_str(&escape(&text.replace('\t', " ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_are_shown_on_each_side() {
        let text = "a\nb\nc\r\ndef\ng\nh\ni\n";
        let shown = |offset: usize| {
            let near = near(text, offset);
            (near.lines, near.before, near.at)
        };
        assert_eq!(shown(0), (vec!["a", "b", "c"], 0, 0));
        assert_eq!(shown(2), (vec!["a", "b", "c", "def"], 1, 0));
        assert_eq!(shown(8), (vec!["b", "c", "def", "g", "h"], 2, 1));
        assert_eq!(shown(15), (vec!["g", "h", "i"], 2, 0));
        assert_eq!(shown(99), (vec!["h", "i", ""], 2, 0));
        assert_eq!(near("", 0), Near { lines: vec![""], before: 0, at: 0 });
        // Of a line that ends out of reach, only what is near the place is taken, and no other such line.
        let long = format!("{}\nx\n{}", "é".repeat(REACH), "é".repeat(REACH));
        let found = near(&long, 2 * REACH + 1);
        assert_eq!((found.lines, found.before, found.at), (vec!["x"], 0, 0));
        let found = near(&long, 2 * REACH - 2);
        assert_eq!((found.lines.len(), found.before, found.at), (2, 0, REACH));
        assert_eq!(found.lines[1], "x");
    }

    #[test]
    fn a_line_is_cut_around_the_place() {
        let digits = "0123456789".repeat(3);
        for (line, at, length, width, shown, indent, marked) in [
            ("{\"a\":1}", 5, 1, 40, "{\"a\":1}", 5, 1),
            ("{\"a\":1}", 5, 9, 40, "{\"a\":1}", 5, 2),
            ("", 0, 0, 40, "", 0, 1),
            (&digits, 0, 2, 10, "012345678…", 0, 2),
            (&digits, 29, 1, 10, "…123456789", 9, 1),
            (&digits, 15, 2, 10, "…23456789…", 4, 2),
            (&digits, 15, 15, 10, "…23456789…", 4, 5),
            ("大大大x", 9, 1, 40, "大大大x", 6, 1),
            ("大大大大大x大大大大大", 15, 4, 10, "…大x大大…", 3, 3),
            ("\t\u{1b}x", 2, 1, 40, " \\u{1b}x", 7, 1),
            ("e\u{301}x", 3, 1, 40, "e\u{301}x", 1, 1),
        ] {
            let expected = Excerpt { shown: shown.to_owned(), indent, marked };
            assert_eq!(around(line, at, length, width), expected, "{line} {at}");
        }
        assert_eq!(beginning("0123456789", 10), "0123456789");
        assert_eq!(beginning("大大大大大大", 10), "大大大大…");
    }
}
