//! Whether a connection to the forge can be made. While it cannot, what can wait does, with a growing pause, and one caller
//! at a time tries.
//!
//! What ends a pause, and what it costs: `docs/decisions/108-unreachable-forge.md`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::domain::dead_letter::FailureCause;
use crate::domain::retry::RetryPolicy;
use crate::metrics::{Counted, Metrics};
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;

/// The pauses. They end with the first connection, so the longest one is how long a forge that is back may go unnoticed.
const PAUSES: RetryPolicy = RetryPolicy {
    attempts_max: u32::MAX,
    delay_base: Duration::from_secs(1),
    delay_max: Duration::from_secs(15),
};

/// Whether the forge can be reached from here. In memory: another process may have another network.
pub struct Reach {
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `None` while it can be reached, as far as we know.
    pause: Option<Pause>,
    /// Pauses that have ended.
    ended: u64,
    /// One caller tries. Outlasts the pause, so that there are never two.
    is_tried: bool,
}

struct Pause {
    /// Failures in a row, without those during a pause, whose calls had begun before it.
    failures: u32,
    /// By the monotonic clock.
    until: Duration,
    /// Shows in the gauge that there is a pause.
    shown: Counted,
}

impl Reach {
    /// Returns that it can be reached.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, metrics: Arc<Metrics>) -> Self {
        Self { clock, metrics, state: Mutex::default() }
    }

    /// Returns the leave to call the forge; `None` during a pause, and after it while another caller tries.
    pub fn clearance(&self) -> Option<Clearance<'_>> {
        let mut state = lock(&self.state);
        let is_try = match &state.pause {
            None => false,
            Some(pause) if state.is_tried || self.clock.monotonic() < pause.until => return None,
            Some(_) => true,
        };
        state.is_tried |= is_try;
        Some(Clearance { reach: Some(self), ended: state.ended, is_try })
    }

    /// Notes that no connection could be made.
    pub fn failed(&self, cause: FailureCause) {
        let now = self.clock.monotonic();
        let mut state = lock(&self.state);
        let (failures, shown) = match state.pause.take() {
            // Several calls find out about one outage: the first one's pause is that of all.
            Some(pause) if now < pause.until => {
                state.pause = Some(pause);
                return;
            }
            Some(pause) => (pause.failures.saturating_add(1), pause.shown),
            None => (1, self.metrics.forge_paused.count()),
        };
        let delay = PAUSES.delay_after(failures, 0.0).unwrap_or(PAUSES.delay_max);
        state.pause = Some(Pause { failures, until: now.saturating_add(delay), shown });
        drop(state);
        log::warn!(event = "forge.paused", cause = cause.as_str(), failures = failures, seconds = delay.as_secs(); "no connection to the forge could be made, and effects wait");
    }

    /// Notes that there was a connection.
    pub fn succeeded(&self) {
        if let Some(failures) = self.end_pause() {
            log::info!(event = "forge.resumed", failures = failures; "the forge can be reached again");
        }
    }

    /// Returns the failures that led to the pause, if there was one.
    fn end_pause(&self) -> Option<u32> {
        let mut state = lock(&self.state);
        let pause = state.pause.take()?;
        state.ended += 1;
        Some(pause.failures)
    }
}

/// The leave to call the forge, until it is dropped.
#[derive(Default)]
#[must_use]
pub struct Clearance<'a> {
    reach: Option<&'a Reach>,
    /// Pauses that had ended when it was given.
    ended: u64,
    /// The caller tries to end a pause, and is the only one.
    is_try: bool,
}

impl Clearance<'_> {
    /// Says whether a pause has ended since this was given: others may call as well.
    #[must_use]
    pub fn has_ended_a_pause(&self) -> bool {
        self.reach.is_some_and(|reach| {
            let state = lock(&reach.state);
            state.pause.is_none() && state.ended != self.ended
        })
    }

    /// Ends the pause because there is nothing to call the forge for: nothing waits, so nothing is paused.
    pub fn nothing_waits(&self) {
        let ended = self.reach.filter(|_| self.is_try).and_then(Reach::end_pause);
        if let Some(failures) = ended {
            log::info!(event = "forge.resumed", failures = failures; "no effect waits for the forge any more");
        }
    }
}

impl Drop for Clearance<'_> {
    fn drop(&mut self) {
        // Also when the caller found nothing to do, or panicked: then another one tries.
        if let Some(reach) = self.reach.filter(|_| self.is_try) {
            lock(&reach.state).is_tried = false;
        }
    }
}

#[cfg(test)]
mod tests;
