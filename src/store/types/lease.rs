//! How long a claim holds.

use std::time::Duration;

use crate::domain::retry::RetryPolicy;

/// How long a claim holds, and how often it may be tried.
#[derive(Clone, Copy, Debug)]
pub struct LeasePolicy {
    /// From the claim to its end.
    pub lease: Duration,
    /// Tries and delays.
    pub retry: RetryPolicy,
}
