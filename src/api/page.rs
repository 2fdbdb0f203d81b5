//! Pages of lists.

use serde::{Deserialize, Serialize};

/// A page, newest item first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageBody<T> {
    /// At most `limit` items.
    pub items: Vec<T>,
    /// Value for `before` of the next page; null on the last page.
    pub next_before: Option<String>,
}

/// A page in rising order of what names an item.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageAfter<T> {
    /// At most `limit` items.
    pub items: Vec<T>,
    /// Value for `after` of the next page, the last item's name; null on the last page.
    pub next_after: Option<String>,
}
