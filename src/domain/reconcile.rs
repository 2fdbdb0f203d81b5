//! Reconciliation: what was lost is found, looked at, and repaired, fail-closed.
//!
//! Each of the three reconcilers observes, decides and applies. Deciding is here. What the forge says
//! can make a release end badly, or ask for another observation; nothing in this module makes one succeed. At
//! the deadline exactly counts as after it.
//!
//! See `docs/decisions/14-reconciliation.md`.

pub mod check_run;

pub mod uncertain;

pub mod lifecycle;

pub mod task;

pub mod workflow;

use std::time::Duration;

use crate::domain::dead_letter::ErrorClass;
use crate::domain::retry::lag_delay;
use crate::domain::time::Timestamp;

words! {
    /// Whose item it is: one kind for each reconciler.
    ReconcileKind {
        /// A workflow run against its attempt.
        WorkflowAttempt => "workflow_attempt",
        /// A published check run against its release run.
        ReleaseRun => "release_run",
        /// An inbox row against its job.
        WebhookInbox => "webhook_inbox",
    }
}

words! {
    /// Why an item was opened.
    ReconcileReason {
        /// The attempt has a workflow run and does not end.
        RunningStale => "running_stale",
        /// The attempt was dispatched, and the forge did not say which run it started.
        RunUnknown => "run_unknown",
        /// A dispatch may have had its effect, and was given up.
        DispatchUncertain => "dispatch_uncertain",
        /// A check run may have been created, and its creation was given up.
        CheckRunCreateUncertain => "check_run_create_uncertain",
        /// The release run has ended and its check run was not confirmed.
        ReportingStale => "reporting_stale",
        /// An inbox row waits and has no job.
        LifecycleJobMissing => "lifecycle_job_missing",
        /// An inbox row is not in the state its job gives it.
        LifecycleInboxStateDrift => "lifecycle_inbox_state_drift",
    }
}

words! {
    /// Where an item stands.
    ReconcileStatus {
        /// It waits for its next observation.
        Open => "open",
        /// A worker observes it.
        Leased => "leased",
        /// It was repaired, or nothing was left to repair.
        Completed => "completed",
        /// It was given up.
        DeadLetter => "dead_letter",
    }
}

impl ReconcileStatus {
    /// Says whether an item in this status is looked at no more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Open | Self::Leased => false,
            Self::Completed | Self::DeadLetter => true,
        }
    }
}

impl ReconcileKind {
    /// Says whether its items are looked at at the forge.
    #[must_use]
    pub const fn asks_the_forge(self) -> bool {
        match self {
            Self::WorkflowAttempt | Self::ReleaseRun => true,
            Self::WebhookInbox => false,
        }
    }

    /// Returns the name its worker's polls are noted under.
    #[must_use]
    pub const fn worker(self) -> &'static str {
        match self {
            Self::WorkflowAttempt => "workflow_reconciliation",
            Self::ReleaseRun => "check_run_reconciliation",
            Self::WebhookInbox => "lifecycle_reconciliation",
        }
    }
}

impl ReconcileReason {
    /// Returns whose item it is.
    #[must_use]
    pub const fn kind(self) -> ReconcileKind {
        match self {
            Self::RunningStale
            | Self::RunUnknown
            | Self::DispatchUncertain
            | Self::CheckRunCreateUncertain => ReconcileKind::WorkflowAttempt,
            Self::ReportingStale => ReconcileKind::ReleaseRun,
            Self::LifecycleJobMissing | Self::LifecycleInboxStateDrift => {
                ReconcileKind::WebhookInbox
            }
        }
    }
}

words! {
    /// Result of an observation or of an item. Stable: operators and alerts match on it.
    ReconcileCode {
        /// The run has ended well and its signed result has not come yet.
        ForgeResultCallbackPending => "forge_result_callback_pending",
        /// The run has ended well and its signed result did not come in time.
        ForgeResultCallbackMissing => "forge_result_callback_missing",
        /// The run timed out at the forge.
        ForgeWorkflowTimedOut => "forge_workflow_timed_out",
        /// The run failed.
        ForgeWorkflowFailure => "forge_workflow_failure",
        /// The run was cancelled.
        ForgeWorkflowCancelled => "forge_workflow_cancelled",
        /// The run was skipped.
        ForgeWorkflowSkipped => "forge_workflow_skipped",
        /// The run ended neither well nor badly.
        ForgeWorkflowNeutral => "forge_workflow_neutral",
        /// The run waits for a person at the forge and is over until then.
        ForgeWorkflowActionRequired => "forge_workflow_action_required",
        /// The forge gave the run up.
        ForgeWorkflowStale => "forge_workflow_stale",
        /// The run never started.
        ForgeWorkflowStartupFailure => "forge_workflow_startup_failure",
        /// The run ended in a way that has no name here.
        ForgeWorkflowUnknown => "forge_workflow_unknown",
        /// The forge does not know the run.
        ForgeWorkflowNotFound => "forge_workflow_not_found",
        /// The run did not end in time.
        ForgeWorkflowDeadlineExceeded => "forge_workflow_deadline_exceeded",
        /// A dispatch that may have started a run was not confirmed in time.
        ForgeDispatchUnconfirmed => "forge_dispatch_unconfirmed",
        /// The forge may not know the fresh token everywhere yet; it is asked again at once.
        ForgeTokenLag => "forge_token_lag",
        /// The forge did not tell; it is asked again.
        ForgeLookupFailed => "forge_lookup_failed",
        /// The forge did not tell in time.
        ForgeWorkflowLookupFailed => "forge_workflow_lookup_failed",
        /// The check run is not the one that was made for the release.
        ForgeCheckRunBindingMismatch => "forge_check_run_binding_mismatch",
        /// The check run could not be brought to its conclusion.
        ForgeCheckRunUpdateFailed => "forge_check_run_update_failed",
        /// The forge does not know the check run.
        ForgeCheckRunNotFound => "forge_check_run_not_found",
        /// The forge did not tell about the check run.
        ForgeCheckRunLookupFailed => "forge_check_run_lookup_failed",
        /// An inbox row had no job.
        LifecycleJobMissing => "lifecycle_job_missing",
        /// An inbox row was not in the state its job gives it.
        LifecycleInboxStateDrift => "lifecycle_inbox_state_drift",
        /// The run has not ended yet.
        WorkflowPending => "workflow_pending",
        /// The release run had ended by itself; its result came, for instance.
        AlreadyEnded => "already_ended",
        /// A newer attempt has taken the place of this one.
        AttemptSuperseded => "attempt_superseded",
        /// What was to be repaired is right already.
        AlreadyRepaired => "already_repaired",
        /// The check run shows the conclusion it must show.
        PublicationReconciled => "publication_reconciled",
        /// The run that was started is known now.
        RunIdentified => "run_identified",
        /// The effect is proved to have happened.
        EffectProved => "effect_proved",
        /// The effect is proved not to have happened; it may be replayed.
        EffectDisproved => "effect_disproved",
        /// Nothing proves the effect, nor the opposite; it must not be replayed.
        EffectUnproved => "effect_unproved",
        /// What the item is about cannot be read in the store.
        SubjectUnreadable => "subject_unreadable",
        /// Every process that claimed the item vanished before it finished.
        CrashLoop => "crash_loop",
        /// An operator closed the dead letter of an effect that the release needs.
        DeadLetterClosed => "dead_letter_closed",
    }
}

impl ReconcileCode {
    /// Says whether it is a stable failure of a publication, once an item ends with it.
    #[must_use]
    pub const fn is_publication_failure(self) -> bool {
        matches!(
            self,
            Self::ForgeCheckRunBindingMismatch
                | Self::ForgeCheckRunUpdateFailed
                | Self::ForgeCheckRunNotFound
                | Self::ForgeCheckRunLookupFailed
        )
    }

    /// Says whether an observation with this outcome had no authoritative answer, or one that could not be acted on.
    #[must_use]
    pub const fn is_unavailable(self) -> bool {
        matches!(
            self,
            Self::ForgeTokenLag
                | Self::ForgeLookupFailed
                | Self::ForgeWorkflowLookupFailed
                | Self::ForgeCheckRunUpdateFailed
                | Self::ForgeCheckRunLookupFailed
        )
    }

    /// Says whether an item that ends with it was given up without having told anything.
    #[must_use]
    pub const fn is_dead(self) -> bool {
        matches!(self, Self::SubjectUnreadable | Self::CrashLoop)
    }

    /// Returns the status of an item that ends with it.
    #[must_use]
    pub const fn final_status(self) -> ReconcileStatus {
        if self.is_dead() { ReconcileStatus::DeadLetter } else { ReconcileStatus::Completed }
    }
}

/// Holders of one item that may vanish, one after the other, before it is given up.
pub const VANISHED_MAX: u32 = 8;

/// Intervals of reconciliation. Source: the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Wait before something becomes a candidate.
    pub observation: Duration,
    /// Longest time from its detection that something may stay ambiguous.
    pub deadline: Duration,
    /// Time between two observations.
    pub next_check: Duration,
}

impl Rules {
    /// What holds where nothing else is configured.
    pub const INITIAL: Self = Self {
        observation: Duration::from_secs(300),
        deadline: Duration::from_secs(1_800),
        next_check: Duration::from_secs(60),
    };

    /// Returns when to look again: after the interval and not before the instant the forge asked to
    /// wait for, but once more at the deadline.
    #[must_use]
    pub fn next_check_at(
        &self,
        now: Timestamp,
        deadline: Timestamp,
        wait_until: Option<Timestamp>,
    ) -> Timestamp {
        let next = now.plus(self.next_check);
        // Never beyond the deadline, where a last observation decides; if the pause lasts longer, the claim waits for it.
        wait_until.map_or(next, |until| next.max(until)).min(deadline.max(now))
    }
}

/// The forge did not tell. Never a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// What kind of failure it was.
    pub class: ErrorClass,
    /// The instant the forge asked the whole installation to wait for.
    pub wait_until: Option<Timestamp>,
}

/// Returns when to look again because a failure of this class may be the lag of a fresh token.
///
/// Returns `None` if the observation counts as it is: lag never causes this class, the item was already
/// put off `lag_count` times, or the observation decides nothing and another one follows anyway.
#[must_use]
pub fn lag_until(
    failed: Option<ErrorClass>,
    decides: bool,
    now: Timestamp,
    lag_count: u32,
) -> Option<Timestamp> {
    // An observation that decides nothing needs no delay: the next one has a token of its own.
    let delay = lag_delay(failed?, lag_count)?;
    decides.then(|| now.plus(delay))
}

/// Where the attempt that was looked at stands when the outcome is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptStanding {
    /// It is the release run's current one and has not ended.
    Current,
    /// It has ended.
    Ended,
    /// A newer attempt has taken its place.
    Superseded,
}

impl AttemptStanding {
    /// Every standing.
    pub const ALL: [Self; 3] = [Self::Current, Self::Ended, Self::Superseded];

    /// Returns the code an item closes with when there is nothing left to repair.
    #[must_use]
    pub const fn closed(self) -> Option<ReconcileCode> {
        match self {
            Self::Current => None,
            Self::Ended => Some(ReconcileCode::AlreadyEnded),
            Self::Superseded => Some(ReconcileCode::AttemptSuperseded),
        }
    }
}
