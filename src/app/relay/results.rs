//! What invocations gave: in memory alone, for a while.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde_json::Value;

use crate::domain::id::InvocationId;

/// How long a value is kept.
const KEPT: Duration = Duration::from_mins(10);
/// Most bytes of all values.
const BYTES_MAX: usize = 64 << 20;

/// The values that are kept, as text. It has no `Debug`, because they are what people draw and write.
#[derive(Default)]
pub(super) struct Results {
    kept: HashMap<InvocationId, Kept>,
    /// The oldest first, with the instants at which they are forgotten.
    order: VecDeque<(InvocationId, Duration)>,
    bytes: usize,
}

struct Kept {
    value: String,
    file: String,
}

impl Results {
    /// Keeps what an invocation gave in a file. `now` is monotonic. The oldest values go when there is no room.
    pub(super) fn keep(
        &mut self,
        invocation: InvocationId,
        value: &Value,
        file: String,
        now: Duration,
    ) {
        let value = value.to_string();
        self.bytes += value.len() + file.len();
        if let Some(old) = self.kept.insert(invocation, Kept { value, file }) {
            self.bytes -= old.value.len() + old.file.len();
        } else {
            self.order.push_back((invocation, now + KEPT));
        }
        while self.bytes > BYTES_MAX {
            self.forget_oldest();
        }
    }

    /// Returns what an invocation gave, and the name of the file.
    pub(super) fn get(&self, invocation: InvocationId) -> Option<(Value, String)> {
        let kept = self.kept.get(&invocation)?;
        Some((serde_json::from_str(&kept.value).ok()?, kept.file.clone()))
    }

    /// Forgets what was kept long enough.
    pub(super) fn sweep(&mut self, now: Duration) {
        while self.order.front().is_some_and(|(_, until)| *until <= now) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((oldest, _)) = self.order.pop_front() else { return };
        if let Some(kept) = self.kept.remove(&oldest) {
            self.bytes -= kept.value.len() + kept.file.len();
        }
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

    #[test]
    fn a_value_is_kept_for_ten_minutes_and_no_longer() {
        let mut results = Results::default();
        results.keep(id(1), &json!({"node": "1:2"}), "Login".to_owned(), Duration::ZERO);
        results.sweep(KEPT - Duration::from_secs(1));
        assert_eq!(results.get(id(1)), Some((json!({"node": "1:2"}), "Login".to_owned())));
        results.sweep(KEPT);
        assert_eq!(results.get(id(1)), None);
        assert_eq!(results.bytes, 0);
    }

    #[test]
    fn the_oldest_go_when_there_is_no_room() {
        let mut results = Results::default();
        let large = Value::from("x".repeat(20 << 20));
        for number in 0..5 {
            results.keep(id(number), &large, String::new(), Duration::ZERO);
            assert!(results.bytes <= BYTES_MAX);
        }
        let kept: Vec<u128> = (0..5).filter(|it| results.get(id(*it)).is_some()).collect();
        assert_eq!(kept, [2, 3, 4]);
    }
}
