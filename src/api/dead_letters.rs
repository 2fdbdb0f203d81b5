//! Dead letters.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::list::{ListRow, NoFilter};
use crate::domain::time::Timestamp;

/// One dead letter: metadata only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetter {
    /// `job` or `outbox`.
    pub item_type: Cow<'static, str>,
    /// UUID.
    pub item_id: String,
    /// `owner/name`; null when the delivery named none.
    pub repository: Option<String>,
    /// Why it died.
    pub reason_code: Cow<'static, str>,
    /// What kind of failure it was.
    pub error_class: Cow<'static, str>,
    /// Why the last call to the forge failed; null when none did, or an older version wrote the row.
    pub cause: Option<Cow<'static, str>>,
    /// Tries it had.
    pub attempt_count: u32,
    /// When it died.
    pub failed_at: Timestamp,
    /// May it be replayed.
    pub replay_safe: bool,
}

/// One dead letter on its own, with the class that decides about its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub dead_letter: DeadLetter,
    /// Why it may, or may not, be replayed.
    pub replay_class: Cow<'static, str>,
}

impl ListRow for DeadLetter {
    const LIST: &'static str = "dead-letters";
    type Filter = NoFilter;
    /// Unique within an installation.
    type Cursor = Timestamp;
    const CURSOR: &'static str =
        "an ISO 8601 time with an offset, such as nextBefore; encode + as %2B";

    fn read_cursor(text: &str) -> Option<Timestamp> {
        Timestamp::parse_rounding_up(text)
    }

    fn cursor(&self) -> Timestamp {
        self.failed_at
    }
}
