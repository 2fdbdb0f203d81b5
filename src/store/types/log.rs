//! How the write-ahead log is kept short.

use std::time::Duration;

/// How the write-ahead log is kept short. What is chosen, and why: `docs/decisions/103-checkpoints.md`.
#[derive(Clone, Copy, Debug)]
pub struct LogRules {
    /// How often a thread checkpoints; with `None` only the caller does, and the writer at the bound.
    pub checkpoint_every: Option<Duration>,
    /// Nothing more is written while a reader keeps so many bytes of the log from being copied into the database file, or
    /// while a log of twice as many is not wholly copied.
    pub bytes_max: u64,
}

impl LogRules {
    /// A log that is longer is reported if it cannot be copied, and is made so short when it begins anew.
    pub(in crate::store) const fn bytes_kept(self) -> u64 {
        self.bytes_max / 16
    }
}

impl Default for LogRules {
    fn default() -> Self {
        Self { checkpoint_every: Some(Duration::from_millis(100)), bytes_max: 1 << 30 }
    }
}
