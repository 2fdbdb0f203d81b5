//! The next step of a release run, and when it is due, for the operator who asks why nothing happens. It
//! is derived from what is planned; nothing here plans.
//!
//! See `docs/decisions/30-next-step-of-a-release.md`.

use crate::domain::dead_letter::ReplayClass;
use crate::domain::id::OutboxId;
use crate::domain::outbox::EffectKind;
use crate::domain::release::ReleaseStatus;
use crate::domain::time::Timestamp;

/// What is known of a release run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub status: ReleaseStatus,
    /// The first unfinished message of its current attempt; those behind it are held.
    pub message: Option<Message>,
    /// The open reconciliation item that is looked at first.
    pub reconciliation: Option<Reconciliation>,
    /// What became of its final check run.
    pub publication: Publication,
}

/// An unfinished message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// It waits to be claimed, not before `at`.
    Waiting {
        /// What it does.
        kind: EffectKind,
        /// When the wait, and a pause of the installation, are over.
        at: Timestamp,
    },
    /// A worker holds it.
    Leased {
        /// When the lease ends.
        until: Timestamp,
    },
    /// It is a dead letter.
    Dead {
        id: OutboxId,
        /// Why it may, or may not, be replayed; nothing for a class of a newer version.
        class: Option<ReplayClass>,
    },
    /// It is dead, and an operator closed its dead letter: the release needs it, and does not go on.
    Closed { id: OutboxId },
}

/// An open reconciliation item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconciliation {
    /// When it is looked at.
    pub next_check_at: Timestamp,
    /// Until when it may stay open.
    pub deadline_at: Timestamp,
}

/// What became of the final check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publication {
    /// No check run is known: there is nothing to publish to.
    NoCheckRun,
    /// The forge has not confirmed it.
    Unconfirmed,
    /// It failed for good.
    Failed,
    /// The forge confirmed it.
    Confirmed,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// A message is sent.
    Send(EffectKind, Timestamp),
    /// The final check run is sent.
    Publish(Timestamp),
    /// A message is being sent; after `until` another worker takes it over.
    AwaitsAnswer {
        /// When the lease ends.
        until: Timestamp,
    },
    /// The signed result is awaited. Once a reconciler waits too, it ends the wait at its deadline.
    AwaitsResult(Option<Reconciliation>),
    /// The forge is asked; the dead letter, when there is one, may turn out to be none.
    Recheck(Reconciliation, Option<OutboxId>),
    /// A reconciler finds it once it has been like this for the observation window.
    AwaitsReconciliation,
    /// An operator may replay the dead letter.
    OperatorReplay(OutboxId),
    /// A run may exist: the way on is to ask the forge to run the check run again.
    OperatorRerequest(OutboxId),
    /// An operator closed the dead letter: the release ends a deadline after that, unless its check run is run again.
    EndsAtDeadline(OutboxId),
    /// Nothing goes on by itself, and no replay is safe: a person must look.
    OperatorInvestigate(Option<OutboxId>),
    /// It is over.
    Nothing,
}

impl NextStep {
    /// Every stable code, in the order of the documentation.
    pub const CODES: [&'static str; 13] = [
        "send_check_run_create",
        "send_workflow_dispatch",
        "send_check_run_update",
        "publish",
        "awaits_answer",
        "awaits_result",
        "recheck",
        "awaits_reconciliation",
        "operator_replay",
        "operator_rerequest",
        "operator_investigate",
        "ends_at_deadline",
        "nothing",
    ];

    /// Returns the stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Send(EffectKind::CheckRunCreate, _) => "send_check_run_create",
            Self::Send(EffectKind::WorkflowDispatch, _) => "send_workflow_dispatch",
            Self::Send(EffectKind::CheckRunUpdate, _) => "send_check_run_update",
            Self::Publish(_) => "publish",
            Self::AwaitsAnswer { .. } => "awaits_answer",
            Self::AwaitsResult(_) => "awaits_result",
            Self::Recheck(..) => "recheck",
            Self::AwaitsReconciliation => "awaits_reconciliation",
            Self::OperatorReplay(_) => "operator_replay",
            Self::OperatorRerequest(_) => "operator_rerequest",
            Self::OperatorInvestigate(_) => "operator_investigate",
            Self::EndsAtDeadline(_) => "ends_at_deadline",
            Self::Nothing => "nothing",
        }
    }

    /// Returns when; `None` when that is not planned.
    #[must_use]
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Self::Send(_, at) | Self::Publish(at) => Some(at),
            Self::Recheck(item, _) | Self::AwaitsResult(Some(item)) => Some(item.next_check_at),
            Self::AwaitsAnswer { .. }
            | Self::AwaitsResult(None)
            | Self::AwaitsReconciliation
            | Self::OperatorReplay(_)
            | Self::OperatorRerequest(_)
            | Self::OperatorInvestigate(_)
            | Self::EndsAtDeadline(_)
            | Self::Nothing => None,
        }
    }

    /// Returns until when it may stay like this; `None` if nothing ends it.
    #[must_use]
    pub const fn deadline_at(self) -> Option<Timestamp> {
        match self {
            Self::AwaitsAnswer { until } => Some(until),
            Self::Recheck(item, _) | Self::AwaitsResult(Some(item)) => Some(item.deadline_at),
            Self::Send(..)
            | Self::Publish(_)
            | Self::AwaitsResult(None)
            | Self::AwaitsReconciliation
            | Self::OperatorReplay(_)
            | Self::OperatorRerequest(_)
            | Self::OperatorInvestigate(_)
            | Self::EndsAtDeadline(_)
            | Self::Nothing => None,
        }
    }

    /// Returns the dead letter it is about.
    #[must_use]
    pub const fn dead_letter(self) -> Option<OutboxId> {
        match self {
            Self::OperatorReplay(id) | Self::OperatorRerequest(id) | Self::EndsAtDeadline(id) => {
                Some(id)
            }
            Self::OperatorInvestigate(id) | Self::Recheck(_, id) => id,
            Self::Send(..)
            | Self::Publish(_)
            | Self::AwaitsAnswer { .. }
            | Self::AwaitsResult(_)
            | Self::AwaitsReconciliation
            | Self::Nothing => None,
        }
    }
}

/// Derives the next step. An unfinished message comes first, because it holds everything behind it; an
/// uncertain effect that a reconciler still checks does not need an operator yet.
#[must_use]
pub fn derive(facts: &Facts) -> NextStep {
    match facts.message {
        Some(Message::Leased { until }) => NextStep::AwaitsAnswer { until },
        Some(Message::Waiting { kind: EffectKind::CheckRunUpdate, at })
            if facts.status.is_terminal() =>
        {
            NextStep::Publish(at)
        }
        Some(Message::Waiting { kind, at }) => NextStep::Send(kind, at),
        Some(Message::Dead { id, class }) => of_dead(id, class, facts.reconciliation),
        Some(Message::Closed { id }) if !facts.status.is_terminal() => NextStep::EndsAtDeadline(id),
        Some(Message::Closed { .. }) | None => of_status(facts),
    }
}

fn of_dead(
    id: OutboxId,
    class: Option<ReplayClass>,
    reconciliation: Option<Reconciliation>,
) -> NextStep {
    match (class, reconciliation) {
        // Before the item: a replay that is safe need not wait for a reconciler.
        (Some(class), _) if class.is_safe() => NextStep::OperatorReplay(id),
        (_, Some(item)) => NextStep::Recheck(item, Some(id)),
        (Some(ReplayClass::DispatchUncertain), None) => NextStep::OperatorRerequest(id),
        (_, None) => NextStep::OperatorInvestigate(Some(id)),
    }
}

fn of_status(facts: &Facts) -> NextStep {
    match (facts.status, facts.reconciliation) {
        (ReleaseStatus::Reporting, item) => NextStep::AwaitsResult(item),
        (ReleaseStatus::Running, None) => NextStep::AwaitsResult(None),
        (
            ReleaseStatus::Queued | ReleaseStatus::Dispatching | ReleaseStatus::Running,
            Some(item),
        ) => NextStep::Recheck(item, None),
        // No message, no item, not dispatched: nothing that is planned leads here, so a person has to look.
        (ReleaseStatus::Queued | ReleaseStatus::Dispatching, None) => {
            NextStep::OperatorInvestigate(None)
        }
        (
            ReleaseStatus::Succeeded
            | ReleaseStatus::Failed
            | ReleaseStatus::TimedOut
            | ReleaseStatus::Cancelled,
            item,
        ) => of_ended(facts.publication, item),
    }
}

fn of_ended(publication: Publication, reconciliation: Option<Reconciliation>) -> NextStep {
    match (publication, reconciliation) {
        (Publication::Confirmed, _) | (Publication::NoCheckRun, None) => NextStep::Nothing,
        (_, Some(item)) => NextStep::Recheck(item, None),
        (Publication::Unconfirmed, None) => NextStep::AwaitsReconciliation,
        (Publication::Failed, None) => NextStep::OperatorInvestigate(None),
    }
}
