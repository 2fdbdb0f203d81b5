//! Who uses the database file, and which file it is: what the file `.in-use` beside it says.
//!
//! Why each commit asks, and what a start refuses: `docs/decisions/04-swapped-database-file.md`.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::domain::time::Timestamp;
use crate::store::error::{Error, Fatal, OpenError};
use crate::store::sqlite::place::{beside, open_lock};

/// What the file begins with once there has been a database.
const MARK: &str = "There is a database beside this file. svcd will not begin with an empty one.\n";
/// More than the file ever has, in bytes.
const NOTE_MAX: u64 = 512;

/// Says that a process uses the file, as long as it is held, and which file and log those are.
pub(in crate::store) struct InUse {
    /// Its lock is what says so. What is in it says that there has been a database, and which.
    lock: File,
    path: PathBuf,
    file: Option<Identity>,
    log: Option<Identity>,
    began_alone: Option<Timestamp>,
}

/// Which file it is, and its length.
#[derive(Clone, Copy)]
struct Identity {
    file: FileId,
    bytes: u64,
}

/// Which file it is, by device and inode.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: (u32, u32),
    inode: u64,
}

impl fmt::Display for FileId {
    /// Writes it in as many characters for every file, so that a note replaces another one exactly.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.device;
        write!(out, "{major:010}:{minor:010}:{:020}", self.inode)
    }
}

impl Identity {
    /// Looks by the name alone: opening the file, and closing it, would drop its locks.
    ///
    /// This is done after each commit, so it asks for no times: since Linux 6.13 the next write takes a new one after
    /// such a question, and the next fsync has to write the inode as well, which costs half as much again.
    fn of(path: &Path) -> Option<Self> {
        let wanted = StatxFlags::INO | StatxFlags::SIZE;
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        let device = (found.stx_dev_major, found.stx_dev_minor);
        Some(Self { file: FileId { device, inode: found.stx_ino }, bytes: found.stx_size })
    }
}

impl InUse {
    /// Notes that this process uses the file, and says whether it is the only one: only then does a log
    /// that was left behind mean that the last stop was not a clean one.
    pub(super) fn begin(path: &Path, now: Timestamp) -> Result<(Self, bool), OpenError> {
        let (lock, lock_path) = open_lock(path, ".in-use")?;
        let failed = |source| OpenError::File { what: "lock", path: lock_path, source };
        let alone = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        };
        // flock may release the lock for a moment here. No other start can take it then: it waits for `.lock`.
        lock.lock_shared().map_err(failed)?;
        let (path, began_alone) = (path.to_owned(), alone.then_some(now));
        Ok((Self { lock, path, file: None, log: None, began_alone }, alone))
    }

    /// Returns when this process began to use the file, if no other one did then: whatever a process had under way before
    /// has ended with it.
    pub(in crate::store) const fn began_alone(&self) -> Option<Timestamp> {
        self.began_alone
    }

    /// Checks that what was written is where the next start will look for it: that file and log
    /// have not been replaced or removed, and the file has not been cut short. Returns the length of the log.
    ///
    /// # Errors
    /// [`Error::Fatal`] otherwise.
    pub(in crate::store) fn check(&self) -> Result<u64, Error> {
        let (file, log) = (Identity::of(&self.path), Identity::of(&beside(&self.path, "-wal")));
        let other = |now: Option<Identity>, then: Option<Identity>| {
            now.map(|now| now.file) != then.map(|then| then.file)
        };
        let bytes = |file: Option<Identity>| file.map_or(0, |file| file.bytes);
        if other(file, self.file) {
            Err(Error::Fatal(Fatal::FileReplaced))
        } else if other(log, self.log) {
            Err(Error::Fatal(Fatal::LogReplaced))
        } else if bytes(file) < bytes(self.file) {
            // The daemon itself never makes the file shorter.
            Err(Error::Fatal(Fatal::FileShortened))
        } else {
            Ok(bytes(log))
        }
    }

    /// Returns the size of the log. A question for its times would slow the next commit down.
    pub(in crate::store) fn log_bytes(&self) -> u64 {
        Identity::of(&beside(&self.path, "-wal")).map_or(0, |log| log.bytes)
    }

    /// Returns the database file.
    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses to make a new database where there has been one, until an operator confirms that it was removed.
    pub(super) fn check_not_gone(&self) -> Result<(), OpenError> {
        let empty = |path: &Path| Identity::of(path).is_none_or(|found| found.bytes == 0);
        if empty(&self.path) && (self.is_marked() || !empty(&beside(&self.path, "-wal"))) {
            return Err(OpenError::Gone(self.path.clone()));
        }
        Ok(())
    }

    /// Refuses a log with content that the process before used with another database file.
    pub(super) fn check_log_is_its_own(&self) -> Result<(), OpenError> {
        let [file, log] = ["", "-wal"].map(|suffix| Identity::of(&beside(&self.path, suffix)));
        let (Some(file), Some(log)) = (file, log.filter(|log| log.bytes > 0)) else {
            return Ok(());
        };
        let note = self.note();
        // Where both are others, they were copied together, or the log is from a start that ended before it noted it.
        if note.contains(&log_word(log.file)) && !note.contains(&file_word(file.file)) {
            return Err(OpenError::LogOfAnother(self.path.clone()));
        }
        Ok(())
    }

    /// Says whether there has been a database.
    pub(super) fn is_marked(&self) -> bool {
        self.lock.metadata().is_ok_and(|lock| lock.len() > 0)
    }

    /// Notes that there is a database now, for all starts to come, and which file and log it is.
    pub(super) fn settle(mut self) -> Result<Self, OpenError> {
        self.file = Identity::of(&self.path);
        self.log = Identity::of(&beside(&self.path, "-wal"));
        let mut note = MARK.to_owned();
        if let (Some(file), Some(log)) = (self.file, self.log) {
            note = format!("{MARK}{}\n{}\n", file_word(file.file), log_word(log.file));
        }
        let write = || {
            if self.note() == note {
                return Ok(());
            }
            // Over the one before: the file is never empty again.
            self.lock.write_all_at(note.as_bytes(), 0)?;
            self.lock.sync_all()
        };
        write().map_err(|source| OpenError::File {
            what: "mark",
            path: beside(&self.path, ".in-use"),
            source,
        })?;
        Ok(self)
    }

    /// Returns what the process before noted; nothing if it cannot be read.
    fn note(&self) -> String {
        let mut note = String::new();
        // Closing a second descriptor of this file drops no lock: it is one of the descriptor, not of the process.
        let file = File::open(beside(&self.path, ".in-use"));
        match file.and_then(|file| file.take(NOTE_MAX).read_to_string(&mut note)) {
            Ok(_) => note,
            Err(_) => String::new(),
        }
    }
}

fn file_word(file: FileId) -> String {
    format!("database {file}")
}

fn log_word(log: FileId) -> String {
    format!("log {log}")
}
