//! Messages to a client, one after another, until the last.
//!
//! That is what a request is answered with that says more than its result. Where the client may come back to a stream that broke, its messages are kept for that.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::mcp::Status;
use crate::runtime::mutex::lock;

/// Most messages that are kept for a client that comes back.
const KEPT_MAX: usize = 64;
/// Most bytes of them.
pub(super) const KEPT_BYTES_MAX: usize = 64 << 10;

/// What takes messages to a client. It is dropped when nothing more is said.
pub trait Channel: Send + Sync {
    /// Sends a message; returns whether that may reach the client. `event_id` is what the client may come back with. An
    /// empty message tells it that it may, and nothing else. Never waits.
    fn send(&self, message: &str, event_id: Option<&str>) -> bool;

    /// Sends the last message; returns whether that may reach the client. The status says the same where none was sent
    /// yet. Never waits.
    fn finish(self: Box<Self>, status: Status, message: &str, event_id: Option<&str>) -> bool;

    /// Says whether the client has gone.
    fn is_closed(&self) -> bool;
}

/// A stream. Clones are the same one.
#[derive(Clone)]
pub struct Stream(Arc<Mutex<State>>);

struct State {
    channel: Option<Box<dyn Channel>>,
    /// The name of the stream, where a client may come back to it.
    name: Option<u32>,
    /// The number of the next message.
    next: u64,
    kept: VecDeque<(u64, String)>,
    kept_bytes: usize,
    /// The last message was sent, or nothing more is wanted.
    is_over: bool,
    /// The last message was taken by a channel. Whether it has reached the client is not known.
    is_delivered: bool,
}

/// The place in a stream up to which a client has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub stream: u32,
    /// The number of the last message.
    pub message: u64,
}

impl Position {
    /// Reads an event id that [`Stream`] gave.
    #[must_use]
    pub fn read(event_id: &str) -> Option<Self> {
        let (stream, message) = event_id.split_once('-')?;
        let position = Self { stream: stream.parse().ok()?, message: message.parse().ok()? };
        (position.to_event_id() == event_id).then_some(position)
    }

    fn to_event_id(self) -> String {
        format!("{}-{}", self.stream, self.message)
    }
}

impl Stream {
    /// Begins a stream. With a `name`, the client may come back to it, and is told so at once.
    #[must_use]
    pub fn new(channel: Box<dyn Channel>, name: Option<u32>) -> Self {
        let kept = VecDeque::new();
        let state = State {
            channel: Some(channel),
            name,
            next: 0,
            kept,
            kept_bytes: 0,
            is_over: false,
            is_delivered: false,
        };
        let stream = Self(Arc::new(Mutex::new(state)));
        if name.is_some() {
            stream.send(String::new());
        }
        stream
    }

    /// Returns its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<u32> {
        lock(&self.0).name
    }

    /// Sends a message. If the client has gone, the message is kept where the client may resume.
    pub fn send(&self, message: String) {
        let mut state = lock(&self.0);
        if state.is_over {
            return;
        }
        let event_id = state.event_id();
        let is_sent =
            state.channel.as_ref().is_some_and(|it| it.send(&message, event_id.as_deref()));
        if !is_sent {
            state.channel = None;
        }
        // Kept even if it was sent: the connection may break while it is on its way.
        state.keep(message);
    }

    /// Sends the last message.
    pub fn finish(&self, message: String) {
        self.finish_with(Status::Ok, message);
    }

    /// Sends the last message, with what an HTTP status says of it where there still is one to be sent.
    pub fn finish_with(&self, status: Status, message: String) {
        let mut state = lock(&self.0);
        if state.is_over {
            return;
        }
        state.is_over = true;
        let event_id = state.event_id();
        // Taken out: with the last message the channel gives back what it holds.
        if let Some(channel) = state.channel.take() {
            state.is_delivered = channel.finish(status, &message, event_id.as_deref());
        }
        state.keep(message);
    }

    /// Ends it without another message.
    pub fn cancel(&self) {
        let mut state = lock(&self.0);
        (state.is_over, state.is_delivered, state.channel) = (true, true, None);
        (state.kept, state.kept_bytes) = (VecDeque::new(), 0);
    }

    /// Lets go of the client, which may come back.
    pub fn detach(&self) {
        lock(&self.0).channel = None;
    }

    /// Says whether nothing that is sent is wanted any more: it is over, or the client has gone and cannot come back.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let state = lock(&self.0);
        state.is_over || (state.name.is_none() && !state.is_attached())
    }

    /// Says whether nothing more is said: the last message was sent, or nothing more is wanted.
    #[must_use]
    pub fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }

    /// Says whether it is over and its last message is on its way to the client, or cannot reach it any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let state = lock(&self.0);
        state.is_over && (state.is_delivered || state.name.is_none())
    }

    /// Returns how many bytes are kept for a client that comes back.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        lock(&self.0).kept_bytes
    }

    /// Says whether a client that has the messages up to `position` can hear more.
    #[must_use]
    pub fn has_more(&self, position: Position) -> bool {
        let state = lock(&self.0);
        !state.is_over || state.kept.back().is_some_and(|(number, _)| *number > position.message)
    }

    /// Says whether a client is there.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        lock(&self.0).is_attached()
    }

    /// Goes on where a client has come back that has the messages up to `position`.
    pub fn resume(&self, position: Position, channel: Box<dyn Channel>) {
        let mut state = lock(&self.0);
        let missed: Vec<(u64, String)> =
            state.kept.iter().filter(|(number, _)| *number > position.message).cloned().collect();
        let last = missed.len().saturating_sub(1);
        for (at, (number, message)) in missed.into_iter().enumerate() {
            let id = Position { message: number, ..position }.to_event_id();
            if state.is_over && at == last {
                state.is_delivered = channel.finish(Status::Ok, &message, Some(&id));
                return;
            }
            if !channel.send(&message, Some(&id)) {
                // The client has gone again, and what it missed is still kept.
                return;
            }
        }
        if !state.is_over {
            state.channel = Some(channel);
        }
    }
}

impl State {
    fn event_id(&self) -> Option<String> {
        let stream = self.name?;
        Some(Position { stream, message: self.next }.to_event_id())
    }

    fn keep(&mut self, message: String) {
        if self.name.is_some() {
            self.kept_bytes += message.len();
            self.kept.push_back((self.next, message));
        }
        self.next += 1;
        while self.kept.len() > KEPT_MAX || self.kept_bytes > KEPT_BYTES_MAX {
            let Some((_, oldest)) = self.kept.pop_front() else { break };
            self.kept_bytes -= oldest.len();
        }
    }

    fn is_attached(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| !channel.is_closed())
    }
}
