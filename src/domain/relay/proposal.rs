//! Proposals: what may be proposed at all, and how the steps of one follow each other.

use std::time::Duration;

use crate::domain::id::InvocationId;
use crate::domain::relay::{invocation, session};
use crate::domain::time::Timestamp;

/// Steps of one proposal.
pub const STEPS_MAX: usize = 20;
/// Proposals of a session that wait for a decision.
pub const WAITING_OF_SESSION_MAX: u32 = 8;
/// Proposals of a subject that wait for a decision.
pub const WAITING_OF_SUBJECT_MAX: u32 = 16;
/// Reads of a session that its allowance covers and that its page has not decided yet: as many as come in a second.
pub const COVERED_OF_SESSION_MAX: u32 = 20;
/// So many denials within [`COOLING_OFF`] silence a client.
pub const DENIALS_MAX: usize = 3;
/// Within what time denials are counted, and how long a client then rests.
pub const COOLING_OFF: Duration = Duration::from_mins(10);

words! {
    /// Why nothing can be proposed now.
    Refusal {
        /// The session has ended, or is none of the caller's.
        NoSuchSession => "no_such_session",
        /// The session has no socket.
        SessionAway => "session_away",
        /// The session's page does not answer.
        SessionSuspended => "session_suspended",
        /// The person denied this client too much; it rests.
        CoolingOff => "cooling_off",
        /// Too many proposals wait for a decision.
        Busy => "busy",
    }
}

/// What is known when a caller proposes something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// An invocation that was proposed before with the same subject, client, session and digest, and its state.
    pub same_call: Option<(InvocationId, invocation::State)>,
    /// The state of the session; `None` where there is no such session of the caller's subject.
    pub session: Option<session::State>,
    /// The session's page has another file open, which the person has not confirmed.
    pub is_moving: bool,
    /// The session's allowance covers all of its steps: no person decides about it.
    pub is_covered: bool,
    /// Until when the client rests, by [`rests_until`].
    pub rests_until: Option<Timestamp>,
    /// Proposals of the session that wait for a decision and are not covered.
    pub waiting_of_session: u32,
    /// Proposals of the subject that wait for a decision and are not covered.
    pub waiting_of_subject: u32,
    /// Covered proposals of the session that wait for a decision.
    pub covered_of_session: u32,
}

/// What comes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It becomes a proposal.
    Propose,
    /// It is the same call again, and stands for the same invocation: there is no second card.
    Join(InvocationId),
    /// It is refused, and nothing is kept for later.
    Refuse(Refusal),
}

/// Decides at `now` what comes of a call.
#[must_use]
pub fn admit(facts: &Facts, now: Timestamp) -> Admission {
    match facts.same_call {
        // Before every refusal: a call that stands already adds no card, whatever the session does now.
        Some((invocation, state)) if !state.is_terminal() => return Admission::Join(invocation),
        _ => {}
    }
    let refusal = match facts.session {
        None | Some(session::State::Ended) => Refusal::NoSuchSession,
        Some(session::State::Away) => Refusal::SessionAway,
        Some(session::State::Suspended) => Refusal::SessionSuspended,
        // It is meant for the file before, which is not open (docs/decisions/84-relay-another-file.md).
        Some(session::State::Connected) if facts.is_moving => Refusal::SessionAway,
        // It asks the person nothing (docs/decisions/85-relay-covered-reads.md).
        Some(session::State::Connected) if facts.is_covered => {
            if facts.covered_of_session < COVERED_OF_SESSION_MAX {
                return Admission::Propose;
            }
            Refusal::Busy
        }
        Some(session::State::Connected) => {
            let is_session_full = facts.waiting_of_session >= WAITING_OF_SESSION_MAX;
            // Before the limits: a client that rests is told for how long, not that others are busy.
            if facts.rests_until.is_some_and(|until| now < until) {
                Refusal::CoolingOff
            } else if is_session_full || facts.waiting_of_subject >= WAITING_OF_SUBJECT_MAX {
                Refusal::Busy
            } else {
                return Admission::Propose;
            }
        }
    };
    Admission::Refuse(refusal)
}

/// What comes of a call whose client has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Other calls stand for the proposal: it goes on.
    GoesOn,
    /// What has not begun is taken back, as if the caller had cancelled it.
    TakenBack,
}

/// Decides what comes of a proposal when the client of one of its calls has gone.
///
/// `others` counts the calls that stand for it besides: those that wait, and those that were answered before its end, because
/// their clients may ask for it later (docs/decisions/86-relay-shared-calls.md).
#[must_use]
pub const fn leave(others: u32) -> Left {
    match others {
        0 => Left::TakenBack,
        _ => Left::GoesOn,
    }
}

/// Returns until when a client rests after the denials by the person, the oldest first, of at least the last 20
/// minutes. One that a clock which was ahead has noted counts for nothing.
#[must_use]
pub fn rests_until(denials: &[Timestamp], now: Timestamp) -> Option<Timestamp> {
    let past: Vec<Timestamp> = denials.iter().copied().filter(|at| *at <= now).collect();
    let ends = past.windows(DENIALS_MAX).filter_map(|window| {
        let (first, last) = (window.first()?, window.last()?);
        (last.since(*first) <= COOLING_OFF).then(|| last.plus(COOLING_OFF))
    });
    ends.max().filter(|until| now < *until)
}

/// What an end of a step means for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It has not ended: the next one waits.
    Wait,
    /// The time of the next one's grant begins.
    Begin,
    /// All that follow get [`invocation::Event::StepFailed`].
    Cancel,
}

/// Decides what the state of a step means for the steps behind it. UNKNOWN is no success: what follows may
/// build on something that is not there.
#[must_use]
pub const fn after(step: invocation::State) -> Next {
    match step {
        invocation::State::Succeeded => Next::Begin,
        _ if step.is_terminal() => Next::Cancel,
        _ => Next::Wait,
    }
}
