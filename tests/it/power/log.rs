//! What the preload recorded, in the order in which it happened.

use std::path::Path;

/// A file beside others in the folder of the database, by the number it has in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum File {
    Database,
    Wal,
    Shm,
    Journal,
    Folder,
}

/// What was done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
    Sync,
    Unlink,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) file: File,
    pub(super) deed: Deed,
    /// Length of the log once this was in it.
    pub(super) end: u64,
}

const HEAD: usize = 24;

/// Reads a whole log.
pub(super) fn read(path: &Path) -> Vec<Record> {
    let log = std::fs::read(path).unwrap();
    let number = |at: usize, size: usize| -> usize {
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&log[at..at + size]);
        usize::try_from(u64::from_le_bytes(bytes)).unwrap()
    };
    let mut records = Vec::new();
    let mut at = 0;
    while at < log.len() {
        let (what, file) = (number(at, 4), number(at + 4, 4));
        let (offset, length) = (number(at + 8, 8), number(at + 16, 8));
        at += HEAD;
        let deed = match what {
            1 => {
                let bytes = log[at..at + length].to_vec();
                at += length;
                Deed::Write { offset, bytes }
            }
            2 => Deed::Truncate(length),
            3 => Deed::Sync,
            4 => Deed::Unlink,
            _ => panic!("{what} is no record"),
        };
        let files = [File::Database, File::Wal, File::Shm, File::Journal, File::Folder];
        records.push(Record { file: files[file], deed, end: u64::try_from(at).unwrap() });
    }
    records
}
