//! What can go wrong with the store, sorted by what the caller should do about it.

use std::path::PathBuf;

/// What the engine said. It is kept for the log, and no type of the engine is named here.
type Source = Box<dyn std::error::Error + Send + Sync>;

/// A verb did not happen: nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot do it now. Try later.
    #[error("the store is unavailable: {0}")]
    Unavailable(Unavailable),
    /// The claim is no longer ours: its lease ran out and another holder took the item.
    #[error("the lease was lost")]
    LeaseLost,
    /// The verb panicked; its part of the transaction was rolled back.
    #[error("a store operation panicked")]
    Panicked,
    /// The process must end, because what was written is not known or is not where it is looked for. Only tests ever
    /// see this value.
    #[error(transparent)]
    Fatal(Fatal),
    /// The database refused a statement that must hold: a bug.
    #[error("a store statement failed")]
    Statement(#[source] Source),
    /// A stored row does not read as what it must be.
    #[error("a stored {0} cannot be read")]
    Row(&'static str),
}

/// Why the process must end without an answer.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// A read, write or sync failed, or a page is damaged.
    #[error("the disk failed or the database file is damaged")]
    Disk(#[source] Source),
    /// The name of the database file leads to another file, or to none.
    #[error("another program replaced or removed the database file")]
    FileReplaced,
    /// The same of the write-ahead log.
    #[error("another program replaced or removed the write-ahead log of the database")]
    LogReplaced,
    /// The database file has become shorter.
    #[error("another program made the database file shorter, as VACUUM does")]
    FileShortened,
}

words! {
    /// Why the store cannot do anything now. Each is a stable word in readiness and metrics.
    Unavailable {
        /// The disk is full.
        Full => "disk_full",
        /// The disk quota is used up.
        Quota => "quota_exceeded",
        /// Another process holds the file for too long.
        Busy => "busy",
        /// The file or its disk cannot be written.
        ReadOnly => "read_only",
        /// Files or memory could not be had.
        Resources => "no_resources",
        /// Too many verbs are waiting, or a table with a bound is full.
        Overloaded => "overloaded",
        /// A newer schema no longer admits this binary as a writer.
        Outdated => "outdated",
        /// The store is closed.
        Closed => "closed",
    }
}

impl Error {
    /// Returns the stable word of the failure, for logs and metrics: never text of the database.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        match self {
            Self::Unavailable(reason) => reason.as_str(),
            Self::LeaseLost => "lease_lost",
            Self::Panicked => "panicked",
            Self::Fatal(Fatal::Disk(_)) => "disk_failed",
            Self::Fatal(Fatal::FileReplaced) => "file_replaced",
            Self::Fatal(Fatal::LogReplaced) => "log_replaced",
            Self::Fatal(Fatal::FileShortened) => "file_shortened",
            Self::Statement(_) => "statement_failed",
            Self::Row(_) => "row_unreadable",
        }
    }
}

impl OpenError {
    /// Says whether trying again would end the same way: the file is not one we may use.
    #[must_use]
    pub const fn needs_a_person(&self) -> bool {
        match self {
            Self::NotAFile(_)
            | Self::NetworkFileSystem(_)
            | Self::Foreign(_)
            | Self::TooNew { .. }
            | Self::Damaged { .. }
            | Self::Gone(_)
            | Self::LogOfAnother(_)
            | Self::Library(_) => true,
            Self::File { .. }
            | Self::Refused { .. }
            | Self::StartLocked(_)
            | Self::Pragma { .. }
            | Self::Migration(_)
            | Self::Database(_)
            | Self::Readers(_)
            | Self::Thread(_) => false,
        }
    }
}

/// The store cannot be opened. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder, the file or its lock cannot be used.
    #[error("cannot {what} {path}")]
    File {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The system refuses to write there.
    #[error("{} {path}; {}, then start svcd again", refused(*why), remedy(*why))]
    Refused {
        /// Full, quota or read-only.
        why: Unavailable,
        /// The database file.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Box<Self>,
    },
    /// It is something else than a plain file.
    #[error("{0} is not a regular file; point SVC_DATABASE at a file of its own")]
    NotAFile(PathBuf),
    /// It stands on a network file system, whose locks cannot be trusted.
    #[error("{0} is on a network file system, where a database loses data; use a local disk")]
    NetworkFileSystem(PathBuf),
    /// Another start holds the start-up lock.
    #[error("another svcd has been starting on {0} for 30 seconds; stop it, then try again")]
    StartLocked(PathBuf),
    /// The file belongs to another program.
    #[error("{0} is a database of another program; point SVC_DATABASE at another file")]
    Foreign(PathBuf),
    /// The schema is newer than this binary and does not admit it.
    #[error(
        "the database has schema {found}, but this svcd supports schemas up to {known}; install a newer svcd, or restore a backup of schema {known}"
    )]
    TooNew {
        /// Step of the file.
        found: i64,
        /// Newest step of this binary.
        known: i64,
    },
    /// The file is damaged.
    #[error(
        "the database file {path} is damaged; keep a copy of it with its -wal file, then restore a backup"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database says, when it says more.
        #[source]
        source: Option<Source>,
    },
    /// The database file is empty or missing, but files of an earlier database remain.
    #[error(
        "{0} is empty or missing, but files of an earlier database are beside it; restore a backup, or remove the files whose names begin with {0} to start with an empty database"
    )]
    Gone(PathBuf),
    /// The log that was left behind belongs to the database file that was there before.
    #[error(
        "{0} was replaced, but {0}-wal belongs to the file before and holds changes of it; put that file back, or move {0}-wal away, or, if {0} is an exact copy of that file, remove {0}.in-use"
    )]
    LogOfAnother(PathBuf),
    /// A setting did not take.
    #[error("the database did not accept {pragma}: its value is {found}")]
    Pragma {
        pragma: &'static str,
        /// What it is instead.
        found: String,
    },
    /// A migration failed; the file is as it was before that step.
    #[error("a schema migration failed; the database was not changed")]
    Migration(#[source] Source),
    /// The `SQLite` in this binary is too old to be safe.
    #[error("SQLite {0} can lose committed data; build with 3.51.3 or newer")]
    Library(&'static str),
    /// Anything else.
    #[error("cannot open the database")]
    Database(#[source] Source),
    /// The pool of readers could not be made.
    #[error("cannot open the database for reading")]
    Readers(#[source] Source),
    /// The writer thread could not be started.
    #[error("cannot start the writer thread")]
    Thread(#[source] std::io::Error),
}

const fn refused(why: Unavailable) -> &'static str {
    match why {
        Unavailable::Quota => "the disk quota is used up for",
        Unavailable::ReadOnly => "the file system is read-only at",
        _ => "no space is left for",
    }
}

const fn remedy(why: Unavailable) -> &'static str {
    match why {
        Unavailable::Quota => "raise the quota or delete files that count towards it",
        Unavailable::ReadOnly => "mount it writable",
        _ => "free some space",
    }
}
