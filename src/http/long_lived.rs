//! Answers that outlast their handler: a stream of events, an answer that is handed in later, a WebSocket.
//!
//! While nothing happens they hold no thread, only their connection and one of its listener's permits for
//! such answers, so that they never crowd out the requests that are answered at once.
//!
//! A handler makes them from [`LongLived`], which every request over TCP has and none over the control
//! socket. What is sent waits in a short queue; a sender never waits for the peer.
//!
//! Their bounds and deadlines: `docs/decisions/36-long-lived-answers.md`.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::mpsc::{self, Receiver};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::http::body_budget::{BodyBudget, Reservation};

/// Most events or messages that wait for one peer. Their bytes count in a budget of the listener.
const QUEUE_MAX: usize = 16;

/// What makes long-lived answers to one request.
#[derive(Clone)]
pub struct LongLived {
    budget: Arc<BodyBudget>,
    client: Option<IpAddr>,
    permits: Arc<Semaphore>,
    can_upgrade: bool,
}

impl LongLived {
    /// Returns the maker of long-lived answers to a client, on a listener with these bounds.
    pub(super) const fn new(
        budget: Arc<BodyBudget>,
        client: Option<IpAddr>,
        permits: Arc<Semaphore>,
        can_upgrade: bool,
    ) -> Self {
        Self { budget, client, permits, can_upgrade }
    }

    /// Says whether the connection can become one of another protocol, as HTTP/1.1 has it.
    pub(super) const fn can_upgrade(&self) -> bool {
        self.can_upgrade
    }

    /// Returns a stream of events, and its sending end. Each event is text as it stands on the wire, its
    /// empty line included. `last` is sent when the server stops, after everything that was sent before.
    ///
    /// # Errors
    /// When the listener has as many long-lived answers as it may have.
    pub fn events(&self, last: &str) -> Result<(Sender<String>, Events), NoRoom> {
        let (sender, queue, permit) = self.queue(usize::MAX)?;
        Ok((sender, Events { queue, last: last.to_owned(), permit }))
    }

    /// Returns an answer to be handed in later, and how to hand it in.
    ///
    /// # Errors
    /// When the listener has as many long-lived answers as it may have.
    pub fn late<T>(&self) -> Result<(LateSender<T>, Late<T>), NoRoom> {
        let permit = self.permit()?;
        let (sender, answer) = oneshot::channel();
        Ok((LateSender(sender), Late { answer, permit }))
    }

    /// Returns our end of a WebSocket, whose messages from the peer go to the session made with its sending
    /// end. No message in either direction has more than `message_bytes_max` bytes.
    ///
    /// # Errors
    /// When the listener has as many long-lived answers as it may have, or there is no room for the session.
    pub fn web_socket<S: Session>(
        &self,
        message_bytes_max: usize,
        session: impl FnOnce(Sender<Message>) -> Result<S, NoRoom>,
    ) -> Result<WebSocket, NoRoom> {
        let (sender, queue, permit) = self.queue(message_bytes_max)?;
        let session = Arc::new(Mutex::new(session(sender)?));
        Ok(WebSocket { session, queue, message_bytes_max, permit })
    }

    fn queue<T: Size>(
        &self,
        item_bytes_max: usize,
    ) -> Result<(Sender<T>, SendQueue<T>, OwnedSemaphorePermit), NoRoom> {
        let permit = self.permit()?;
        let (queue, receiver) = mpsc::channel(QUEUE_MAX);
        let (budget, client) = (Arc::clone(&self.budget), self.client);
        Ok((Sender { queue, item_bytes_max, budget, client }, receiver, permit))
    }

    fn permit(&self) -> Result<OwnedSemaphorePermit, NoRoom> {
        Arc::clone(&self.permits).try_acquire_owned().map_err(|_none| NoRoom)
    }
}

impl fmt::Debug for LongLived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} more long-lived answers", self.permits.available_permits())
    }
}

/// There are as many long-lived answers as there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// What waits for its peer, with the bytes it holds.
pub(super) type SendQueue<T> = Receiver<(T, Reservation)>;

/// What is sent has a size.
pub trait Size {
    /// Returns the bytes of its text.
    fn size(&self) -> usize;
}

impl Size for String {
    fn size(&self) -> usize {
        self.len()
    }
}

/// The sending end of a stream or socket; any thread may hold it, and several may. The stream ends when all
/// of them are dropped.
#[derive(Debug)]
pub struct Sender<T> {
    queue: mpsc::Sender<(T, Reservation)>,
    item_bytes_max: usize,
    budget: Arc<BodyBudget>,
    client: Option<IpAddr>,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let (queue, budget) = (self.queue.clone(), Arc::clone(&self.budget));
        Self { queue, item_bytes_max: self.item_bytes_max, budget, client: self.client }
    }
}

/// Why something was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSent {
    /// The peer has gone, or the stream has ended.
    Closed,
    /// Too much waits already, for this peer or for all. A caller that cannot do without what was not sent
    /// drops the sender, which ends the stream.
    Full,
    /// It is longer than a message may be.
    TooLong,
}

impl<T: Size> Sender<T> {
    /// Sends an event or a message; never waits. What was sent reaches the peer before the end, unless the
    /// peer takes nothing any more.
    ///
    /// # Errors
    /// When it was not sent and never will be.
    pub fn send(&self, item: T) -> Result<(), NotSent> {
        if item.size() > self.item_bytes_max {
            return Err(NotSent::TooLong);
        }
        // The place before the bytes: a queue that is full must not be charged for, and a drop gives the place back.
        let place = self.queue.try_reserve().map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => NotSent::Full,
            mpsc::error::TrySendError::Closed(()) => NotSent::Closed,
        })?;
        let mut bytes = self.budget.reserve(self.client);
        if !bytes.grow(item.size()) {
            return Err(NotSent::Full);
        }
        place.send((item, bytes));
        Ok(())
    }

    /// Says whether the peer has gone, or the stream has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }
}

/// The body of an answer that is a stream of events.
#[derive(Debug)]
pub struct Events {
    pub(super) queue: SendQueue<String>,
    pub(super) last: String,
    pub(super) permit: OwnedSemaphorePermit,
}

/// An answer that is handed in later.
#[derive(Debug)]
pub struct Late<T> {
    pub(super) answer: oneshot::Receiver<T>,
    pub(super) permit: OwnedSemaphorePermit,
}

/// Hands an answer in. One that is dropped without doing so answers 500.
#[derive(Debug)]
pub struct LateSender<T>(oneshot::Sender<T>);

impl<T> LateSender<T> {
    /// Hands the answer in; returns whether it was still awaited.
    pub fn send(self, answer: T) -> bool {
        self.0.send(answer).is_ok()
    }

    /// Says whether the answer is no longer awaited.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

/// What is sent over a WebSocket.
#[derive(Debug)]
pub enum Message {
    /// A message.
    Text(String),
    /// The end of the socket, after which nothing is sent.
    Close(Close),
}

impl Size for Message {
    fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            // Nothing is reserved for a close, so that a used-up budget cannot keep a socket from being closed.
            Self::Close(_) => 0,
        }
    }
}

/// Why a WebSocket is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// A code of RFC 6455 or, from 4000 on, of the protocol above.
    pub code: u16,
    /// The same in words, for people; at most 123 bytes.
    pub reason: &'static str,
}

impl Close {
    /// Nothing more is to be said.
    pub const NORMAL: Self = Self { code: 1000, reason: "" };
    /// The server stops, and another one may start.
    pub const RESTART: Self = Self { code: 1012, reason: "the service stops" };
    /// The peer broke the rules of WebSockets.
    pub const PROTOCOL: Self = Self { code: 1002, reason: "not a WebSocket frame" };
    pub const BINARY: Self = Self { code: 1003, reason: "messages are text" };
    /// A message that is not UTF-8.
    pub const NOT_TEXT: Self = Self { code: 1007, reason: "a message is not UTF-8" };
    /// A message that is too long.
    pub const TOO_LONG: Self = Self { code: 1009, reason: "a message is too long" };
    /// A part of a message came, and its rest did not.
    pub const TOO_SLOW: Self = Self { code: 1008, reason: "a message was incomplete" };
    /// Taking a message in failed.
    pub const INTERNAL: Self = Self { code: 1011, reason: "the service failed" };
    /// There is no room for what was sent.
    pub const OVERLOADED: Self = Self { code: 1013, reason: "the service is overloaded" };
}

/// What takes in the messages of a WebSocket, one after another. It is dropped, by a thread that may block,
/// when the socket has ended, from either side.
pub trait Session: Send + 'static {
    /// Takes a message in. May block, for as long as a handler may; the next message waits for it.
    ///
    /// # Errors
    /// How to close the socket.
    fn receive(&mut self, message: &str) -> Result<(), Close>;

    /// Returns what the next message is held to.
    fn terms(&self) -> Terms {
        Terms::default()
    }
}

/// What the next message of a WebSocket is held to.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The most bytes that it may have, if that is less than on the whole socket.
    pub bytes_max: usize,
    /// How the socket is closed when it is too long to be read.
    pub too_long: Close,
    /// How the socket is closed when a part of it has come and its rest does not; `None` where it may take its time.
    pub too_slow: Option<Close>,
}

impl Default for Terms {
    fn default() -> Self {
        Self { bytes_max: usize::MAX, too_long: Close::TOO_LONG, too_slow: None }
    }
}

/// One end of a WebSocket, and what it serves.
pub struct WebSocket {
    pub(super) session: Arc<Mutex<dyn Session>>,
    pub(super) queue: SendQueue<Message>,
    pub(super) message_bytes_max: usize,
    pub(super) permit: OwnedSemaphorePermit,
}

/// Shown without what its session holds.
impl fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "messages of up to {} bytes", self.message_bytes_max)
    }
}
