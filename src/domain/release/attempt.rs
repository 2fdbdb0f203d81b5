//! The state machine of attempts: which status follows which, and on what.

use crate::domain::reconcile::AttemptStanding;
use crate::domain::release::ReleaseStatus;
use crate::words::Word;

/// Where an attempt stands. The current one of a release run has the run's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptStatus {
    /// As the release run stands, or stood when the attempt ended.
    Of(ReleaseStatus),
    /// A newer attempt took its place before it ended.
    Superseded,
}

/// What moves an attempt. How it ends is an [`Ending`](crate::domain::release::Ending).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEvent {
    /// Its dispatch is about to leave.
    DispatchBegan,
    /// The forge accepted its dispatch.
    DispatchAccepted,
    /// Its workflow run has ended well; only its result is missing.
    RunEndedWell,
    /// The next attempt starts.
    Replaced,
}

impl AttemptStatus {
    /// Returns the status that follows, or `None` if the event changes nothing.
    #[must_use]
    pub const fn after(self, event: AttemptEvent) -> Option<Self> {
        use AttemptEvent as Event;
        use ReleaseStatus as Status;
        let Self::Of(status) = self else { return None };
        match (status, event) {
            (Status::Queued, Event::DispatchBegan) => Some(Self::Of(Status::Dispatching)),
            // A dispatch in doubt that is proved later may have been made available again before.
            (Status::Queued | Status::Dispatching, Event::DispatchAccepted) => {
                Some(Self::Of(Status::Running))
            }
            (Status::Running, Event::RunEndedWell) => Some(Self::Of(Status::Reporting)),
            // An attempt that has ended keeps its end; only one that has not is superseded.
            (
                Status::Queued | Status::Dispatching | Status::Running | Status::Reporting,
                Event::Replaced,
            ) => Some(Self::Superseded),
            (
                Status::Queued
                | Status::Dispatching
                | Status::Running
                | Status::Reporting
                | Status::Succeeded
                | Status::Failed
                | Status::TimedOut
                | Status::Cancelled,
                _,
            ) => None,
        }
    }

    /// Says whether its dispatch has left, and it has not ended.
    #[must_use]
    pub const fn is_dispatched(self) -> bool {
        match self {
            Self::Of(
                ReleaseStatus::Dispatching | ReleaseStatus::Running | ReleaseStatus::Reporting,
            ) => true,
            Self::Of(
                ReleaseStatus::Queued
                | ReleaseStatus::Succeeded
                | ReleaseStatus::Failed
                | ReleaseStatus::TimedOut
                | ReleaseStatus::Cancelled,
            )
            | Self::Superseded => false,
        }
    }

    /// Returns the standing of the release run's current attempt in this status.
    #[must_use]
    pub const fn standing(self) -> AttemptStanding {
        match self {
            Self::Of(status) if status.is_terminal() => AttemptStanding::Ended,
            Self::Of(_) => AttemptStanding::Current,
            Self::Superseded => AttemptStanding::Superseded,
        }
    }
}

const SUPERSEDED: &str = "superseded";

impl Word for AttemptStatus {
    fn word(self) -> &'static str {
        match self {
            Self::Of(status) => status.as_str(),
            Self::Superseded => SUPERSEDED,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        if word == SUPERSEDED {
            Some(Self::Superseded)
        } else {
            ReleaseStatus::from_word(word).map(Self::Of)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ReleaseStatus::{Dispatching, Queued, Reporting, Running};

    const EVENTS: [AttemptEvent; 4] = [
        AttemptEvent::DispatchBegan,
        AttemptEvent::DispatchAccepted,
        AttemptEvent::RunEndedWell,
        AttemptEvent::Replaced,
    ];

    #[test]
    fn every_status_has_its_successors() {
        let after = |status: ReleaseStatus| EVENTS.map(|it| AttemptStatus::Of(status).after(it));
        let to = |status| Some(AttemptStatus::Of(status));
        let replaced = Some(AttemptStatus::Superseded);
        assert_eq!(after(Queued), [to(Dispatching), to(Running), None, replaced]);
        assert_eq!(after(Dispatching), [None, to(Running), None, replaced]);
        assert_eq!(after(Running), [None, None, to(Reporting), replaced]);
        assert_eq!(after(Reporting), [None, None, None, replaced]);
    }

    #[test]
    fn nothing_follows_an_end() {
        let ends = ReleaseStatus::ALL.iter().filter(|status| status.is_terminal());
        let ends: Vec<_> = ends.map(|status| AttemptStatus::Of(*status)).collect();
        assert_eq!(ends.len(), 4);
        for end in ends.into_iter().chain([AttemptStatus::Superseded]) {
            assert_eq!(EVENTS.map(|event| end.after(event)), [None; 4], "{end:?}");
            assert!(!end.is_dispatched() && end.standing() != AttemptStanding::Current, "{end:?}");
        }
    }

    #[test]
    fn an_attempt_is_dispatched_from_the_mark_to_its_end() {
        let dispatched = ReleaseStatus::ALL.iter().copied();
        let dispatched: Vec<_> =
            dispatched.filter(|status| AttemptStatus::Of(*status).is_dispatched()).collect();
        assert_eq!(dispatched, [Dispatching, Running, Reporting]);
        assert_eq!(AttemptStatus::Of(Queued).standing(), AttemptStanding::Current);
    }

    #[test]
    fn every_status_has_its_word() {
        let all = ReleaseStatus::ALL.iter().map(|status| AttemptStatus::Of(*status));
        for status in all.chain([AttemptStatus::Superseded]) {
            assert_eq!(AttemptStatus::of_word(status.word()), Some(status));
        }
        assert_eq!(AttemptStatus::of_word("gone"), None);
    }
}
