//! The settings of the relay.

use crate::config::settings::{Setting, number, plain};

/// Which pages may connect, and the relay's limits.
pub(super) const SETTINGS: &[Setting] = &[
    plain(
        "SVC_RELAY",
        "false",
        "Let agents work on open design files, one approved step at a time: true or false. Needs SVC_MCP.",
    ),
    plain(
        "SVC_RELAY_LOCAL",
        "false",
        "Run the relay without access tokens: true or false. Everyone who can reach this machine's loopback then counts as one person. Refused when SVC_MCP_ISSUER is set.",
    ),
    plain(
        "SVC_RELAY_ORIGINS",
        "",
        "Origins of the plugin pages that may connect, each exact, separated by commas. Replaces the default, which is the origin of SVC_PUBLIC_URL, or else this machine's loopback origins. The plugin in Figma needs null.",
    ),
    plain(
        "SVC_RELAY_TOOL_ORIGINS",
        "",
        "Origins of the Penpot that may embed the plugin page, such as https://design.penpot.app, separated by commas. The plugin for Penpot is not served when empty.",
    ),
    number(
        "SVC_RELAY_CONNECTIONS_MAX",
        "256",
        (1, 4_096),
        "Most sockets of plugins at once. They also count among the WebSockets of SVC_PUBLIC_CONNECTIONS_MAX.",
    ),
    number(
        "SVC_RELAY_APPROVAL_SECONDS",
        "300",
        (30, 3_600),
        "How long a proposal waits for the person's decision, in seconds.",
    ),
    number(
        "SVC_RELAY_GRANT_SECONDS",
        "60",
        (5, 600),
        "How long an approved step may wait to begin, in seconds.",
    ),
    number(
        "SVC_RELAY_WAIT_SECONDS",
        "20",
        (0, 55),
        "How long a tool call is held for its result, in seconds; after that the answer is that approval is pending.",
    ),
    number(
        "SVC_RELAY_SESSION_DAYS",
        "30",
        (1, 365),
        "A session ends when it is not used for this long, in days.",
    ),
    number(
        "SVC_RELAY_RESULT_BYTES",
        "8388608",
        (65_536, 67_108_864),
        "Largest result of an action, in bytes; a larger one fails with result_too_large.",
    ),
    number(
        "SVC_RELAY_PROPOSALS_PER_MINUTE",
        "30",
        (1, 6_000),
        "Proposals a minute of one client in one session. Reads that the person has allowed do not count.",
    ),
    number(
        "SVC_RELAY_FRAMES_PER_SECOND",
        "50",
        (10, 5_000),
        "Frames a second from one plugin; twice as many at once.",
    ),
];
