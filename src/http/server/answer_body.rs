//! The body of an answer as hyper takes it: bytes that are there, or events as they come.

use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};

use super::client_limits::ClientSlot;
use super::stop::Stopped;
use super::timeout_stream::Responding;
use crate::http::body_budget::Reservation;
use crate::http::long_lived::{Events, SendQueue};

/// A comment, by which either side learns whether the other is still there.
const COMMENT: &[u8] = b":\n\n";

pub(super) enum AnswerBody {
    /// All of it.
    Whole(Full<Bytes>),
    /// Events until their sender, the server or the peer ends them.
    Events(Box<EventBody>),
}

impl AnswerBody {
    /// Returns a body of these bytes.
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Full::new(bytes.into()))
    }

    /// Returns a body of events.
    pub(super) fn events(events: EventBody) -> Self {
        Self::Events(Box::new(events))
    }

    /// Returns a body of these bytes, which are held until the peer has taken them.
    pub(super) fn held(bytes: Vec<u8>, held: Reservation) -> Self {
        Self::whole(charged(bytes, held))
    }
}

fn charged(body: Vec<u8>, held: Reservation) -> Bytes {
    Bytes::from_owner(Charged { body, _held: held })
}

/// Bytes, and their part of what the listener holds until the peer has taken them.
struct Charged {
    body: Vec<u8>,
    _held: Reservation,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(body) => Pin::new(body).poll_frame(cx),
            Self::Events(events) => {
                let event = ready!(events.poll_event(cx));
                Poll::Ready(event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            // hyper asks before it sends the head, and would send no body at all after `true`.
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            // The length is not known: HTTP/1.1 gets chunks, and for HTTP/1.0 the connection closes at the end.
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// Events, and what they hold until the stream ends.
pub(super) struct EventBody {
    queue: SendQueue<String>,
    /// What is sent when the server stops; empty once it was.
    last: String,
    /// The stop; nothing once it has begun.
    stopped: Option<Stopped>,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
    /// The client's slot behind a proxy, and the phase of responding.
    _held: (Option<ClientSlot>, Responding),
}

impl EventBody {
    /// Returns a body of events, with a comment whenever nothing was sent for `keep_alive`. When the server
    /// stops it ends, after what is waiting and the last event.
    pub(super) fn new(
        events: Events,
        keep_alive: Duration,
        stopped: Stopped,
        held: (Option<ClientSlot>, Responding),
    ) -> Self {
        let Events { queue, last, permit } = events;
        let quiet = Box::pin(sleep(keep_alive));
        let stopped = Some(stopped);
        Self { queue, last, stopped, keep_alive, quiet, _permit: permit, _held: held }
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // Polled first each time, for its waker too: the stop must wake a stream without events.
        let begins = |stop: &mut Stopped| stop.as_mut().poll(cx).is_ready();
        if self.stopped.as_mut().is_some_and(begins) {
            self.stopped = None;
            // What is queued is still received; only sending fails from now on.
            self.queue.close();
        }
        let sent = match self.queue.poll_recv(cx) {
            Poll::Ready(Some((event, held))) => Some(charged(event.into(), held)),
            // `last` is for the stop alone: a sender that ended the stream has said what it had to say.
            Poll::Ready(None) if self.stopped.is_none() && !self.last.is_empty() => {
                Some(mem::take(&mut self.last).into())
            }
            Poll::Ready(None) => None,
            Poll::Pending => {
                ready!(self.quiet.as_mut().poll(cx));
                Some(Bytes::from_static(COMMENT))
            }
        };
        // Whatever was sent shows that the server is there, so a comment is due a whole interval later.
        self.quiet.set(sleep(self.keep_alive));
        Poll::Ready(sent)
    }
}
