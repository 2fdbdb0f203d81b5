//! A published check run against its release run. It repairs what the forge shows, and never what the
//! release run is: not its status, decision, conclusion or result.

use crate::domain::dead_letter::ErrorClass;
use crate::domain::digest::Digest;
use crate::domain::reconcile::{ReconcileCode, Rules, Unavailable};
use crate::domain::time::Timestamp;

/// What an observation of exactly the persisted check run showed, and, when it showed something else than it
/// must, what came of setting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// It is not the one that was made for the release; nothing was written.
    /// Why nothing is written to it any more: `docs/decisions/20-check-run-ownership.md`.
    BindingMismatch,
    /// It shows what it must show.
    Expected,
    /// It showed something else, and was set; the forge confirmed it.
    Updated,
    /// It showed something else, and could not be set, or the forge did not confirm it.
    NotUpdated(Unavailable),
    /// It showed something else, and the forge definitely refused to set it.
    Refused(Refused),
    /// It shows what it showed when the forge refused to set it; nothing was written.
    Unchanged,
    /// The forge does not know it.
    NotFound,
    /// The forge did not tell.
    Unavailable(Unavailable),
}

/// A definite refusal to set a check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What kind of refusal it was.
    pub class: ErrorClass,
    /// Digest of the state it was in. Only when it is in another one is it set again.
    pub state: Digest,
}

/// Where the release run stands when the outcome is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseStanding {
    /// It has ended, and its check run is not confirmed.
    Unpublished,
    /// Its check run is confirmed.
    Published,
    /// It runs again, as another attempt.
    RunsAgain,
}

impl ReleaseStanding {
    /// Every standing.
    pub const ALL: [Self; 3] = [Self::Unpublished, Self::Published, Self::RunsAgain];
}

/// What becomes of the publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to repair: close the item.
    Close(ReconcileCode),
    /// The check run shows the end of the release: note it.
    Published,
    /// Look again at that instant.
    Recheck {
        /// What was seen.
        code: ReconcileCode,
        /// When to look again.
        at: Timestamp,
    },
    /// Record a stable failure, with its audit event, and stop.
    Fail(ReconcileCode),
}

/// Decides about a publication at `now`, which is read when the outcome is applied.
#[must_use]
pub fn decide(
    standing: ReleaseStanding,
    observation: Observation,
    deadline: Timestamp,
    now: Timestamp,
    rules: &Rules,
) -> Outcome {
    match standing {
        ReleaseStanding::Unpublished => {}
        ReleaseStanding::Published => return Outcome::Close(ReconcileCode::AlreadyRepaired),
        ReleaseStanding::RunsAgain => return Outcome::Close(ReconcileCode::AttemptSuperseded),
    }
    // Read when it is applied: an observation that was made in time may be applied after the deadline.
    let in_time = now < deadline;
    let (code, wait_until) = match observation {
        Observation::Expected | Observation::Updated => return Outcome::Published,
        Observation::BindingMismatch => {
            return Outcome::Fail(ReconcileCode::ForgeCheckRunBindingMismatch);
        }
        Observation::NotUpdated(why) => (ReconcileCode::ForgeCheckRunUpdateFailed, why.wait_until),
        Observation::Refused(_) | Observation::Unchanged => {
            (ReconcileCode::ForgeCheckRunUpdateFailed, None)
        }
        Observation::NotFound => (ReconcileCode::ForgeCheckRunNotFound, None),
        Observation::Unavailable(why) => (ReconcileCode::ForgeCheckRunLookupFailed, why.wait_until),
    };
    if in_time {
        Outcome::Recheck { code, at: rules.next_check_at(now, deadline, wait_until) }
    } else {
        Outcome::Fail(code)
    }
}
