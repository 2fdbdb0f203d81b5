//! How far it has come, on a terminal that would stay empty otherwise.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::cli::output::Output;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::thread;

/// Between two looks of a person.
const PAUSE: Duration = Duration::from_millis(200);

/// One line on standard error that is written over.
pub(super) struct Progress {
    clock: SystemClock,
    last: Duration,
    is_shown: bool,
    is_wanted: bool,
    /// Set once the cards are counted, if they can be.
    total: Arc<OnceLock<Option<u64>>>,
}

impl Progress {
    /// Shows counts where a person sees them, and has the cards counted there.
    pub(super) fn new(
        report: Output,
        count: impl FnOnce() -> Option<u64> + Send + 'static,
    ) -> Self {
        let clock = SystemClock::new();
        let last = clock.monotonic();
        // A report on the same terminal would be torn by a line that is written over.
        let is_wanted = io::stderr().is_terminal() && !report.is_terminal();
        let total = Arc::new(OnceLock::new());
        if is_wanted {
            let counted = Arc::clone(&total);
            // Beside the run, which does not wait for it; without a thread there is no total.
            let count = move || counted.set(count()).expect("it is counted once");
            drop(thread::spawn("count", count));
        }
        Self { clock, last, is_shown: false, is_wanted, total }
    }

    /// Shows a count, not too often.
    pub(super) fn show(&mut self, cards: u64, invalid: u64) {
        if !self.is_wanted || self.clock.monotonic() - self.last < PAUSE {
            return;
        }
        self.last = self.clock.monotonic();
        self.is_shown = true;
        let total = self.total.get().copied().flatten();
        // When it cannot be printed, there is no reader to tell.
        drop(write!(io::stderr(), "\r{}\x1b[K", line(cards, invalid, total)));
    }

    /// Takes the line away.
    pub(super) fn end(self) {
        if self.is_shown {
            drop(write!(io::stderr(), "\r\x1b[K"));
        }
    }
}

fn line(cards: u64, invalid: u64, total: Option<u64>) -> String {
    match total {
        // Files may come while the run goes on.
        Some(total) if total >= cards => format!("{cards} of {total} cards, {invalid} not valid"),
        _ => format!("{cards} cards, {invalid} not valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_shown_when_it_is_known() {
        assert_eq!(line(7, 1, None), "7 cards, 1 not valid");
        assert_eq!(line(7, 1, Some(20)), "7 of 20 cards, 1 not valid");
        assert_eq!(line(21, 1, Some(20)), "21 cards, 1 not valid");
    }
}
