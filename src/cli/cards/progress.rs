//! How far it has come, on a terminal that would stay empty otherwise.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use crate::runtime::clock::{Clock as _, SystemClock};

/// Between two looks of a person.
const PAUSE: Duration = Duration::from_millis(200);

/// One line on standard error that is written over.
pub(super) struct Progress {
    clock: SystemClock,
    last: Duration,
    is_shown: bool,
    is_wanted: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        let clock = SystemClock::new();
        let last = clock.monotonic();
        // A report on the same terminal would be torn by a line that is written over.
        let is_wanted = io::stderr().is_terminal() && !io::stdout().is_terminal();
        Self { clock, last, is_shown: false, is_wanted }
    }

    /// Shows a count, not too often.
    pub(super) fn show(&mut self, cards: u64, invalid: u64) {
        if !self.is_wanted || self.clock.monotonic() - self.last < PAUSE {
            return;
        }
        self.last = self.clock.monotonic();
        self.is_shown = true;
        // When it cannot be printed, there is no reader to tell.
        drop(write!(io::stderr(), "\r{cards} cards, {invalid} not valid"));
    }

    /// Takes the line away.
    pub(super) fn end(self) {
        if self.is_shown {
            drop(write!(io::stderr(), "\r\x1b[K"));
        }
    }
}
