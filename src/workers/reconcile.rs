//! Reconciles: one worker detects what is amiss, a few look at it at the forge and apply what they saw, and
//! one compares the inbox with its jobs, which needs no forge and never waits for the network.
//!
//! A look costs one token and at most two reads, and, for a check run that shows something else than it
//! must, one update. What was seen decides nothing here: it goes to the store, which decides in the
//! transaction that applies it. The forge is never called while a transaction is open.
//!
//! Who has which thread, and how many observations: `docs/decisions/15-reconcilers-share-threads.md`.

mod events;
mod observe;

use std::sync::Arc;
use std::time::Duration;

use crate::domain::lease::{Claim, RowHandle};
use crate::domain::pace::Pace;
use crate::domain::reconcile::task::{ReconcileTask, TaskOutcome};
use crate::domain::reconcile::{ReconcileKind, Rules};
use crate::domain::time::Timestamp;
use crate::forge::Forge;
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;
use crate::store::{self, Store};
use crate::workers::driver::{Next, Worker};
use crate::workers::shares::Shares;

/// Longer than all calls of one observation together: a token, two reads and an update, each once more at most
/// (30 s), with room for a clock that steps.
const LEASE: Duration = Duration::from_secs(240);
/// Pause between tries to apply what was seen while the store is unavailable.
const APPLY_PAUSE: Duration = Duration::from_millis(500);
/// Tries to apply what was seen; what is still not applied then is looked at again.
const APPLY_TRIES: u32 = 20;

/// Finds what is amiss, and applies the deadlines of items that were given up and of effects that were closed, each
/// time it is stepped.
pub struct Detect {
    pub store: Store,
    /// Says what is older than the observation window.
    pub clock: Arc<dyn Clock>,
    /// Intervals.
    pub rules: Rules,
    /// Woken when an item was opened.
    pub reconcile: Notify,
    /// Where the last scan of the inbox ended; 0 at first.
    pub inbox_after: Option<RowHandle>,
}

impl Worker for Detect {
    fn name(&self) -> &'static str {
        "detect"
    }

    fn step(&mut self) -> Next {
        let mut more = false;
        for kind in ReconcileKind::ALL {
            let now = self.clock.now();
            match self.store.detect(*kind, self.rules, now, &mut self.inbox_after) {
                Ok(detected) => {
                    for (id, reason) in &detected.items {
                        events::detected(*id, *reason);
                    }
                    // Only for new items: those that were open before have their own time.
                    if !detected.items.is_empty() {
                        self.reconcile.notify();
                    }
                    more |= detected.more;
                }
                Err(error) => events::detection_failed(*kind, &error),
            }
            match self.store.apply_deadlines(*kind, self.rules) {
                Ok(overdue) => {
                    for item in overdue {
                        events::overdue(item.id, item.reason, item.code);
                    }
                }
                Err(error) => events::detection_failed(*kind, &error),
            }
        }
        match self.store.end_closed(self.rules) {
            Ok(ended) => {
                for (attempt, code) in ended {
                    events::ended_closed(attempt, code);
                }
            }
            Err(error) => events::detection_failed(ReconcileKind::WorkflowAttempt, &error),
        }
        if more { Next::Now } else { Next::Wait }
    }
}

/// Looks at what is due, one item of each of its kinds a step.
pub struct Reconcile {
    /// Whose items it reconciles.
    pub kinds: &'static [ReconcileKind],
    pub store: Store,
    pub forge: Arc<dyn Forge>,
    /// Random per process start; names the holder of a lease.
    pub owner: String,
    /// Intervals.
    pub rules: Rules,
    /// How fast writes of one installation leave.
    pub pace: Pace,
    /// How many threads observe for one installation.
    pub shares: Shares,
    /// Notifies this worker: of news, and of the end.
    pub notify: Notify,
    /// Woken when there is something to send.
    pub outbox: Notify,
    /// Woken when a job was made again.
    pub jobs: Notify,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

impl Reconcile {
    /// Kinds whose items are looked at at the forge.
    pub const AT_THE_FORGE: &'static [ReconcileKind] =
        &[ReconcileKind::WorkflowAttempt, ReconcileKind::ReleaseRun];
    /// Kinds that need nothing but the store.
    pub const IN_THE_STORE: &'static [ReconcileKind] = &[ReconcileKind::WebhookInbox];
}

impl Worker for Reconcile {
    fn name(&self) -> &'static str {
        "reconcile"
    }

    fn step(&mut self) -> Next {
        let mut next = Next::Wait;
        for kind in self.kinds {
            if self.notify.is_stopped() {
                return Next::Wait;
            }
            if self.poll(*kind) == Next::Now {
                next = Next::Now;
            }
        }
        next
    }
}

impl Reconcile {
    fn poll(&self, kind: ReconcileKind) -> Next {
        let claimed = self.shares.claim(|full| {
            let polled = self.store.claim_reconcile(kind, &self.owner, LEASE, full)?;
            // An inbox item holds its thread only for a transaction, so it takes no share.
            let at_the_forge = polled.claim.as_ref().filter(|_| kind.asks_the_forge());
            Ok((at_the_forge.map(|claim| claim.item.installation), polled))
        });
        let (_share, polled) = match claimed {
            Ok(claimed) => claimed,
            Err(error) => {
                events::claim_failed(kind, &error);
                return Next::Wait;
            }
        };
        for closed in &polled.closed {
            events::terminal(&self.metrics, closed.id, closed.reason, closed.code);
        }
        if let Some(claim) = &polled.claim {
            self.reconcile(claim);
        }
        if polled.more { Next::Now } else { Next::Wait }
    }

    fn reconcile(&self, claim: &Claim<ReconcileTask>) {
        let observation = match self.observe(claim) {
            Ok(observation) => observation,
            Err(until) => {
                if let Err(error) = self.store.postpone_reconcile(claim, until) {
                    self.store_failed("postpone_reconcile", &error);
                }
                return;
            }
        };
        for _ in 0..APPLY_TRIES {
            let error = match self.store.apply_observation(claim, observation, self.rules) {
                Ok(settled) => return self.settled(claim, settled),
                Err(error) => error,
            };
            self.store_failed("apply_observation", &error);
            // Any other error repeats; the lease runs out, and the item is looked at again.
            let may_pass = matches!(error, store::Error::Unavailable(_));
            if !may_pass || !self.notify.pause(APPLY_PAUSE) {
                return;
            }
        }
    }

    fn settled(&self, claim: &Claim<ReconcileTask>, settled: TaskOutcome) {
        let (id, reason) = (claim.item.id, claim.item.reason);
        match settled.next_check_at {
            Some(at) => events::recheck(&self.metrics, id, reason, settled.code, at),
            None => events::terminal(&self.metrics, id, reason, settled.code),
        }
        // An end of a release, or a proved effect, may have left a message.
        self.outbox.notify();
        self.jobs.notify();
    }

    /// Looks; an error says that nothing was learned, and from when on to look again.
    fn observe(&self, claim: &Claim<ReconcileTask>) -> Result<store::Observation, Timestamp> {
        let observation = observe::observe(self, claim)?;
        // A look that was cut short because we stop tells nothing, not even that the forge is away.
        if self.notify.is_stopped() && observation.is_unavailable() {
            return Err(Timestamp::MIN);
        }
        events::looked(&self.metrics, claim.item.reason.kind(), observation);
        Ok(observation)
    }

    fn store_failed(&self, verb: &'static str, error: &store::Error) {
        self.metrics.store_failures.count([("class", error.class())]);
        log::warn!(event = "worker.store_failed", worker = "reconcile", verb = verb, class = error.class(); "a store operation failed");
    }
}
