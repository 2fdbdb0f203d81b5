//! The settings of the relay.

use crate::config::settings::{Setting, number, plain};

/// Which pages may connect, and the relay's limits.
pub(super) const SETTINGS: &[Setting] = &[
    plain(
        "SVC_RELAY",
        "false",
        "Run the relay: true or false. true needs SVC_MCP. With the relay, agents can propose steps in design files that people have open, and the plugin in the design tool runs a step after the person who has the file open has approved it.",
    ),
    plain(
        "SVC_RELAY_LOCAL",
        "false",
        "Run the relay without access tokens: true or false. Everyone who can reach the loopback interface of this machine then counts as one person. Refused if SVC_MCP_ISSUER is set.",
    ),
    plain(
        "SVC_RELAY_ORIGINS",
        "",
        "Exact origins of the plugin pages that may connect, separated by commas. If this is empty, pages from the origin of SVC_PUBLIC_URL may connect or, if that is not set, pages from the loopback origins of this machine. For the plugin in Figma, the list must contain the origin null.",
    ),
    plain(
        "SVC_RELAY_TOOL_ORIGINS",
        "",
        "Origins of the Penpot servers that may embed the plugin page, such as https://design.penpot.app, separated by commas. If empty, the plugin for Penpot is not served.",
    ),
    number(
        "SVC_RELAY_CONNECTIONS_MAX",
        "256",
        (1, 4_096),
        "Maximum number of open plugin connections. They also count towards the limit for streams and WebSockets that follows from SVC_PUBLIC_CONNECTIONS_MAX.",
    ),
    number(
        "SVC_RELAY_APPROVAL_SECONDS",
        "300",
        (30, 3_600),
        "How long a proposal waits for the decision of the person who has the file open, in seconds.",
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
        "How long a tool call waits for its result, in seconds. If there is no result by then, the call returns the status approval_pending or running.",
    ),
    number(
        "SVC_RELAY_SESSION_DAYS",
        "30",
        (1, 365),
        "A session ends after it has been unused for this number of days.",
    ),
    number(
        "SVC_RELAY_RESULT_BYTES",
        "8388608",
        (65_536, 67_108_864),
        "Maximum size of the result of an action, in bytes. An action with a larger result fails with result_too_large.",
    ),
    number(
        "SVC_RELAY_PROPOSALS_PER_MINUTE",
        "30",
        (1, 6_000),
        "Maximum number of proposals per minute from one client in one session. Reads that the person has allowed in advance do not count.",
    ),
    number(
        "SVC_RELAY_FRAMES_PER_SECOND",
        "50",
        (10, 5_000),
        "Maximum number of frames per second from one plugin. Bursts can be twice as large.",
    ),
];
