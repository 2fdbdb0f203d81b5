//! Pieces of a run that are checked by themselves: some files, or some lines of one.

use std::sync::Arc;

use super::explain;
use super::fix::Fixer;
use super::inputs::CardPath;
use super::lines::{Lines, Piece};
use super::report::{Checked, Counts, Reporter};
use super::validator::Validator;
use crate::api::CardReport;
use crate::card::{self, ValidationReport};
use crate::cli::error::Error;

/// One piece of work.
pub(super) enum Work {
    Cards(Vec<CardPath>),
    Lines(Arc<str>, Piece),
    Unreadable(String, String),
    Note(String),
}

/// What came of a piece.
#[derive(Default)]
pub(super) struct Done {
    pub(super) text: String,
    /// For standard output, when the text does not go there.
    pub(super) out: Vec<u8>,
    pub(super) counts: Counts,
    /// Why the rest of the piece was not checked.
    pub(super) failed: Option<Error>,
}

/// Has pieces judged, and writes what is to be said.
pub(super) struct Checker {
    pub(super) reporter: Arc<dyn Reporter>,
    pub(super) validator: Validator,
    pub(super) fixer: Option<Fixer>,
    pub(super) bytes_max: u64,
}

impl Checker {
    pub(super) fn check(&self, work: Work) -> Done {
        let mut done = Done::default();
        let checked = match work {
            Work::Cards(files) => files.iter().try_for_each(|file| self.file(file, &mut done)),
            Work::Lines(name, piece) => self.lines(&name, &piece, &mut done),
            Work::Unreadable(name, why) => {
                self.unreadable(&name, why, &mut done);
                Ok(())
            }
            Work::Note(note) => {
                done.counts.notes.push(note);
                Ok(())
            }
        };
        // Beside what came of the piece until then, because files may have been written.
        done.failed = checked.err();
        done
    }

    fn file(&self, file: &CardPath, done: &mut Done) -> Result<(), Error> {
        let path = &file.path;
        let name = path.to_string_lossy();
        let (bytes, report) = match super::read(path, self.bytes_max) {
            Ok(Some(bytes)) => {
                let report = self.validator.one(&bytes)?;
                self.fixed(file, bytes, report, done)?
            }
            Ok(None) => (Vec::new(), self.too_large(None)),
            Err(error) => {
                self.unreadable(&name, error.to_string(), done);
                return Ok(());
            }
        };
        let mut group = Group::new(self, &name);
        group.tell(&bytes, &report);
        // Only of what is not valid, so that a valid card is read once.
        if !report.valid && card::dialect(&bytes).is_some_and(|(dialect, _)| dialect.is_official())
        {
            let file = explain::operand(path);
            group.part.notes.push(format!(
                "{name} looks like an official A2A card; to see the differences: svcctl cards \
                 explain {file}; to try to convert it: svcctl cards convert --to current {file}"
            ));
        }
        group.end(done);
        Ok(())
    }

    /// Returns a card and its report as they are after what is done about its findings.
    fn fixed(
        &self,
        file: &CardPath,
        bytes: Vec<u8>,
        report: CardReport,
        done: &mut Done,
    ) -> Result<(Vec<u8>, CardReport), Error> {
        let Some(fixer) = self.fixer else { return Ok((bytes, report)) };
        let said = (&mut done.counts, &mut done.out);
        let fixed = fixer.fix(file, &bytes, &report, &self.validator, said)?;
        Ok(fixed.map_or((bytes, report), |(text, report)| (text.into_bytes(), report)))
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
                    // What comes before it is reported first, so that the reports keep their order.
                    self.validator.lines(&lines, &mut |line, report| group.tell(line, &report))?;
                    lines.clear();
                    group.tell(line, &self.too_large(Some(number)));
                }
                self.validator.lines(&lines, &mut |line, report| group.tell(line, &report))?;
            }
        }
        group.end(done);
        Ok(())
    }

    fn too_large(&self, line: Option<u64>) -> CardReport {
        CardReport::new(ValidationReport::too_large(self.bytes_max), line)
    }

    fn unreadable(&self, name: &str, why: String, done: &mut Done) {
        let mut group = Group::new(self, name);
        self.reporter.unreadable(name, &why, &mut group.inside);
        group.part.unreadable.push((name.to_owned(), why));
        group.end(done);
    }
}

/// What belongs to one file, or to a part of a long one.
struct Group<'a> {
    reporter: &'a dyn Reporter,
    name: &'a str,
    part: Counts,
    inside: String,
}

impl<'a> Group<'a> {
    fn new(checker: &'a Checker, name: &'a str) -> Self {
        Self { reporter: &*checker.reporter, name, part: Counts::default(), inside: String::new() }
    }

    fn tell(&mut self, bytes: &[u8], report: &CardReport) {
        self.part.count(report);
        self.reporter.card(&Checked { name: self.name, bytes, report }, &mut self.inside);
    }

    fn end(self, done: &mut Done) {
        done.text.push_str(&self.reporter.group(self.name, &self.part, self.inside));
        done.counts.add(self.part);
    }
}
