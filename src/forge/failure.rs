//! Calls that failed: why there is no answer, and what is told of them. Never what was sent or answered.

use http::StatusCode;

use super::Gate;
use super::client::ForgeClient;
use super::wire::SendFailure;
use crate::domain::dead_letter::{ErrorClass, FailureCause};
use crate::domain::outbox::SendResult;

/// Why a call has no answer.
#[derive(Clone, Copy)]
pub(super) struct Unanswered {
    pub(super) result: SendResult,
    /// `None` when the call was not made.
    pub(super) cause: Option<FailureCause>,
}

impl Unanswered {
    /// Returns it with the result that a call has which was not sent, or was lost.
    pub(super) fn new(failure: SendFailure, not_sent: SendResult, lost: SendResult) -> Self {
        match failure {
            SendFailure::Stopped(result) => Self { result, cause: None },
            SendFailure::NotSent(cause) => Self { result: not_sent, cause },
            SendFailure::Lost(cause) => Self { result: lost, cause: Some(cause) },
        }
    }
}

impl ForgeClient {
    /// Logs and counts a failed call, unless it has no class, and tells the gate why it failed.
    pub(super) fn call_failed(
        &self,
        gate: &dyn Gate,
        call: &str,
        answered: Result<StatusCode, Option<FailureCause>>,
        class: Option<ErrorClass>,
    ) {
        let Some(class) = class else { return };
        let status = answered.map_or(0, |status| status.as_u16());
        let cause = answered.map_or_else(|cause| cause, cause_of);
        log::warn!(
            event = "forge.call_failed", call = call, status = status, class = class.as_str(),
            cause = cause.map_or("none", FailureCause::as_str);
            "a call to the forge failed"
        );
        if let Some(cause) = cause {
            self.metrics.forge_failures.count([("cause", cause.as_str())]);
            self.reach.call_failed(cause);
            gate.call_failed(cause);
        }
    }
}

/// Returns the cause that a status is; nothing for an answer that only was not the one hoped for.
fn cause_of(status: StatusCode) -> Option<FailureCause> {
    match status.as_u16() {
        400..=499 => Some(FailureCause::Http4xx),
        500..=599 => Some(FailureCause::Http5xx),
        _ => None,
    }
}
