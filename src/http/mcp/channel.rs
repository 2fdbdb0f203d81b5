//! What takes the messages of one answer to a client: as events, or the last one alone.

use std::sync::{Arc, Mutex};

use http::StatusCode;

use super::{StreamPermit, status_code};
use crate::http::json;
use crate::http::long_lived::{LateSender, Sender};
use crate::http::message::Response;
use crate::mcp::Status;
use crate::mcp::stream::Channel;
use crate::runtime::mutex::lock;

/// When a client comes back whose stream broke, in milliseconds.
const RETRY_MILLIS: u32 = 1_000;

/// Returns a message as an event.
pub(super) fn event(message: &str, event_id: Option<&str>) -> String {
    let id = event_id.map_or(String::new(), |id| format!("id: {id}\n"));
    // One that only tells the client that it may come back says when.
    let id = if message.is_empty() { format!("{id}retry: {RETRY_MILLIS}\n") } else { id };
    // A message is JSON on one line: line ends in texts are escaped.
    format!("{id}data: {message}\n\n")
}

/// Messages as events.
pub(super) struct EventChannel {
    pub(super) sender: Sender<String>,
    pub(super) beginning: Arc<Mutex<Beginning>>,
    pub(super) _permit: StreamPermit,
}

/// How an answer begins that may become a stream.
pub(super) enum Beginning {
    /// Nothing was said yet.
    Open,
    /// With its only message, which has a status that a stream cannot have.
    Refused(Response),
    /// As a stream.
    Stream,
}

impl Channel for EventChannel {
    fn send(&self, message: &str, event_id: Option<&str>) -> bool {
        // Before the message is queued: once it may be on its way, the status can no longer be another one.
        *lock(&self.beginning) = Beginning::Stream;
        self.sender.send(event(message, event_id)).is_ok()
    }

    fn finish(self: Box<Self>, status: Status, message: &str, event_id: Option<&str>) -> bool {
        let mut beginning = lock(&self.beginning);
        if status != Status::Ok && matches!(*beginning, Beginning::Open) {
            let refusal = Response::new(status_code(status), json::MEDIA_TYPE, message);
            *beginning = Beginning::Refused(refusal);
            return true;
        }
        // `send` takes the same lock.
        drop(beginning);
        self.send(message, event_id)
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// The last message as the answer.
pub(super) struct LateChannel {
    pub(super) sender: Mutex<Option<LateSender<Response>>>,
    pub(super) _permit: StreamPermit,
}

impl LateChannel {
    /// Hands the answer in, once; returns whether it was still awaited.
    fn hand_in(&self, answer: Response) -> bool {
        let sender = lock(&self.sender).take();
        sender.is_some_and(|sender| sender.send(answer))
    }
}

impl Channel for LateChannel {
    fn send(&self, _message: &str, _event_id: Option<&str>) -> bool {
        // Messages before the last have no place in one JSON answer; only whether the client is there matters.
        !self.is_closed()
    }

    fn finish(self: Box<Self>, status: Status, message: &str, _event_id: Option<&str>) -> bool {
        self.hand_in(Response::new(status_code(status), json::MEDIA_TYPE, message))
    }

    fn is_closed(&self) -> bool {
        // Without a sender the answer was handed in, and nothing more can reach the client.
        lock(&self.sender).as_ref().is_none_or(LateSender::is_closed)
    }
}

impl Drop for LateChannel {
    /// What was cancelled has no answer.
    fn drop(&mut self) {
        self.hand_in(Response::empty(StatusCode::ACCEPTED));
    }
}
