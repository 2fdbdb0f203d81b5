//! Evaluates the signals: takes a snapshot of the service, says what fires and what is over, and
//! leaves the report for its readers.
//!
//! It only reads, so it delays no other work. An evaluation that fails costs a line, and what the
//! gates remember stays as it was.

use std::sync::Arc;

use crate::domain::outbox::EffectKind;
use crate::domain::slo::{
    Evaluator, Now, POLICY_VERSION, Reading, Severity, SloReport, Snapshot, Transition, Turn,
};
use crate::domain::time::Timestamp;
use crate::metrics::{self, DeliveryOutcome, EffectOutcome, LookupOutcome, Metrics};
use crate::runtime::clock::Clock;
use crate::runtime::watch::Watch;
use crate::store::{Sli, Store};
use crate::workers::driver::{Next, Worker};

pub struct SloWorker {
    store: Store,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    latest: Watch<SloReport>,
    evaluator: Evaluator,
}

impl SloWorker {
    /// Returns a worker that remembers nothing yet, and leaves its reports in `latest`.
    #[must_use]
    pub fn new(
        store: Store,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        latest: Watch<SloReport>,
    ) -> Self {
        Self { store, clock, metrics, latest, evaluator: Evaluator::default() }
    }
}

impl Worker for SloWorker {
    fn name(&self) -> &'static str {
        "slo"
    }

    fn step(&mut self) -> Next {
        let outcome = match self.store.sli_snapshot() {
            Ok(sli) => {
                self.evaluate(&sli);
                "ok"
            }
            Err(error) => {
                log::warn!(event = "worker.control_plane_slo_failed", errorClass = error.class(); "the signals could not be evaluated");
                "failed"
            }
        };
        self.metrics.slo_evaluations.count([("outcome", outcome)]);
        Next::Wait
    }
}

impl SloWorker {
    fn evaluate(&mut self, sli: &Sli) {
        let now = Now { wall: self.clock.now(), monotonic: self.clock.monotonic() };
        let snapshot = self.snapshot(sli, now.wall);
        let transitions = self.evaluator.evaluate(&snapshot, now);
        let report = self.evaluator.report();
        // Before the log lines, so that a reader who is alerted by one finds the report.
        self.latest.set(report.clone());
        for transition in &transitions {
            say_transition(transition);
        }
        say_evaluation(&report);
    }

    fn snapshot(&self, sli: &Sli, now: Timestamp) -> Snapshot {
        // No oldest one means that nothing waits, which is an age of 0, not a missing value.
        let age = |since: Option<Timestamp>| since.map_or(0, |since| now.since(since).as_secs());
        let (waiting, whole) = sli.backlog.waiting();
        Snapshot {
            oldest_job_seconds: Some(age(sli.backlog.oldest_job_at)),
            // One that is still to come was received under another clock: its age is not known.
            oldest_inbox_seconds: Some(age(sli.oldest_unprocessed_at))
                .filter(|_| sli.oldest_unprocessed_at.is_none_or(|received| received <= now)),
            // A total, not what is open now: a replay must not hide how many died.
            dead_letters: Some(sli.dead_letters),
            lease_expiries: Some(sli.lease_expiries),
            reconciliation_overdue_seconds: Some(age(sli.first_deadline_at)),
            publication_failures: Some(self.publication_failures()),
            lookup_failures: Some(self.lookup_failures()),
            webhook_rejections: Some(self.webhook_rejections()),
            database_busy_seconds: Some(sli.busy.as_secs()),
            disk_free_bytes: sli.disk_free_bytes,
            oldest_dead_letter_seconds: Some(age(sli.oldest_dead_letter_at)),
            given_up: Some(sli.given_up),
            backlog: if whole { Reading::Exact(waiting) } else { Reading::AtLeast(waiting) },
        }
    }

    /// Check runs that were given up by the outbox, and those reconciliation gave up.
    fn publication_failures(&self) -> u64 {
        let dead = self.metrics.effects.sum(|(kind, outcome)| {
            outcome == EffectOutcome::DeadLetter
                && matches!(kind, EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate)
        });
        let given_up = self
            .metrics
            .reconciliations
            .sum(|(_, code, step)| step == metrics::Step::End && code.is_publication_failure());
        dead + given_up
    }

    fn lookup_failures(&self) -> u64 {
        self.metrics.lookups.sum(|(_, outcome)| outcome == LookupOutcome::Failed)
    }

    fn webhook_rejections(&self) -> u64 {
        self.metrics.deliveries.sum(|outcome| match outcome {
            DeliveryOutcome::BadSignature
            | DeliveryOutcome::Unusable
            | DeliveryOutcome::Unavailable => true,
            DeliveryOutcome::Accepted
            | DeliveryOutcome::Ignored
            | DeliveryOutcome::Duplicate
            | DeliveryOutcome::Conflict => false,
        })
    }
}

/// Says how the service is, at each evaluation, so that a log without these lines shows that nothing is evaluated
/// (docs/decisions/32-signal-log-levels.md).
fn say_evaluation(report: &SloReport) {
    let active: Vec<_> = report.firing().map(|status| status.rule.signal.as_str()).collect();
    log::info!(event = "worker.control_plane_slo_evaluation", policy_version = POLICY_VERSION, health = report.health().as_str(), active_signals:% = active.join(","); "the signals were evaluated");
}

/// Says that a signal began or ended: a critical one as an error, because it is a page.
fn say_transition(transition: &Transition) {
    let (rule, value) = (transition.rule, transition.value);
    let (signal, severity) = (rule.signal.as_str(), rule.severity.as_str());
    match transition.turn {
        Turn::Firing => {
            let level = match rule.severity {
                Severity::Critical => log::Level::Error,
                Severity::Warning => log::Level::Warn,
            };
            log::log!(level, event = "worker.control_plane_slo_firing", policy_version = POLICY_VERSION, signal = signal, severity = severity, gate = rule.gate.kind(), value = value, threshold = rule.threshold, unit = rule.unit.as_str(), owner = rule.owner, next_check = rule.next_check; "a signal fires");
        }
        Turn::Recovered => {
            log::info!(event = "worker.control_plane_slo_recovered", policy_version = POLICY_VERSION, signal = signal, severity = severity, value = value, healthy = rule.healthy, unit = rule.unit.as_str(); "a signal recovered");
        }
    }
}
