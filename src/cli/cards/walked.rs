//! Folders that are walked once, however the links go.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The folders that were walked.
#[derive(Default)]
pub(super) struct Walked {
    /// Device and inode of each.
    known: HashSet<(u64, u64)>,
    /// Those that were found again, until that is told.
    again: Vec<PathBuf>,
}

impl Walked {
    /// Says whether a folder is to be walked now.
    pub(super) fn begin(&mut self, folder: &Path, found: &Metadata) -> bool {
        let is_new = self.known.insert((found.dev(), found.ino()));
        if !is_new {
            self.again.push(folder.to_owned());
        }
        is_new
    }

    /// Returns the folders that were found again since the last time.
    pub(super) fn take_again(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.again)
    }
}
