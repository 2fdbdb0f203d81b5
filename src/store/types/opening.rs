//! What can take long while a store is opened.

use std::sync::Arc;
use std::time::Duration;

/// What a start does with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// A file that was not closed in order is about to be read and checked.
    CheckBegan {
        /// Its size.
        bytes: u64,
    },
    /// It is being read.
    Reading {
        /// What has been read of it.
        done: u64,
        /// Its size.
        bytes: u64,
    },
    /// It has been read, and its pages are being checked.
    Checking,
    /// Every page is sound.
    CheckEnded {
        /// How long reading and checking took.
        took: Duration,
    },
    /// The schema of a file with data is about to be migrated.
    MigrationBegan {
        /// Its step.
        from: i64,
        /// The newest step.
        to: i64,
    },
    /// The schema is the newest.
    MigrationEnded {
        /// How long all steps took.
        took: Duration,
    },
}

/// Receives each [`Opening`] on the thread that opens the store.
pub type OnOpening = Arc<dyn Fn(Opening) + Send + Sync>;
