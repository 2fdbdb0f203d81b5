//! Callers that wait for the end of a proposal. None of them holds a thread.

use std::collections::HashMap;
use std::time::Duration;

use super::Relay;
use crate::domain::id::ProposalId;
use crate::runtime::mutex::lock;

/// Waits for the end of a proposal.
pub trait Waiter: Send {
    /// Called about once a second while it waits. Returns whether the caller is still there.
    fn look(&mut self) -> bool;

    /// Called once, at the end, by a thread that may block for a transaction.
    fn end(self: Box<Self>, how: Ended);
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All steps have ended.
    Settled,
    TimeOver,
    /// The caller has gone.
    CallerGone,
    /// The service stops.
    Stopping,
}

/// All waits.
#[derive(Default)]
pub(super) struct Waits(HashMap<ProposalId, Vec<Wait>>);

struct Wait {
    until: Duration,
    waiter: Box<dyn Waiter>,
}

impl Waits {
    pub(super) fn take_all(&mut self) -> Vec<Box<dyn Waiter>> {
        let waits = std::mem::take(&mut self.0).into_values().flatten();
        waits.map(|wait| wait.waiter).collect()
    }

    fn take(&mut self, proposal: ProposalId) -> Vec<Wait> {
        self.0.remove(&proposal).unwrap_or_default()
    }

    /// Removes and returns those whose time is over, or whose caller has gone. `now` is monotonic.
    fn take_over(&mut self, now: Duration) -> Vec<(Box<dyn Waiter>, Ended)> {
        let mut over = Vec::new();
        self.0.retain(|_, waits| {
            let all = std::mem::take(waits);
            for mut wait in all {
                // The lock of all waits is held, so `look` must not call the relay.
                if now >= wait.until {
                    over.push((wait.waiter, Ended::TimeOver));
                } else if !wait.waiter.look() {
                    over.push((wait.waiter, Ended::CallerGone));
                } else {
                    waits.push(wait);
                }
            }
            !waits.is_empty()
        });
        over
    }
}

impl Relay {
    /// Has `waiter` wait until all steps of a proposal have ended, or the time is over. Returns at once, and holds no
    /// thread.
    pub fn wait(&self, proposal: ProposalId, within: Duration, waiter: Box<dyn Waiter>) {
        let until = self.clock.monotonic() + within;
        lock(&self.waits).0.entry(proposal).or_default().push(Wait { until, waiter });
        // It may have ended before, or the service may be stopping.
        if self.is_stopping() {
            // Ends all waits once more, this one among them.
            self.stop();
        } else {
            self.look_at_wait(proposal);
        }
    }

    /// Ends all waits for a proposal, which has ended.
    pub(super) fn end_waits(&self, proposal: ProposalId) {
        let ended = lock(&self.waits).take(proposal);
        for wait in ended {
            wait.waiter.end(Ended::Settled);
        }
    }

    /// Ends all waits for a proposal, if the store says that it has ended.
    fn look_at_wait(&self, proposal: ProposalId) {
        // What cannot be read now is checked again each second.
        if self.store.relay_has_ended(proposal).unwrap_or(false) {
            self.end_waits(proposal);
        }
    }

    /// Ends the waits that are over, and checks what other processes may have ended.
    pub(super) fn look_at_waits(&self) {
        let over = lock(&self.waits).take_over(self.clock.monotonic());
        for (waiter, how) in over {
            waiter.end(how);
        }
        let waiting: Vec<ProposalId> = lock(&self.waits).0.keys().copied().collect();
        for proposal in waiting {
            self.look_at_wait(proposal);
        }
    }
}
