//! What a reconciler saw, and what the store makes of it without knowing the rules.

use crate::domain::dead_letter::ErrorClass;
use crate::domain::reconcile::{check_run, uncertain, workflow};
use crate::domain::time::Timestamp;

/// What was observed, by kind of subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// About a workflow run.
    Workflow(workflow::Lookup),
    /// About an uncertain effect.
    Uncertain(uncertain::Observation),
    /// About a check run.
    CheckRun(check_run::Observation),
    /// Nothing was asked: the answer is in the store.
    Inbox,
}

impl Observation {
    /// Returns the class of failure of the lookup; `None` if it was answered.
    #[must_use]
    pub const fn failed(self) -> Option<ErrorClass> {
        match self {
            Self::Workflow(workflow::Lookup::NotFound)
            | Self::CheckRun(check_run::Observation::NotFound) => Some(ErrorClass::NotFound),
            Self::Workflow(workflow::Lookup::Unavailable(why))
            | Self::Uncertain(uncertain::Observation::Unavailable(why))
            | Self::CheckRun(
                check_run::Observation::Unavailable(why) | check_run::Observation::NotUpdated(why),
            ) => Some(why.class),
            Self::CheckRun(check_run::Observation::Refused(refused)) => Some(refused.class),
            Self::Workflow(_) | Self::Uncertain(_) | Self::CheckRun(_) | Self::Inbox => None,
        }
    }

    /// Returns the instant the forge asked the whole installation to wait for.
    pub(in crate::store) const fn wait_until(self) -> Option<Timestamp> {
        match self {
            Self::Workflow(workflow::Lookup::Unavailable(why))
            | Self::Uncertain(uncertain::Observation::Unavailable(why))
            | Self::CheckRun(
                check_run::Observation::Unavailable(why) | check_run::Observation::NotUpdated(why),
            ) => why.wait_until,
            Self::Workflow(_) | Self::Uncertain(_) | Self::CheckRun(_) | Self::Inbox => None,
        }
    }

    /// Says whether it settles something at that instant, and is not just followed by another observation.
    pub(in crate::store) fn decides(self, deadline: Timestamp, now: Timestamp) -> bool {
        // A refusal decides at any time: the update is not repeated while the check run shows the same state.
        now >= deadline || matches!(self, Self::CheckRun(check_run::Observation::Refused(_)))
    }

    /// Says whether the forge was asked at all.
    #[must_use]
    pub fn was_asked(self) -> bool {
        self != Self::Inbox && self.failed().is_none_or(|class| class != ErrorClass::State)
    }

    /// Says whether the forge did not tell, or did not confirm what it was asked to do.
    #[must_use]
    pub const fn is_unavailable(self) -> bool {
        matches!(
            self,
            Self::Workflow(workflow::Lookup::Unavailable(_))
                | Self::Uncertain(uncertain::Observation::Unavailable(_))
                | Self::CheckRun(
                    check_run::Observation::Unavailable(_)
                        | check_run::Observation::NotUpdated(_)
                        | check_run::Observation::Refused(_)
                )
        )
    }

    /// Says whether the forge does not know what it was asked about.
    #[must_use]
    pub const fn is_not_found(self) -> bool {
        matches!(
            self,
            Self::Workflow(workflow::Lookup::NotFound)
                | Self::Uncertain(
                    uncertain::Observation::NoCheckRun | uncertain::Observation::NoProof
                )
                | Self::CheckRun(check_run::Observation::NotFound)
        )
    }
}
