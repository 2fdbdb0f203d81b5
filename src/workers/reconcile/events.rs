//! What reconcilers tell of themselves: stable names, ids and codes. No tenant content, no text of the
//! forge or the database.

use crate::domain::id::{AttemptId, ReconciliationId};
use crate::domain::reconcile::{ReconcileCode, ReconcileKind, ReconcileReason};
use crate::domain::time::Timestamp;
use crate::metrics::{self, LookupOutcome, Metrics};
use crate::store;

/// Names of the events of one reconciler.
struct Names {
    detected: &'static str,
    detection_failed: &'static str,
    claim_failed: &'static str,
    terminal: &'static str,
}

const fn names(kind: ReconcileKind) -> Names {
    match kind {
        ReconcileKind::WorkflowAttempt => Names {
            detected: "worker.reconciliation_detected",
            detection_failed: "worker.reconciliation_detection_failed",
            claim_failed: "worker.reconciliation_claim_failed",
            terminal: "worker.reconciliation_terminal",
        },
        ReconcileKind::ReleaseRun => Names {
            detected: "worker.check_run_reconciliation_detected",
            detection_failed: "worker.check_run_reconciliation_detection_failed",
            claim_failed: "worker.check_run_reconciliation_claim_failed",
            terminal: "worker.check_run_reconciliation_terminal",
        },
        ReconcileKind::WebhookInbox => Names {
            detected: "worker.lifecycle_reconciliation_detected",
            detection_failed: "worker.lifecycle_reconciliation_detection_failed",
            claim_failed: "worker.lifecycle_reconciliation_claim_failed",
            terminal: "worker.lifecycle_reconciliation_terminal",
        },
    }
}

/// Something is amiss, and an item was opened for it.
pub(super) fn detected(id: ReconciliationId, reason: ReconcileReason) {
    let event = names(reason.kind()).detected;
    log::info!(event = event, reconciliation_id:% = id, reason = reason.as_str(); "a problem was detected and will be reconciled");
}

/// It is not known whether something is amiss.
pub(super) fn detection_failed(kind: ReconcileKind, error: &store::Error) {
    let event = names(kind).detection_failed;
    log::warn!(event = event, class = error.class(); "the search for problems failed");
}

/// It is not known what is due.
pub(super) fn claim_failed(kind: ReconcileKind, error: &store::Error) {
    let event = names(kind).claim_failed;
    log::warn!(event = event, class = error.class(); "claiming a reconciliation item failed");
}

/// An item was finished.
pub(super) fn terminal(
    metrics: &Metrics,
    id: ReconciliationId,
    reason: ReconcileReason,
    code: ReconcileCode,
) {
    let kind = reason.kind();
    let event = names(kind).terminal;
    let status = if code.is_dead() { "dead_letter" } else { "completed" };
    log::info!(event = event, reconciliation_id:% = id, status = status, outcome_code = code.as_str(); "a reconciliation has ended");
    metrics.reconciliations.count((kind, code, metrics::Step::End));
}

/// A given-up item reached its deadline, which was applied to its subject.
pub(super) fn overdue(id: ReconciliationId, reason: ReconcileReason, code: ReconcileCode) {
    log::warn!(event = "reconciliation.overdue", reconciliation_id:% = id, reason = reason.as_str(), outcome_code = code.as_str(); "a given-up reconciliation item reached its deadline; its release was failed, or its publication was recorded as failed");
}

/// A release ended because an operator had closed the dead letter of its effect.
pub(super) fn ended_closed(attempt: AttemptId, code: ReconcileCode) {
    log::info!(event = "release.ended_closed", attempt_id:% = attempt, outcome_code = code.as_str(); "a release was failed at the deadline of an effect whose dead letter an operator had closed");
}

/// An item was put off.
pub(super) fn recheck(
    metrics: &Metrics,
    id: ReconciliationId,
    reason: ReconcileReason,
    code: ReconcileCode,
    at: Timestamp,
) {
    log::debug!(event = "reconciliation.recheck", reconciliation_id:% = id, outcome_code = code.as_str(), next_check_at:% = at; "it will be checked again later");
    metrics.reconciliations.count((reason.kind(), code, metrics::Step::Recheck));
}

/// The forge was looked at.
pub(super) fn looked(metrics: &Metrics, kind: ReconcileKind, observation: store::Observation) {
    let outcome = match observation {
        // Nothing was sent, so the share of failed lookups must not change.
        unasked if !unasked.was_asked() => return,
        other if other.is_unavailable() => LookupOutcome::Failed,
        other if other.is_not_found() => LookupOutcome::NotFound,
        _ => LookupOutcome::Ok,
    };
    metrics.lookups.count((kind, outcome));
}
