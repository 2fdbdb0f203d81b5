//! The stop: everything that runs is ended in order, within a bound.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use super::workers::WorkerThread;
use super::{Running, tell_supervisor};

/// The store has at least this long: a commit on a slow disk, where claims that are not given back wait for their leases.
const STORE_MIN: Duration = Duration::from_secs(2);

impl Running {
    /// Stops everything in order, in no more than `within` and [`STORE_MIN`].
    pub(super) fn stop(self, within: Duration) {
        let began = self.clock.monotonic();
        let left = || within.saturating_sub(self.clock.monotonic().saturating_sub(began));
        tell_supervisor(&[sd_notify::NotifyState::Stopping]);
        self.app.drain();
        // No worker that hangs takes this part of the time, which is for what comes after them.
        let rest = within / 4;
        // All are asked before any is waited for: their last calls to the forge overlap with the last exchanges.
        for worker in &self.workers {
            worker.notify.stop();
        }
        if self.has_handed_over {
            // Connections to such a socket wait for the next process, which begins when this one has ended; so they are
            // accepted as long as workers wait for the forge.
            for worker in &self.workers {
                let _has_ended = worker.has_ended(left().saturating_sub(rest));
            }
        }
        // Before the servers, which would otherwise wait for these calls and streams until the bound.
        if let Some(relay) = &self.app.relay {
            relay.stop();
        }
        if let Some(mcp) = &self.mcp {
            mcp.stop();
        }
        // Half of the time is for exchanges, so that workers and the store have theirs.
        self.tcp.stop(left() / 2);
        self.control.stop(left() / 2);
        for worker in &self.workers {
            if !worker.has_ended(left().saturating_sub(rest)) {
                log::warn!(event = "daemon.worker_left", worker = worker.name; "a worker did not end in time; the lease of what it has begun will expire");
            }
        }
        // A worker that is left behind learns at its next step that it has lost its claim.
        let store = &self.app.store;
        let (jobs, unsent) =
            (store.give_back_jobs(&self.owner), store.give_back_unsent(&self.owner));
        // The writer finishes both before it ends, so one wait is enough, and it is the one that has a bound.
        let has_closed = store.close(left().max(STORE_MIN));
        match jobs.now().and_then(|jobs| Ok(jobs + unsent.now()?)) {
            Ok(0) => {}
            Ok(count) => {
                log::info!(event = "daemon.claims_given_back", count; "claims that were not begun were given back");
            }
            Err(error) => {
                log::warn!(event = "daemon.claims_left", class = error.class(); "claims could not be given back; their leases will expire");
            }
        }
        if !has_closed {
            log::warn!(event = "daemon.store_left"; "the store did not finish in time; all acknowledged data is on disk");
        }
    }
}

impl WorkerThread {
    /// Waits at most so long for its end; returns whether it has ended.
    fn has_ended(&self, within: Duration) -> bool {
        self.ended.recv_timeout(within) != Err(RecvTimeoutError::Timeout)
    }
}
