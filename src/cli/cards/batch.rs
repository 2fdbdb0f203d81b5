//! Pieces of a run that are checked by themselves: some files, or some lines of one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge::Judge;
use super::lines::{Lines, Piece};
use super::report::{Checked, Style, Tally};
use crate::api::CardReport;
use crate::card::{self, Report};
use crate::cli::error::Error;

/// One piece of work.
pub(super) enum Work {
    Cards(Vec<PathBuf>),
    Lines(Arc<str>, Piece),
    Unreadable(String, String),
    Note(String),
}

/// What came of a piece.
#[derive(Default)]
pub(super) struct Done {
    pub(super) text: String,
    pub(super) tally: Tally,
}

/// Has pieces judged, and writes what is to be said.
pub(super) struct Checker {
    pub(super) style: Arc<dyn Style>,
    pub(super) judge: Judge,
    pub(super) bytes_max: u64,
}

impl Checker {
    pub(super) fn check(&self, work: Work) -> Result<Done, Error> {
        let mut done = Done::default();
        match work {
            Work::Cards(paths) => {
                paths.iter().try_for_each(|path| self.file(path, &mut done))?;
            }
            Work::Lines(name, piece) => self.lines(&name, &piece, &mut done)?,
            Work::Unreadable(name, why) => self.unreadable(&name, why, &mut done),
            Work::Note(note) => done.tally.notes.push(note),
        }
        Ok(done)
    }

    fn file(&self, path: &Path, done: &mut Done) -> Result<(), Error> {
        let name = path.to_string_lossy();
        let (bytes, report) = match super::read(path, self.bytes_max) {
            Ok(Some(bytes)) => {
                let report = self.judge.one(&bytes)?;
                (bytes, report)
            }
            Ok(None) => (Vec::new(), self.too_large(None)),
            Err(error) => {
                self.unreadable(&name, error.to_string(), done);
                return Ok(());
            }
        };
        let mut group = Group::new(self, &name);
        group.tell(&bytes, &report);
        group.end(done);
        Ok(())
    }

    fn lines(&self, name: &str, piece: &Piece, done: &mut Done) -> Result<(), Error> {
        let mut group = Group::new(self, name);
        match &piece.lines {
            Lines::TooLong => group.tell(&[], &self.too_large(Some(piece.first))),
            Lines::Whole(text) => {
                let mut lines = Vec::new();
                for (number, line) in card::lines(text) {
                    let number = number + piece.first - 1;
                    if u64::try_from(line.len()).is_ok_and(|length| length <= self.bytes_max) {
                        lines.push((number, line));
                        continue;
                    }
                    self.judge.lines(&lines, &mut |line, report| group.tell(line, &report))?;
                    lines.clear();
                    group.tell(line, &self.too_large(Some(number)));
                }
                self.judge.lines(&lines, &mut |line, report| group.tell(line, &report))?;
            }
        }
        group.end(done);
        Ok(())
    }

    fn too_large(&self, line: Option<u64>) -> CardReport {
        CardReport::new(Report::too_large(self.bytes_max), line)
    }

    fn unreadable(&self, name: &str, why: String, done: &mut Done) {
        let mut group = Group::new(self, name);
        self.style.unreadable(name, &why, &mut group.inside);
        group.part.unreadable.push((name.to_owned(), why));
        group.end(done);
    }
}

/// What belongs to one file, or to a part of a long one.
struct Group<'a> {
    style: &'a dyn Style,
    name: &'a str,
    part: Tally,
    inside: String,
}

impl<'a> Group<'a> {
    fn new(checker: &'a Checker, name: &'a str) -> Self {
        Self { style: &*checker.style, name, part: Tally::default(), inside: String::new() }
    }

    fn tell(&mut self, bytes: &[u8], report: &CardReport) {
        self.part.count(report);
        self.style.card(&Checked { name: self.name, bytes, report }, &mut self.inside);
    }

    fn end(self, done: &mut Done) {
        done.text.push_str(&self.style.group(self.name, &self.part, self.inside));
        done.tally.add(self.part);
    }
}
