//! An uncertain effect: it may have happened at the forge, and was given up.
//!
//! A lookup can prove that it happened. Only a creation can be proved not to have happened: a check run is found
//! by its external id, while a run that is not found may be one whose title does not name the attempt.
//!
//! See `docs/decisions/17-uncertain-effects.md`.

use crate::domain::id::{CheckRunId, WorkflowRunId};
use crate::domain::outbox::EffectKind;
use crate::domain::reconcile::{AttemptStanding, ReconcileCode, Rules, Unavailable};
use crate::domain::time::Timestamp;

/// What a lookup of the effect returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Exactly one workflow run names the attempt.
    WorkflowRun(WorkflowRunId),
    /// The check run of the attempt.
    CheckRun(CheckRunId),
    /// The forge knows no check run of the attempt.
    NoCheckRun,
    /// No workflow run names the attempt, or several do.
    NoProof,
    /// The forge did not tell.
    Unavailable(Unavailable),
}

/// What becomes of the message that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It happened: the message completes with what was found, and its dead letter closes.
    Proved(Proof),
    /// It did not happen: its dead letter may be replayed from now on.
    Disproved,
    /// Look again at that instant.
    Recheck {
        /// What was seen.
        code: ReconcileCode,
        /// When to look again.
        at: Timestamp,
    },
    /// The effect stays uncertain.
    Unproved,
    /// The effect stays uncertain and the release fails for this reason, because nothing else would end it.
    End(ReconcileCode),
}

/// What proves an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The run that was dispatched.
    WorkflowRun(WorkflowRunId),
    /// The check run that was created.
    CheckRun(CheckRunId),
}

/// Decides about an effect that is uncertain at `now`, which is read when the outcome is applied, and
/// about its attempt as it stands then.
#[must_use]
pub fn decide(
    effect: EffectKind,
    standing: AttemptStanding,
    observation: Observation,
    deadline: Timestamp,
    now: Timestamp,
    rules: &Rules,
) -> Outcome {
    let recheck_or_unproved = |code, wait_until| {
        if now < deadline {
            Outcome::Recheck { code, at: rules.next_check_at(now, deadline, wait_until) }
        } else if standing == AttemptStanding::Current {
            Outcome::End(unproved(effect))
        } else {
            Outcome::Unproved
        }
    };
    match observation {
        Observation::WorkflowRun(run) => Outcome::Proved(Proof::WorkflowRun(run)),
        Observation::CheckRun(run) => Outcome::Proved(Proof::CheckRun(run)),
        Observation::NoCheckRun => Outcome::Disproved,
        Observation::NoProof => recheck_or_unproved(ReconcileCode::EffectUnproved, None),
        Observation::Unavailable(why) => {
            recheck_or_unproved(ReconcileCode::ForgeLookupFailed, why.wait_until)
        }
    }
}

/// Returns why a release ends whose effect was not proved in time.
#[must_use]
pub const fn unproved(effect: EffectKind) -> ReconcileCode {
    match effect {
        EffectKind::WorkflowDispatch => ReconcileCode::ForgeDispatchUnconfirmed,
        EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate => {
            ReconcileCode::ForgeWorkflowLookupFailed
        }
    }
}

/// Returns why a release ends whose effect an operator has closed. A dispatch that is uncertain may have started a run.
#[must_use]
pub const fn closed(effect: EffectKind, is_uncertain: bool) -> ReconcileCode {
    match effect {
        EffectKind::WorkflowDispatch if is_uncertain => ReconcileCode::ForgeDispatchUnconfirmed,
        EffectKind::WorkflowDispatch | EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate => {
            ReconcileCode::DeadLetterClosed
        }
    }
}
