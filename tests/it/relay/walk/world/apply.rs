//! What the rules decide about an invocation is carried out, and what must hold is checked.

use std::time::Duration;

use svc::domain::id::GrantId;
use svc::domain::relay::grant::{self, Change};
use svc::domain::relay::invocation::{Event, Facts, Journal, Outcome, State, ToPlugin, decide};
use svc::domain::relay::proposal;

use super::daemon::{APPROVAL, preview};
use super::{Defect, Frame, Grant, World};

const GRANT: Duration = Duration::from_secs(60);

impl World {
    /// What the page that holds the session's socket says of a grant that was claimed.
    pub(super) fn journal(&self, at: usize) -> Option<Journal> {
        let session = &self.sessions[self.invocations[at].session];
        let grant = self.invocations[at].grant?;
        let claimed_for = self.grants[grant].claimed_for?;
        let id = |at: usize| GrantId::from(uuid::Uuid::from_u128(u128::try_from(at).unwrap()));
        let entries: Vec<_> = session.journal.iter().map(|(at, entry)| (id(*at), *entry)).collect();
        Some(Journal::read(&entries, id(grant), claimed_for, session.page))
    }

    pub(super) fn facts(&self, at: usize) -> Facts {
        let invocation = &self.invocations[at];
        let session = &self.sessions[invocation.session];
        Facts {
            state: invocation.state,
            effect: invocation.effect,
            expires_at: invocation.expires_at,
            preview: invocation.is_previewed.then(preview),
            session: session.id,
            device: session.device,
            epoch: session.epoch,
            page: session.page,
            allowance: session.allowance,
        }
    }

    /// One transaction, and the frame after it.
    pub(super) fn happens(&mut self, at: usize, event: Event) -> Outcome {
        let mut event = event;
        if event == Event::Returned(Journal::SilentOtherPage)
            && self.defect == Some(Defect::SilenceOfAnotherPageIsNotDelivered)
        {
            event = Event::Returned(Journal::SilentSamePage);
        }
        let before = self.invocations[at].state;
        let outcome = decide(&self.facts(at), &event, self.now);
        if let Some(change) = outcome.grant {
            self.change(at, change);
        }
        if let Some(to) = outcome.to {
            self.invocations[at].state = to;
            self.invocations[at].is_previewed = to != State::Proposed;
            *self.reached.entry(to).or_default() += 1;
            self.late += usize::from(outcome.is_late);
            self.check(at, before, to, outcome);
            self.steps_behind(at, to);
        } else if before == State::Unknown
            && matches!(event, Event::Returned(_))
            && self.defect == Some(Defect::UnknownIsSentAgain)
        {
            let invocation = &mut self.invocations[at];
            invocation.state = State::Proposed;
            invocation.grant = None;
            invocation.expires_at = self.now.plus(APPROVAL);
            (invocation.first, invocation.steps) = (at, 1);
        }
        self.frame(at, outcome);
        outcome
    }

    fn change(&mut self, at: usize, change: Change) {
        let now = self.now;
        let invocation = &mut self.invocations[at];
        let before = invocation.grant.map(|grant| self.grants[grant].state);
        let Some(state) = grant::apply(before, change) else {
            return self.wrong(format!("a grant that was {before:?} is {change}"));
        };
        let Some(grant) = invocation.grant else {
            invocation.grant = Some(self.grants.len());
            let expires_at = grant::expires_at(at - invocation.first, now, GRANT);
            let (claimed_at, claimed_for) = (None, None);
            self.grants.push(Grant { invocation: at, state, expires_at, claimed_at, claimed_for });
            return;
        };
        let grant = &mut self.grants[grant];
        grant.state = state;
        if change == Change::Claim {
            grant.claimed_at = Some(now);
            grant.claimed_for = Some(self.sessions[invocation.session].page);
        }
    }

    fn check(&mut self, at: usize, before: State, to: State, outcome: Outcome) {
        let effects = self.invocations[at].effects;
        let is_proof = matches!(to, State::Succeeded | State::Failed | State::Stale);
        if before.is_terminal() && !(before == State::Unknown && is_proof && outcome.is_late) {
            self.wrong(format!("{before} became {to}"));
        }
        if to == State::Succeeded && effects != 1 {
            self.wrong(format!("succeeded with {effects} effects"));
        }
        let is_unchanged = to.is_terminal() && !matches!(to, State::Succeeded | State::Unknown);
        if is_unchanged && effects > 0 {
            self.wrong(format!("{to}, and it has happened"));
        }
        if outcome.audit.is_none() {
            self.wrong(format!("{before} became {to} without an audit event"));
        }
    }

    fn steps_behind(&mut self, at: usize, state: State) {
        let behind = at + 1..self.invocations[at].first + self.invocations[at].steps;
        match proposal::after(state) {
            proposal::Next::Wait => {}
            proposal::Next::Begin => {
                if let Some(grant) = behind.clone().next().and_then(|at| self.invocations[at].grant)
                {
                    self.grants[grant].expires_at = Some(self.now.plus(GRANT));
                }
            }
            proposal::Next::Cancel => {
                for at in behind {
                    self.happens(at, Event::StepFailed);
                }
            }
        }
    }

    fn frame(&mut self, at: usize, outcome: Outcome) {
        let invocation = &self.invocations[at];
        let (s, Some(grant)) = (invocation.session, invocation.grant) else { return };
        match outcome.plugin {
            Some(ToPlugin::Execute) => {
                let frame = Frame::Execute { grant, invocation: at };
                self.send(s, frame);
                if self.chance(10) {
                    self.send(s, frame);
                }
            }
            Some(ToPlugin::Settled) => self.send(s, Frame::Settled { grant }),
            Some(ToPlugin::Withdraw(_) | ToPlugin::Close(_)) | None => {}
        }
    }

    /// Sends a frame after its commit, unless the process ends in between.
    pub(super) fn send(&mut self, s: usize, frame: Frame) {
        if self.chance(1) {
            return self.crash();
        }
        let session = &mut self.sessions[s];
        for page in session.pages.iter_mut().filter(|page| page.epoch == Some(session.epoch)) {
            page.inbox.push_back(frame);
        }
    }
}
