//! What takes the messages of one answer to a client: as events, or the last one alone.

use std::sync::{Mutex, PoisonError};

use http::StatusCode;

use super::StreamPermit;
use crate::http::json;
use crate::http::long_lived::{LateSender, Sender};
use crate::http::message::Response;
use crate::mcp::stream::Channel;

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
    pub(super) _permit: StreamPermit,
}

impl Channel for EventChannel {
    fn send(&self, message: &str, event_id: Option<&str>) -> bool {
        self.sender.send(event(message, event_id)).is_ok()
    }

    fn finish(self: Box<Self>, message: &str, event_id: Option<&str>) -> bool {
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
    /// Hands the answer in, once; returns whether somebody still waited for it.
    fn hand_in(&self, answer: Response) -> bool {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        sender.is_some_and(|sender| sender.send(answer))
    }
}

impl Channel for LateChannel {
    fn send(&self, _message: &str, _event_id: Option<&str>) -> bool {
        !self.is_closed()
    }

    fn finish(self: Box<Self>, message: &str, _event_id: Option<&str>) -> bool {
        self.hand_in(Response::new(StatusCode::OK, json::MEDIA_TYPE, message))
    }

    fn is_closed(&self) -> bool {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        sender.as_ref().is_none_or(LateSender::is_closed)
    }
}

impl Drop for LateChannel {
    /// What was cancelled has no answer.
    fn drop(&mut self) {
        self.hand_in(Response::empty(StatusCode::ACCEPTED));
    }
}
