//! Pieces of a run that are checked by themselves: some files, or some lines of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lines::{Lines, Piece};
use super::report::{Checked, Style, Tally};
use crate::card::{self, Report};

/// One piece of work.
pub(super) enum Work {
    Cards(Vec<PathBuf>),
    Lines(Arc<str>, Piece),
    Unreadable(String, String),
    Note(String),
}

/// What came of a piece.
pub(super) struct Done {
    pub(super) text: String,
    pub(super) tally: Tally,
}

/// Checks pieces and writes what is to be said.
pub(super) struct Checker {
    pub(super) style: Arc<dyn Style>,
    pub(super) bytes_max: u64,
}

impl Checker {
    pub(super) fn check(&self, work: Work) -> Done {
        let mut done = Done { text: String::new(), tally: Tally::default() };
        match work {
            Work::Cards(paths) => paths.iter().for_each(|path| self.file(path, &mut done)),
            Work::Lines(name, piece) => self.lines(&name, &piece, &mut done),
            Work::Unreadable(name, why) => self.unreadable(&name, why, &mut done),
            Work::Note(note) => done.tally.notes.push(note),
        }
        done
    }

    fn file(&self, path: &Path, done: &mut Done) {
        let name = path.to_string_lossy();
        let (bytes, report) = match super::read(path, self.bytes_max) {
            Ok(Some(bytes)) => {
                let report = judge(&bytes);
                (bytes, report)
            }
            Ok(None) => (Vec::new(), Report::too_large(self.bytes_max)),
            Err(error) => return self.unreadable(&name, error.to_string(), done),
        };
        let card = Checked { name: &name, line: None, bytes: &bytes, report: &report };
        let mut part = Tally::default();
        let mut inside = String::new();
        self.tell(&card, &mut part, &mut inside);
        self.group(&name, part, inside, done);
    }

    fn lines(&self, name: &str, piece: &Piece, done: &mut Done) {
        let (mut part, mut inside) = (Tally::default(), String::new());
        match &piece.lines {
            Lines::TooLong => {
                let report = Report::too_large(self.bytes_max);
                let line = Some(piece.first);
                let card = Checked { name, line, bytes: &[], report: &report };
                self.tell(&card, &mut part, &mut inside);
            }
            Lines::Whole(bytes) => {
                for (number, line) in (piece.first..).zip(bytes.split_inclusive(is_line_end)) {
                    self.line(name, number, line, &mut part, &mut inside);
                }
            }
        }
        self.group(name, part, inside, done);
    }

    /// Checks one line; an empty one is no card.
    fn line(&self, name: &str, number: u64, line: &[u8], part: &mut Tally, inside: &mut String) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        let is_too_long = u64::try_from(line.len()).is_ok_and(|length| length > self.bytes_max);
        let report = if is_too_long { Report::too_large(self.bytes_max) } else { judge(line) };
        let card = Checked { name, line: Some(number), bytes: line, report: &report };
        self.tell(&card, part, inside);
    }

    fn unreadable(&self, name: &str, why: String, done: &mut Done) {
        let (mut part, mut inside) = (Tally::default(), String::new());
        self.style.unreadable(name, &why, &mut inside);
        part.unreadable.push((name.to_owned(), why));
        self.group(name, part, inside, done);
    }

    fn tell(&self, card: &Checked<'_>, part: &mut Tally, inside: &mut String) {
        part.count(card.report);
        self.style.card(card, inside);
    }

    fn group(&self, name: &str, part: Tally, inside: String, done: &mut Done) {
        done.text.push_str(&self.style.group(name, &part, inside));
        done.tally.add(part);
    }
}

/// Decides about one card: who that is stands here and nowhere else.
fn judge(card: &[u8]) -> Report {
    card::check(card)
}

fn is_line_end(byte: &u8) -> bool {
    *byte == b'\n'
}
