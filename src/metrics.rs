//! Counters and gauges, and their Prometheus text. Every name and label value is a constant of the program, so
//! the set of series is closed and nothing of a tenant can stand in it.
//!
//! A counter whose parts a signal is evaluated from is counted by typed keys, so that a label can be renamed
//! without making the signal deaf.

mod text;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{ReconcileCode, ReconcileKind};
use crate::runtime::histogram::Histogram;
use crate::runtime::mutex::lock;
pub use text::{counter, gauge, gauges, histogram};
use text::{header, sample};

/// Names and values of a series' labels.
pub type Labels = Vec<(&'static str, &'static str)>;

/// What tells one series of a counter from the others.
pub trait Key: Copy + Eq + Hash {
    /// Returns the labels of its series.
    fn labels(self) -> Labels;
}

/// Labels that nothing but the text is made from.
impl<const N: usize> Key for [(&'static str, &'static str); N] {
    fn labels(self) -> Labels {
        self.to_vec()
    }
}

words! {
    /// What became of a webhook delivery.
    DeliveryOutcome {
        /// It is on disk, with a job.
        Accepted => "accepted",
        /// It is on disk and asks nothing of us.
        Ignored => "ignored",
        /// It was on disk before, with the same body.
        Duplicate => "duplicate",
        /// It was on disk before, with another body.
        Conflict => "conflict",
        /// Its signature does not hold.
        BadSignature => "bad_signature",
        /// It is signed and cannot be understood.
        Unusable => "unusable",
        /// It is not known to be on disk.
        Unavailable => "unavailable",
    }
}

impl Key for DeliveryOutcome {
    fn labels(self) -> Labels {
        vec![("outcome", self.as_str())]
    }
}

words! {
    /// What became of one try of a side effect.
    EffectOutcome {
        /// It was carried out.
        Completed => "completed",
        /// It failed and will be tried again.
        Retry => "retry",
        /// It was refused, perhaps because its token was fresh, and will be tried again.
        Lag => "lag",
        /// It waits for a pause to end.
        Paused => "paused",
        /// It was given up.
        DeadLetter => "dead_letter",
        /// It is not needed any more.
        Superseded => "superseded",
    }
}

impl Key for (EffectKind, EffectOutcome) {
    fn labels(self) -> Labels {
        vec![("kind", self.0.as_str()), ("outcome", self.1.as_str())]
    }
}

words! {
    /// What a reconciler does with an item once its subject was observed.
    Step {
        /// It looks again later.
        Recheck => "recheck",
        /// The item ends.
        End => "end",
    }
}

impl Key for (ReconcileKind, ReconcileCode, Step) {
    fn labels(self) -> Labels {
        vec![("kind", self.0.as_str()), ("outcome", self.1.as_str()), ("then", self.2.as_str())]
    }
}

words! {
    /// What a lookup at the forge brought.
    LookupOutcome {
        /// The subject.
        Ok => "ok",
        /// That there is no such subject.
        NotFound => "not_found",
        /// Nothing.
        Failed => "failed",
    }
}

impl Key for (ReconcileKind, LookupOutcome) {
    fn labels(self) -> Labels {
        vec![("kind", self.0.as_str()), ("outcome", self.1.as_str())]
    }
}

/// The series of one name.
#[derive(Debug)]
pub struct Counter<K> {
    name: &'static str,
    help: &'static str,
    counts: Mutex<HashMap<K, u64>>,
}

impl<K: Key> Counter<K> {
    fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help, counts: Mutex::default() }
    }

    /// Adds one.
    pub fn count(&self, key: K) {
        self.add(key, 1);
    }

    pub fn add(&self, key: K, amount: u64) {
        *lock(&self.counts).entry(key).or_default() += amount;
    }

    /// Returns the sum of the series that `wanted` admits.
    #[must_use]
    pub fn sum(&self, wanted: impl Fn(K) -> bool) -> u64 {
        lock(&self.counts).iter().filter(|(key, _)| wanted(**key)).map(|(_, count)| *count).sum()
    }

    fn render(&self, text: &mut String) {
        let mut series: Vec<(Labels, u64)> =
            // Copied, so that counting does not wait while the text is written.
            lock(&self.counts).iter().map(|(key, count)| (key.labels(), *count)).collect();
        // A `HashMap` iterates in another order in every process.
        series.sort_unstable();
        header(text, self.name, "counter", self.help);
        for (labels, count) in series {
            sample(text, self.name, &labels, count);
        }
    }
}

/// How many things there are now.
#[derive(Debug)]
pub struct Gauge {
    name: &'static str,
    help: &'static str,
    value: Arc<AtomicU64>,
}

/// One of the things a [`Gauge`] counts, until it is dropped.
#[derive(Debug)]
pub struct Counted(Arc<AtomicU64>);

impl Gauge {
    fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help, value: Arc::default() }
    }

    /// Counts one more.
    #[must_use]
    pub fn count(&self) -> Counted {
        // `Relaxed`: the number is only shown, and orders no other access.
        self.value.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.value))
    }

    fn render(&self, text: &mut String) {
        gauge(text, self.name, self.help, self.value.load(Ordering::Relaxed));
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long something took, each time.
#[derive(Debug)]
pub struct Times {
    name: &'static str,
    help: &'static str,
    histogram: Histogram,
}

impl Times {
    fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help, histogram: Histogram::default() }
    }

    /// Counts one that took so long.
    pub fn observe(&self, took: Duration) {
        self.histogram.observe(took);
    }

    fn render(&self, text: &mut String) {
        histogram(text, self.name, self.help, &self.histogram);
    }
}

/// Declares the counters, the gauges and the histograms of the process, in the order in which they are written.
macro_rules! metrics {
    (
        counters { $($(#[$doc:meta])* $field:ident: $key:ty = $name:literal, $help:literal;)* }
        gauges { $($(#[$gauge_doc:meta])* $gauge:ident = $gauge_name:literal, $gauge_help:literal;)* }
        times { $($(#[$times_doc:meta])* $times:ident = $times_name:literal, $times_help:literal;)* }
    ) => {
        /// The counters, gauges and histograms of one process.
        #[derive(Debug)]
        pub struct Metrics {
            $($(#[$doc])* pub $field: Counter<$key>,)*
            $($(#[$gauge_doc])* pub $gauge: Gauge,)*
            $($(#[$times_doc])* pub $times: Times,)*
        }

        impl Default for Metrics {
            fn default() -> Self {
                Self {
                    $($field: Counter::new($name, $help),)*
                    $($gauge: Gauge::new($gauge_name, $gauge_help),)*
                    $($times: Times::new($times_name, $times_help),)*
                }
            }
        }

        impl Metrics {
            /// Writes all of them as Prometheus text, version 0.0.4.
            #[must_use]
            pub fn render(&self) -> String {
                let mut text = String::new();
                $(self.$field.render(&mut text);)*
                $(self.$gauge.render(&mut text);)*
                $(self.$times.render(&mut text);)*
                text
            }
        }
    };
}

/// One label of a closed set of words.
type One = [(&'static str, &'static str); 1];
/// Two labels of closed sets of words.
type Two = [(&'static str, &'static str); 2];

metrics! {
counters {
    /// By outcome.
    deliveries: DeliveryOutcome = "svc_deliveries_total", "Webhook deliveries by outcome.";
    /// By `surface` and `status`.
    requests: Two = "svc_http_requests_total", "HTTP requests by surface and status class.";
    /// By `outcome`.
    jobs: One = "svc_jobs_total", "Lifecycle jobs that ran, by outcome.";
    /// By kind and outcome.
    effects: (EffectKind, EffectOutcome) = "svc_effects_total", "Effects on the forge, by kind and outcome.";
    /// By `outcome`.
    results: One = "svc_results_total", "Signed results of releases, by outcome.";
    /// By `gate`: which check of the gate refused the request.
    mcp_refusals: One = "svc_mcp_refusals_total", "Requests to /mcp refused before a message was \
    read, by gate.";
    /// By `fault`.
    access_tokens_refused: One = "svc_access_tokens_refused_total", "Access tokens that were \
    refused, by reason.";
    /// By `era` and `outcome`.
    mcp_requests: Two = "svc_mcp_requests_total", "Messages of the Model Context Protocol by era and outcome.";
    /// By `direction`, `in` or `out`, and `type`.
    relay_frames: Two = "svc_relay_frames_total", "Frames of the relay by direction and type.";
    /// By `effect` and `outcome`: the state in which it ended.
    relay_invocations: Two = "svc_relay_invocations_total", "Invocations of the relay that ended, by effect and outcome.";
    /// By who decided, and what.
    relay_decisions: Two = "svc_relay_decisions_total", "Decisions about proposals that took \
    effect, by decider and decision.";
    /// By `outcome`.
    relay_pairings: One = "svc_relay_pairings_total", "Pairings of the relay by outcome.";
    /// By `reason`.
    relay_refusals: One = "svc_relay_refusals_total", "Refusals by the relay to plugins and \
    callers, by reason.";
    /// By `outcome`.
    replays: One = "svc_replays_total", "Replay requests by outcome.";
    /// By `class`.
    store_failures: One = "svc_store_failures_total", "Store operations that failed, by class.";
    /// By kind of subject, outcome, and what follows.
    reconciliations: (ReconcileKind, ReconcileCode, Step) = "svc_reconciliations_total", "Reconciliation items postponed or finished, by kind and outcome.";
    /// By kind of subject and outcome.
    lookups: (ReconcileKind, LookupOutcome) = "svc_forge_lookups_total", "Queries to the forge by \
    reconcilers, by kind and outcome.";
    /// By `cause`.
    forge_failures: One = "svc_forge_failures_total", "Calls to the forge that failed, by cause.";
    /// By `outcome`: `requested` or `failed`.
    redeliveries: One = "svc_redeliveries_total", "Failed webhooks that were requested again from \
    the forge, by outcome.";
    /// By `worker`.
    worker_panics: One = "svc_worker_panics_total", "Panics caught in workers.";
    /// By `kind`.
    swept: One = "svc_swept_rows_total", "Finished rows deleted by retention, by kind.";
    /// By `outcome`: `ok` or `failed`.
    slo_evaluations: One = "svc_slo_evaluations_total", "Evaluations of the signals, by outcome.";
}
gauges {
    /// 1 while there is a pause, of the one forge.
    forge_paused = "svc_forge_paused", "Whether effects wait because no connection to the forge can be made.";
    /// Sessions, those included that ended by being idle and were not looked for yet.
    mcp_sessions = "svc_mcp_sessions", "Sessions of the Model Context Protocol.";
    /// Sockets of plugins, those included that have not proved a key.
    relay_connections = "svc_relay_connections", "Open connections of relay plugins.";
    /// Streams of events, and answers that are handed in later.
    mcp_streams = "svc_mcp_streams", "Open streams of the Model Context Protocol.";
}
times {
    /// Of those that are on disk: reading the body from the network is not part of it.
    webhook_acks = "svc_webhook_ack_seconds", "Time from the last byte of a webhook until it is on disk and can be acknowledged.";
    /// With those that failed; without those that were not made.
    forge_calls = "svc_forge_call_seconds", "Time of each call to the forge, including the connection.";
}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_prometheus_text() {
        let metrics = Metrics::default();
        metrics.deliveries.count(DeliveryOutcome::Conflict);
        metrics.deliveries.add(DeliveryOutcome::Accepted, 2);
        let text = metrics.render();
        let wanted = "# TYPE svc_deliveries_total counter\n\
            svc_deliveries_total{outcome=\"accepted\"} 2\n\
            svc_deliveries_total{outcome=\"conflict\"} 1\n";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn a_sum_is_of_the_series_that_are_wanted() {
        let metrics = Metrics::default();
        for (kind, outcome) in [
            (ReconcileKind::WorkflowAttempt, LookupOutcome::Failed),
            (ReconcileKind::ReleaseRun, LookupOutcome::Failed),
            (ReconcileKind::ReleaseRun, LookupOutcome::Ok),
        ] {
            metrics.lookups.count((kind, outcome));
        }
        assert_eq!(metrics.lookups.sum(|_| true), 3);
        assert_eq!(metrics.lookups.sum(|(_, outcome)| outcome == LookupOutcome::Failed), 2);
        assert_eq!(metrics.effects.sum(|_| true), 0);
    }
}
