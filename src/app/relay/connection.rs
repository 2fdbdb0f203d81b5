//! A socket from its opening to `ready`: which device it is, and which account a person lets in.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::plugin::{Closing, Permits, PluginSocket, Socket};
use super::{Relay, UNPROVED_OF_PEER_MAX};
use crate::domain::digest::Digest;
use crate::domain::relay::{CloseCode, device, session};
use crate::relay::conversation::Conversation;
use crate::relay::digest;
use crate::relay::frame::{
    self, CloseNotice, FromDaemon, FromPlugin, Hello, Nonce, PluginFrame, Signature,
};
use crate::relay::proof::{challenge_text, is_signed, proof_text};
use crate::runtime::mutex::lock;
use crate::store;
use crate::store::relay::Device;

/// The limit on sockets is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// One plugin's end of the relay. When it is dropped, its socket has closed.
pub struct Connection {
    pub(super) relay: Arc<Relay>,
    pub(super) plugin: Arc<PluginSocket>,
}

/// The outcome of handling a frame; the error is why the socket ends.
pub(super) type Step = Result<(), Closing>;

impl From<store::Error> for Closing {
    fn from(error: store::Error) -> Self {
        not_done(&error);
        Self::TRY_LATER
    }
}

/// Logs a verb that failed, where something else repairs it.
pub(super) fn not_done(error: &store::Error) {
    log::warn!(event = "store.verb_failed", class = error.class(); "a store operation failed");
}

impl From<frame::Close> for Closing {
    fn from(close: frame::Close) -> Self {
        Self::of(close)
    }
}

impl Relay {
    /// Reserves places for a socket of a peer, before it is opened.
    ///
    /// # Errors
    /// When a limit on sockets is reached.
    pub(super) fn permits(&self, peer: Option<IpAddr>) -> Result<Permits, NoRoom> {
        let of_all = self.room.all.take(Duration::ZERO).ok_or(NoRoom)?;
        let unproved = self.room.unproved_of_peer.take(peer, UNPROVED_OF_PEER_MAX);
        let unproved = Some(unproved.ok_or(NoRoom)?);
        let counted = self.metrics.relay_connections.count();
        Ok(Permits { _of_all: of_all, unproved, of_subject: None, _counted: counted })
    }

    /// Returns how to close the socket of a plugin that speaks another version of the protocol.
    #[must_use]
    pub fn other_version(&self) -> Closing {
        self.refused("version");
        Closing::of(frame::Close::Version)
    }
}

impl Connection {
    /// Returns our end of a socket of a peer, which `open` makes.
    ///
    /// # Errors
    /// When a limit on sockets is reached.
    pub fn open(
        relay: &Arc<Relay>,
        peer: Option<IpAddr>,
        socket: Box<dyn Socket>,
    ) -> Result<Self, NoRoom> {
        let permits = relay.permits(peer).inspect_err(|_| relay.refused("no_room"))?;
        let number = relay.next_socket.fetch_add(1, Ordering::Relaxed);
        let conversation = Conversation::new(relay.message_bytes_max());
        let (frames, now) = (relay.settings.frames_per_second, relay.clock.monotonic());
        let plugin = PluginSocket::new(number, peer, socket, conversation, frames, (permits, now));
        let plugin = Arc::new(plugin);
        lock(&relay.sockets).insert(number, Arc::clone(&plugin));
        Ok(Self { relay: Arc::clone(relay), plugin })
    }

    /// Returns the largest size of the next frame, in bytes.
    #[must_use]
    pub fn bytes_max(&self) -> usize {
        self.plugin.with(|state| state.conversation.bytes_max())
    }

    /// Handles a frame. May block for a transaction; the next frame waits for it.
    ///
    /// # Errors
    /// The reason to close the socket with.
    pub fn receive(&mut self, text: &str) -> Result<(), Closing> {
        let now = self.relay.clock.monotonic();
        // Before the frame is read, because reading it is what costs.
        if !self.plugin.takes_frame(now) {
            return Err(self.problem(
                frame::Close::TooMany,
                "too_many_frames",
                "too many frames per second",
            ));
        }
        let read = self.plugin.with(|state| state.conversation.receive(text));
        let frame = read.map_err(|fault| self.fault(&fault))?;
        let kind = frame.kind();
        self.relay.metrics.relay_frames.count([("direction", "in"), ("type", kind.as_str())]);
        // While the service stops, what was begun is still settled, and nothing new is begun.
        let settles = matches!(kind, PluginFrame::Result | PluginFrame::Pong | PluginFrame::Bye);
        if self.relay.is_stopping() && !settles {
            return Err(Closing::RESTART);
        }
        match frame {
            FromPlugin::Hello(hello) => self.hello(*hello, text),
            FromPlugin::Proof(proof) => self.proof(&proof),
            FromPlugin::Confirm(confirm) => self.confirm(&confirm),
            FromPlugin::Context(context) => self.context(context.file),
            FromPlugin::Shown(shown) => self.shown(&shown),
            FromPlugin::Decision(decision) => self.decision(&decision),
            FromPlugin::Allowance(allowance) => self.allowance(&allowance),
            FromPlugin::Result(result) => self.result(result, text.len()),
            FromPlugin::Pong(_) => self.pong(),
            FromPlugin::Bye(bye) => self.bye(bye.reason),
        }
    }

    fn fault(&self, fault: &frame::Fault) -> Closing {
        self.relay.refused(fault.code());
        self.relay.send(&self.plugin, FromDaemon::Problem(fault.problem()));
        Closing::of(fault.close())
    }

    /// Says why the socket is about to close.
    pub(super) fn problem(
        &self,
        close: frame::Close,
        code: &'static str,
        message: &str,
    ) -> Closing {
        self.relay.refused(code);
        self.relay.send(&self.plugin, FromDaemon::Problem(CloseNotice::new(code, message)));
        Closing::of(close)
    }

    fn hello(&self, hello: Hello, text: &str) -> Step {
        let digest = digest::hello(text).ok_or(frame::Close::BadFrame)?;
        let nonce = Nonce::new(&self.relay.ids().bytes());
        let signed = self.relay.key.sign(&challenge_text(&hello.nonce, &nonce, digest));
        let signature = signed.map_err(|_| Closing::TRY_LATER)?;
        let key = self.relay.key.public().clone();
        let now = self.relay.clock.monotonic();
        self.plugin.with(|state| {
            state.greeted(now);
            state.hello = Some((hello, digest));
            state.nonce = Some(nonce.clone());
        });
        let challenge = FromDaemon::Challenge(frame::Challenge { nonce, key, signature });
        self.relay.send(&self.plugin, challenge);
        Ok(())
    }

    fn proof(&self, proof: &frame::Proof) -> Step {
        let Greeting { hello, digest, nonce } = self.greeting()?;
        let text = proof_text(&nonce, digest, digest::journal(&proof.journal));
        if !is_signed(&hello.key, &text, &proof.signature) {
            return Err(self.problem(frame::Close::Refused, "bad_proof", "the proof is not valid"));
        }
        // From here on the socket no longer takes one of the places for peers that have proved nothing.
        self.plugin.with(super::plugin::State::proved);
        let key = hello.key.point().ok_or(frame::Close::Refused)?;
        match self.relay.store.relay_device(&key)? {
            None => self.offer(hello.tool, key),
            Some(Device { state: device::State::Revoked, .. }) => {
                self.relay.refused("revoked");
                Err(Closing::rule(CloseCode::Revoked))
            }
            Some(device) => self.arrive(&hello, key, device, proof),
        }
    }

    /// Returns the result of the greeting.
    pub(super) fn greeting(&self) -> Result<Greeting, Closing> {
        let greeting = self.plugin.with(|state| {
            let (hello, digest) = state.hello.clone()?;
            Some(Greeting { hello, digest, nonce: state.nonce.clone()? })
        });
        greeting.ok_or_else(|| Closing::of(frame::Close::BadFrame))
    }
}

/// The result of the greeting.
pub(super) struct Greeting {
    pub(super) hello: Hello,
    pub(super) digest: Digest,
    pub(super) nonce: Nonce,
}

/// Returns a signature that was made on the socket of a nonce, as it is kept.
pub(super) fn signed(nonce: &Nonce, made: &Signature) -> Result<store::relay::Proof, Closing> {
    Ok(store::relay::Proof { nonce: nonce.as_str().to_owned(), signature: signature(made)? })
}

/// Returns the bytes of a signature.
pub(super) fn signature(signature: &Signature) -> Result<[u8; 64], Closing> {
    let bytes = signature.bytes().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Closing::of(frame::Close::BadFrame))
}

impl Relay {
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (relay, plugin) = (&self.relay, &self.plugin);
        // First, so that the tick no longer looks at it.
        lock(&relay.sockets).remove(&plugin.number);
        let (held, pairing) = plugin.with(|state| (state.held.take(), state.pairing.take()));
        if let Some((pairing, _)) = pairing {
            lock(&relay.offered).remove(&pairing);
            if let Err(error) = relay.store.relay_close_pairing(pairing) {
                not_done(&error);
            }
        }
        let Some(held) = held else { return };
        // Before the store is told: what is proposed from now on waits for the next socket.
        lock(&relay.ready).remove(&held);
        // While the session is still connected: a card that a person has seen is recorded as shown.
        if let Err(error) = relay.record_shown(held, plugin) {
            not_done(&error);
        }
        match relay.store.relay_session_event(held, session::Event::SocketClosed) {
            Ok(effects) => relay.carry_out(effects),
            // The next socket of the session repairs it.
            Err(error) => not_done(&error),
        }
    }
}
