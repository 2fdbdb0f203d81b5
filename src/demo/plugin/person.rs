//! What a person does in front of the plugin.

use std::time::Duration;

use super::event::Event;
use super::{Phase, Plugin};
use crate::domain::digest::Digest;
use crate::domain::id::ProposalId;
use crate::domain::relay::CardDecision;
use crate::relay::frame::{self, Bye, ByeReason, Confirm, DecidedInPlugin, File, FromPlugin};
use crate::relay::proof::{self, DecisionText};
use crate::runtime::clock::Clock as _;

/// What a decision is about: the proposal, the digests of its steps, and that of what was shown.
type About = (ProposalId, Vec<Digest>, Digest);

impl Plugin {
    /// Answers the question who may work on the file.
    pub fn confirm(&mut self, accept: bool) {
        let Some(line) = &mut self.line else { return };
        // Taken, so that a question is answered once.
        let (Some(nonce), Some(pairing)) = (&line.nonce, line.claim.take()) else { return };
        let signature = self.device.sign(&proof::confirm_text(nonce, pairing, accept));
        if let Ok(signature) = signature {
            self.send(&FromPlugin::Confirm(Confirm { pairing, accept, signature }));
        }
    }

    /// Approves or denies a card; denies what was approved and has not begun.
    pub fn decide(&mut self, proposal: ProposalId, decision: CardDecision) {
        self.decide_by(proposal, decision, DecidedInPlugin::Person);
    }

    pub(super) fn decide_by(
        &mut self,
        proposal: ProposalId,
        decision: CardDecision,
        by: DecidedInPlugin,
    ) {
        let Some(card) = self.cards.iter_mut().find(|card| card.proposal == proposal) else {
            return;
        };
        if decision == CardDecision::Approved && card.is_approved {
            return;
        }
        let digests = card.steps.iter().map(|step| step.arguments_sha256).collect();
        let about = (proposal, digests, card.preview);
        if decision == CardDecision::Approved {
            card.is_approved = true;
            for (place, step) in card.steps.iter().enumerate() {
                // Shown and approved again, after an approval that was lost with its socket.
                self.stopped.remove(&step.invocation);
                self.approved.insert(step.invocation, (proposal, place));
            }
        } else {
            self.take_away(proposal);
        }
        self.tell_decision(about, decision, by, None);
    }

    /// Takes a card off the screen; steps that were approved on it no longer run.
    pub(super) fn take_away(&mut self, proposal: ProposalId) {
        self.cards.retain(|card| card.proposal != proposal);
        let gone = self.approved.iter().filter(|(_, (of, _))| *of == proposal);
        let gone: Vec<_> = gone.map(|(invocation, _)| *invocation).collect();
        for invocation in gone {
            self.approved.remove(&invocation);
            self.stopped.insert(invocation);
        }
    }

    pub(super) fn tell_decision(
        &mut self,
        about: About,
        decision: CardDecision,
        by: DecidedInPlugin,
        reason: Option<&str>,
    ) {
        let (proposal, arguments, preview) = about;
        let Some(session) = self.session else { return };
        let epoch = self.epoch();
        let text =
            DecisionText { session, epoch, proposal, arguments: &arguments, preview, decision, by };
        if let Ok(signature) = self.device.sign(&text.text()) {
            self.send(&FromPlugin::Decision(frame::Decision {
                proposal,
                preview_sha256: preview,
                decision,
                by,
                reason: reason.map(ToOwned::to_owned),
                signature,
            }));
        }
    }

    /// Allows reads without a card for 15 or 60 minutes; 0 ends that.
    pub fn allow(&mut self, minutes: u64) {
        let Some((line, session)) = self.line.as_ref().zip(self.session) else { return };
        let Some(nonce) = line.nonce.as_ref().filter(|_| line.phase == Phase::Ready) else {
            return;
        };
        let text = proof::allowance_text(nonce, session, line.epoch, minutes);
        // Counted from before it is sent, so that it does not outlast the daemon's count.
        let until = self.clock.now().plus(Duration::from_secs(minutes * 60));
        self.allowance_until = (minutes > 0).then_some(until);
        if let Ok(signature) = self.device.sign(&text) {
            self.send(&FromPlugin::Allowance(frame::Allowance { minutes, signature }));
        }
    }

    /// Opens another file, or another page of the same one. A file without a key cannot be recognized.
    pub fn open(&mut self, key: Option<&str>, name: &str, page: &str) {
        // Without keys, files are told apart by their names.
        let is_other = key != self.file.key.as_deref() || key.is_none() && name != self.file.name;
        let key = key.map(ToOwned::to_owned);
        self.file = File { key, name: name.to_owned(), page: page.to_owned() };
        if is_other {
            self.drop_cards();
            self.allowance_until = None;
        }
        let Some(line) = self.line.as_mut().filter(|line| line.phase == Phase::Ready) else {
            return;
        };
        if is_other {
            line.phase = Phase::Moving;
        }
        self.send(&FromPlugin::Context(frame::Context { file: self.file.clone() }));
    }

    /// Ends the session. To come back, the file must be paired again.
    pub fn leave(&mut self) {
        self.send(&FromPlugin::Bye(Bye { reason: ByeReason::Person }));
        if let Some(session) = self.session.take() {
            self.device.forget(session);
        }
    }

    /// Closes the page.
    pub fn unload(&mut self) {
        self.send(&FromPlugin::Bye(Bye { reason: ByeReason::Closing }));
        self.hang_up(Some(1000));
    }

    /// Waits for an event that is wanted, at most for `patience` in all; returns what the caller makes of it.
    pub fn until<T>(
        &mut self,
        patience: Duration,
        mut wanted: impl FnMut(&mut Self, &Event) -> Option<T>,
    ) -> Option<T> {
        let end = self.clock.monotonic() + patience;
        loop {
            let left = end.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return None;
            }
            let event = self.pump(left);
            if let Some(found) = wanted(self, &event) {
                return Some(found);
            }
            if matches!(event, Event::Closed(_)) && self.line.is_none() {
                return None;
            }
        }
    }
}
