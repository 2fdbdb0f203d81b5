//! Whether the service may be used, and its numbers. Open to anyone who reaches a surface, so it holds
//! words, times and counts, and nothing of a tenant.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use crate::api::Readiness;
use crate::app::App;
use crate::domain::slo::{SignalStatus, SloReport};
use crate::domain::time::Timestamp;
use crate::logging;
use crate::metrics::{counter, gauge, gauges, histogram};
use crate::store;

impl App {
    /// Says whether the service may be used. It reads, and never writes.
    #[must_use]
    pub fn readiness(&self) -> Readiness {
        let draining = self.draining.load(Ordering::Relaxed);
        let mut store = match self.store.health() {
            store::Health::Ok => "ok",
            store::Health::Failing(reason) => reason.as_str(),
        };
        // A database that cannot be read is not ready, even if the last write succeeded.
        let schema_version = self.store.schema_step().unwrap_or_else(|error| {
            store = error.class();
            0
        });
        // Times that cannot be read are shown as missing; `store` says why.
        let ticks = |worker| self.store.ticks(worker).unwrap_or_default();
        let (workflow, check_run, lifecycle) = (
            ticks("workflow_reconciliation"),
            ticks("check_run_reconciliation"),
            ticks("lifecycle_reconciliation"),
        );
        let is_ready = store == "ok" && !draining && self.reconciliation.is_some();
        // How the signals stand has no say in whether the service is ready.
        let slo = self.slo.get();
        let name = |status: &SignalStatus| Cow::Borrowed(status.rule.signal.as_str());
        Readiness {
            status: Cow::Borrowed(if is_ready { Readiness::READY } else { "not_ready" }),
            reconciliation_configuration_valid: self.reconciliation.is_some(),
            last_workflow_reconciliation_poll_at: workflow.last_poll_at,
            last_successful_workflow_reconciliation_at: workflow.last_success_at,
            last_check_run_reconciliation_poll_at: check_run.last_poll_at,
            last_successful_check_run_reconciliation_at: check_run.last_success_at,
            last_lifecycle_reconciliation_poll_at: lifecycle.last_poll_at,
            last_successful_lifecycle_reconciliation_at: lifecycle.last_success_at,
            store: Cow::Borrowed(store),
            schema_version,
            draining,
            slo_health: slo.as_ref().map(|report| Cow::Borrowed(report.health().as_str())),
            slo_active_signals: slo.iter().flat_map(SloReport::firing).map(name).collect(),
        }
    }

    /// Returns every number as Prometheus text.
    #[must_use]
    pub fn metrics_text(&self) -> String {
        let mut text = self.metrics.render();
        let version = vec![("version", env!("CARGO_PKG_VERSION"))];
        let build = std::iter::once((version, 1));
        gauges(&mut text, "svc_build_info", "The version of svcd; always 1.", build);
        self.store_gauges(&mut text);
        counter(
            &mut text,
            "svc_lease_expiries_total",
            "Leases that expired and were taken back.",
            self.store.lease_expiries(),
        );
        counter(
            &mut text,
            "svc_log_lines_dropped_total",
            "Log lines that standard error did not take.",
            logging::dropped(),
        );
        // Without the database the numbers are missing: zeros would read as an empty backlog.
        if let Ok(backlog) = self.store.backlog() {
            let age = |since: Option<Timestamp>| {
                since.map_or(0.0, |since| self.clock.now().since(since).as_secs_f64())
            };
            let oldest_job = age(backlog.oldest_job_at);
            let oldest_message = age(backlog.oldest_message_at);
            let capped = "counted up to 10000";
            for (name, help, value) in [
                ("svc_jobs_available", "Waiting jobs", backlog.jobs_available),
                ("svc_outbox_available", "Waiting effects", backlog.messages_available),
                ("svc_dead_letters_open", "Open dead letters", backlog.dead_letters_open),
            ] {
                gauge(&mut text, name, &format!("{help}, {capped}."), value);
            }
            gauge(
                &mut text,
                "svc_oldest_job_seconds",
                "How long the oldest due job has waited.",
                oldest_job,
            );
            gauge(
                &mut text,
                "svc_oldest_effect_seconds",
                "How long the oldest due effect has waited.",
                oldest_message,
            );
        }
        if let Ok(counts) = self.store.dead_letters_by_reason() {
            let series =
                counts.into_iter().map(|(reason, count)| (vec![("reason", reason)], count));
            gauges(
                &mut text,
                "svc_dead_letters_open_by_reason",
                "Open dead letters by reason, counted up to 10000.",
                series,
            );
        }
        self.slo_gauges(&mut text);
        text
    }

    /// Writes what is known of the store itself.
    fn store_gauges(&self, text: &mut String) {
        gauge(
            text,
            "svc_store_commits",
            "Groups of transactions that the writer \
        committed.",
            self.store.commits(),
        );
        gauge(text, "svc_store_log_bytes", "Size of the write-ahead log.", self.store.log_bytes());
        counter(
            text,
            "svc_store_busy_seconds_total",
            "Time that the writer spent on transactions, including the wait for its lock.",
            self.store.busy().as_secs_f64(),
        );
        histogram(
            text,
            "svc_store_commit_seconds",
            "Time of each group of transactions, from waiting for the lock to its commit on disk.",
            self.store.group_times(),
        );
        histogram(
            text,
            "svc_job_wait_seconds",
            "How long each job had been due when it began.",
            self.store.job_waits(),
        );
        let up = u8::from(self.store.health() == store::Health::Ok);
        gauge(text, "svc_store_up", "1 if the last write succeeded, 0 if it failed.", up);
        if let Ok(size) = self.store.size() {
            gauge(
                text,
                "svc_store_database_bytes",
                "Size of the database, including pages that are still in the write-ahead log.",
                size.bytes,
            );
            gauge(
                text,
                "svc_store_free_bytes",
                "Size of the free pages of the database, which new data uses before the file grows.",
                size.free_bytes,
            );
        }
    }
}
