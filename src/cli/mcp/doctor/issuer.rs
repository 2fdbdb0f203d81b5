//! The issuer's own metadata: where clients look for it, and what they need of it.

use serde::Deserialize;

use super::findings::{Code, Finding};
use super::probe::Exchange;
use crate::api;
use crate::mcp::description::without_query;

/// Returns where clients look for an issuer's metadata (RFC 8414, and its kin of `OpenID`), in their order.
pub(super) fn metadata_urls(issuer: &str) -> Vec<String> {
    let (oauth, openid) =
        ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration");
    // RFC 8414, 3.1 removes a slash at the end and puts the well-known part before the path; OpenID Connect appends it.
    let issuer = issuer.trim_end_matches('/');
    let host = issuer.split_once("://").map_or(0, |(scheme, _)| scheme.len() + 3);
    match issuer.get(host..).and_then(|rest| rest.find('/')).map(|at| issuer.split_at(host + at)) {
        None => vec![format!("{issuer}{oauth}"), format!("{issuer}{openid}")],
        Some((origin, path)) => vec![
            format!("{origin}{oauth}{path}"),
            format!("{origin}{openid}{path}"),
            format!("{issuer}{openid}"),
        ],
    }
}

/// What a client reads of an issuer's metadata.
#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: Option<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
}

/// Decides about the issuer's own metadata.
pub(super) fn diagnose(
    authorization: &api::McpAuthorization,
    exchange: &Exchange,
) -> Option<Finding> {
    let url = &exchange.url;
    let document: Result<IssuerMetadata, String> = exchange.document().and_then(|answer| {
        serde_json::from_slice(&answer.body).map_err(|_| "it is not a metadata document".to_owned())
    });
    let document = match document {
        Ok(document) => document,
        Err(cause) => {
            let message =
                format!("the metadata of the issuer cannot be fetched from {url}: {cause}");
            let next = "clients need it to find out where to get a token; check SVC_MCP_ISSUER";
            return Some(Finding::new(Code::IssuerMetadataUnavailable, message, next));
        }
    };
    let differs = |what: &str, there: &str, here: &str, name: &str| {
        let message = format!("the metadata at {url} names {what} {there}, and svcd has {here}");
        let next = format!("set {name} to the value in the metadata, character by character");
        Some(Finding::new(Code::IssuerMetadataDiffers, message, next))
    };
    // The daemon shows its own URL without the query, so this one is compared without it as well.
    let jwks_url = document.jwks_uri.as_deref().map(without_query);
    match jwks_url {
        _ if document.issuer != authorization.issuer => {
            differs("the issuer", &document.issuer, &authorization.issuer, "SVC_MCP_ISSUER")
        }
        Some(jwks_url) if jwks_url != authorization.jwks_url => {
            differs("the keys", jwks_url, &authorization.jwks_url, "SVC_MCP_JWKS_URL")
        }
        _ if !document.code_challenge_methods_supported.iter().any(|it| it == "S256") => {
            let message =
                format!("the metadata at {url} has no S256 in code_challenge_methods_supported");
            let next = "MCP clients require it: enable PKCE with S256 at the issuer, so that its metadata lists it";
            Some(Finding::new(Code::IssuerPkceMissing, message, next))
        }
        _ => None,
    }
}
