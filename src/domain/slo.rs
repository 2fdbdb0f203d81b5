//! Service-level signals: what is measured of the whole service, when a measurement is bad for long
//! enough to call a person, and when it is over.
//!
//! A snapshot holds aggregate values and no identifier of a tenant. The policy is a table, one row a
//! signal. The evaluator keeps, for this process alone, what the gates need to remember, and turns
//! each snapshot into transitions: a signal fires once when its gate is first satisfied, and recovers
//! once when its value is healthy again. A value that could not be had does neither. A restart forgets
//! everything, and is not a recovery.

mod evaluator;
mod history;
mod policy;
mod snapshot;

pub use evaluator::{Evaluator, Now, SignalState, SignalStatus, SloReport, Transition, Turn};
pub use policy::{Gate, POLICY, POLICY_VERSION, Rule, Severity, Side, Signal, Unit};
pub use snapshot::{Reading, Snapshot};

words! {
    /// The service as its signals show it.
    Health {
        /// Nothing fires.
        Healthy => "healthy",
        /// Only warnings fire.
        Degraded => "degraded",
        /// A critical signal fires.
        Critical => "critical",
    }
}

impl Health {
    /// Returns the health of a service in which signals of these severities fire.
    pub(crate) fn of(firing: impl Iterator<Item = Severity>) -> Self {
        firing
            .map(|severity| match severity {
                Severity::Warning => Self::Degraded,
                Severity::Critical => Self::Critical,
            })
            // By the order of the variants: healthy, degraded, critical.
            .max()
            .unwrap_or(Self::Healthy)
    }
}
