//! The frames of the daemon, and the answers that need no person.

use std::time::Duration;

use super::card::{Card, NoCard};
use super::event::Event;
use super::heard::{self, HeardFrame, Propose};
use super::socket::Heard;
use super::{Phase, Plugin};
use crate::domain::id::RelaySessionId;
use crate::domain::relay::{ActionEffect, CardDecision};
use crate::relay::digest;
use crate::relay::frame::{
    self, DecidedInPlugin, FromPlugin, Nonce, Pong, PublicJwk, Shown, Signature,
};
use crate::relay::proof;
use crate::runtime::clock::Clock as _;

/// Most cards that wait for a person, with reads that were proposed before their allowance ended. What is approved and
/// waits for its turn is not among them.
const CARDS_MAX: usize = 29;
/// Most cards in all.
const CARDS_KEPT_MAX: usize = 2_000;

impl Plugin {
    /// Waits for the next event, at most for `patience`, which is more than zero.
    pub fn pump(&mut self, patience: Duration) -> Event {
        if let Some(event) = self.events.pop_front() {
            return event;
        }
        let Some(line) = &mut self.line else { return Event::Closed(None) };
        match line.socket.read(patience) {
            Heard::Nothing => {}
            Heard::Strange => self.refuse(frame::Close::BadFrame, "not_text"),
            Heard::Closed(code) => self.closed(code),
            Heard::Text(text) => self.hear(&text),
        }
        self.events.pop_front().unwrap_or(Event::Nothing)
    }

    /// Forgets what a close code makes useless.
    fn closed(&mut self, code: Option<u16>) {
        self.drop_socket();
        if code == Some(frame::Close::Revoked.code()) {
            if self.device.forget_all().is_err() {
                // The old key is kept, and will be refused again.
                self.events.push_back(Event::Refused("no_random_bytes"));
            }
            self.session = None;
        }
        if let (Some(session), Some(4404)) = (self.session, code) {
            self.device.forget(session);
            self.session = None;
        }
        self.events.push_back(Event::Closed(code));
    }

    /// Handles a frame as one of the daemon's, however it arrived.
    pub fn hear(&mut self, text: &str) {
        let now = self.clock.monotonic();
        let Some(line) = &mut self.line else { return };
        let silence = now.saturating_sub(line.heard);
        // Before the first ping and outside of a session, the daemon may be silent for any time.
        let tells = line.was_pinged || line.phase == Phase::Ready;
        line.heard = now;
        if tells && self.asleep_after.is_some_and(|most| silence > most) {
            self.hang_up(Some(1000));
            self.events.push_back(Event::Refused("asleep"));
            return;
        }
        match heard::read(text) {
            Ok(HeardFrame::Ping { n }) => self.ping(n),
            Ok(frame) => self.handle(frame),
            Err(_) => self.refuse(frame::Close::BadFrame, "bad_frame"),
        }
    }

    fn ping(&mut self, n: u64) {
        if let Some(line) = &mut self.line {
            line.was_pinged = true;
        }
        self.send(&FromPlugin::Pong(Pong { n, visible: true }));
        self.events.push_back(Event::Ping(n));
    }

    fn handle(&mut self, frame: HeardFrame) {
        let Some(phase) = self.line.as_ref().map(|line| line.phase) else { return };
        let is_proved = phase != Phase::Greeted;
        let is_open = matches!(phase, Phase::Ready | Phase::Moving);
        match frame {
            HeardFrame::Problem { code, message } => {
                self.events.push_back(Event::Problem(code, message));
            }
            HeardFrame::Challenge { nonce, key, signature } if phase == Phase::Greeted => {
                self.challenged(nonce, key, &signature);
            }
            HeardFrame::Settled { grant } if is_proved => {
                self.device.settle(grant);
                self.events.push_back(Event::Settled(grant));
            }
            HeardFrame::Pairing { code } if phase == Phase::Proved => {
                self.events.push_back(Event::Code(code));
            }
            HeardFrame::Claimed { pairing, account, client } if is_proved => {
                if phase == Phase::Ready {
                    self.drop_cards();
                }
                if let Some(line) = &mut self.line {
                    line.phase = Phase::Claimed;
                    line.claim = Some(pairing);
                }
                self.events.push_back(Event::Claimed { account, client });
            }
            HeardFrame::Ready { session, epoch } if is_proved && phase != Phase::Ready => {
                self.ready(session, epoch);
            }
            HeardFrame::Withdraw { proposal, reason } if is_open => {
                self.take_away(proposal);
                self.events.push_back(Event::Withdrawn(proposal, reason));
            }
            HeardFrame::Execute(execute) if is_open => self.execute(&execute),
            HeardFrame::Propose(propose) if phase == Phase::Ready => self.propose(&propose),
            // What was proposed for the file before ends at the daemon, by the `context` that is on its way.
            HeardFrame::Propose(_) if phase == Phase::Moving => {}
            _ => self.refuse(frame::Close::BadFrame, "wrong_order"),
        }
    }

    /// The daemon proves its key, and asks the plugin for proof.
    fn challenged(&mut self, nonce: Nonce, key: PublicJwk, signature: &Signature) {
        let Some(line) = &mut self.line else { return };
        let text = proof::challenge_text(&line.hello_nonce, &nonce, line.hello);
        // Before the first pairing any daemon is accepted; `ready` pins its key.
        let is_known = self.device.daemon().is_none_or(|known| known == key);
        if !is_known || !proof::is_signed(&key, &text, signature) {
            return self.refuse(frame::Close::Refused, "stranger");
        }
        let hello = line.hello;
        line.phase = Phase::Proved;
        line.key = Some(key);
        line.nonce = Some(nonce.clone());
        let journal = self.device.journal(self.session);
        let text = proof::proof_text(&nonce, hello, digest::journal(&journal));
        match self.device.sign(&text) {
            Ok(signature) => self.send(&FromPlugin::Proof(frame::Proof { signature, journal })),
            Err(_) => self.refuse(frame::Close::Refused, "no_key"),
        }
    }

    fn ready(&mut self, session: RelaySessionId, epoch: u64) {
        let Some(line) = &mut self.line else { return };
        line.phase = Phase::Ready;
        line.claim = None;
        line.epoch = epoch;
        // The daemon's key is known once a person has confirmed a pairing with it.
        if let (None, Some(key)) = (self.device.daemon(), line.key.clone()) {
            self.device.pin(key);
        }
        if self.session != Some(session) {
            self.allowance_until = None;
            self.session = Some(session);
        }
        if let Some(file) = &self.file.key {
            self.device.remember(file, session);
        }
        self.events.push_back(Event::Ready { session, epoch });
        for (of, result) in std::mem::take(&mut self.untold) {
            // A socket can report results of its own session only.
            if of == session {
                self.send(&FromPlugin::Result(result));
            }
        }
    }

    /// Makes a card, and shows it or decides by itself.
    fn propose(&mut self, propose: &Propose) {
        let is_known = |step: &heard::Step| self.approved.contains_key(&step.invocation);
        if self.card(propose.proposal).is_some() || propose.steps.iter().any(is_known) {
            return self.refuse(frame::Close::BadFrame, "proposed_twice");
        }
        if self.undecided().len() >= CARDS_MAX || self.cards.len() >= CARDS_KEPT_MAX {
            return self.refuse(frame::Close::BadFrame, "too_many_proposals");
        }
        let made = Card::make(propose, &self.host.open().document);
        let card = match made {
            Ok(card) => card,
            Err(NoCard::Broken(why)) => return self.refuse(frame::Close::BadFrame, why),
            Err(NoCard::Refused(why, preview)) => {
                let digests = propose.steps.iter().map(|step| step.arguments_sha256).collect();
                let about = (propose.proposal, digests, preview);
                self.tell_decision(about, CardDecision::Denied, DecidedInPlugin::Plugin, Some(why));
                return self.events.push_back(Event::Decided(propose.proposal));
            }
        };
        let (proposal, preview) = (card.proposal, card.preview);
        let is_read = card.steps.iter().all(|step| step.effect == ActionEffect::Read);
        let is_allowed = self.allowance_until.is_some_and(|until| self.clock.now() < until);
        self.cards.push(card);
        if is_read && is_allowed {
            self.decide_by(proposal, CardDecision::Approved, DecidedInPlugin::Allowance);
            return self.events.push_back(Event::Decided(proposal));
        }
        self.send(&FromPlugin::Shown(Shown { proposal, preview_sha256: preview }));
        self.events.push_back(Event::Card(proposal));
    }
}
