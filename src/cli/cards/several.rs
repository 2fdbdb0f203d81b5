//! Commands about one card that are given several files or folders: one card after the other, and what came of all.

use std::path::PathBuf;

use super::inputs::{Finder, Input};
use super::selection::Selection;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;

/// One file.
pub(super) struct CardFile {
    pub(super) path: PathBuf,
    /// It has a card on each line.
    pub(super) has_lines: bool,
}

/// What came of the cards so far.
pub(super) struct Outcome {
    output: Output,
    cards: u64,
    exit: Exit,
}

impl Outcome {
    pub(super) fn new(output: Output) -> Self {
        Self { output, cards: 0, exit: Exit::Done }
    }

    /// Returns all files, and reports what cannot be read.
    pub(super) fn files(&mut self, names: &[PathBuf]) -> Result<Vec<CardFile>, Error> {
        let mut files = Vec::new();
        for input in Finder::new(false, names, &Selection::default())? {
            match input {
                Input::Card(card) => files.push(CardFile { path: card.path, has_lines: false }),
                Input::Lines(path) => files.push(CardFile { path, has_lines: true }),
                Input::Unreadable(name, why) => {
                    let message = format!("cannot read {name}: {why}");
                    self.failed(&Error::new(Exit::LocalFile, message));
                }
                Input::NoCard(folder) => {
                    let message = format!(
                        "no card was found in {}; to read an ignored file, name it on the command line",
                        folder.display()
                    );
                    self.failed(&Error::new(Exit::LocalFile, message));
                }
                Input::AlreadyWalked(folder) => {
                    let note = format!("{} has already been searched", folder.display());
                    self.output.remark("note", &note);
                }
            }
        }
        Ok(files)
    }

    /// Counts a card.
    pub(super) fn add(&mut self, exit: Exit) {
        self.cards += 1;
        self.raise(exit);
    }

    /// Reports a failure that concerns one file only; the others are still to be done.
    pub(super) fn failed(&mut self, error: &Error) {
        self.output.failure(error);
        self.raise(error.exit());
    }

    /// Of several codes, the highest says most: one above 63 means that something was not done at all.
    fn raise(&mut self, exit: Exit) {
        if exit.code() > self.exit.code() {
            self.exit = exit;
        }
    }

    /// Returns how the command ends.
    pub(super) fn end(self) -> Result<Exit, Error> {
        // A run over nothing must not pass, or a misspelt path would go unnoticed.
        if self.cards == 0 && self.exit == Exit::Done {
            return Err(no_card());
        }
        Ok(self.exit)
    }
}

pub(super) fn no_card() -> Error {
    Error::new(Exit::LocalFile, "there is no card in the files and folders given")
}
