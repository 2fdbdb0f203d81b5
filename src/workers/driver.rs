//! The loop around a worker. It knows no worker by name.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;

/// How many times as long as its step a worker rests whose work can wait.
const REST: u32 = 4;

/// What a step says about the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There may be more: step again at once.
    Now,
    /// There may be more, which can wait: rest first, so that urgent work gets most of the store's time.
    Rest,
    /// Nothing to do until there is news or the poll interval is over.
    Wait,
}

pub trait Worker: Send {
    /// Returns its name: stable, for threads, logs and metrics.
    fn name(&self) -> &'static str;

    /// Does a bounded amount of work.
    fn step(&mut self) -> Next;
}

/// Steps a worker until its wake is stopped. A panic costs one step, and the pause after it.
pub fn run(mut worker: Box<dyn Worker>, notify: &Notify, poll: Duration, metrics: &Arc<Metrics>) {
    let clock = SystemClock::new();
    while !notify.is_stopped() {
        let began = clock.monotonic();
        // Read before the step, so that a notification during the step is not lost.
        let seen = notify.count();
        // What counts is in the store, so a panic loses at most what the worker remembers.
        let stepped = catch_unwind(AssertUnwindSafe(|| worker.step()));
        match stepped {
            Ok(Next::Now) => {}
            Ok(Next::Rest) => {
                let took = clock.monotonic().saturating_sub(began);
                if !notify.pause(took.saturating_mul(REST).min(poll)) {
                    return;
                }
            }
            Ok(Next::Wait) => notify.wait(seen, poll),
            Err(_) => {
                metrics.worker_panics.count([("worker", worker.name())]);
                // `wait` would return at once while there is news, and a panic that repeats would become a loop.
                if !notify.pause(poll) {
                    return;
                }
            }
        }
    }
}
