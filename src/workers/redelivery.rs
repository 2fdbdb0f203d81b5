//! Asks the forge to send webhooks again that failed and did not arrive since.
//!
//! It reads the forge's list of failures, newest first; what is asked for is decided, and counted, in
//! the store before a request leaves. A request is never repeated within a sweep, whatever came of it.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::dead_letter::ErrorClass;
use crate::domain::reconcile;
use crate::domain::redelivery::{self, FailedDelivery, is_too_old};
use crate::domain::time::Timestamp;
use crate::forge::WebhookDeliveries;
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;
use crate::store::{self, Store};
use crate::workers::driver::{Next, Worker};

/// Time between two polls.
pub const POLL: Duration = Duration::from_mins(5);
/// Between two requests, as the forge asks for writes.
pub const PAUSE: Duration = Duration::from_secs(1);
/// Pages of one sweep, 100 deliveries each.
const PAGES_MAX: u32 = 50;
/// Requests of one sweep.
const REQUESTS_MAX: u32 = 50;
/// Nothing the forge asks to wait for lies further ahead.
const WAIT_MAX: Duration = Duration::from_hours(1);

/// The worker.
pub struct Redelivery {
    pub store: Store,
    /// The forge.
    pub deliveries: Arc<dyn WebhookDeliveries>,
    /// Says what is too old to be asked for.
    pub clock: Arc<dyn Clock>,
    /// Its own wake: the end.
    pub notify: Notify,
    /// Between two requests.
    pub pause: Duration,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// Until when the forge asked to wait.
    pub paused_until: Option<Timestamp>,
}

/// Why a sweep goes no further.
enum End {
    /// Every failure that matters was seen.
    Seen,
    /// There may be more.
    Cut,
}

impl Worker for Redelivery {
    fn name(&self) -> &'static str {
        "redelivery"
    }

    fn step(&mut self) -> Next {
        let now = self.clock.now();
        // One that lies further ahead was noted by a clock that was ahead.
        if self.paused_until.is_some_and(|until| now < until && until <= now.plus(WAIT_MAX)) {
            return Next::Wait;
        }
        let mut requests = 0;
        let end = self.sweep(&mut requests);
        let complete = matches!(end, End::Seen);
        if requests > 0 || !complete {
            log::info!(event = "redelivery.swept", requests = requests, complete = complete; "the forge was queried for failed webhooks");
        }
        Next::Wait
    }
}

impl Redelivery {
    fn sweep(&mut self, requests: &mut u32) -> End {
        let mut cursor = None;
        for _ in 0..PAGES_MAX {
            let page = match self.deliveries.failed_deliveries(cursor.as_ref()) {
                Ok(page) => page,
                Err(why) => return self.give_way(why),
            };
            for failed in &page.deliveries {
                if is_too_old(failed.delivered_at, self.clock.now()) {
                    // The list is newest first, so what follows is older still.
                    return End::Seen;
                }
                if let Err(end) = self.consider(failed, requests) {
                    return end;
                }
            }
            match page.next {
                None => return End::Seen,
                // A forge that goes in circles tells nothing more.
                next if next == cursor => return End::Cut,
                next => cursor = next,
            }
        }
        End::Cut
    }

    /// Asks for a delivery if it is to be asked for; an error ends the sweep.
    fn consider(&mut self, failed: &FailedDelivery, requests: &mut u32) -> Result<(), End> {
        let seen = self.store.look_at_failed(failed, self.clock.now());
        if seen.map_err(|error| self.store_failed(&error))? != redelivery::Decision::Ask {
            return Ok(());
        }
        // The forge asks for a second between writes; the first one of a sweep has nothing to keep a distance from.
        if *requests >= REQUESTS_MAX || (*requests > 0 && !self.notify.pause(self.pause)) {
            return Err(End::Cut);
        }
        let begun = self.store.begin_redelivery(failed);
        if begun.map_err(|error| self.store_failed(&error))? != redelivery::Decision::Ask {
            return Ok(());
        }
        // Whatever comes of it: it is counted in the store already.
        *requests += 1;
        match self.deliveries.redeliver(failed.id) {
            Ok(()) => {
                self.metrics.redeliveries.count([("outcome", "requested")]);
                Ok(())
            }
            Err(why) => {
                self.metrics.redeliveries.count([("outcome", "failed")]);
                // What the forge refuses is about this one; the rest is about all.
                let refused = matches!(why.class, ErrorClass::NotFound | ErrorClass::Validation);
                if refused { Ok(()) } else { Err(self.give_way(why)) }
            }
        }
    }

    fn give_way(&mut self, why: reconcile::Unavailable) -> End {
        // In memory: these calls use the app's own credential, which has a limit apart from those of installations.
        self.paused_until = why.wait_until;
        End::Cut
    }

    fn store_failed(&self, error: &store::Error) -> End {
        self.metrics.store_failures.count([("class", error.class())]);
        log::warn!(event = "worker.store_failed", worker = "redelivery", class = error.class(); "a store operation failed");
        End::Cut
    }
}
