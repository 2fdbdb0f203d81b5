//! How the Model Context Protocol is set up: what a daemon serves, or what an environment asks for.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// How the protocol is set up. Nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpStatus {
    pub enabled: bool,
    /// `stdio`, which `svcctl mcp stdio` serves, and `streamable_http` where `/mcp` is on.
    pub transports: Vec<Cow<'static, str>>,
    /// The era of a message that claims none: `legacy`.
    pub default_era: Cow<'static, str>,
    /// What a client is offered that asks for an unknown revision.
    pub default_revision: Cow<'static, str>,
    /// The modern era is served too.
    pub modern_routing: bool,
    /// The revisions that are spoken.
    pub supported_revisions: McpRevisions,
    /// The URL of `/mcp` that clients use; null while it is off, or while the system chooses its port.
    pub endpoint: Option<String>,
    /// The address that clients use, as configured; null when none is.
    pub public_url: Option<String>,
    /// Whose access tokens are asked for; null when none are.
    pub authorization: Option<McpAuthorization>,
    /// Names of the headers that proxies add, as far as the last request to `/mcp` had them; null before the first
    /// one, and for an environment. Sorted.
    pub forwarding_headers: Option<Vec<Cow<'static, str>>>,
}

/// Revisions by era, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpRevisions {
    /// Those with sessions.
    pub legacy: Vec<Cow<'static, str>>,
    /// Those without; empty while the era is not served.
    pub modern: Vec<Cow<'static, str>>,
}

/// Whose access tokens are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpAuthorization {
    /// The URL where clients learn the issuer (RFC 9728).
    pub resource_metadata: String,
    /// The issuer, as tokens name it.
    pub issuer: String,
    /// Where it publishes its keys. A query is left out, because an operator may keep a secret there.
    pub jwks_url: String,
    /// What tokens must be made for.
    pub audience: String,
    /// Algorithms that tokens may be signed with.
    pub algorithms: Vec<Cow<'static, str>>,
    /// The type of tokens, in lower case and without `application/`.
    pub token_type: String,
}
