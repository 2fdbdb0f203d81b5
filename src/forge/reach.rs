//! Whether a connection to the forge can be made. While it cannot, what can wait does, with a growing pause, and one caller
//! at a time tries.
//!
//! What ends a pause, and what it costs: `docs/decisions/108-unreachable-forge.md`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::domain::dead_letter::FailureCause;
use crate::domain::retry::RetryPolicy;
use crate::domain::time::Timestamp;
use crate::metrics::{Counted, Metrics};
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;

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
    /// Who waits for the end of a pause.
    waiting: Notify,
    state: Mutex<State>,
}

/// What is known of the forge since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// When it last answered, whatever it said.
    pub last_answer_at: Option<Timestamp>,
    /// When a call last failed, and why.
    pub last_failure: Option<(Timestamp, FailureCause)>,
    /// Effects wait because no connection can be made.
    pub is_paused: bool,
}

#[derive(Default)]
struct State {
    last_answer_at: Option<Timestamp>,
    last_failure: Option<(Timestamp, FailureCause)>,
    /// `None` while it can be reached, as far as we know.
    pause: Option<Pause>,
    /// How often that has changed: a pause began, was made longer, or ended.
    changes: u64,
    /// One caller tries. Outlasts the pause, so that there are never two.
    is_tried: bool,
}

struct Pause {
    /// Failures in a row: one for each pause, because calls that began before it find out about the same outage.
    failures: u32,
    /// By the monotonic clock.
    until: Duration,
    /// Shows in the gauge that there is a pause.
    shown: Counted,
}

/// When a call began, for [`Reach`]: what it finds out may be older than the present pause.
#[derive(Clone, Copy)]
pub struct CallStart {
    changes: u64,
}

impl Reach {
    /// Returns that it can be reached. `waiting` is notified at the end of each pause.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, metrics: Arc<Metrics>, waiting: Notify) -> Self {
        Self { clock, metrics, waiting, state: Mutex::default() }
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
        Some(Clearance { reach: Some(self), is_try })
    }

    /// Returns the start of a call that is made now.
    pub fn call(&self) -> CallStart {
        CallStart { changes: lock(&self.state).changes }
    }

    /// Notes that the forge answered.
    pub fn answered(&self) {
        let now = self.clock.now();
        lock(&self.state).last_answer_at = Some(now);
    }

    /// Notes that a call failed.
    pub fn call_failed(&self, cause: FailureCause) {
        let now = self.clock.now();
        lock(&self.state).last_failure = Some((now, cause));
    }

    /// Returns what is known of the forge since the start.
    #[must_use]
    pub fn contact(&self) -> Contact {
        let state = lock(&self.state);
        Contact {
            last_answer_at: state.last_answer_at,
            last_failure: state.last_failure,
            is_paused: state.pause.is_some(),
        }
    }

    /// Notes that a call got no connection.
    pub fn failed(&self, call: CallStart, cause: FailureCause) {
        let now = self.clock.monotonic();
        let mut state = lock(&self.state);
        // Connections that time out fail later than the first pauses end, one after the other.
        if call.changes != state.changes {
            return;
        }
        let (failures, shown) = match state.pause.take() {
            // Who may call during a pause does not make it longer.
            Some(pause) if now < pause.until => {
                state.pause = Some(pause);
                return;
            }
            Some(pause) => (pause.failures.saturating_add(1), pause.shown),
            None => (1, self.metrics.forge_paused.count()),
        };
        let delay = PAUSES.delay_after(failures, 0.0).unwrap_or(PAUSES.delay_max);
        state.pause = Some(Pause { failures, until: now.saturating_add(delay), shown });
        state.changes += 1;
        drop(state);
        log::warn!(event = "forge.paused", cause = cause.as_str(), failures = failures, seconds = delay.as_secs(); "no connection to the forge could be made, and effects wait");
    }

    /// Notes that the forge answered.
    pub fn succeeded(&self) {
        if let Some(failures) = self.end_pause() {
            log::info!(event = "forge.resumed", failures = failures; "the forge can be reached again");
            self.waiting.notify();
        }
    }

    /// Notes that a call got a connection, and no answer.
    pub fn lost(&self, call: CallStart) {
        let is_older = call.changes != lock(&self.state).changes;
        // One that was made before the present pause says nothing about its end: the outage may be why it was lost.
        if !is_older {
            self.succeeded();
        }
    }

    /// Returns the failures that led to the pause, if there was one.
    fn end_pause(&self) -> Option<u32> {
        let mut state = lock(&self.state);
        let pause = state.pause.take()?;
        state.changes += 1;
        Some(pause.failures)
    }
}

/// The leave to call the forge, until it is dropped.
#[derive(Default)]
#[must_use]
pub struct Clearance<'a> {
    reach: Option<&'a Reach>,
    /// The caller tries to end a pause, and is the only one.
    is_try: bool,
}

impl Clearance<'_> {
    /// Ends the pause if there is nothing left to call the forge for, as `waits` finds out. It is asked only of the one who
    /// tries: what waits for its own next try is still cut off.
    pub fn end_unless(&self, waits: impl FnOnce() -> bool) {
        let ended = self.reach.filter(|_| self.is_try && !waits()).and_then(Reach::end_pause);
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
