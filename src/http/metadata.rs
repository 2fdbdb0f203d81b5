//! The metadata of `/mcp` as an OAuth protected resource (RFC 9728): where a client gets a token. It is made of the
//! configuration and of nothing that a request says, so that no `Host` header sends a client to another issuer.

use std::borrow::Cow;

use http::StatusCode;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, HeaderValue};

use crate::api::ProtectedResource;
use crate::http::gate::TokenRules;
use crate::http::json;
use crate::http::message::Response;

/// A client need not ask again for five minutes, and hears of another issuer soon.
const CACHED: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// Pages of any origin may read what anyone may read (`docs/decisions/49-mcp-metadata-origins.md`).
const ANY_ORIGIN: HeaderValue = HeaderValue::from_static("*");

pub(super) fn show(tokens: &TokenRules) -> Response {
    let document = ProtectedResource {
        resource: tokens.resource.clone(),
        authorization_servers: vec![tokens.issuer.clone()],
        scopes_supported: tokens
            .all_scopes
            .iter()
            .map(|scope| Cow::Borrowed(scope.as_str()))
            .collect(),
        // Of the three methods that RFC 9728 knows, the gate reads only this one.
        bearer_methods_supported: vec![Cow::Borrowed("header")],
    };
    json::answer(StatusCode::OK, &document)
        .with(CACHE_CONTROL, CACHED)
        .with(ACCESS_CONTROL_ALLOW_ORIGIN, ANY_ORIGIN)
}
