//! What was named on the command line: files, folders with all below them, patterns, standard input.
//! Each folder is walked once, by rising names, however the links go.
//!
//! What is left out: `docs/decisions/109-card-folders.md`.

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, Walk, WalkBuilder};

use super::selection::Selection;
use super::walked::Walked;
use crate::cli::error::Error;
use crate::runtime::mutex::lock;

#[cfg(test)]
mod tests;

/// One thing to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// One card.
    Card(CardPath),
    /// A card on each line.
    Lines(PathBuf),
    /// It cannot be read, and why.
    Unreadable(String, String),
    /// A folder that was named, and has nothing to read.
    NoCard(PathBuf),
    /// A folder that was walked already.
    AlreadyWalked(PathBuf),
}

/// Where a card is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CardPath {
    pub(super) path: PathBuf,
    /// The folder that was searched, unless the file itself was named.
    pub(super) folder: Option<PathBuf>,
}

/// Extensions of files with a card on each line.
const LINES: [&str; 2] = ["ndjson", "jsonl"];

/// Folders that are never walked unless asked for: what is in them is not the user's own.
const NOT_OURS: [&str; 2] = [".git", "node_modules"];

/// What is still to be looked at.
enum Pending {
    /// An argument.
    Named(PathBuf),
    /// What a pattern matches.
    Matches(Box<glob::Paths>),
    /// Read whatever its ending, when it is a file.
    Path(PathBuf),
    /// What is below a folder.
    Folder(Box<Walk>),
    /// Something below a folder.
    Entry(Result<DirEntry, ignore::Error>),
    /// A folder that was walked already.
    AlreadyWalked(PathBuf),
}

/// Finds the files, one after the other.
pub(super) struct Finder {
    all_lines: bool,
    ignores: bool,
    excluded: Arc<Gitignore>,
    walked: Arc<Mutex<Walked>>,
    /// What comes next is last.
    pending: Vec<Pending>,
}

impl Iterator for Finder {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        loop {
            let found = match self.pending.pop()? {
                Pending::Named(argument) => self.argument(argument),
                Pending::Matches(paths) => self.matches(paths),
                Pending::Path(path) => self.path(path),
                Pending::Folder(walk) => self.walk(walk),
                Pending::Entry(entry) => self.entry(entry),
                Pending::AlreadyWalked(folder) => Some(Input::AlreadyWalked(folder)),
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl Finder {
    pub(super) fn new(
        all_lines: bool,
        names: &[PathBuf],
        selection: &Selection,
    ) -> Result<Self, Error> {
        let pending = names.iter().rev().cloned().map(Pending::Named).collect();
        Ok(Self {
            all_lines,
            ignores: selection.ignores(),
            excluded: Arc::new(selection.excluded()?),
            walked: Arc::default(),
            pending,
        })
    }

    /// Counts the cards, if each is a file of its own.
    pub(super) fn cards(mut self) -> Option<u64> {
        self.try_fold(0, |cards, input| match input {
            Input::Card(_) => Some(cards + 1),
            Input::Unreadable(..) | Input::NoCard(_) | Input::AlreadyWalked(_) => Some(cards),
            Input::Lines(_) => None,
        })
    }

    fn argument(&mut self, argument: PathBuf) -> Option<Input> {
        if argument.as_os_str() == super::STDIN {
            return Some(self.input(argument, None));
        }
        if !is_pattern(&argument) {
            return self.path(argument);
        }
        let text = argument.to_string_lossy();
        let mut paths = match glob::glob(&text) {
            Ok(paths) => Box::new(paths),
            Err(error) => return Some(unreadable(&text, &error)),
        };
        let Some(first) = paths.next() else {
            return Some(unreadable(&text, &"no file matches"));
        };
        self.pending.push(Pending::Matches(paths));
        self.matched(first)
    }

    fn matches(&mut self, mut paths: Box<glob::Paths>) -> Option<Input> {
        let next = paths.next()?;
        // Below what `matched` pushes: a folder is walked before the next match.
        self.pending.push(Pending::Matches(paths));
        self.matched(next)
    }

    fn matched(&mut self, path: glob::GlobResult) -> Option<Input> {
        match path {
            Ok(path) => {
                self.pending.push(Pending::Path(path));
                None
            }
            Err(error) => Some(unreadable(&error.path().display().to_string(), error.error())),
        }
    }

    fn path(&mut self, path: PathBuf) -> Option<Input> {
        let found = match fs::metadata(&path) {
            Ok(found) => found,
            Err(error) => return Some(unreadable(&path.display().to_string(), &error)),
        };
        // A path that is named is left out with a folder that it is in, as it is when that folder is walked.
        let is_dir = |above: usize| above > 0 || found.is_dir();
        let mut steps = path.ancestors().enumerate();
        if steps.any(|(above, path)| self.excluded.matched(path, is_dir(above)).is_ignore()) {
            return None;
        }
        if found.is_dir() {
            if self.has_nothing(&path, &found) {
                return Some(Input::NoCard(path));
            }
            self.folder(path, &found);
            return None;
        }
        // What is named may be a pipe. Of what a folder holds only plain files are opened, because a pipe could
        // block.
        Some(self.file(&path, None))
    }

    /// Says whether there is nothing to read in a folder, whatever was read before.
    fn has_nothing(&self, folder: &Path, found: &fs::Metadata) -> bool {
        let excluded = Arc::clone(&self.excluded);
        let mut search = Self { excluded, walked: Arc::default(), pending: Vec::new(), ..*self };
        search.folder(folder.to_owned(), found);
        // The search ends with the first card.
        search.all(|input| matches!(input, Input::AlreadyWalked(_)))
    }

    fn folder(&mut self, folder: PathBuf, found: &fs::Metadata) {
        if !lock(&self.walked).begin(&folder, found) {
            return self.tell_again();
        }
        let (ignores, excluded) = (self.ignores, Arc::clone(&self.excluded));
        let walked = Arc::clone(&self.walked);
        let is_wanted = move |entry: &DirEntry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_ours = !ignores || !NOT_OURS.iter().any(|name| entry.file_name() == *name);
            is_ours
                && !excluded.matched(entry.path(), is_dir).is_ignore()
                // One that cannot be asked is walked, which says why it cannot be read.
                && !(is_dir
                    && entry.metadata().is_ok_and(|found| !lock(&walked).begin(entry.path(), &found)))
        };
        let walk = WalkBuilder::new(folder)
            .standard_filters(ignores)
            // `.well-known` is where cards are published.
            .hidden(false)
            // What one person ignores everywhere would make a report that others do not get.
            .git_global(false)
            .follow_links(true)
            // The file system's order differs between machines.
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(is_wanted)
            .build();
        self.pending.push(Pending::Folder(Box::new(walk)));
    }

    fn walk(&mut self, mut walk: Box<Walk>) -> Option<Input> {
        let next = walk.next();
        if let Some(entry) = next {
            self.pending.push(Pending::Folder(walk));
            self.pending.push(Pending::Entry(entry));
        }
        // They come before that entry.
        self.tell_again();
        None
    }

    fn tell_again(&mut self) {
        let again = lock(&self.walked).take_again();
        self.pending.extend(again.into_iter().rev().map(Pending::AlreadyWalked));
    }

    fn entry(&self, entry: Result<DirEntry, ignore::Error>) -> Option<Input> {
        match entry {
            Ok(entry) => {
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                let folder = || entry.path().ancestors().nth(entry.depth()).map(Path::to_owned);
                (is_file && is_card(entry.path())).then(|| self.file(entry.path(), folder()))
            }
            // Only what the walk itself says has a depth.
            Err(ignore::Error::WithPath { path, err }) if err.depth().is_some() => {
                // A link that leads nowhere is no folder that could have held cards.
                let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
                let is_meant = (is_card(&path) || !is_link)
                    && !self.excluded.matched(&path, false).is_ignore();
                let why = err.into_io_error()?;
                // The path stands in front of the cause, and would be said twice.
                let why = why.source().map_or_else(|| why.to_string(), ToString::to_string);
                is_meant.then(|| unreadable(&path.display().to_string(), &why))
            }
            Err(ignore::Error::WithDepth { err, .. }) => match *err {
                ignore::Error::Loop { child, .. } => Some(Input::AlreadyWalked(child)),
                _ => None,
            },
            // A .gitignore file that cannot be read, or has a line that is no pattern: git passes over it as well.
            Err(_) => None,
        }
    }

    /// Takes a file. Reports that are read by other tools have no use for a dot in front.
    fn file(&self, path: &Path, folder: Option<PathBuf>) -> Input {
        let path = path.strip_prefix(".").unwrap_or(path);
        // Without the dot, it would be standard input.
        let path = if path == super::STDIN { Path::new(".").join(path) } else { path.to_owned() };
        self.input(path, folder)
    }

    fn input(&self, path: PathBuf, folder: Option<PathBuf>) -> Input {
        let is_lines = self.all_lines || has_extension(&path, &LINES);
        if is_lines { Input::Lines(path) } else { Input::Card(CardPath { path, folder }) }
    }
}

/// Returns the file that is named, if it is one file with one card, or standard input.
pub(super) fn one_file(names: &[PathBuf]) -> Option<&Path> {
    let [name] = names else { return None };
    let is_one = !is_pattern(name) && !has_extension(name, &LINES) && !name.is_dir();
    is_one.then_some(name)
}

/// Says whether an argument is a pattern. A file may have such a name, and is meant then.
fn is_pattern(argument: &Path) -> bool {
    let text = argument.to_string_lossy();
    text.contains(['*', '?', '[']) && fs::symlink_metadata(argument).is_err()
}

fn unreadable(name: &str, why: &dyn std::fmt::Display) -> Input {
    Input::Unreadable(name.to_owned(), why.to_string())
}

fn is_card(path: &Path) -> bool {
    has_extension(path, &["json"]) || has_extension(path, &LINES)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
}
