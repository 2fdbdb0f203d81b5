//! The workers of a daemon: who is started, with what, on which thread.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::Error;
use crate::app::WorkerNotify;
use crate::config::{ForgeConfig, ReconciliationConfig, WorkConfig};
use crate::forge::{Forge, WebhookDeliveries};
use crate::metrics::Metrics;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::runtime::thread;
use crate::store::{NewRelease, Store};
use crate::workers::driver::{self, Worker};
use crate::workers::jobs::{Jobs, Unreturned};
use crate::workers::outbox::Outbox;
use crate::workers::reconcile::{Detect, Reconcile};
use crate::workers::redelivery::{self, Redelivery};
use crate::workers::shares::Shares;

/// Starts workers.
pub(super) struct Workers {
    pub(super) metrics: Arc<Metrics>,
    /// The name in the leases: random, so that no process is taken for another.
    pub(super) owner: String,
    pub(super) threads: Vec<WorkerThread>,
}

/// A worker that runs.
pub(super) struct WorkerThread {
    pub(super) name: &'static str,
    pub(super) notify: Notify,
    /// Disconnects when the worker has ended.
    pub(super) ended: Receiver<Infallible>,
}

impl Workers {
    pub(super) fn start(
        &mut self,
        worker: Box<dyn Worker>,
        notify: Notify,
        poll: Duration,
    ) -> Result<(), Error> {
        let name = worker.name();
        // The end is told by a channel, because a `JoinHandle` cannot be waited for with a timeout.
        let (tell, ended) = channel();
        let (own_notify, metrics) = (notify.clone(), Arc::clone(&self.metrics));
        thread::spawn(name, move || {
            driver::run(worker, &own_notify, poll, &metrics);
            // Dropping the sender tells too; that is what happens when the loop itself panics.
            drop(tell);
        })
        .map_err(|error| Error::Start("a worker", error))?;
        self.threads.push(WorkerThread { name, notify, ended });
        Ok(())
    }

    pub(super) fn start_forge_workers(
        &mut self,
        store: &Store,
        worker_notify: &WorkerNotify,
        forge: &Arc<dyn Forge>,
        settings: &ForgeConfig,
        work: &WorkConfig,
    ) -> Result<(), Error> {
        let owner = self.owner.clone();
        let jobs = Jobs {
            store: store.clone(),
            owner: owner.clone(),
            retry: work.retry,
            plan: NewRelease {
                own_app: settings.app_id,
                workflow: settings.release_workflow.clone(),
                check_run_name: settings.check_run_name.clone(),
            },
            outbox: worker_notify.outbox.clone(),
            metrics: Arc::clone(&self.metrics),
            unreturned: Unreturned::default(),
        };
        self.start(Box::new(jobs), worker_notify.jobs.clone(), work.poll)?;
        let shares = Shares::of_pool(work.outbox_concurrency);
        for _ in 0..work.outbox_concurrency {
            let outbox = Outbox {
                store: store.clone(),
                forge: Arc::clone(forge),
                owner: owner.clone(),
                retry: work.retry,
                pace: settings.writes,
                shares: shares.clone(),
                notify: worker_notify.outbox.clone(),
                metrics: Arc::clone(&self.metrics),
            };
            self.start(Box::new(outbox), worker_notify.outbox.clone(), work.poll)?;
        }
        Ok(())
    }

    pub(super) fn start_redelivery(
        &mut self,
        store: &Store,
        deliveries: Arc<dyn WebhookDeliveries>,
        clock: &Arc<dyn Clock>,
    ) -> Result<(), Error> {
        let notify = Notify::new();
        let worker = Redelivery {
            store: store.clone(),
            deliveries,
            clock: Arc::clone(clock),
            notify: notify.clone(),
            pause: redelivery::PAUSE,
            metrics: Arc::clone(&self.metrics),
            paused_until: None,
        };
        self.start(Box::new(worker), notify, redelivery::POLL)
    }

    pub(super) fn start_reconcilers(
        &mut self,
        store: &Store,
        worker_notify: &WorkerNotify,
        forge: &Arc<dyn Forge>,
        clock: &Arc<dyn Clock>,
        settings: &ForgeConfig,
        config: &ReconciliationConfig,
    ) -> Result<(), Error> {
        // Only `Detect` finds work for reconcilers, so they have a `Notify` of their own.
        let (owner, notify) = (self.owner.clone(), Notify::new());
        let shares = Shares::of_pool(config.concurrency);
        let at_the_forge = (0..config.concurrency).map(|_| Reconcile::AT_THE_FORGE);
        // Items that need no forge have a thread of their own, so that slow calls do not delay them.
        for kinds in at_the_forge.chain([Reconcile::IN_THE_STORE]) {
            let reconcile = Reconcile {
                kinds,
                store: store.clone(),
                forge: Arc::clone(forge),
                owner: owner.clone(),
                rules: config.rules,
                pace: settings.writes,
                shares: shares.clone(),
                notify: notify.clone(),
                outbox: worker_notify.outbox.clone(),
                jobs: worker_notify.jobs.clone(),
                metrics: Arc::clone(&self.metrics),
            };
            self.start(Box::new(reconcile), notify.clone(), config.poll)?;
        }
        let detect = Detect {
            store: store.clone(),
            clock: Arc::clone(clock),
            rules: config.rules,
            reconcile: notify,
            inbox_after: None,
        };
        // Nothing wakes it before its interval; it needs a `Notify` to be stopped.
        self.start(Box::new(detect), Notify::new(), config.detect_interval)
    }
}

/// Returns a new name for the holder of leases.
pub(super) fn owner() -> String {
    let start = SystemClock::new().now();
    Ids::new(Box::new(SystemEntropy::new())).uuid(start).to_string()
}
