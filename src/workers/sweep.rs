//! Upkeep: makes due what a clock that was ahead put out of reach, and deletes what is finished and
//! old, a batch at a time.

use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Metrics;
use crate::store::{self, ReleasesSwept, Store, Swept};
use crate::workers::driver::{Next, Worker};

/// The worker.
pub struct Sweep {
    pub store: Store,
    /// How long finished rows are kept.
    pub retention: Duration,
    /// How long finished release runs are kept.
    pub release_retention: Duration,
    /// Where the last sweep of them ended.
    pub releases_swept: Option<ReleasesSwept>,
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
                log::warn!(event = "sweep.clock_was_ahead", rows = rows; "rows were scheduled too far in the future; they are now due");
            }
        }
        let swept = self.count(self.store.sweep(self.retention));
        let mut after = self.releases_swept;
        let releases = self.count(self.store.sweep_releases(self.release_retention, &mut after));
        self.releases_swept = after;
        // A batch for each step: between two of them the bulk lane lets all urgent verbs pass. Where all of a batch of
        // release runs was needed, the next one can wait: so many of them cost a look a minute.
        let more_releases = after.is_some() && releases.releases > 0;
        if swept.may_have_more() || more_releases { Next::Rest } else { Next::Wait }
    }
}

impl Sweep {
    /// Counts what was deleted, or that it could not be.
    fn count(&self, swept: Result<Swept, store::Error>) -> Swept {
        let swept = swept.unwrap_or_else(|error| {
            self.metrics.store_failures.count([("class", error.class())]);
            Swept::default()
        });
        for (kind, count) in swept.kinds() {
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            if count > 0 {
                self.metrics.swept.add([("kind", kind)], count);
            }
        }
        swept
    }
}
