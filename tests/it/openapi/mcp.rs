//! How MCP is set up, as it is shown of settings.

use svc::api::McpStatus;
use svc::config::{Config, Source};
use svc::mcp::description::describe;

/// Returns what is shown of a daemon that asks for tokens and has served a request, or of one that serves nothing.
pub(super) fn status(serves: bool) -> McpStatus {
    let settings = [
        ("SVC_MCP", "true"),
        ("SVC_PUBLIC_URL", "https://svc.example"),
        ("SVC_MCP_ISSUER", "https://issuer.example"),
        ("SVC_MCP_JWKS_URL", "https://issuer.example/keys"),
        ("SVC_MCP_ORIGINS", "https://app.example"),
        ("MCP_V2_EXPERIMENTAL", "true"),
    ];
    let settings = settings.iter().filter(|_| serves);
    let source = Source::of(settings.map(|(name, value)| ((*name).into(), (*value).into())));
    let config = Config::load(source).unwrap();
    let status = describe(config.mcp.as_ref(), config.protocol, config.public_listen);
    let forwarding_headers = serves.then(|| vec!["x-forwarded-for".into()]);
    McpStatus { forwarding_headers, ..status }
}
