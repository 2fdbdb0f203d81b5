//! Ctrl-C while a plan is applied: the item under way is finished, and what was done is told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::cli::exit::Exit;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;

/// Between two looks at whether a signal came.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Whether a signal asked to end.
#[derive(Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(super) fn install() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second one ends the process at once. It must be registered first, or it would see its own signal.
            let exit = i32::from(Exit::Interrupted.code());
            register_conditional_shutdown(signal, exit, Arc::clone(&flag))?;
            register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits for so long, or until a signal comes.
    pub(super) fn pause(&self, time: Duration) {
        let clock = SystemClock::new();
        let end = clock.monotonic() + time;
        while !self.is_set() && clock.monotonic() < end {
            let left = end.saturating_sub(clock.monotonic());
            let _over = Notify::new().pause(left.min(POLL_INTERVAL));
        }
    }
}
