//! What verbs take and return, besides the types of `domain`: plain values, one file per noun.

pub(in crate::store) mod health;
pub(in crate::store) mod job;
pub(in crate::store) mod lease;
pub(in crate::store) mod log;
pub(in crate::store) mod observation;
pub(in crate::store) mod opening;
pub(in crate::store) mod reconciliation;
pub mod relay;
pub(in crate::store) mod release;
pub(in crate::store) mod sli;
pub(in crate::store) mod upkeep;

pub use health::Health;
pub use job::{JobRun, NewRelease};
pub use lease::LeasePolicy;
pub use log::LogRules;
pub use observation::Observation;
pub use opening::{OnOpening, Opening};
pub use reconciliation::{Closed, Detected, Polled};
pub use release::ReleaseRunDetail;
pub use sli::Sli;
pub use upkeep::{Backlog, ReleasesSwept, StoreSize, Swept, Ticks};
