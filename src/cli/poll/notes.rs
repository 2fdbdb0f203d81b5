//! Polling with the machine's clock; what happens to the connection is a note.

use std::time::Duration;

use super::Edge;
use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;

/// Polls in the foreground.
#[derive(Debug)]
pub(crate) struct Notes {
    clock: SystemClock,
    output: Output,
}

impl Notes {
    pub(crate) fn new(output: Output) -> Self {
        Self { clock: SystemClock::new(), output }
    }
}

impl Edge for Notes {
    fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    fn pause(&mut self, wait: Duration) {
        // Only the signal that ends the process interrupts this wait.
        let _over = Notify::new().pause(wait);
    }

    fn lost(&mut self, error: &Error) {
        self.output.remark("note", &format!("{}; trying again", error.chain()));
    }

    fn regained(&mut self) {
        self.output.remark("note", "svcd answers again");
    }
}
