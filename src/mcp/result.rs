//! Results, as each revision writes them.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::mcp::revision::Legacy;

/// For how long an answer may be kept, in milliseconds: as long as a change of the configuration may go unnoticed.
const TTL_MILLIS: u32 = 60_000;

/// A revision's way to write results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// That of a legacy revision.
    Legacy(Legacy),
    /// That of the modern era.
    Modern,
}

/// What a tool gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// Blocks of content.
    pub content: Vec<Value>,
    /// The same for programs.
    pub structured: Option<Value>,
    /// The tool failed; the content says why, so that a model may mend its call.
    pub is_error: bool,
}

impl ToolResult {
    /// Returns a result that is a text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let content = vec![json!({ "type": "text", "text": text })];
        Self { content, structured: None, is_error: false }
    }

    /// Returns a failure. `why` says what to do next.
    #[must_use]
    pub fn failure(why: &str) -> Self {
        Self { is_error: true, ..Self::text(why) }
    }

    /// Returns a result for programs, and its JSON as a text for those that read no other.
    #[must_use]
    pub fn of(result: &impl Serialize) -> Self {
        let value = serde_json::to_value(result).expect("our shapes always serialize");
        Self { structured: Some(value.clone()), ..Self::text(&value.to_string()) }
    }

    /// Returns the result as a revision writes it.
    #[must_use]
    pub fn to_value(self, dialect: Dialect) -> Value {
        let mut result = Map::from_iter([("content".to_owned(), Value::from(self.content))]);
        if let Some(structured) = self.structured.filter(|_| dialect.has_structured_content()) {
            result.insert("structuredContent".to_owned(), structured);
        }
        if self.is_error {
            result.insert("isError".to_owned(), true.into());
        }
        Value::from(result)
    }
}

impl Dialect {
    /// Says whether a client may be told in words how far a request is.
    pub(super) fn has_progress_messages(self) -> bool {
        match self {
            Self::Legacy(revision) => revision.has_progress_messages(),
            Self::Modern => true,
        }
    }

    /// Says whether results may have structured content.
    pub(super) fn has_structured_content(self) -> bool {
        match self {
            Self::Legacy(revision) => revision.has_structured_content(),
            Self::Modern => true,
        }
    }
}

impl Dialect {
    /// Returns a result with what every result of the revision carries.
    #[must_use]
    pub fn complete(self, mut result: Value) -> Value {
        if let (Self::Modern, Some(members)) = (self, result.as_object_mut()) {
            // A task and a request for input say so themselves.
            members.entry("resultType").or_insert_with(|| "complete".into());
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), server_info());
            }
        }
        result
    }
}

/// Returns a result that may be kept. Nothing in it depends on who asks.
pub(super) fn cacheable(mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut() {
        members.insert("ttlMs".to_owned(), TTL_MILLIS.into());
        members.insert("cacheScope".to_owned(), "public".into());
    }
    Dialect::Modern.complete(result)
}

/// Says who answers.
pub(super) fn server_info() -> Value {
    json!({ "name": "svcd", "title": "svc control plane", "version": env!("CARGO_PKG_VERSION") })
}
