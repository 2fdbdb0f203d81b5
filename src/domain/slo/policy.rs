//! The policy: one row for each signal, with its gate, its bounds, whose it is, and what to look at.
//!
//! A threshold and a healthy value apart keep a signal from firing and recovering in turns. What is
//! critical calls a person at night; what is a warning waits for its owner.
//!
//! How signals fire and recover: `docs/decisions/31-signals.md`.

use std::time::Duration;

/// Identifies this table. Signals may be added under the same identifier; none is removed or changes its meaning.
pub const POLICY_VERSION: &str = "forge-cloud-ga-v1";

words! {
    /// A signal.
    Signal(meaning) {
        OldestJob => "oldest_job_age", "how long the oldest due job has waited for a worker";
        OldestInbox => "oldest_inbox_age", "age of the oldest webhook that has not been processed";
        DeadLetters => "dead_letters_added", "jobs and effects that became dead letters";
        LeaseExpiries => "lease_expiries", "leases that expired because their worker stopped without a result";
        ReconciliationOverdue => "reconciliation_overdue", "how far the most overdue reconciliation is past its deadline";
        PublicationFailures => "publication_failures", "check runs that could not be updated to the state of their release";
        LookupFailures => "forge_lookup_failures", "queries to the forge that got no usable answer";
        WebhookRejections => "webhook_rejections", "webhooks that were refused because of their signature, their content, or the store";
        DatabaseBusy => "database_busy", "time that the writer spent on transactions, including the wait for its lock";
        DiskFree => "disk_free", "space left for the database, limited by its file system and by the file size limit";
        OpenDeadLetters => "dead_letters_open_age", "how long the oldest open dead letter has waited for an operator";
        GivenUp => "reconciliation_given_up", "reconciliations that were given up and not closed";
        BacklogGrowth => "backlog_growth", "increase in the number of waiting jobs and effects";
    }
}

words! {
    /// Who is called.
    Severity {
        /// The platform's page, at any hour.
        Critical => "critical",
        /// Triage by its owner.
        Warning => "warning",
    }
}

/// What must hold before a signal fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The value has been bad for so long.
    Duration(Duration),
    /// The value was bad in so many snapshots in a row.
    Consecutive(u32),
    /// The level rose by so much over this time, and in each half of it.
    Trend(Duration),
    /// So much came together within this time.
    Volume(Duration),
}

impl Gate {
    /// Every kind of gate.
    pub const KINDS: [&'static str; 4] = ["duration", "consecutive_snapshots", "trend", "volume"];

    /// Returns the published word of its kind.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Duration(_) => "duration",
            Self::Consecutive(_) => "consecutive_snapshots",
            Self::Trend(_) => "trend",
            Self::Volume(_) => "volume",
        }
    }

    /// Returns the time it is about, if it is about one.
    #[must_use]
    pub const fn time(self) -> Option<Duration> {
        match self {
            Self::Duration(time) | Self::Trend(time) | Self::Volume(time) => Some(time),
            Self::Consecutive(_) => None,
        }
    }

    /// Returns the number of snapshots it is about, if it is about one.
    #[must_use]
    pub const fn snapshots(self) -> Option<u32> {
        match self {
            Self::Consecutive(count) => Some(count),
            Self::Duration(_) | Self::Trend(_) | Self::Volume(_) => None,
        }
    }
}

words! {
    /// Which side of the threshold is bad.
    Side {
        /// The threshold, and whatever is greater.
        High => "high",
        /// The threshold, and whatever is less.
        Low => "low",
    }
}

words! {
    /// What a value counts.
    Unit {
        /// Things.
        Count => "count",
        /// Seconds.
        Seconds => "seconds",
        /// Bytes.
        Bytes => "bytes",
    }
}

/// One row of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What is measured.
    pub signal: Signal,
    /// Who is called.
    pub severity: Severity,
    /// What must hold before it fires.
    pub gate: Gate,
    /// Which side of the threshold is bad.
    pub side: Side,
    /// The first value that is bad.
    pub threshold: u64,
    /// The first value that ends it.
    pub healthy: u64,
    /// What the values count.
    pub unit: Unit,
    /// Role that is responsible.
    pub owner: &'static str,
    /// What to look at next.
    pub next_check: &'static str,
}

impl Rule {
    /// Says whether a value is bad.
    #[must_use]
    pub const fn is_bad(&self, value: u64) -> bool {
        match self.side {
            Side::High => value >= self.threshold,
            Side::Low => value <= self.threshold,
        }
    }

    /// Says whether a value ends an active signal.
    #[must_use]
    pub const fn is_healthy(&self, value: u64) -> bool {
        match self.side {
            Side::High => value <= self.healthy,
            Side::Low => value >= self.healthy,
        }
    }
}

/// Runs the daemon and its machine.
const PLATFORM: &str = "platform";
/// Looks after dead letters and releases.
const OPERATIONS: &str = "release-operations";
/// Looks after the app at the forge.
const INTEGRATION: &str = "forge-integration";

const MIB: u64 = 1 << 20;

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The table.
pub const POLICY: [Rule; 13] = [
    Rule {
        signal: Signal::OldestJob,
        severity: Severity::Critical,
        gate: Gate::Duration(seconds(60)),
        side: Side::High,
        threshold: 300,
        healthy: 60,
        unit: Unit::Seconds,
        owner: PLATFORM,
        next_check: "check whether svc_jobs_total increases, and look in the log for worker.claim_failed",
    },
    Rule {
        signal: Signal::OldestInbox,
        severity: Severity::Warning,
        gate: Gate::Duration(seconds(60)),
        side: Side::High,
        threshold: 900,
        healthy: 300,
        unit: Unit::Seconds,
        owner: PLATFORM,
        next_check: "look in the log for jobs that fail again and again (job.failed)",
    },
    Rule {
        signal: Signal::DeadLetters,
        severity: Severity::Warning,
        gate: Gate::Volume(seconds(900)),
        side: Side::High,
        threshold: 1,
        healthy: 0,
        unit: Unit::Count,
        owner: OPERATIONS,
        next_check: "svcctl dead-letters list -A; repair the cause, then replay the safe ones",
    },
    Rule {
        signal: Signal::LeaseExpiries,
        severity: Severity::Warning,
        gate: Gate::Volume(seconds(900)),
        side: Side::High,
        threshold: 5,
        healthy: 0,
        unit: Unit::Count,
        owner: PLATFORM,
        next_check: "look for restarts of svcd, a suspended machine, and calls to the forge that do not end",
    },
    Rule {
        signal: Signal::ReconciliationOverdue,
        severity: Severity::Critical,
        gate: Gate::Consecutive(3),
        side: Side::High,
        threshold: 300,
        healthy: 0,
        unit: Unit::Seconds,
        owner: PLATFORM,
        next_check: "check with svcctl status that reconcilers poll and succeed; releases stay undecided until they do",
    },
    Rule {
        signal: Signal::PublicationFailures,
        severity: Severity::Critical,
        gate: Gate::Volume(seconds(900)),
        side: Side::High,
        threshold: 3,
        healthy: 0,
        unit: Unit::Count,
        owner: INTEGRATION,
        next_check: "check the app's permission to write check runs; until then, check runs show an outdated state",
    },
    Rule {
        signal: Signal::LookupFailures,
        severity: Severity::Warning,
        gate: Gate::Volume(seconds(600)),
        side: Side::High,
        threshold: 10,
        healthy: 1,
        unit: Unit::Count,
        owner: INTEGRATION,
        next_check: "check the forge's status page, the app's rate limit and its installation",
    },
    Rule {
        signal: Signal::WebhookRejections,
        severity: Severity::Warning,
        gate: Gate::Volume(seconds(300)),
        side: Side::High,
        threshold: 20,
        healthy: 2,
        unit: Unit::Count,
        owner: INTEGRATION,
        next_check: "compare svc_deliveries_total by outcome: bad_signature means that the secrets differ or the request is not from the forge, unavailable means a store failure",
    },
    Rule {
        signal: Signal::DatabaseBusy,
        severity: Severity::Warning,
        gate: Gate::Volume(seconds(300)),
        side: Side::High,
        threshold: 240,
        healthy: 150,
        unit: Unit::Seconds,
        owner: PLATFORM,
        next_check: "look for another process that uses the database file, a slow disk, and overload",
    },
    Rule {
        signal: Signal::DiskFree,
        severity: Severity::Critical,
        // One is not enough: a large file that is written and deleted again calls no person.
        gate: Gate::Consecutive(2),
        side: Side::Low,
        threshold: 256 * MIB,
        healthy: 512 * MIB,
        unit: Unit::Bytes,
        owner: PLATFORM,
        next_check: "free space on the file system of SVC_DATABASE, or raise the file size limit; svcd accepts no webhooks when the space is used up",
    },
    Rule {
        signal: Signal::OpenDeadLetters,
        severity: Severity::Warning,
        gate: Gate::Duration(seconds(60)),
        side: Side::High,
        threshold: 86_400,
        healthy: 82_800,
        unit: Unit::Seconds,
        owner: OPERATIONS,
        next_check: "svcctl dead-letters list -A; replay what is safe, and close what is not needed any more",
    },
    Rule {
        signal: Signal::GivenUp,
        severity: Severity::Warning,
        gate: Gate::Duration(seconds(60)),
        side: Side::High,
        threshold: 1,
        healthy: 0,
        unit: Unit::Count,
        owner: OPERATIONS,
        next_check: "svcctl reconcile list --status dead_letter --closed=false -A; look for the cause in the log, then svcctl reconcile close ID --reason TEXT",
    },
    Rule {
        signal: Signal::BacklogGrowth,
        severity: Severity::Warning,
        gate: Gate::Trend(seconds(600)),
        side: Side::High,
        threshold: 500,
        healthy: 0,
        unit: Unit::Count,
        owner: PLATFORM,
        next_check: "check svc_jobs_available and svc_outbox_available, and look for a paused installation",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_has_one_row_in_its_order() {
        let rows: Vec<Signal> = POLICY.iter().map(|rule| rule.signal).collect();
        assert_eq!(rows, Signal::ALL);
    }

    #[test]
    fn no_value_is_both_bad_and_healthy() {
        for rule in POLICY {
            assert!(rule.is_bad(rule.threshold) && rule.is_healthy(rule.healthy), "{rule:?}");
            assert!(!rule.is_healthy(rule.threshold) && !rule.is_bad(rule.healthy), "{rule:?}");
        }
    }
}
