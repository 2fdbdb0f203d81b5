//! Counters, and their Prometheus text. Every name and label value is a constant of the program, so
//! the set of series is closed and nothing of a tenant can stand in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use crate::runtime::mutex::lock;

/// Every family: name, type, help.
const FAMILIES: &[(&str, &str)] = &[
    (DELIVERIES, "Webhook deliveries by outcome."),
    (REQUESTS, "HTTP requests by surface and status class."),
    (JOBS, "Lifecycle jobs that ran, by outcome."),
    (EFFECTS, "Side effects at the forge, by kind and outcome."),
    (RESULTS, "Signed results of releases, by outcome."),
    (REPLAYS, "Replay requests by outcome."),
    (STORE_FAILURES, "Store verbs that did not happen, by class."),
    (RECONCILIATIONS, "Reconciliation items put off or finished, by kind and outcome."),
    (LOOKUPS, "Looks at the forge by reconcilers, by kind and outcome."),
    (REDELIVERIES, "Failed webhooks the forge was asked to send again, by outcome."),
    (WORKER_PANICS, "Panics caught in workers."),
    (SWEPT, "Finished rows deleted by retention, by kind."),
    (SLO_EVALUATIONS, "Evaluations of the signals, by outcome."),
];

/// Webhook deliveries; label `outcome`.
pub const DELIVERIES: &str = "svc_deliveries_total";
/// HTTP requests; labels `surface`, `status`.
pub const REQUESTS: &str = "svc_http_requests_total";
/// Lifecycle jobs; label `outcome`.
pub const JOBS: &str = "svc_jobs_total";
/// Side effects; labels `kind`, `outcome`.
pub const EFFECTS: &str = "svc_effects_total";
/// Signed results; label `outcome`.
pub const RESULTS: &str = "svc_results_total";
/// Replays; label `outcome`.
pub const REPLAYS: &str = "svc_replays_total";
/// Store failures; label `class`.
pub const STORE_FAILURES: &str = "svc_store_failures_total";
/// Reconciliation items; labels `kind`, `outcome` (a code), `then` (`recheck` or `end`).
pub const RECONCILIATIONS: &str = "svc_reconciliations_total";
/// Looks at the forge; labels `kind`, `outcome` (`ok`, `not_found`, `failed`).
pub const LOOKUPS: &str = "svc_forge_lookups_total";
/// Requests to send a webhook again; label `outcome` (`requested`, `failed`).
pub const REDELIVERIES: &str = "svc_redeliveries_total";
/// Worker panics; label `worker`.
pub const WORKER_PANICS: &str = "svc_worker_panics_total";
/// Swept rows; label `kind`.
pub const SWEPT: &str = "svc_swept_rows_total";
/// Evaluations of the signals; label `outcome`: `ok` or `failed`.
pub const SLO_EVALUATIONS: &str = "svc_slo_evaluations_total";

/// Names and values of a series' labels.
pub type Labels = Vec<(&'static str, &'static str)>;

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Metrics(Mutex<BTreeMap<(&'static str, Labels), u64>>);

impl Metrics {
    /// Adds one.
    pub fn count(&self, family: &'static str, labels: &[(&'static str, &'static str)]) {
        self.add(family, labels, 1);
    }

    /// Adds `amount`.
    pub fn add(&self, family: &'static str, labels: &[(&'static str, &'static str)], amount: u64) {
        let mut counters = lock(&self.0);
        *counters.entry((family, labels.to_vec())).or_default() += amount;
    }

    /// Returns the sum of a family's counters that carry all of `labels`.
    #[must_use]
    pub fn sum(&self, family: &str, labels: &[(&'static str, &'static str)]) -> u64 {
        let counters = lock(&self.0);
        counters
            .iter()
            .filter(|((name, own), _)| *name == family && labels.iter().all(|l| own.contains(l)))
            .map(|(_, value)| *value)
            .sum()
    }

    /// Writes every counter as Prometheus text, version 0.0.4.
    #[must_use]
    pub fn render(&self) -> String {
        let counters = lock(&self.0).clone();
        let mut text = String::new();
        for (family, help) in FAMILIES {
            header(&mut text, family, "counter", help);
            for ((name, labels), value) in &counters {
                if name == family {
                    sample(&mut text, name, labels, *value);
                }
            }
        }
        text
    }
}

/// Writes one gauge with its header.
pub fn gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    header(text, name, "gauge", help);
    sample(text, name, &[], value);
}

/// Writes a gauge of several series with its header.
pub fn gauges(
    text: &mut String,
    name: &str,
    help: &str,
    series: impl Iterator<Item = (Labels, u64)>,
) {
    header(text, name, "gauge", help);
    for (labels, value) in series {
        sample(text, name, &labels, value);
    }
}

/// Writes one counter that somebody else keeps, with its header.
pub fn counter(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    header(text, name, "counter", help);
    sample(text, name, &[], value);
}

fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes any text");
}

fn sample(
    text: &mut String,
    name: &str,
    labels: &[(&'static str, &'static str)],
    value: impl std::fmt::Display,
) {
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let labels =
        if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    writeln!(text, "{name}{labels} {value}").expect("a string takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_prometheus_text() {
        let metrics = Metrics::default();
        metrics.count(DELIVERIES, &[("outcome", "accepted")]);
        metrics.count(DELIVERIES, &[("outcome", "accepted")]);
        let text = metrics.render();
        assert!(text.contains("# TYPE svc_deliveries_total counter\n"));
        assert!(text.contains("svc_deliveries_total{outcome=\"accepted\"} 2\n"));
    }

    #[test]
    fn a_sum_is_of_the_series_that_carry_the_labels() {
        let metrics = Metrics::default();
        for (kind, outcome) in [("a", "failed"), ("b", "failed"), ("b", "ok")] {
            metrics.count(LOOKUPS, &[("kind", kind), ("outcome", outcome)]);
        }
        assert_eq!(metrics.sum(LOOKUPS, &[]), 3);
        assert_eq!(metrics.sum(LOOKUPS, &[("outcome", "failed")]), 2);
        assert_eq!(metrics.sum(LOOKUPS, &[("outcome", "failed"), ("kind", "b")]), 1);
        assert_eq!(metrics.sum(EFFECTS, &[("outcome", "failed")]), 0);
    }
}
