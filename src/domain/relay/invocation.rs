//! Invocations: one action with its exact arguments, from proposal to end. Every event against every state.
//!
//! What must never happen: an effect without an approval of exactly this by the person's device, a second effect,
//! and FAILED said of something that happened. So nothing but the page that was told to act, or its journal, says
//! how a running invocation ended; where both are silent it becomes UNKNOWN, and is never sent again.

mod event;
mod outcome;

pub use self::event::{Approval, Entry, Event, Journal, Report, Signed};
use self::outcome::{CLOSE, NOTHING, to, unchanged};
pub use self::outcome::{Outcome, ToPlugin, Withdrawal};
use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, PageInstanceId, RelaySessionId};
use crate::domain::relay::allowance::{self, Allowance, Cover};
use crate::domain::relay::grant;
use crate::domain::relay::{ActionEffect, DecidedBy, RelayEventName, RelayReason};
use crate::domain::time::Timestamp;

words! {
    /// The state of an invocation.
    State {
        /// It waits for a card on the screen.
        Proposed => "proposed",
        /// Its card stood on the screen.
        Shown => "shown",
        /// It may be carried out; its grant is unused.
        Approved => "approved",
        /// Its grant is claimed.
        Running => "running",
        /// It was carried out.
        Succeeded => "succeeded",
        /// Nothing was changed: the plugin could not do it, or never got to know of it.
        Failed => "failed",
        /// Nothing was changed: the file was not as shown any more.
        Stale => "stale",
        /// Nothing was changed: the person said no.
        Denied => "denied",
        /// Nothing was changed: it was taken back before it began.
        Cancelled => "cancelled",
        /// Nothing was changed: its time was over before it began.
        Expired => "expired",
        /// It may or may not have been carried out. Only a late proof ends this; it is never sent again.
        Unknown => "unknown",
    }
}

impl State {
    /// Says whether it has ended. Only [`State::Unknown`] may change after that, by a late proof.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Proposed | Self::Shown | Self::Approved | Self::Running)
    }
}

/// What is known of an invocation when something happens to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub state: State,
    /// What it does.
    pub effect: ActionEffect,
    /// Until when it can be decided about.
    pub expires_at: Timestamp,
    /// Digest of the preview that stood on the screen.
    pub preview: Option<Digest>,
    pub session: RelaySessionId,
    /// The device of the session.
    pub device: DeviceId,
    /// The epoch of the session.
    pub epoch: u32,
    /// The page that holds the session's socket, or held it last.
    pub page: PageInstanceId,
    /// The session's allowance.
    pub allowance: Option<Allowance>,
}

/// Decides at `now` about an invocation.
#[must_use]
pub fn decide(facts: &Facts, event: &Event, now: Timestamp) -> Outcome {
    use State::{Approved, Failed, Proposed, Running, Shown, Stale, Succeeded, Unknown};
    let state = facts.state;
    match *event {
        Event::Shown(_) | Event::Approve(_) | Event::CannotShow(..) | Event::Deny(_) => {
            of_card(facts, event, now)
        }
        Event::CallerCancels | Event::OperatorDenies | Event::Expires => taken_back(state, event),
        Event::FileChanged | Event::Revoked | Event::StepFailed => swept_along(state, event),

        Event::Claim(claim) => match state {
            Approved => grant::refusal(&claim, now)
                .map_or(to(Running).grant(grant::Change::Claim).tell(ToPlugin::Execute), unchanged),
            Proposed | Shown => unchanged(RelayReason::NotApproved),
            _ => unchanged(RelayReason::GrantGone),
        },
        Event::Result(report) => match state {
            // UNKNOWN as well: a late report is a proof, and the only way out of that state.
            Running | Unknown => settle(facts, report),
            // The frame `settled` was lost.
            Succeeded | Failed | Stale => NOTHING.tell(ToPlugin::Settled),
            // It never had a grant that was claimed.
            _ => CLOSE,
        },
        Event::DeadlinePasses => match state {
            Running => unknown(RelayReason::DeadlinePassed),
            _ => NOTHING,
        },
        Event::SocketClosed => match state {
            // It is shown again on return.
            Shown => to(Proposed),
            Approved => {
                to(State::Expired).because(RelayReason::Disconnected).grant(grant::Change::Kill)
            }
            // A running one waits for its page, until the deadline.
            _ => NOTHING,
        },
        Event::Returned(journal) => match state {
            Running | Unknown => returned(facts, journal),
            // The frame `settled` was lost.
            Succeeded | Failed | Stale if matches!(journal, Journal::Says(_)) => {
                NOTHING.tell(ToPlugin::Settled)
            }
            _ => NOTHING,
        },
    }
}

/// What the plugin says of a card. About one that has ended it came late; about one that was decided it may
/// repeat itself, but not say something else.
fn of_card(facts: &Facts, event: &Event, now: Timestamp) -> Outcome {
    use State::{Approved, Cancelled, Denied, Failed, Proposed, Running, Shown, Unknown};
    match *event {
        Event::Shown(preview) => match facts.state {
            Proposed => to(Shown),
            Shown if facts.preview == Some(preview) => NOTHING,
            // A card is shown once; another preview, or one after the decision, could be of something else.
            Shown | Approved | Running | Unknown => CLOSE,
            _ => NOTHING,
        },
        Event::Approve(approval) => match facts.state {
            Proposed | Shown => approve(facts, &approval, now),
            _ => NOTHING,
        },
        Event::CannotShow(signed, reason) => match facts.state {
            Proposed | Shown if !is_ours(facts, signed) => CLOSE,
            Proposed | Shown => {
                Outcome { audit: Some(RelayEventName::Denied), ..to(Failed) }.because(reason)
            }
            // It was approved, so the plugin contradicts itself.
            Approved | Running => CLOSE,
            _ => NOTHING,
        },
        Event::Deny(signed) => match facts.state {
            Proposed | Shown | Approved if !is_ours(facts, signed) => CLOSE,
            Proposed | Shown => to(Denied),
            // The person changed their mind in time.
            Approved => {
                to(Cancelled).because(RelayReason::WithdrawnByPerson).grant(grant::Change::Kill)
            }
            Running => unchanged(RelayReason::TooLate),
            _ => NOTHING,
        },
        _ => NOTHING,
    }
}

/// An approval of something that is still to be decided about.
fn approve(facts: &Facts, approval: &Approval, now: Timestamp) -> Outcome {
    let was_shown = facts.state == State::Shown;
    if !is_ours(facts, approval.signed) || was_shown && facts.preview != Some(approval.preview) {
        return CLOSE;
    }
    match approval.by {
        // A person can only have approved what stood on the screen; an allowance needs no card.
        DecidedBy::Person if was_shown => {}
        DecidedBy::Allowance => {
            match allowance::covers(facts.allowance, facts.effect, facts.page, now) {
                Cover::Yes => {}
                Cover::Ended => return unchanged(RelayReason::AllowanceEnded),
                Cover::No => return CLOSE,
            }
        }
        _ => return CLOSE,
    }
    // After the checks of the protocol: a wrong signature closes the socket even if the proposal is over.
    if now >= facts.expires_at {
        return taken_back(facts.state, &Event::Expires);
    }
    to(State::Approved).grant(grant::Change::Mint)
}

/// Says whether a decision was made by the device of this session, for this epoch.
fn is_ours(facts: &Facts, signed: Signed) -> bool {
    signed.by == Some(facts.device)
        && signed.session == facts.session
        && signed.epoch == facts.epoch
}

/// The caller, an operator, or the passing of time takes it back.
fn taken_back(state: State, event: &Event) -> Outcome {
    use State::{Approved, Cancelled, Expired, Proposed, Running, Shown};
    let (end, reason) = match event {
        Event::CallerCancels => (Cancelled, RelayReason::CancelledByCaller),
        Event::OperatorDenies => (Cancelled, RelayReason::DeniedByOperator),
        // `Expires` is sent for proposals and for grants; the state tells which of them ran out.
        _ if state == Approved => (Expired, RelayReason::GrantExpired),
        _ => (Expired, RelayReason::ProposalExpired),
    };
    // A grant that is claimed may be on its way as `execute`, which nothing takes back.
    match (state, end) {
        (Proposed | Shown, _) => over(end, reason),
        (Approved, _) => over(end, reason).grant(grant::Change::Kill),
        (Running, Cancelled) => unchanged(RelayReason::TooLate),
        _ => NOTHING,
    }
}

/// What it belongs to is over.
fn swept_along(state: State, event: &Event) -> Outcome {
    use State::{Approved, Cancelled, Expired, Proposed, Running, Shown};
    let (end, reason) = match event {
        Event::FileChanged => (Expired, RelayReason::FileChanged),
        Event::Revoked => (Cancelled, RelayReason::Revoked),
        _ => (Cancelled, RelayReason::StepFailed),
    };
    match (state, reason) {
        (Proposed | Shown, _) => over(end, reason),
        (Approved, _) => over(end, reason).grant(grant::Change::Kill),
        // No page of this session will return to say how it ended.
        (Running, RelayReason::Revoked) => unknown(reason),
        _ => NOTHING,
    }
}

/// It is over before it began. The plugin is told of an approved one too, because it shows that as being at work
/// (docs/decisions/83-relay-withdraw.md).
fn over(end: State, reason: RelayReason) -> Outcome {
    Outcome { plugin: reason.withdrawal().map(ToPlugin::Withdraw), ..to(end).because(reason) }
}

/// A running or unknown one, by what a page of the session says.
fn returned(facts: &Facts, journal: Journal) -> Outcome {
    // `begun` is written before the page acts, so only the silence of the page that was told to act proves a failure.
    let is_running = facts.state == State::Running;
    match journal {
        Journal::Says(Entry::Succeeded) => settle(facts, Report::Succeeded),
        Journal::Says(Entry::Failed) => settle(facts, Report::Failed(RelayReason::PluginFailed)),
        Journal::Says(Entry::Stale) => settle(facts, Report::Stale),
        Journal::SilentSamePage => {
            ended(facts.state, State::Failed).because(RelayReason::NotDelivered)
        }
        Journal::Says(Entry::Begun) if is_running => unknown(RelayReason::Interrupted),
        Journal::SilentOtherPage if is_running => unknown(RelayReason::PageReplaced),
        Journal::Says(Entry::Begun) | Journal::SilentOtherPage => NOTHING,
    }
}

/// A running or unknown one, by a proof of how it ended.
fn settle(facts: &Facts, report: Report) -> Outcome {
    let settled = |to| ended(facts.state, to).tell(ToPlugin::Settled);
    match report {
        Report::Succeeded => settled(State::Succeeded),
        Report::Failed(reason) => settled(State::Failed).because(reason),
        Report::Stale => settled(State::Stale),
        // Only what leaves the file as it is can fail by its value. Otherwise the journal keeps its entry, which
        // settles it later.
        Report::Unusable(reason) if facts.effect.leaves_the_file() => {
            settled(State::Failed).because(reason)
        }
        Report::Unusable(reason) if facts.state == State::Running => unknown(reason),
        Report::Unusable(_) => NOTHING,
    }
}

/// The end of a running one, or of an unknown one, whose grant is spent already.
const fn ended(from: State, state: State) -> Outcome {
    match from {
        State::Unknown => {
            Outcome { audit: Some(RelayEventName::SettledLate), is_late: true, ..to(state) }
        }
        _ => to(state).grant(grant::Change::Spend),
    }
}

/// The grant is spent, so that lane and session are free.
const fn unknown(reason: RelayReason) -> Outcome {
    to(State::Unknown).because(reason).grant(grant::Change::Spend)
}
