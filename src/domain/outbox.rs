//! Side effects at the forge: what to send, and what becomes of a message once the forge answered,
//! refused, or fell silent.
//!
//! The promise: a workflow is dispatched at most once per attempt, unless an operator replays what
//! was proved to have had no effect. So a dispatch whose fate is not known is never sent again, by
//! anybody. Creating a check run is tried again only after a lookup of the one that may exist.
//! Updating one sets a state and may be repeated.

mod effect;

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass, ReplayClass};
use crate::domain::event::CommitSha;
use crate::domain::id::{
    AttemptId, CheckRunId, InstallationId, OutboxId, ReleaseRunId, WorkflowRunId,
};
use crate::domain::lease::{self, Vanished};
use crate::domain::repository::RepositoryRef;
use crate::domain::retry::{RetryPolicy, lag_delay};
use crate::domain::time::Timestamp;

pub use effect::{CheckRunStatus, Effect, EffectKind};

words! {
    /// Status of an outbox message.
    OutboxStatus {
        /// An earlier message of the same attempt is unfinished.
        Held => "held",
        /// Waits to be claimed.
        Available => "available",
        /// Claimed; the lease runs.
        Leased => "leased",
        /// The effect is known to have happened.
        Completed => "completed",
        /// Given up; an operator may replay it when its class allows.
        DeadLetter => "dead_letter",
        /// A newer attempt took its place; never sent.
        Superseded => "superseded",
    }
}

/// A claimed message, with what is needed to address it today.
#[derive(Clone, Debug)]
pub struct OutboxMessage {
    pub id: OutboxId,
    /// The tenant.
    pub installation: InstallationId,
    /// Where; `None` when the repository is unknown or was deleted.
    pub repository: Option<RepositoryRef>,
    pub release_run: ReleaseRunId,
    pub attempt: AttemptId,
    /// The commit it releases; `None` if the stored value cannot be read.
    pub head_sha: Option<CommitSha>,
    /// The check run of the attempt, once known.
    pub check_run: Option<CheckRunId>,
    /// Name the check run was created with; `None` if an older version created it and did not record it.
    pub check_run_name: Option<String>,
    /// The forge never showed another check run under its number.
    pub check_run_is_ours: bool,
    /// What to send; `None` when the stored payload cannot be read.
    pub effect: Option<Effect>,
    /// Its kind, always known.
    pub kind: EffectKind,
    /// Tries so far, this one included.
    pub try_count: u32,
    /// Returns because of a fresh token's lag so far; not counted as tries.
    pub lag_count: u32,
    /// An earlier holder began to send and no definite answer was recorded.
    pub sent_before: bool,
}

/// What came of trying to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendResult {
    /// The dispatch was accepted; the run's number when the forge told it.
    Dispatched(Option<WorkflowRunId>),
    /// The check run exists, made now or found.
    CheckRunExists(CheckRunId),
    /// The check run has the state.
    CheckRunUpdated,
    /// The forge answered an update with another check run, or another state than was set.
    CheckRunMismatch,
    /// It cannot be sent as things stand in our own store.
    Impossible(DeadLetterReason),
    /// No installation token: nothing was sent.
    TokenRefused(ErrorClass),
    /// Nothing was sent. When the forge asked to wait, until then.
    NotSent(ErrorClass, Option<Timestamp>),
    /// Nothing was sent, for a reason of our own: this process stops, or the store could not note
    /// that the effect is about to leave.
    Postponed,
    /// Nothing was sent, because no call may be made for the installation before this instant: the
    /// forge asked it to wait, or it has used up its writes.
    Deferred(Timestamp),
    /// The forge definitely refused: no effect.
    Refused(ErrorClass),
    /// The forge definitely refused and named an instant to wait for: no effect.
    RateLimited(Timestamp),
    /// It was sent, and what came of it is not known. When the forge asked to wait, until then.
    Uncertain(ErrorClass, Option<Timestamp>),
}

impl SendResult {
    /// Returns the instant the forge asked the whole installation to wait for.
    #[must_use]
    pub const fn pause_until(self) -> Option<Timestamp> {
        match self {
            Self::RateLimited(until)
            | Self::NotSent(_, Some(until))
            | Self::Uncertain(_, Some(until)) => Some(until),
            Self::Dispatched(_)
            | Self::CheckRunExists(_)
            | Self::CheckRunUpdated
            | Self::CheckRunMismatch
            | Self::Impossible(_)
            | Self::TokenRefused(_)
            | Self::NotSent(_, None)
            | Self::Postponed
            | Self::Deferred(_)
            | Self::Refused(_)
            | Self::Uncertain(_, None) => None,
        }
    }
}

/// What becomes of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Done: record what was learned and go on with the release run.
    Complete(Learned),
    /// Try again from then on.
    RetryAt(Timestamp),
    /// Try again from then on; this try does not count: the forge, or we, asked to wait.
    WaitUntil(Timestamp),
    /// Try again from then on; this try does not count, but the return does: the refusal may come
    /// from the lag of a fresh token.
    WaitForLag(Timestamp),
    /// Give up.
    DeadLetter(DeadLetterReason, ErrorClass, ReplayClass),
    /// It did not happen, and need not any more: a later message says all there is to say.
    Superseded,
}

/// What a completed message taught.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// The workflow was dispatched.
    Dispatched(Option<WorkflowRunId>),
    /// The check run exists.
    CheckRun(CheckRunId),
    /// Nothing new.
    Nothing,
}

/// What a settlement depends on besides the result.
#[derive(Clone, Copy, Debug)]
pub struct Tries<'a> {
    /// Tries so far, the one that just ended included.
    pub count: u32,
    /// Returns because of a fresh token's lag so far.
    pub lag_count: u32,
    /// This or an earlier try may have had its effect, and nothing has disproved it.
    pub uncertain: bool,
    /// How often, and how far apart.
    pub policy: &'a RetryPolicy,
    /// From 0 to 1, random.
    pub jitter: f64,
}

/// Decides what becomes of a message of `kind` after `result`.
///
/// A result that does not belong to the kind is a fault of ours; what happened is then not known.
#[must_use]
pub fn settle(
    kind: EffectKind,
    result: SendResult,
    Tries { count, lag_count, uncertain, policy, jitter }: Tries<'_>,
    now: Timestamp,
) -> Settlement {
    use DeadLetterReason as Reason;
    // Never again: a second dispatch might start a second run.
    let never_again = kind == EffectKind::WorkflowDispatch && uncertain;
    let retry_or_give_up =
        |reason, class, not_before: Option<Timestamp>| match policy.delay_after(count, jitter) {
            Some(delay) if !never_again => {
                let at = now.plus(delay);
                // The later of both: a stated wait must be kept, and a short one must not undo the backoff.
                Settlement::RetryAt(not_before.map_or(at, |not_before| not_before.max(at)))
            }
            Some(_) | None => give_up(kind, reason, class, uncertain),
        };
    // A dispatch is given up at the first uncertain answer, however many tries are left.
    let on_uncertain = |class, not_before| match kind {
        EffectKind::WorkflowDispatch => give_up(kind, Reason::ForgeDispatchUncertain, class, true),
        EffectKind::CheckRunCreate => {
            retry_or_give_up(Reason::ForgeCheckRunCreateUncertain, class, not_before)
        }
        EffectKind::CheckRunUpdate => {
            retry_or_give_up(Reason::ForgeCheckRunUpdateFailed, class, not_before)
        }
    };
    match (kind, result) {
        (EffectKind::WorkflowDispatch, SendResult::Dispatched(run)) => {
            Settlement::Complete(Learned::Dispatched(run))
        }
        (EffectKind::CheckRunCreate, SendResult::CheckRunExists(run)) => {
            Settlement::Complete(Learned::CheckRun(run))
        }
        (EffectKind::CheckRunUpdate, SendResult::CheckRunUpdated) => {
            Settlement::Complete(Learned::Nothing)
        }
        (EffectKind::CheckRunUpdate, SendResult::CheckRunMismatch) => {
            let reason = Reason::ForgeCheckRunBindingMismatch;
            Settlement::DeadLetter(reason, ErrorClass::Identity, ReplayClass::BindingMismatch)
        }
        (
            _,
            SendResult::Dispatched(_)
            | SendResult::CheckRunExists(_)
            | SendResult::CheckRunUpdated
            | SendResult::CheckRunMismatch,
        ) => on_uncertain(ErrorClass::Protocol, None),
        (_, SendResult::Impossible(reason)) => give_up(kind, reason, ErrorClass::State, uncertain),
        // Retried, not final: an app's permission may just be changing, and nothing was sent.
        (_, SendResult::TokenRefused(class)) => {
            retry_or_give_up(Reason::ForgeTokenRefused, class, None)
        }
        (_, SendResult::NotSent(class, until)) => {
            retry_or_give_up(Reason::ForgeUnavailable, class, until)
        }
        // A mark without an answer: waiting would send the dispatch a second time.
        (_, SendResult::RateLimited(_) | SendResult::Deferred(_) | SendResult::Postponed)
            if never_again =>
        {
            on_uncertain(ErrorClass::State, None)
        }
        // Due at once: when the process stops, the next one takes it up.
        (_, SendResult::Postponed) => Settlement::WaitUntil(now),
        (_, SendResult::RateLimited(until) | SendResult::Deferred(until))
        | (
            EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate,
            SendResult::Uncertain(ErrorClass::RateLimited, Some(until)),
        ) => Settlement::WaitUntil(until),
        // A definite refusal had no effect, so even a dispatch may be sent again after a lag.
        (_, SendResult::Refused(class)) => match lag_delay(class, lag_count) {
            Some(delay) => Settlement::WaitForLag(now.plus(delay)),
            None => give_up(kind, rejected(kind), class, uncertain),
        },
        (_, SendResult::Uncertain(class, until)) => {
            // For a creation, this is the answer to the lookup of the check run.
            let lag = lag_delay(class, lag_count).filter(|_| kind == EffectKind::CheckRunCreate);
            lag.map_or_else(
                || on_uncertain(class, until),
                |delay| Settlement::WaitForLag(now.plus(delay)),
            )
        }
    }
}

/// Returns the reason of a definite refusal.
const fn rejected(kind: EffectKind) -> DeadLetterReason {
    match kind {
        EffectKind::WorkflowDispatch => DeadLetterReason::ForgeDispatchRejected,
        EffectKind::CheckRunCreate => DeadLetterReason::ForgeCheckRunCreateRejected,
        EffectKind::CheckRunUpdate => DeadLetterReason::ForgeCheckRunUpdateFailed,
    }
}

/// Gives up with the reason and class that follow from kind and doubt: a doubt outweighs whatever
/// went wrong last.
fn give_up(
    kind: EffectKind,
    reason: DeadLetterReason,
    class: ErrorClass,
    uncertain: bool,
) -> Settlement {
    // Uncertain effects first: that something may exist at the forge matters more than what failed last.
    let (reason, replay) = match (kind, uncertain, reason) {
        (EffectKind::WorkflowDispatch, true, _) => {
            (DeadLetterReason::ForgeDispatchUncertain, ReplayClass::DispatchUncertain)
        }
        (EffectKind::CheckRunCreate, true, _) => {
            (DeadLetterReason::ForgeCheckRunCreateUncertain, ReplayClass::CreateUncertain)
        }
        (_, _, DeadLetterReason::ActionsUnreadable) => (reason, ReplayClass::Unreadable),
        (_, _, DeadLetterReason::ForgeCheckRunBindingMismatch) => {
            (reason, ReplayClass::BindingMismatch)
        }
        // Also when it is uncertain: setting a state twice is the same as once.
        (EffectKind::CheckRunUpdate, ..) => (reason, ReplayClass::Repeatable),
        (EffectKind::WorkflowDispatch | EffectKind::CheckRunCreate, false, _) => {
            let refused = reason == rejected(kind);
            (reason, if refused { ReplayClass::Refused } else { ReplayClass::NotSent })
        }
    };
    Settlement::DeadLetter(reason, class, replay)
}

/// Decides about a message whose holder vanished: nothing means it may be claimed again; otherwise it
/// is given up, because its tries are used up or because it is a dispatch that may have left.
#[must_use]
pub fn after_vanished(
    kind: EffectKind,
    uncertain: bool,
    try_count: u32,
    policy: &RetryPolicy,
) -> Option<Settlement> {
    let never_again = kind == EffectKind::WorkflowDispatch && uncertain;
    let is_given_up = lease::after_vanished(try_count, policy.attempts_max) == Vanished::GiveUp;
    (never_again || is_given_up)
        .then(|| give_up(kind, DeadLetterReason::CrashLoop, ErrorClass::Crash, uncertain))
}
