//! The metadata of an OAuth protected resource (RFC 9728), with the names of that standard.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Who gives tokens for `/mcp`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtectedResource {
    /// The URL of `/mcp` as clients are given it.
    pub resource: String,
    /// Issuers of tokens; one.
    pub authorization_servers: Vec<String>,
    /// Every scope that a request may need.
    pub scopes_supported: Vec<Cow<'static, str>>,
    /// How a token is sent: `header`, and in no other way.
    pub bearer_methods_supported: Vec<Cow<'static, str>>,
}
