//! Places in a text: lines and columns for people, bytes for programs.

use memchr::{memchr_iter, memrchr};

/// Where something stands. Line and column count from 1; a column is a character (a Unicode scalar
/// value), whatever its width, and a byte order mark is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1; lines end with a line feed.
    pub line: u64,
    /// From 1, in characters.
    pub column: u64,
    /// From 0, in bytes of the text.
    pub offset: usize,
}

/// Turns byte offsets into places, in one walk as long as they rise.
pub(super) struct Reader<'a> {
    text: &'a str,
    place: Position,
}

fn count(items: impl Iterator) -> u64 {
    u64::try_from(items.count()).unwrap_or(u64::MAX)
}

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, place: Position { line: 1, column: 1, offset: 0 } }
    }

    /// Returns the place of a byte; that of the end when there are fewer.
    pub(super) fn place(&mut self, offset: usize) -> Position {
        // Rare: findings are sorted by their places.
        if offset < self.place.offset {
            *self = Self::new(self.text);
        }
        let mut ahead = self.text.as_bytes().get(self.place.offset..offset).unwrap_or_default();
        if let Some(end) = memrchr(b'\n', ahead) {
            self.place.line += count(memchr_iter(b'\n', ahead));
            self.place.column = 1;
            ahead = ahead.get(end + 1..).unwrap_or_default();
        }
        // A character has one byte that does not continue another.
        self.place.column += count(ahead.iter().filter(|byte| **byte & 0xc0 != 0x80));
        self.place.offset = offset;
        self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters() {
        let mut reader = Reader::new("aü😀\nb");
        assert_eq!(reader.place(7), Position { line: 1, column: 4, offset: 7 });
        assert_eq!(reader.place(9), Position { line: 2, column: 2, offset: 9 });
        assert_eq!(reader.place(1), Position { line: 1, column: 2, offset: 1 });
    }
}
