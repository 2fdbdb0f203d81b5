//! A page of a list that goes by ids.

use serde::{Deserialize, Serialize};

/// A page, newest item first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    /// At most `limit` items.
    pub items: Vec<T>,
    /// Value for `before` of the next page, the id of the last item; null on the last page.
    pub next_before: Option<String>,
}
