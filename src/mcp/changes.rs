//! Changes of lists, told to clients of both eras that listen.

use std::sync::Arc;

words! {
    /// Lists that may change while clients listen.
    List {
        /// `tools/list`
        Tools => "tools",
        /// `prompts/list`
        Prompts => "prompts",
        /// `resources/list`
        Resources => "resources",
    }
}

/// Tells changes. Clones tell the same clients.
#[derive(Clone)]
pub struct Changes(Arc<Tell>);

/// Tells clients that a list has changed, by a notification of this name.
type Tell = dyn Fn(List, &str) + Send + Sync;

impl Changes {
    pub(super) fn new(tell: impl Fn(List, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells that a list has changed: sessions on their own streams, and those that have subscribed to it.
    pub fn announce(&self, list: List) {
        (self.0)(list, &format!("notifications/{list}/list_changed"));
    }
}
