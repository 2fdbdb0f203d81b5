//! Upkeep: makes due what a clock that was ahead put out of reach, and deletes what is finished and
//! old, a batch at a time.

use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::store::Store;
use crate::workers::driver::{Next, Worker};

/// The worker.
pub struct Sweep {
    /// The store.
    pub store: Store,
    /// How long finished rows are kept.
    pub retention: Duration,
    /// Longest delay between tries.
    pub delay_max: Duration,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

impl Worker for Sweep {
    fn name(&self) -> &'static str {
        "sweep"
    }

    fn step(&mut self) -> Next {
        match self.store.clamp_future_times(self.delay_max) {
            // Its error is not counted: the sweep below meets the same store and counts it.
            Ok(0) | Err(_) => {}
            Ok(rows) => {
                log::warn!(event = "sweep.clock_was_ahead", rows = rows; "rows lay further ahead than anything is ever put; they are due now");
            }
        }
        match self.store.sweep(self.retention) {
            Ok(swept) => {
                for (kind, count) in swept.kinds() {
                    let count = u64::try_from(count).unwrap_or(u64::MAX);
                    if count > 0 {
                        self.metrics.swept.add([("kind", kind)], count);
                    }
                }
                // A batch for each step: between two of them the bulk lane lets all urgent verbs pass.
                if swept.may_have_more() { Next::Now } else { Next::Wait }
            }
            Err(error) => {
                self.metrics.store_failures.count([("class", error.class())]);
                Next::Wait
            }
        }
    }
}
