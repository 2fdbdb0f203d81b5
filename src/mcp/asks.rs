//! What clients of the legacy era were asked and have not answered yet.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::mcp::rpc::{Id, Response};
use crate::runtime::mutex::lock;

/// Most questions that one session may leave unanswered.
const ASKS_MAX: usize = 16;

/// What goes on with a client's answer: the result or the error.
pub(super) type Then = Box<dyn FnOnce(Result<Value, Value>) + Send>;

/// The questions of one session.
#[derive(Default)]
pub(super) struct Asks {
    next: AtomicU64,
    waiting: Mutex<HashMap<Id, Then>>,
}

impl Asks {
    /// Notes a question; returns its id, unless too many wait already.
    pub(super) fn register(&self, then: Then) -> Option<Id> {
        let id = Id::number(self.next.fetch_add(1, Ordering::Relaxed));
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= ASKS_MAX {
            // Dropped after the lock is: it ends a call.
            drop(waiting);
            drop(then);
            return None;
        }
        waiting.insert(id.clone(), then);
        Some(id)
    }

    /// Goes on with what waited for an answer. An answer to no open question is ignored.
    pub(super) fn answer(&self, response: &Response<'_>) {
        // A statement of its own: the lock is free when the call goes on, which may ask again.
        let then = lock(&self.waiting).remove(&response.id);
        let Some(then) = then else { return };
        let value = |raw: &serde_json::value::RawValue| serde_json::from_str(raw.get());
        then(match response.outcome {
            Ok(result) => Ok(value(result).unwrap_or_default()),
            Err(error) => Err(value(error).unwrap_or_default()),
        });
    }

    /// Forgets all questions, which ends their calls.
    pub(super) fn clear(&self) {
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        drop(waiting);
    }
}
