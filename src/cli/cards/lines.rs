//! NDJSON in pieces of whole lines, in constant memory however long the stream or a line is.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

/// Some whole lines of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Number of the first line, from 1.
    pub(super) first: u64,
    pub(super) lines: Lines,
}

/// What a piece holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Lines with their ends; the last one of a stream may have none.
    Whole(Vec<u8>),
    /// One line that is longer than is read.
    TooLong,
}

/// Reads a stream piece by piece.
pub(super) struct Pieces<R> {
    stream: R,
    /// Bytes that are read at once.
    piece: usize,
    /// Longest line.
    bytes_max: usize,
    next: u64,
    rest: Vec<u8>,
    /// The line that is being read was given up.
    skipping: bool,
    ended: bool,
}

impl<R: Read> Pieces<R> {
    pub(super) fn new(stream: R, piece: usize, bytes_max: usize) -> Self {
        Self { stream, piece, bytes_max, next: 1, rest: Vec::new(), skipping: false, ended: false }
    }

    /// Returns the next lines as soon as there are any.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece>> {
        loop {
            if self.ended {
                let rest = std::mem::take(&mut self.rest);
                return Ok((!rest.is_empty()).then(|| self.piece(rest)));
            }
            let before = self.rest.len();
            self.rest.resize(before + self.piece, 0);
            let read = self.stream.read(self.rest.get_mut(before..).unwrap_or_default());
            let read = match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Ok(0) => {
                    self.ended = true;
                    0
                }
                other => other?,
            };
            self.rest.truncate(before + read);
            if let Some(piece) = self.cut(before) {
                return Ok(Some(piece));
            }
        }
    }

    /// Cuts whole lines off what was read; only what lies behind `from` is news.
    fn cut(&mut self, from: usize) -> Option<Piece> {
        if self.skipping {
            let end = memchr(b'\n', &self.rest);
            self.skipping = end.is_none();
            let kept = end.map_or(self.rest.len(), |end| end + 1);
            drop(self.rest.drain(..kept));
        }
        let news = self.rest.get(from.min(self.rest.len())..).unwrap_or_default();
        // Found byte by byte, the ends of lines took a third of the time of a valid stream.
        let end = memrchr(b'\n', news);
        let end = end.map(|end| from.min(self.rest.len()) + end + 1);
        if let Some(end) = end {
            let behind = self.rest.split_off(end);
            let lines = std::mem::replace(&mut self.rest, behind);
            return Some(self.piece(lines));
        }
        if self.rest.len() <= self.bytes_max {
            return None;
        }
        // What follows is dropped as it comes, so that a line of any length takes no more memory.
        self.rest = Vec::new();
        self.skipping = true;
        let first = self.next;
        self.next += 1;
        Some(Piece { first, lines: Lines::TooLong })
    }

    fn piece(&mut self, lines: Vec<u8>) -> Piece {
        let first = self.next;
        let ends = memchr_iter(b'\n', &lines).count();
        self.next += u64::try_from(ends).unwrap_or(u64::MAX);
        Piece { first, lines: Lines::Whole(lines) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.0.len().min(3).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn pieces(text: &str, bytes_max: usize) -> Vec<(u64, String)> {
        let mut pieces = Pieces::new(Slow(text.as_bytes()), 64, bytes_max);
        let mut all = Vec::new();
        while let Some(piece) = pieces.next().unwrap() {
            all.push(match piece.lines {
                Lines::Whole(lines) => (piece.first, String::from_utf8(lines).unwrap()),
                Lines::TooLong => (piece.first, "too long".to_owned()),
            });
        }
        all
    }

    fn of(expected: &[(u64, &str)]) -> Vec<(u64, String)> {
        expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    }

    #[test]
    fn lines_stay_whole_and_numbered() {
        assert_eq!(pieces("", 9), of(&[]));
        assert_eq!(pieces("ab", 9), of(&[(1, "ab")]));
        assert_eq!(pieces("a\nbcd\n\ne", 9), of(&[(1, "a\n"), (2, "bcd\n"), (3, "\n"), (4, "e")]));
    }

    #[test]
    fn a_line_that_is_too_long_is_stepped_over() {
        let expected = of(&[(1, "a\n"), (2, "too long"), (3, "b\n")]);
        assert_eq!(pieces("a\nxxxxxxxxxxxxx\nb\n", 4), expected);
        assert_eq!(pieces("xxxxxxxxxxx", 4), of(&[(1, "too long")]));
    }
}
