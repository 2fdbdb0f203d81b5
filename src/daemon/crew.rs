//! The workers of a daemon: who is started, with what, on which thread.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::Error;
use crate::app::Wakes;
use crate::config::{ForgeConfig, ReconciliationConfig, WorkConfig};
use crate::forge::{Forge, Hooks};
use crate::metrics::Metrics;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::runtime::thread;
use crate::store::{NewRelease, Store};
use crate::workers::driver::{self, Worker};
use crate::workers::jobs::{Jobs, Owed};
use crate::workers::outbox::Outbox;
use crate::workers::reconcile::{Detect, Reconcile};
use crate::workers::redelivery::{self, Redelivery};
use crate::workers::shares::Shares;

/// Starts workers.
pub(super) struct Crew {
    pub(super) metrics: Arc<Metrics>,
    pub(super) workers: Vec<WorkerThread>,
}

/// A worker that runs.
pub(super) struct WorkerThread {
    pub(super) name: &'static str,
    pub(super) wake: Notify,
    /// Disconnects when the worker has ended.
    pub(super) ended: Receiver<Infallible>,
}

impl Crew {
    pub(super) fn start(
        &mut self,
        worker: Box<dyn Worker>,
        wake: Notify,
        poll: Duration,
    ) -> Result<(), Error> {
        let name = worker.name();
        let (tell, ended) = channel();
        let (own_wake, metrics) = (wake.clone(), Arc::clone(&self.metrics));
        thread::spawn(name, move || {
            driver::run(worker, &own_wake, poll, &metrics);
            // Dropping the sender tells too; that is what happens when the loop itself panics.
            drop(tell);
        })
        .map_err(|error| Error::Start("a worker", error))?;
        self.workers.push(WorkerThread { name, wake, ended });
        Ok(())
    }

    pub(super) fn start_forge_workers(
        &mut self,
        store: &Store,
        wakes: &Wakes,
        forge: &Arc<dyn Forge>,
        settings: &ForgeConfig,
        work: &WorkConfig,
    ) -> Result<(), Error> {
        let owner = owner();
        let jobs = Jobs {
            store: store.clone(),
            owner: owner.clone(),
            retry: work.retry,
            plan: NewRelease {
                own_app: settings.app_id,
                workflow: settings.release_workflow.clone(),
                check_run_name: settings.check_run_name.clone(),
            },
            outbox: wakes.outbox.clone(),
            metrics: Arc::clone(&self.metrics),
            owed: Owed::default(),
        };
        self.start(Box::new(jobs), wakes.jobs.clone(), work.poll)?;
        let shares = Shares::of_pool(work.outbox_concurrency);
        for _ in 0..work.outbox_concurrency {
            let outbox = Outbox {
                store: store.clone(),
                forge: Arc::clone(forge),
                owner: owner.clone(),
                retry: work.retry,
                pace: settings.writes,
                shares: shares.clone(),
                wake: wakes.outbox.clone(),
                metrics: Arc::clone(&self.metrics),
            };
            self.start(Box::new(outbox), wakes.outbox.clone(), work.poll)?;
        }
        Ok(())
    }

    pub(super) fn start_redelivery(
        &mut self,
        store: &Store,
        hooks: Arc<dyn Hooks>,
        clock: &Arc<dyn Clock>,
    ) -> Result<(), Error> {
        let wake = Notify::new();
        let worker = Redelivery {
            store: store.clone(),
            hooks,
            clock: Arc::clone(clock),
            wake: wake.clone(),
            pause: redelivery::PAUSE,
            metrics: Arc::clone(&self.metrics),
            paused_until: None,
        };
        self.start(Box::new(worker), wake, redelivery::POLL)
    }

    pub(super) fn start_reconcilers(
        &mut self,
        store: &Store,
        wakes: &Wakes,
        forge: &Arc<dyn Forge>,
        clock: &Arc<dyn Clock>,
        settings: &ForgeConfig,
        config: &ReconciliationConfig,
    ) -> Result<(), Error> {
        let (owner, wake) = (owner(), Notify::new());
        let shares = Shares::of_pool(config.concurrency);
        let at_the_forge = (0..config.concurrency).map(|_| Reconcile::AT_THE_FORGE);
        for kinds in at_the_forge.chain([Reconcile::IN_THE_STORE]) {
            let reconcile = Reconcile {
                kinds,
                store: store.clone(),
                forge: Arc::clone(forge),
                owner: owner.clone(),
                rules: config.rules,
                pace: settings.writes,
                shares: shares.clone(),
                wake: wake.clone(),
                outbox: wakes.outbox.clone(),
                jobs: wakes.jobs.clone(),
                metrics: Arc::clone(&self.metrics),
            };
            self.start(Box::new(reconcile), wake.clone(), config.poll)?;
        }
        let detect = Detect {
            store: store.clone(),
            clock: Arc::clone(clock),
            rules: config.rules,
            reconcile: wake,
            inbox_after: None,
        };
        self.start(Box::new(detect), Notify::new(), config.detect_interval)
    }
}

/// Returns a name for the holder of leases: random, so that no process is taken for another.
fn owner() -> String {
    let start = SystemClock::new().now();
    Ids::new(Box::new(SystemEntropy::new())).uuid(start).to_string()
}
