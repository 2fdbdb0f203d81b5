//! A plugin without a design tool: the client's end of `svc.relay.v1`, for the demonstration and for tests.
//!
//! It does what the plugin in `packaging/relay-plugin` does, and checks every frame against the published schemas. A
//! page of it runs on one thread, which calls [`Plugin::pump`]; the actions of a person are methods. Tests make it
//! dishonest: a [`Tamper`] changes what is sent, [`At`] cuts the connection or kills the page in the middle of an
//! action.

pub mod card;
pub mod device;
pub mod document;
pub mod event;
pub mod running;
pub mod socket;

mod grants;
mod heard;
mod person;
mod talk;

#[cfg(test)]
mod double;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use crate::crypto::jose;
use crate::domain::digest::Digest;
use crate::domain::id::{
    GrantId, InvocationId, PageInstanceId, PairingId, ProposalId, RelaySessionId,
};
use crate::domain::relay::DesignTool;
use crate::domain::time::Timestamp;
use crate::json::canonical;
use crate::relay::action::DesignAction;
use crate::relay::frame::{self, ActionResult, File, FromPlugin, Hello, Nonce, PublicJwk};
use crate::relay::proof::DeviceKeyError;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};
use card::Card;
use device::{BrowserProfile, Host};
use event::{Cut, Event, Point};
use socket::{OpenError, Opening, Socket};

/// The name and version that the plugin gives for itself.
pub const NAME: &str = "svc demonstration plugin 1";
/// A page that received nothing for this long has been asleep, and runs nothing that it had not read before.
const ASLEEP: Duration = Duration::from_secs(25);

/// Why the plugin cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no socket.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no key.
    #[error(transparent)]
    Key(#[from] DeviceKeyError),
}

/// Changes a frame that is about to be sent: the returned frames are sent instead, which may be none or several.
pub type Tamper = Box<dyn FnMut(Value) -> Vec<Value> + Send>;

/// Called at each point of each action. It may also wait there.
pub type At = Box<dyn FnMut(Point, GrantId) -> Cut + Send>;

/// One page of the plugin.
pub struct Plugin {
    /// Where it connects.
    pub opening: Opening,
    /// Changes what is sent.
    pub tamper: Option<Tamper>,
    /// Interferes with what is carried out.
    pub at: Option<At>,
    /// How long without a frame means that the page was asleep; `None` turns this off.
    pub asleep_after: Option<Duration>,
    device: BrowserProfile,
    host: Host,
    file: File,
    instance: PageInstanceId,
    session: Option<RelaySessionId>,
    line: Option<Line>,
    cards: Vec<Card>,
    approved: BTreeMap<InvocationId, (ProposalId, usize)>,
    /// Approved before, and taken back here.
    stopped: BTreeSet<InvocationId>,
    /// Results of actions that ended while there was no session to report them to.
    untold: Vec<(RelaySessionId, ActionResult)>,
    allowance_until: Option<Timestamp>,
    events: VecDeque<Event>,
    clock: SystemClock,
    ids: Ids,
}

/// One socket and its state.
struct Line {
    socket: Socket,
    phase: Phase,
    hello_nonce: Nonce,
    hello: Digest,
    /// Of `challenge`.
    nonce: Option<Nonce>,
    key: Option<PublicJwk>,
    claim: Option<PairingId>,
    epoch: u64,
    /// When the last frame came.
    heard: Duration,
    was_pinged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Greeted,
    Proved,
    Claimed,
    Moving,
    Ready,
}

impl Plugin {
    /// Returns a page that shows a file; `file` is what the design tool calls it.
    #[must_use]
    pub fn new(opening: Opening, device: BrowserProfile, host: Host, file: &str) -> Self {
        let clock = SystemClock::new();
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let file =
            File { key: Some(file.to_owned()), name: file.to_owned(), page: "Login".to_owned() };
        Self {
            opening,
            tamper: None,
            at: None,
            asleep_after: Some(ASLEEP),
            device,
            host,
            file,
            instance: ids.uuid(clock.now()).into(),
            session: None,
            line: None,
            cards: Vec::new(),
            approved: BTreeMap::new(),
            stopped: BTreeSet::new(),
            untold: Vec::new(),
            allowance_until: None,
            events: VecDeque::new(),
            clock,
            ids,
        }
    }

    /// Returns its device.
    #[must_use]
    pub const fn device(&self) -> &BrowserProfile {
        &self.device
    }

    /// Returns its design tool.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the session that it remembers.
    #[must_use]
    pub const fn session(&self) -> Option<RelaySessionId> {
        self.session
    }

    /// Returns the epoch of its socket; 0 before `ready`.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| line.epoch)
    }

    /// Says whether it has a socket whose session works.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.phase == Phase::Ready)
    }

    /// Returns a card, until it is decided against, withdrawn or done.
    #[must_use]
    pub fn card(&self, proposal: ProposalId) -> Option<&Card> {
        self.cards.iter().find(|card| card.proposal == proposal)
    }

    /// Returns the proposals that wait for a decision, the oldest first.
    #[must_use]
    pub fn undecided(&self) -> Vec<ProposalId> {
        let waiting = self.cards.iter().filter(|card| !card.is_approved);
        waiting.map(|card| card.proposal).collect()
    }

    /// Opens a socket and sends the greeting. The state of an earlier socket is dropped.
    ///
    /// # Errors
    /// When there is no socket.
    pub fn connect(&mut self) -> Result<(), Error> {
        self.hang_up(None);
        let kept = self.file.key.as_deref().map(|file| self.device.session(file));
        // If the file has a key, the storage decides, also when it has forgotten the session.
        self.session = kept.unwrap_or(self.session);
        let socket = Socket::open(&self.opening)?;
        let hello = Hello {
            nonce: Nonce::new(&self.ids.bytes()),
            instance: self.instance,
            tool: DesignTool::Test,
            plugin: NAME.to_owned(),
            key: self.device.key(),
            session: self.session,
            file: self.file.clone(),
            actions: DesignAction::ALL.iter().map(|action| action.as_str().to_owned()).collect(),
        };
        self.line = Some(Line {
            socket,
            phase: Phase::Greeted,
            hello_nonce: hello.nonce.clone(),
            // Replaced in `send_value`: the digest is over the text that is sent, which tests may tamper with.
            hello: Digest::from([0; 32]),
            nonce: None,
            key: None,
            claim: None,
            epoch: 0,
            heard: self.clock.monotonic(),
            was_pinged: false,
        });
        self.send(&FromPlugin::Hello(Box::new(hello)));
        Ok(())
    }

    /// Starts again, as a page that is reloaded: the storage and the file stay, everything else is lost.
    pub fn reload(&mut self) {
        self.drop_socket();
        self.instance = self.ids.uuid(self.clock.now()).into();
        self.session = None;
        self.stopped.clear();
        self.untold.clear();
        self.allowance_until = None;
    }

    /// Ends the connection at once, without a closing handshake.
    pub fn drop_socket(&mut self) {
        drop(self.line.take());
        self.drop_cards();
    }

    /// Closes the socket, with a code if there is one.
    pub fn hang_up(&mut self, code: Option<u16>) {
        if let (Some(line), Some(code)) = (&mut self.line, code) {
            line.socket.close(code);
        }
        self.drop_socket();
    }

    /// Refuses what the daemon sent, and closes the socket.
    fn refuse(&mut self, close: frame::Close, why: &'static str) {
        self.hang_up(Some(close.code()));
        self.events.push_back(Event::Refused(why));
    }

    /// Drops the cards of a socket: the daemon proposes again what waits, and gives up what was approved.
    fn drop_cards(&mut self) {
        self.cards.clear();
        self.stopped.extend(std::mem::take(&mut self.approved).into_keys());
    }

    /// Returns a text of random bytes.
    #[must_use]
    pub fn random_text(&mut self) -> String {
        jose::encode(&self.ids.bytes::<16>())
    }

    /// Sends a frame, unless it is tampered with.
    fn send(&mut self, frame: &FromPlugin) {
        // A value that does not fit is not an honest plugin's; it is sent as it is.
        let Ok(frame) = serde_json::to_value(frame) else { return };
        let frames = match &mut self.tamper {
            Some(tamper) => tamper(frame),
            None => vec![frame],
        };
        for frame in frames {
            self.send_value(&frame);
        }
    }

    /// Sends a value as a frame, in its canonical form.
    pub fn send_value(&mut self, frame: &Value) {
        let text = String::from_utf8_lossy(&canonical(frame)).into_owned();
        let Some(line) = &mut self.line else { return };
        if frame.get("type").is_some_and(|kind| kind == "hello") {
            line.hello = crate::relay::digest::hello(&text).unwrap_or(line.hello);
        }
        line.socket.send(&text);
    }

    /// Returns the socket itself, to send what no plugin would.
    pub fn socket(&mut self) -> Option<&mut Socket> {
        self.line.as_mut().map(|line| &mut line.socket)
    }
}
