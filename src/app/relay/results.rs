//! The values that invocations returned: only in memory, for a limited time.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::domain::id::InvocationId;

/// How long a value is kept.
const KEPT: Duration = Duration::from_mins(10);
/// Most bytes of all values.
const BYTES_MAX: usize = 64 << 20;
/// Bytes counted for each value besides its text, for its entries in the tables.
const OVERHEAD: usize = 512;

/// The values that are kept, as text. When there is no room, the oldest values of the subject with the most bytes are
/// dropped, so that no subject takes the room of all others. It has no `Debug`, because values are what people draw and
/// write.
#[derive(Default)]
pub(super) struct Results {
    kept: HashMap<InvocationId, Arc<Kept>>,
    owners: HashMap<String, Owner>,
    bytes: usize,
}

/// The values of a subject.
#[derive(Default)]
struct Owner {
    /// The oldest first, with the instants at which they are forgotten.
    order: VecDeque<(InvocationId, Duration)>,
    bytes: usize,
}

/// The value that an invocation returned.
pub(super) struct Kept {
    subject: String,
    value: String,
    file: String,
}

impl Kept {
    /// Returns the entry for a subject's value that came from a file.
    pub(super) fn new(subject: String, value: &Value, file: String) -> Self {
        Self { subject, value: value.to_string(), file }
    }

    /// Returns the value.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.value).ok()
    }

    /// Returns the name of the file that it came from.
    pub(super) fn file(&self) -> String {
        self.file.clone()
    }

    const fn bytes(&self) -> usize {
        OVERHEAD + self.subject.len() + self.value.len() + self.file.len()
    }
}

impl Results {
    /// Keeps the value of an invocation, unless one is kept already; returns whether this call kept it. `now` is
    /// monotonic.
    pub(super) fn keep(&mut self, invocation: InvocationId, kept: Kept, now: Duration) -> bool {
        if self.kept.contains_key(&invocation) {
            return false;
        }
        let bytes = kept.bytes();
        let owner = self.owners.entry(kept.subject.clone()).or_default();
        owner.order.push_back((invocation, now + KEPT));
        owner.bytes += bytes;
        self.bytes += bytes;
        self.kept.insert(invocation, Arc::new(kept));
        while self.bytes > BYTES_MAX && self.forget_oldest_of_greatest() {}
        true
    }

    /// Returns the value of an invocation.
    pub(super) fn get(&self, invocation: InvocationId) -> Option<Arc<Kept>> {
        self.kept.get(&invocation).map(Arc::clone)
    }

    /// Drops the value of an invocation.
    pub(super) fn forget(&mut self, invocation: InvocationId) {
        let Some(kept) = self.kept.remove(&invocation) else { return };
        self.bytes -= kept.bytes();
        let Some(owner) = self.owners.get_mut(&kept.subject) else { return };
        owner.bytes -= kept.bytes();
        // The value is the oldest, or the one that was kept just now.
        if owner.order.front().is_some_and(|(oldest, _)| *oldest == invocation) {
            owner.order.pop_front();
        } else if let Some(place) = owner.order.iter().rposition(|(it, _)| *it == invocation) {
            owner.order.remove(place);
        }
        if owner.order.is_empty() {
            self.owners.remove(&kept.subject);
        }
    }

    /// Drops the values whose time is over.
    pub(super) fn sweep(&mut self, now: Duration) {
        let is_over = |(_, until): &&(InvocationId, Duration)| *until <= now;
        // The queue of an owner is in the order of time, so the first one that is not over ends the search.
        let over = self.owners.values().flat_map(|owner| owner.order.iter().take_while(is_over));
        for invocation in over.map(|(invocation, _)| *invocation).collect::<Vec<_>>() {
            self.forget(invocation);
        }
    }

    fn forget_oldest_of_greatest(&mut self) -> bool {
        let greatest = self.owners.values().max_by_key(|owner| owner.bytes);
        let oldest = greatest.and_then(|owner| owner.order.front()).map(|(oldest, _)| *oldest);
        oldest.map(|oldest| self.forget(oldest)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> InvocationId {
        Uuid::from_u128(number).into()
    }

    fn kept(subject: &str, value: &Value) -> Kept {
        Kept::new(subject.to_owned(), value, "Login".to_owned())
    }

    #[test]
    fn a_value_is_kept_for_ten_minutes_and_no_longer() {
        let mut results = Results::default();
        let value = json!({"node": "1:2"});
        assert!(results.keep(id(1), kept("ada", &value), Duration::ZERO));
        assert!(!results.keep(id(1), kept("ada", &json!(2)), Duration::ZERO));
        results.sweep(KEPT - Duration::from_secs(1));
        let found = results.get(id(1)).unwrap();
        assert_eq!((found.value(), found.file()), (Some(value), "Login".to_owned()));
        results.sweep(KEPT);
        assert!(results.get(id(1)).is_none());
        assert!(results.bytes == 0 && results.owners.is_empty());
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let mut results = Results::default();
        let large = Value::from("x".repeat(20 << 20));
        for number in 0..5 {
            results.keep(id(number), kept("ada", &large), Duration::ZERO);
            assert!(results.bytes <= BYTES_MAX);
        }
        let kept: Vec<u128> = (0..5).filter(|it| results.get(id(*it)).is_some()).collect();
        assert_eq!(kept, [2, 3, 4]);
    }

    #[test]
    fn the_room_of_others_is_theirs() {
        let mut results = Results::default();
        results.keep(id(1), kept("ada", &Value::from("x".repeat(10 << 20))), Duration::ZERO);
        for number in 2..20 {
            let large = Value::from("x".repeat(20 << 20));
            results.keep(id(number), kept("eve", &large), Duration::ZERO);
            assert!(results.bytes <= BYTES_MAX);
        }
        assert!(results.get(id(1)).is_some());
        results.forget(id(19));
        results.forget(id(19));
        results.forget(id(1));
        let left: usize = results.kept.values().map(|it| it.bytes()).sum();
        let of_owners: usize = results.owners.values().map(|it| it.bytes).sum();
        assert_eq!((results.bytes, of_owners), (left, left));
        assert!(!results.owners.contains_key("ada"));
    }

    #[test]
    fn many_small_values_are_counted_with_what_holds_them() {
        let mut results = Results::default();
        for number in 0..200_000 {
            results.keep(id(number), kept("ada", &Value::Null), Duration::ZERO);
        }
        assert!(results.kept.len() <= BYTES_MAX / OVERHEAD, "{}", results.kept.len());
    }
}
