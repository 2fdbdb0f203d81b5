//! The settings of `/mcp` and of the protocol it speaks.

use crate::config::settings::{Setting, number, plain};

/// What it answers to, whose tokens it takes, its bounds, and the revisions.
pub(super) const SETTINGS: &[Setting] = &[
    plain(
        "SVC_MCP",
        "false",
        "Serve the Model Context Protocol at /mcp on SVC_PUBLIC_LISTEN: true or false.",
    ),
    plain(
        "SVC_MCP_HOSTS",
        "",
        "Additional values of the Host header that /mcp accepts, exactly as clients send them, with the port unless it is the default port; separated by commas.",
    ),
    plain(
        "SVC_MCP_ORIGINS",
        "",
        "Exact origins of the web pages that may call /mcp, such as https://app.example, separated by commas. Required unless /mcp serves this machine only.",
    ),
    plain(
        "SVC_MCP_ISSUER",
        "",
        "Issuer of the access tokens for /mcp, exactly as in the iss claim of the tokens. Without it, /mcp serves this machine only and requires no token.",
    ),
    plain(
        "SVC_MCP_JWKS_URL",
        "",
        "URL at which the issuer publishes its keys (JWKS). Plain http is allowed only on a loopback address.",
    ),
    plain(
        "SVC_MCP_AUDIENCE",
        "",
        "Audience that access tokens must have. If this is empty, the audience is SVC_PUBLIC_URL followed by /mcp.",
    ),
    plain(
        "SVC_MCP_ALGORITHMS",
        "ES256,RS256",
        "Algorithms with which access tokens may be signed, separated by commas: any of ES256, RS256 and EdDSA.",
    ),
    plain(
        "SVC_MCP_TOKEN_TYPE",
        "at+jwt",
        "Type (typ) that the header of an access token must have.",
    ),
    number(
        "SVC_MCP_PEER_RATE",
        "50",
        (1, 1_000_000),
        "Maximum number of requests per second to /mcp from one client address. Bursts can be four times as large.",
    ),
    number(
        "SVC_MCP_SUBJECT_RATE",
        "20",
        (1, 1_000_000),
        "Maximum number of requests per second to /mcp with tokens of one subject. Bursts can be four times as large.",
    ),
    number(
        "SVC_MCP_SESSIONS_MAX",
        "4096",
        (1, 100_000),
        "Maximum number of open sessions of /mcp. The same limit applies separately to subscriptions.",
    ),
    number(
        "SVC_MCP_SESSIONS_PER_SUBJECT",
        "64",
        (1, 100_000),
        "Maximum number of open sessions of one subject. The same limit applies separately to its \
        subscriptions. Without tokens, all clients count as one subject.",
    ),
    number(
        "SVC_MCP_SESSION_IDLE_SECONDS",
        "1800",
        (1, 86_400),
        "A session ends after it has been unused for this number of seconds.",
    ),
    number(
        "SVC_MCP_STREAMS_MAX",
        "512",
        (1, 32_768),
        "Maximum number of open event streams of /mcp. The tokens of one subject can use at most a quarter of them.",
    ),
    number(
        "SVC_MCP_BODY_BYTES",
        "1048576",
        (1_024, 16_777_216),
        "Maximum size of the body of a request to /mcp, in bytes.",
    ),
    plain(
        "MCP_V2_EXPERIMENTAL",
        "false",
        "Also serve the modern, experimental revision 2026-07-28 of the protocol: true or false. svcctl mcp reads this variable too.",
    ),
    plain(
        "MCP_PROTOCOL_VERSION",
        "2025-11-25",
        "Protocol revision that is offered to a client that requests an unknown one: 2025-11-25, 2025-06-18, 2025-03-26 or 2024-11-05. svcctl mcp reads this variable too.",
    ),
];
