//! The relay: which pages may connect, which may embed the plugin, and its limits.
//!
//! The access token of a caller says whose file it is. Without tokens there is only one subject, `local`, so the relay
//! does not start without them unless a setting allows that.
//!
//! See `docs/decisions/67-relay-startup.md`.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::mcp::{McpConfig, count, loopback_hosts, optional};
use crate::config::public_url::{PAGE_ORIGINS, PublicUrl, read_page_origins};
use crate::config::source::{Source, words};

/// The relay, checked as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayConfig {
    /// Every origin whose pages may connect, in lower case; `null` is that of a page without one. A port of 0 stands
    /// for the one that the system gives to the public address.
    pub origins: Vec<String>,
    /// Every origin that may embed the plugin for Penpot, in lower case; empty when it is not served.
    pub tool_origins: Vec<String>,
    /// Most sockets at once.
    pub connections_max: usize,
    /// How long a proposal waits for a decision.
    pub approval: Duration,
    /// How long a grant may wait to be claimed, once its turn has come.
    pub grant: Duration,
    /// How long a call is held for its result.
    pub wait: Duration,
    /// A session that is not used for this long ends.
    pub session_kept: Duration,
    /// Largest result in bytes.
    pub result_bytes_max: usize,
    /// No tokens are required, so everyone is one subject.
    pub local: bool,
    /// Most proposals per minute of one client in one session.
    pub proposals_per_minute: u32,
    /// Most frames per second of one plugin.
    pub frames_per_second: u32,
}

/// Reads the group. Values must be valid even while the relay is off; its requirements are checked only when it is on.
pub(super) fn read(
    source: &mut Source,
    listen: Option<SocketAddr>,
    mcp: Option<&McpConfig>,
) -> Option<RelayConfig> {
    let mut flag = |name| source.parsed(name, "true or false", |text| text.parse::<bool>().ok());
    let (is_on, local) = (flag("SVC_RELAY"), flag("SVC_RELAY_LOCAL"));
    let origins = optional(source, "SVC_RELAY_ORIGINS", PAGE_ORIGINS, read_page_origins);
    let tool_origins = optional(
        source,
        "SVC_RELAY_TOOL_ORIGINS",
        "exact origins such as https://design.penpot.app, separated by commas, without wildcards; http only with a \
         loopback name; no IPv6 address and no underscore, which a browser's policy cannot name",
        |text| words(text).map(read_tool_origin).collect::<Option<Vec<String>>>(),
    );
    let connections_max = count(source, "SVC_RELAY_CONNECTIONS_MAX");
    let approval = source.number("SVC_RELAY_APPROVAL_SECONDS");
    let grant = source.number("SVC_RELAY_GRANT_SECONDS");
    let wait = source.number("SVC_RELAY_WAIT_SECONDS");
    let session_days = source.number("SVC_RELAY_SESSION_DAYS");
    let result_bytes_max = count(source, "SVC_RELAY_RESULT_BYTES");
    let proposals_per_minute = count(source, "SVC_RELAY_PROPOSALS_PER_MINUTE");
    let frames_per_second = count(source, "SVC_RELAY_FRAMES_PER_SECOND");
    if is_on != Some(true) {
        return None;
    }
    require_mcp(source, mcp, local?);
    let own = own_origins(listen?, mcp?);
    let origins = origins.filter(|origins| !origins.is_empty()).unwrap_or_else(|| own.clone());
    let tool_origins = tool_origins.unwrap_or_default();
    // The daemon serves that page itself, so its sockets come from one of the daemon's own origins.
    if !tool_origins.is_empty() && !own.iter().any(|own| origins.contains(own)) {
        let own = own.join(" or ");
        source.problem(
            "SVC_RELAY_ORIGINS",
            format!("the plugin for Penpot would be served, but could not connect; add {own}, or remove SVC_RELAY_TOOL_ORIGINS"),
        );
    }
    Some(RelayConfig {
        origins,
        tool_origins,
        connections_max: connections_max?,
        approval: Duration::from_secs(approval?),
        grant: Duration::from_secs(grant?),
        wait: Duration::from_secs(wait?),
        session_kept: Duration::from_secs(session_days?.saturating_mul(86_400)),
        result_bytes_max: result_bytes_max?,
        local: local?,
        proposals_per_minute: proposals_per_minute?,
        frames_per_second: frames_per_second?,
    })
}

/// Notes what `/mcp` lacks for the relay. Faults of `/mcp` itself have been noted before.
fn require_mcp(source: &mut Source, mcp: Option<&McpConfig>, local: bool) {
    let has_tokens = mcp.map(|mcp| mcp.authorization.is_some());
    let is_sound = !["SVC_PUBLIC_URL", "SVC_MCP_ISSUER", "SVC_MCP_JWKS_URL"]
        .iter()
        .any(|it| source.has_problem(it));
    match has_tokens {
        // With `/mcp` on, `None` means that it has faults, which are noted already.
        None if source.text("SVC_MCP") == "false" => source.problem(
            "SVC_RELAY",
            "it needs SVC_MCP=true, because agents call the relay through /mcp; set both or none",
        ),
        Some(false) if !local && is_sound => source.problem(
            "SVC_RELAY",
            "/mcp requires no tokens, so the relay cannot tell people apart; set SVC_PUBLIC_URL, SVC_MCP_ISSUER and \
             SVC_MCP_JWKS_URL, or SVC_RELAY_LOCAL=true where all of this machine's users may count as one person",
        ),
        Some(true) if local => source.problem(
            "SVC_RELAY_LOCAL",
            "/mcp requires tokens, which identify the caller; remove SVC_RELAY_LOCAL, or the token settings",
        ),
        None | Some(_) => {}
    }
}

/// Returns the origins of the daemon's own pages: that of the public URL, else those of loopback names.
fn own_origins(listen: SocketAddr, mcp: &McpConfig) -> Vec<String> {
    match &mcp.public_url {
        Some(url) => vec![url.origin().to_owned()],
        None => loopback_hosts(listen).iter().map(|host| format!("http://{host}")).collect(),
    }
}

/// Returns an origin that a `frame-ancestors` policy can name.
fn read_tool_origin(text: &str) -> Option<String> {
    let origin = PublicUrl::read(text)?.origin().to_owned();
    // The host of a CSP source has no underscore and no IPv6 address (CSP 3, 2.3.1).
    (!origin.contains(['[', '_'])).then_some(origin)
}

#[cfg(test)]
mod tests;
