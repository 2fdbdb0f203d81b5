//! Who may work on a file: a code for an unknown device, a question for a known one, and a person's answer.

use std::sync::Arc;

use super::connection::{Connection, Greeting, Step, signed};
use super::plugin::{Closing, PluginSocket};
use super::{OFFERS_OF_PEER_MAX, Relay, SOCKETS_OF_SUBJECT_MAX};
use crate::domain::digest::Digest;
use crate::domain::relay::pairing::{CLAIMED, OFFERED};
use crate::domain::relay::{DesignTool, session};
use crate::relay::code::PairingCode;
use crate::relay::conversation;
use crate::relay::digest;
use crate::relay::frame::{self, Claimed, Confirm, FromDaemon, Hello, Line};
use crate::relay::proof::{confirm_text, is_signed};
use crate::runtime::mutex::lock;
use crate::store::relay::{
    Arrival, Arrived, Begins, ClaimedPairing, Device, KeyPoint, NewPairing, Paired, PairingAnswer,
    SessionSocket,
};

/// The client shown when a paired device opens another file.
const PAIRED_ALREADY: &str = "any client of this account";

impl Connection {
    /// An unknown device: a code is shown.
    pub(super) fn offer(&self, tool: DesignTool, key: KeyPoint) -> Step {
        let (relay, peer) = (&self.relay, self.plugin.peer);
        // Checked and noted under one lock, so that sockets that ask at once get no more codes than the limit.
        {
            let (mut limits, now) = (lock(&relay.limits), relay.clock.monotonic());
            let offered = limits.offers.check(&peer, now);
            if offered.is_err() {
                drop(limits);
                let message = format!(
                    "more than {OFFERS_OF_PEER_MAX} codes in ten minutes; wait, then connect again"
                );
                return Err(self.problem(frame::Close::TooMany, "too_many_pairings", &message));
            }
            limits.offers.note(peer, now);
        }
        let code = PairingCode::new(relay.ids().bytes());
        let expires_at = relay.clock.now().plus(OFFERED);
        let pairing = relay.ids().id(relay.clock.now());
        let begins = Begins::Offered(code.digest());
        self.begin(NewPairing { id: pairing, key, tool, begins, expires_at })?;
        // Before the code is sent, because the claim looks for the socket here.
        lock(&relay.offered).insert(pairing, Arc::clone(&self.plugin));
        let frame = FromDaemon::Pairing(frame::Pairing { pairing, code, expires_at });
        relay.send(&self.plugin, frame);
        Ok(())
    }

    /// Begins to ask a person.
    fn begin(&self, pairing: NewPairing) -> Step {
        let (id, expires_at) = (pairing.id, pairing.expires_at);
        if self.relay.store.relay_begin_pairing(pairing)?.is_err() {
            return Err(self.problem(
                frame::Close::TooMany,
                "too_many_pairings",
                "too many pairings are waiting; try later",
            ));
        }
        self.plugin.with(|state| state.pairing = Some((id, expires_at)));
        self.relay.metrics.relay_pairings.count([("outcome", "begun")]);
        Ok(())
    }

    /// A device that is paired with a subject.
    pub(super) fn arrive(
        &self,
        hello: &Hello,
        key: KeyPoint,
        device: Device,
        proof: &frame::Proof,
    ) -> Step {
        // Before the session is opened, so that a socket too many does not replace the one that works.
        self.take_place_of(&device.subject)?;
        let lane = match (&hello.file.key, hello.session) {
            (Some(file), _) => Some(file_lane(&device.subject, hello.tool, file)),
            (None, Some(session)) => Some(digest::Lane::Session(session).digest()),
            (None, None) => None,
        };
        let journal = proof.journal.iter().map(|entry| (entry.grant, entry.outcome)).collect();
        let (session, page) = (hello.session, hello.instance);
        self.plugin.with(|state| {
            state.device = Some(device.id);
            state.subject = Some(device.subject.clone());
        });
        let process = self.relay.process;
        let arrival = Arrival { device: device.id, session, lane, page, process, journal };
        match self.relay.store.relay_arrive(arrival)? {
            Arrived::Ready(opened) => {
                self.relay.make_ready(&self.plugin, opened);
                Ok(())
            }
            Arrived::Ask => self.ask_for_file(hello.tool, key, device, None),
            Arrived::Close(code) => {
                self.relay.refused(code.as_str());
                Err(Closing::rule(code))
            }
        }
    }

    /// Asks the person of a known device about the file that is open; for the session that the socket has, or a new one.
    pub(super) fn ask_for_file(
        &self,
        tool: DesignTool,
        key: KeyPoint,
        device: Device,
        held: Option<SessionSocket>,
    ) -> Step {
        let expires_at = self.relay.clock.now().plus(CLAIMED);
        let id = self.relay.ids().id(self.relay.clock.now());
        let begins = Begins::Claimed(device.id, held);
        self.begin(NewPairing { id, key, tool, begins, expires_at })?;
        if let Some(held) = held {
            // After the question was stored, so that nothing is proposed in between.
            let event = session::Event::FileChanged;
            self.carry_out(self.relay.store.relay_session_event(held, event)?)?;
        }
        let (account, client) = (account(&device.subject), Line::new(PAIRED_ALREADY));
        self.relay
            .send(&self.plugin, FromDaemon::Claimed(Claimed { pairing: id, account, client }));
        Ok(())
    }

    pub(super) fn confirm(&self, confirm: &Confirm) -> Step {
        let Greeting { hello, nonce, .. } = self.greeting()?;
        // It stays until the answer is recorded, so that the end of the socket closes what a bad answer leaves open.
        let asked = self.plugin.with(|state| state.pairing.zip(state.subject.clone()));
        let ((pairing, _), subject) =
            asked.filter(|((id, _), _)| *id == confirm.pairing).ok_or(frame::Close::BadFrame)?;
        let text = confirm_text(&nonce, pairing, confirm.accept);
        if !is_signed(&hello.key, &text, &confirm.signature) {
            return Err(self.problem(
                frame::Close::Refused,
                "bad_proof",
                "the answer is not signed by this device",
            ));
        }
        let proof = signed(&nonce, &confirm.signature)?;
        let held = self.plugin.with(|state| state.held);
        // A device that was known took its place when it arrived.
        if held.is_none() && confirm.accept && self.plugin.with(|state| state.device.is_none()) {
            self.take_place_of(&subject)?;
        }
        // A session that gets another file keeps its id.
        let session =
            held.map_or_else(|| self.relay.ids().id(self.relay.clock.now()), |held| held.session);
        let lane = match &hello.file.key {
            Some(file) => file_lane(&subject, hello.tool, file),
            None => digest::Lane::Session(session).digest(),
        };
        let answer = PairingAnswer {
            id: pairing,
            accept: confirm.accept,
            device: self.relay.ids().id(self.relay.clock.now()),
            session,
            lane,
            page: hello.instance,
            process: self.relay.process,
            proof,
        };
        match self.relay.store.relay_answer_pairing(answer)? {
            Paired::Ready(opened) => {
                self.relay.metrics.relay_pairings.count([("outcome", "confirmed")]);
                self.relay.make_ready(&self.plugin, opened);
                Ok(())
            }
            Paired::Close(code) => {
                self.relay.metrics.relay_pairings.count([("outcome", code.as_str())]);
                Err(Closing::rule(code))
            }
        }
    }

    fn take_place_of(&self, subject: &str) -> Step {
        let place = self.relay.room.of_subject.take(subject.to_owned(), SOCKETS_OF_SUBJECT_MAX);
        let Some(place) = place else {
            let message = "too many sockets of this account are open; close one";
            return Err(self.problem(frame::Close::TooMany, "too_many_sockets", message));
        };
        self.plugin.with(|state| state.belongs_to(place));
        Ok(())
    }
}

impl Relay {
    /// Tells the plugin that shows its code of a pairing that was claimed, if its socket is here.
    pub(super) fn tell_claimed(&self, claimed: &ClaimedPairing) -> Option<Arc<PluginSocket>> {
        let plugin = lock(&self.offered).remove(&claimed.id)?;
        let is_asked = plugin.with(|state| {
            let is_offered = state.conversation.phase() == conversation::Phase::Offered;
            if is_offered {
                state.subject = Some(claimed.subject.clone());
                state.pairing = Some((claimed.id, claimed.expires_at));
            }
            is_offered
        });
        if is_asked {
            let (account, client) = (account(&claimed.subject), Line::new(&claimed.client));
            let frame = FromDaemon::Claimed(Claimed { pairing: claimed.id, account, client });
            self.send(&plugin, frame);
            self.metrics.relay_pairings.count([("outcome", "claimed")]);
        }
        Some(plugin)
    }
}

/// Returns the lane of a file.
pub(super) fn file_lane(subject: &str, tool: DesignTool, file: &str) -> Digest {
    let (issuer, subject) = split(subject);
    digest::Lane::File { issuer, subject, tool, file }.digest()
}

/// Returns the name of an account for people: the subject, without its issuer.
pub(super) fn account(subject: &str) -> Line {
    Line::new(split(subject).1)
}

/// Returns issuer and subject; the issuer is empty where no tokens are required.
fn split(subject: &str) -> (&str, &str) {
    subject.split_once(' ').unwrap_or(("", subject))
}
