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
    Again(PathBuf),
}

/// Endings of files with a card on each line.
const LINES: [&str; 2] = ["ndjson", "jsonl"];

/// Finds the files, and sends each on as soon as it is found.
pub(super) struct Finder<'a> {
    all_lines: bool,
    /// Device and inode of each folder that was walked.
    walked: HashSet<(u64, u64)>,
    send: &'a mut dyn FnMut(Input),
}

impl<'a> Finder<'a> {
    pub(super) fn new(all_lines: bool, send: &'a mut dyn FnMut(Input)) -> Self {
        Self { all_lines, walked: HashSet::new(), send }
    }

    /// Finds what one argument names.
    pub(super) fn find(&mut self, argument: &Path) {
        if argument.as_os_str() == super::STDIN {
            return self.file(argument.to_owned());
        }
        let text = argument.to_string_lossy();
        let is_pattern = text.contains(['*', '?', '[']) && fs::symlink_metadata(argument).is_err();
        match is_pattern {
            true => self.matches(&text),
            false => self.path(argument.to_owned()),
        }
    }

    fn matches(&mut self, pattern: &str) {
        let paths = match glob::glob(pattern) {
            Ok(paths) => paths,
            Err(error) => return self.unreadable(pattern, &error),
        };
        let mut is_empty = true;
        for path in paths {
            is_empty = false;
            match path {
                Ok(path) => self.path(path),
                Err(error) => self.unreadable(&error.path().display().to_string(), error.error()),
            }
        }
        if is_empty {
            self.unreadable(pattern, &"no file has such a name");
        }
    }

    /// Takes a file that was named, whatever its ending, and walks a folder.
    fn path(&mut self, path: PathBuf) {
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => self.folder(&path, (found.dev(), found.ino())),
            Ok(_) => self.file(path),
            Err(error) => self.unreadable(&path.display().to_string(), &error),
        }
    }

    fn folder(&mut self, folder: &Path, identity: (u64, u64)) {
        if !self.walked.insert(identity) {
            return (self.send)(Input::Again(folder.to_owned()));
        }
        let paths = match entries(folder) {
            Ok(paths) => paths,
            Err(error) => return self.unreadable(&folder.display().to_string(), &error),
        };
        for path in paths {
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() => self.folder(&path, (found.dev(), found.ino())),
                Ok(found) if found.is_file() && is_card(&path) => self.file(path),
                Err(error) if is_card(&path) => {
                    self.unreadable(&path.display().to_string(), &error);
                }
                _ => {}
            }
        }
    }

    /// Sends a file. Reports that are read by other tools have no use for a dot in front.
    fn file(&mut self, path: PathBuf) {
        let path = path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_owned);
        let is_lines = self.all_lines || has_ending(&path, &LINES);
        (self.send)(if is_lines { Input::Lines(path) } else { Input::Card(path) });
    }

    fn unreadable(&mut self, name: &str, why: &dyn std::fmt::Display) {
        (self.send)(Input::Unreadable(name.to_owned(), why.to_string()));
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn is_card(path: &Path) -> bool {
    has_ending(path, &["json"]) || has_ending(path, &LINES)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        let mut send = |input| {
            names.push(format!("{input:?}").replace(&format!("{}/", folder.display()), ""));
        };
        Finder::new(false, &mut send).find(folder);
        names
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
            "Again(\"b/loop\")",
            "Card(\"c.json\")",
            "Unreadable(\"d.json\", \"No such file or directory (os error 2)\")",
        ];
        assert_eq!(found(folder.path()), expected);
    }
}
