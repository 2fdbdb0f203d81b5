//! The daemon's side of a walk: what it asks the rules, and when.

use std::time::Duration;

use svc::domain::digest::Digest;
use svc::domain::relay::allowance::{self, Allowance, Length};
use svc::domain::relay::grant::{self, GrantClaim};
use svc::domain::relay::invocation::{Approval, Event, State, ToPlugin, decide};
use svc::domain::relay::{ActionEffect, DecidedBy, proposal, session};

use super::{Defect, Frame, Invocation, World};

pub(super) const APPROVAL: Duration = Duration::from_mins(5);

impl World {
    pub(super) fn propose(&mut self, s: usize) {
        let facts = proposal::Facts {
            same_call: None,
            session: Some(self.sessions[s].state),
            is_moving: false,
            is_covered: false,
            rests_until: None,
            waiting_of_session: 0,
            waiting_of_subject: 0,
            covered_of_session: 0,
        };
        if proposal::admit(&facts, self.now) != proposal::Admission::Propose {
            return;
        }
        let (first, steps) = (self.invocations.len(), 1 + self.below(3));
        for _ in 0..steps {
            let effect = ActionEffect::ALL[self.below(4)];
            let invocation = Invocation {
                session: s,
                first,
                steps,
                effect: if steps == 1 { ActionEffect::Read } else { effect },
                state: State::Proposed,
                expires_at: self.now.plus(APPROVAL),
                is_previewed: false,
                grant: None,
                effects: 0,
            };
            self.invocations.push(invocation);
            *self.reached.entry(State::Proposed).or_default() += 1;
        }
        self.send(s, Frame::Propose { first, steps });
    }

    pub(super) fn approval(&self, s: usize, by: DecidedBy) -> Event {
        Event::Approve(Approval { by, signed: self.signed(s), preview: preview() })
    }

    /// What a page says of a card, which is about all of its steps or about none.
    pub(super) fn decision(&mut self, s: usize, p: usize, first: usize, event: Event) {
        if !self.is_heard(s, p) {
            return;
        }
        let steps = first..first + self.invocations[first].steps;
        let closes = |at| {
            let outcome = decide(&self.facts(at), &event, self.now);
            matches!(outcome.plugin, Some(ToPlugin::Close(_)))
        };
        if steps.clone().any(closes) {
            self.socket_drops(s, p);
        } else {
            for at in steps {
                self.happens(at, event);
            }
        }
    }

    pub(super) fn claim(&mut self) {
        // Now and then a process wants one that another has, or one whose end is not known.
        let state = match self.below(20) {
            0 => State::Running,
            1 => State::Unknown,
            _ => State::Approved,
        };
        let Some(at) = self.pick(state) else { return };
        let s = self.invocations[at].session;
        let Some(grant) = self.invocations[at].grant else { return };
        let is_stale = self.chance(5);
        let (of_session, of_lane) = self.in_flight(s);
        let has_index = self.defect != Some(Defect::NoIndexOfWhatIsInFlight);
        let session = &self.sessions[s];
        let claim = GrantClaim {
            grant: self.grants[grant].state,
            expires_at: self.grants[grant].expires_at,
            session: session.state,
            epoch: session.epoch,
            held_epoch: session.epoch.saturating_sub(u32::from(is_stale)),
            is_session_free: !has_index || of_session == 0,
            is_lane_free: !has_index || of_lane == 0,
        };
        if self.happens(at, Event::Claim(claim)).to != Some(State::Running) {
            return;
        }
        let (of_session, of_lane) = self.in_flight(s);
        if of_session > 1 || of_lane > 1 {
            self.wrong(format!("{of_session} in flight in a session, {of_lane} in its lane"));
        }
        if is_stale {
            self.wrong("claimed by an earlier epoch".to_owned());
        }
    }

    /// Claimed grants of a session, and of its lane.
    fn in_flight(&self, s: usize) -> (usize, usize) {
        let claimed = self.grants.iter().filter(|grant| grant.state == grant::State::Claimed);
        let sessions: Vec<usize> =
            claimed.map(|grant| self.invocations[grant.invocation].session).collect();
        let lane = |other: usize| self.sessions[other].lane;
        let of_session = sessions.iter().filter(|other| **other == s).count();
        (of_session, sessions.iter().filter(|other| lane(**other) == lane(s)).count())
    }

    pub(super) fn take_back(&mut self) {
        let states = [State::Proposed, State::Shown, State::Approved, State::Running];
        let state = states[self.below(4)];
        let Some(at) = self.pick(state) else { return };
        if self.defect == Some(Defect::ARunningOneIsCancelled) && state == State::Running {
            self.invocations[at].state = State::Cancelled;
            let grant = self.invocations[at].grant.unwrap();
            self.grants[grant].state = grant::State::Spent;
        }
        let event = if self.chance(50) { Event::CallerCancels } else { Event::OperatorDenies };
        self.happens(at, event);
    }

    pub(super) fn pass_time(&mut self) {
        let seconds = [1, 2, 5, 10, 20][self.below(5)];
        self.now = self.now.plus(Duration::from_secs(seconds));
        if self.chance(80) {
            self.sweep();
        }
    }

    /// Ends what is over.
    pub(super) fn sweep(&mut self) {
        for at in 0..self.invocations.len() {
            let invocation = &self.invocations[at];
            let grant = invocation.grant.map(|grant| &self.grants[grant]);
            let deadline = invocation.effect.deadline();
            let (end, event) = match invocation.state {
                State::Proposed | State::Shown => (Some(invocation.expires_at), Event::Expires),
                State::Approved => (grant.and_then(|grant| grant.expires_at), Event::Expires),
                State::Running => {
                    let claimed_at = grant.and_then(|grant| grant.claimed_at);
                    (claimed_at.map(|at| at.plus(deadline)), Event::DeadlinePasses)
                }
                _ => continue,
            };
            if end.is_some_and(|end| end <= self.now) {
                self.happens(at, event);
            }
        }
    }

    /// The socket closes, and the daemon notices.
    pub(super) fn socket_drops(&mut self, s: usize, p: usize) {
        if self.is_heard(s, p) {
            self.sessions[s].pages[p].disconnect();
            self.happens_to_session(s, session::Event::SocketClosed);
        }
    }

    /// The process ends: no socket is left, and the store does not say so. What has reached a frozen page waits there.
    pub(super) fn crash(&mut self) {
        for page in self.sessions.iter_mut().flat_map(|session| &mut session.pages) {
            if page.is_frozen {
                page.epoch = None;
            } else {
                page.disconnect();
            }
        }
    }

    /// A page opens a socket, having dropped what an earlier one still held, and proves itself.
    pub(super) fn connect(&mut self, s: usize, p: usize) {
        let is_repeated = self.chance(30);
        let session = &mut self.sessions[s];
        let before = session.epoch;
        let page = &mut session.pages[p];
        if page.is_frozen || page.epoch == Some(before) && !is_repeated {
            return;
        }
        page.disconnect();
        session.page = page.instance;
        self.happens_to_session(s, session::Event::Proved);
        let session = &mut self.sessions[s];
        if session.epoch == before {
            return;
        }
        session.pages[p].epoch = Some(session.epoch);
        for at in 0..self.invocations.len() {
            let invocation = &self.invocations[at];
            let (first, steps) = (invocation.first, invocation.steps);
            if invocation.session == s && first == at && invocation.state == State::Proposed {
                self.send(s, Frame::Propose { first, steps });
            }
        }
    }

    pub(super) fn allowance(&mut self, s: usize, length: Length) {
        let session = &mut self.sessions[s];
        match allowance::decide(session.allowance.is_some(), length, self.now) {
            allowance::Outcome::Give(until) => {
                session.allowance = Some(Allowance { page: session.page, until });
            }
            allowance::Outcome::End => session.allowance = None,
            allowance::Outcome::Unchanged => {}
        }
    }

    pub(super) fn happens_to_session(&mut self, s: usize, event: session::Event) {
        let session = &mut self.sessions[s];
        let session::Outcome::Change(change) = session::decide(session.state, event) else {
            return;
        };
        session.state = change.to;
        session.epoch += u32::from(change.is_new_epoch);
        if change.ends_allowance {
            session.allowance = None;
        }
        for toward in change.invocations {
            for at in 0..self.invocations.len() {
                if self.invocations[at].session != s {
                    continue;
                }
                let event = match toward {
                    session::Toward::SocketClosed => Some(Event::SocketClosed),
                    session::Toward::FileChanged => Some(Event::FileChanged),
                    session::Toward::Revoked => Some(Event::Revoked),
                    session::Toward::Returned => self.journal(at).map(Event::Returned),
                };
                if let Some(event) = event {
                    self.happens(at, event);
                }
            }
        }
    }
}

pub(super) fn preview() -> Digest {
    Digest::from([1; 32])
}
