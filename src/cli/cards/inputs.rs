//! What was named on the command line: files, folders with all below them, patterns, standard input.
//! Each folder is walked once, by rising names, however the links go.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// One thing to read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// One card.
    Card(PathBuf),
    /// A card on each line.
    Lines(PathBuf),
    /// It cannot be read, and why.
    Unreadable(String, String),
    /// A folder that was walked already.
    AlreadyWalked(PathBuf),
}

/// Extensions of files with a card on each line.
const LINES: [&str; 2] = ["ndjson", "jsonl"];

/// What is still to be looked at.
enum Pending {
    /// An argument.
    Named(PathBuf),
    /// What a pattern matches.
    Matches(Box<glob::Paths>),
    /// Read whatever its ending, when it is a file.
    Path(PathBuf),
    /// Something in a folder that is walked.
    Entry(PathBuf),
}

/// Finds the files, one after the other.
pub(super) struct Finder {
    all_lines: bool,
    /// Device and inode of each folder that was walked.
    walked: HashSet<(u64, u64)>,
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
                Pending::Entry(path) => self.entry(path),
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl Finder {
    pub(super) fn new(all_lines: bool, names: &[PathBuf]) -> Self {
        let pending = names.iter().rev().cloned().map(Pending::Named).collect();
        Self { all_lines, walked: HashSet::new(), pending }
    }

    fn argument(&mut self, argument: PathBuf) -> Option<Input> {
        if argument.as_os_str() == super::STDIN {
            return Some(self.file(&argument));
        }
        let text = argument.to_string_lossy();
        // A file may have such a name, and is meant then.
        if !text.contains(['*', '?', '[']) || fs::symlink_metadata(&argument).is_ok() {
            return self.path(argument);
        }
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
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => self.folder(path, &found),
            // What is named may be a pipe. Of what a folder holds only plain files are opened, because a pipe could
            // block.
            Ok(_) => Some(self.file(&path)),
            Err(error) => Some(unreadable(&path.display().to_string(), &error)),
        }
    }

    fn entry(&mut self, path: PathBuf) -> Option<Input> {
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => self.folder(path, &found),
            Ok(found) if found.is_file() && is_card(&path) => Some(self.file(&path)),
            Err(error) if is_card(&path) => Some(unreadable(&path.display().to_string(), &error)),
            _ => None,
        }
    }

    fn folder(&mut self, folder: PathBuf, found: &fs::Metadata) -> Option<Input> {
        if !self.walked.insert((found.dev(), found.ino())) {
            return Some(Input::AlreadyWalked(folder));
        }
        match entries(&folder) {
            Ok(paths) => {
                self.pending.extend(paths.into_iter().rev().map(Pending::Entry));
                None
            }
            Err(error) => Some(unreadable(&folder.display().to_string(), &error)),
        }
    }

    /// Takes a file. Reports that are read by other tools have no use for a dot in front.
    fn file(&self, path: &Path) -> Input {
        let path = path.strip_prefix(".").unwrap_or(path).to_owned();
        let is_lines = self.all_lines || has_extension(&path, &LINES);
        if is_lines { Input::Lines(path) } else { Input::Card(path) }
    }
}

fn unreadable(name: &str, why: &dyn std::fmt::Display) -> Input {
    Input::Unreadable(name.to_owned(), why.to_string())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    // The file system's order differs between machines.
    paths.sort();
    Ok(paths)
}

fn is_card(path: &Path) -> bool {
    has_extension(path, &["json"]) || has_extension(path, &LINES)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[PathBuf], folder: &Path) -> Vec<String> {
        Finder::new(false, names)
            .map(|input| format!("{input:?}").replace(&format!("{}/", folder.display()), ""))
            .collect()
    }

    #[test]
    fn folders_are_walked_once_and_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/.well-known")).unwrap();
        for name in ["c.json", "a.jsonl", "b/.well-known/agent-card.json", "readme.md"] {
            fs::write(at(name), "").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), at("b/loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("d.json")).unwrap();
        let expected = [
            "Lines(\"a.jsonl\")",
            "Card(\"b/.well-known/agent-card.json\")",
            "AlreadyWalked(\"b/loop\")",
            "Card(\"c.json\")",
            "Unreadable(\"d.json\", \"No such file or directory (os error 2)\")",
        ];
        assert_eq!(found(&[folder.path().to_owned()], folder.path()), expected);
        let named = [at("b/.well-known"), at("*.json*"), at("b/.well-known"), at("*.md"), at("?x")];
        let expected = [
            "Card(\"b/.well-known/agent-card.json\")",
            "Lines(\"a.jsonl\")",
            "Card(\"c.json\")",
            "Unreadable(\"d.json\", \"No such file or directory (os error 2)\")",
            "AlreadyWalked(\"b/.well-known\")",
            "Card(\"readme.md\")",
            "Unreadable(\"?x\", \"no file matches\")",
        ];
        assert_eq!(found(&named, folder.path()), expected);
    }
}
