//! What agents, operators and the processes themselves do, and the passing of time.

use std::time::Duration;

use svc::domain::relay::ActionEffect;
use svc::domain::relay::proposal::Refusal;
use svc::store::relay::{NewProposal, Proposed};

use super::page::Frame;
use super::world::World;

impl World {
    /// An agent asks one of the processes, now and then the same as before.
    pub(super) fn propose(&mut self, s: usize) {
        let process = self.below(2);
        let steps = 1 + self.below(3);
        let effects: Vec<ActionEffect> = (0..steps)
            .map(|_| if steps == 1 { ActionEffect::Read } else { ActionEffect::ALL[self.below(4)] })
            .collect();
        if !self.chance(10) {
            self.calls = self.calls.wrapping_add(1);
        }
        let client = if self.chance(50) { "agent" } else { "other" };
        let relay = &self.processes[process];
        let proposal = NewProposal {
            client: client.to_owned(),
            ..relay.proposal(&self.sites[s].plugin, &effects, self.calls)
        };
        let made = (proposal.id, proposal.steps.iter().map(|step| step.id).collect());
        match relay.store.relay_propose(proposal).unwrap() {
            Proposed::Made => {
                let proposed = svc::domain::relay::invocation::State::Proposed;
                *self.reached.entry(proposed).or_default() += steps;
                self.sites[s].proposals.push(made);
            }
            Proposed::Same(_) | Proposed::Refused { .. } => {}
        }
    }

    /// A process looks after its sockets: what waits is shown, what is due is claimed. One that another socket has
    /// replaced learns so here at the latest.
    pub(super) fn poll(&mut self) {
        let process = self.below(2);
        for held in self.sockets(process) {
            let waiting = self.processes[process].store.relay_waiting(held).unwrap();
            let pages = self.sites.iter_mut().flat_map(|site| &mut site.pages);
            for page in pages.filter(|page| page.socket == Some((process, held))) {
                for proposal in &waiting {
                    if page.told.insert(proposal.id) {
                        page.inbox.push_back(Frame::Propose(proposal.clone()));
                    }
                }
            }
            let effects = self.processes[process].store.relay_claim_due(held).unwrap();
            self.carry_out(process, effects);
        }
    }

    pub(super) fn take_back(&mut self, s: usize) {
        let process = self.below(2);
        let newest = self.sites[s].proposals.len().saturating_sub(4);
        let recent = &self.sites[s].proposals[newest..];
        let steps: Vec<_> = recent.iter().flat_map(|(_, steps)| steps.clone()).collect();
        let place = self.below(steps.len());
        let Some(step) = steps.get(place) else { return };
        let (store, subject) = (&self.processes[process].store, self.sites[s].plugin.subject);
        let effects = if place.is_multiple_of(2) {
            store.relay_cancel(subject, *step).unwrap()
        } else {
            store.relay_deny(*step, "ops").unwrap()
        };
        match effects {
            Some(effects) => self.carry_out(process, effects),
            None => self.wrong(format!("{step} is not there")),
        }
    }

    /// Another person tries everything with what is not theirs.
    pub(super) fn try_as_a_stranger(&mut self, s: usize) {
        let (process, other) = (self.below(2), self.below(self.sites.len()));
        let (theirs, own) = (&self.sites[s], &self.sites[other]);
        if theirs.plugin.subject == own.plugin.subject {
            return;
        }
        let Some((proposal, steps)) = theirs.proposals.last() else { return };
        let (relay, subject) = (&self.processes[process], own.plugin.subject);
        let foreign = NewProposal {
            subject: subject.to_owned(),
            ..relay.proposal(&theirs.plugin, &[ActionEffect::Read], self.calls)
        };
        let no_such_session = |proposed: Proposed| {
            matches!(proposed, Proposed::Refused { why: Refusal::NoSuchSession, .. })
        };
        let sessions = relay.store.relay_sessions_of(subject).unwrap();
        let holds = relay.store.relay_cancel(subject, steps[0]).unwrap().is_none()
            && relay.store.relay_invocation_of(subject, steps[0]).unwrap().is_none()
            && relay.store.relay_steps_of(subject, *proposal).unwrap().is_empty()
            && no_such_session(relay.store.relay_propose(foreign).unwrap())
            && sessions.iter().all(|session| session.id != theirs.plugin.held.session);
        let moved = own.pages.iter().filter_map(|page| page.socket).any(|(_, held)| {
            let shown =
                relay.show(&crate::support::relay::Plugin { held, ..own.plugin }, *proposal);
            !shown.changed.is_empty()
        });
        if !holds || moved {
            self.wrong(format!("{subject} sees or moves what is not theirs"));
        }
    }

    pub(super) fn pass_time(&mut self) {
        let seconds = [1, 2, 5, 10, 20][self.below(5)];
        self.clock.advance(Duration::from_secs(seconds));
        if self.chance(80) {
            let process = self.below(2);
            self.sweep(process);
        }
    }

    /// The clock is set: ahead, or back.
    pub(super) fn jump(&mut self) {
        let by = Duration::from_secs([90, 1_000, 90_000][self.below(3)]);
        if self.chance(50) {
            self.clock.advance(by);
        } else {
            self.clock.step_back(by);
        }
        let process = self.below(2);
        self.processes[process].store.clamp_future_times(Duration::ZERO).unwrap();
    }
}
