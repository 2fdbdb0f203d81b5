//! One plugin's socket: its state, and how to send to it.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use super::cards::Cards;
use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, GrantId, PairingId};
use crate::domain::relay::CloseCode;
use crate::domain::time::Timestamp;
use crate::metrics::Counted;
use crate::relay::conversation::{self, Conversation};
use crate::relay::frame::{self, File, FromDaemon, Hello, Nonce, Ping};
use crate::runtime::keyed_semaphore::KeyedPermit;
use crate::runtime::mutex::lock;
use crate::runtime::rate_limiter::{Rate, RateLimiter};
use crate::runtime::semaphore::Permit;
use crate::store::relay::SessionSocket;

/// How long a plugin has for `hello`, and then for `proof`.
const GREETING: Duration = Duration::from_secs(5);
/// The time between two pings.
const PING_INTERVAL: Duration = Duration::from_secs(10);
/// How many unanswered pings suspend a session.
const MISSED_MAX: u32 = 2;

/// Sends to a plugin.
pub trait Socket: Send {
    /// Sends a frame; returns `false` if it cannot arrive. Never waits.
    fn send(&self, text: String) -> bool;

    /// Closes the socket, after what was sent. Never waits.
    fn close(&self, closing: Closing);
}

/// Why a socket is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// A code of RFC 6455, or one of the protocol from 4000 on.
    pub code: u16,
    /// The same in one or a few stable words.
    pub reason: &'static str,
}

impl Closing {
    /// A frame is too large to be read.
    pub const TOO_LARGE: Self = Self::of(frame::Close::TooLarge);
    /// A frame was begun and not finished in time.
    pub const TOO_LATE: Self = Self::of(frame::Close::TooLate);
    /// The plugin closes the socket.
    pub(super) const NORMAL: Self = Self { code: 1000, reason: "" };
    /// The service stops, and another one may start.
    pub(super) const RESTART: Self = Self { code: 1012, reason: "the service stops" };
    /// What the plugin asked for cannot be done now.
    pub(super) const TRY_LATER: Self = Self { code: 1013, reason: "try again later" };

    /// Returns why the protocol closes it.
    pub(super) const fn of(close: frame::Close) -> Self {
        Self { code: close.code(), reason: close.reason() }
    }

    /// Returns why a rule closes it.
    pub(super) const fn rule(code: CloseCode) -> Self {
        Self { code: code.code(), reason: code.as_str() }
    }
}

pub(super) struct PluginSocket {
    /// Its number in this process.
    pub(super) number: u64,
    /// The peer that it comes from.
    pub(super) peer: Option<IpAddr>,
    state: Mutex<State>,
}

/// The state of a socket. It has no `Debug`, because it holds names of files.
pub(super) struct State {
    /// `None` once it is closed, or could not take a frame.
    socket: Option<Box<dyn Socket>>,
    pub(super) conversation: Conversation,
    frames: RateLimiter<()>,
    /// Since when the next frame of the greeting is awaited.
    greeting_since: Duration,
    /// `hello` and its digest.
    pub(super) hello: Option<(Hello, Digest)>,
    /// The nonce of our `challenge`.
    pub(super) nonce: Option<Nonce>,
    /// Its device, once it has one.
    pub(super) device: Option<DeviceId>,
    /// The subject that it belongs to, once a person has confirmed that.
    pub(super) subject: Option<String>,
    /// What a person is asked, and until when.
    pub(super) pairing: Option<(PairingId, Timestamp)>,
    /// The session that it holds.
    pub(super) held: Option<SessionSocket>,
    /// The file of that session: while a person is asked about another one, still the one before.
    pub(super) file: Option<File>,
    /// What it was told to carry out last, and the name of the file then.
    running: Option<(GrantId, String)>,
    pub(super) cards: Cards,
    pings: Pings,
    /// Its places among all sockets.
    permits: Permits,
}

/// The places that a socket has reserved.
pub(super) struct Permits {
    pub(super) _of_all: Permit,
    pub(super) unproved: Option<KeyedPermit<Option<IpAddr>>>,
    pub(super) of_subject: Option<KeyedPermit<String>>,
    pub(super) _counted: Counted,
}

#[derive(Default)]
struct Pings {
    number: u64,
    unanswered: u32,
    next_at: Duration,
    is_suspended: bool,
}

/// What is to be done about a socket now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Nothing,
    /// A ping was due.
    Ping(u64),
    /// A ping was due, and too many were not answered.
    Missed(u64),
    /// The greeting took too long.
    TooLate,
    /// The person did not answer in time.
    PairingOver(PairingId),
}

impl PluginSocket {
    pub(super) fn new(
        number: u64,
        peer: Option<IpAddr>,
        socket: Box<dyn Socket>,
        conversation: Conversation,
        frames_per_second: u32,
        (permits, now): (Permits, Duration),
    ) -> Self {
        let rate = Rate::per_second(frames_per_second, frames_per_second.saturating_mul(2));
        let state = State {
            socket: Some(socket),
            conversation,
            frames: RateLimiter::new(rate, 1),
            greeting_since: now,
            hello: None,
            nonce: None,
            device: None,
            subject: None,
            pairing: None,
            held: None,
            file: None,
            running: None,
            cards: Cards::default(),
            pings: Pings::default(),
            permits,
        };
        Self { number, peer, state: Mutex::new(state) }
    }

    /// Reads or changes the state. Must not call the store.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut lock(&self.state))
    }

    /// Sends a frame; returns `false` if it may not be sent now or cannot arrive.
    pub(super) fn send(&self, frame: &FromDaemon) -> bool {
        // Under one lock, so that frames leave in the order in which the conversation moves.
        let mut state = lock(&self.state);
        if !state.conversation.send(frame.kind()) {
            return false;
        }
        let is_sent = state.socket.as_ref().is_some_and(|it| it.send(frame::write(frame)));
        if !is_sent {
            // A plugin that missed a frame would have the wrong state, so it has to connect again.
            state.socket = None;
        }
        is_sent
    }

    pub(super) fn close(&self, closing: Closing) {
        // Taken out, so that nothing is sent after the close.
        if let Some(socket) = lock(&self.state).socket.take() {
            socket.close(closing);
        }
    }

    /// Says whether the rate limit allows one more frame now.
    pub(super) fn takes_frame(&self, now: Duration) -> bool {
        lock(&self.state).frames.take((), now).is_ok()
    }

    /// Says what is due. `now` is monotonic.
    pub(super) fn look(&self, now: Duration, wall: Timestamp) -> Look {
        let mut state = lock(&self.state);
        if state.socket.is_none() {
            return Look::Nothing;
        }
        match state.conversation.phase() {
            conversation::Phase::Opened
            | conversation::Phase::Greeted
            | conversation::Phase::Challenged => {
                let is_late = now.saturating_sub(state.greeting_since) >= GREETING;
                return if is_late { Look::TooLate } else { Look::Nothing };
            }
            conversation::Phase::Over => return Look::Nothing,
            _ => {}
        }
        if let Some((pairing, expires_at)) = state.pairing
            && wall >= expires_at
        {
            return Look::PairingOver(pairing);
        }
        let pings = &mut state.pings;
        if now < pings.next_at {
            return Look::Nothing;
        }
        // From now and not from when it was due, so that a late tick sends one ping and not several.
        pings.next_at = now + PING_INTERVAL;
        pings.number += 1;
        pings.unanswered += 1;
        // The ping that is sent now is not missed yet.
        if pings.unanswered > MISSED_MAX && !pings.is_suspended {
            pings.is_suspended = true;
            Look::Missed(pings.number)
        } else {
            Look::Ping(pings.number)
        }
    }

    /// Says whether the page is thought not to answer.
    pub(super) fn is_suspended(&self) -> bool {
        lock(&self.state).pings.is_suspended
    }

    /// Notes that the store was not told that the page does not answer: the next ping tries again.
    pub(super) fn not_suspended(&self) {
        lock(&self.state).pings.is_suspended = false;
    }

    /// Notes an answer to a ping; returns whether the page was thought not to answer.
    pub(super) fn pong(&self) -> bool {
        let pings = &mut lock(&self.state).pings;
        pings.unanswered = 0;
        std::mem::take(&mut pings.is_suspended)
    }

    /// Returns the name of the file that the socket is about, and of its page.
    pub(super) fn file(&self) -> Option<(String, String)> {
        let state = lock(&self.state);
        let greeted = state.hello.as_ref().map(|(hello, _)| &hello.file);
        state.file.as_ref().or(greeted).map(|file| (file.name.clone(), file.page.clone()))
    }

    /// Notes what the plugin is told to carry out, in the file that is open.
    pub(super) fn note_running(&self, grant: GrantId) {
        let file = self.file().map(|(file, _)| file).unwrap_or_default();
        lock(&self.state).running = Some((grant, file));
    }

    /// Returns the name of the file in which a grant was to be carried out.
    pub(super) fn file_of(&self, grant: GrantId) -> String {
        let noted = lock(&self.state).running.clone().filter(|(running, _)| *running == grant);
        noted.map(|(_, file)| file).or_else(|| Some(self.file()?.0)).unwrap_or_default()
    }
}

impl State {
    /// Notes that a part of the greeting has come: the next one has its own time.
    pub(super) fn greeted(&mut self, now: Duration) {
        self.greeting_since = now;
    }

    /// Takes its place among the sockets of a subject instead of that among those that have proved nothing.
    pub(super) fn belongs_to(&mut self, permit: KeyedPermit<String>) {
        self.permits.of_subject = Some(permit);
    }

    /// Gives back the place among the sockets that have proved nothing.
    pub(super) fn proved(&mut self) {
        self.permits.unproved = None;
    }

    /// Begins to ask a person, with that frame of ours as the next one.
    pub(super) const fn is_asking(&self) -> bool {
        matches!(
            self.conversation.phase(),
            conversation::Phase::Offered
                | conversation::Phase::Claimed
                | conversation::Phase::Moving
        )
    }
}

/// Returns a ping.
pub(super) const fn ping(n: u64) -> FromDaemon {
    FromDaemon::Ping(Ping { n })
}
