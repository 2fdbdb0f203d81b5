//! Every setting of the daemon, in one table: its name, default and meaning. The manual page and the
//! sample environment file are generated from it, so they cannot disagree with the code.

mod mcp;
mod relay;

/// One environment variable.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// `SVC_…`, for which `SERVICE_…` is accepted too; or one of the two that begin with `MCP_`.
    pub name: &'static str,
    /// Value when unset; empty means there is none.
    pub default: &'static str,
    /// Least and most, when it is a whole number.
    pub bounds: Option<(u64, u64)>,
    /// It may also be given as a file (`…_FILE`) or a systemd credential, and is never shown.
    pub secret: bool,
    /// What it does, in one or two sentences; units included.
    pub meaning: &'static str,
}

const fn plain(name: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting { name, default, bounds: None, secret: false, meaning }
}

const fn number(
    name: &'static str,
    default: &'static str,
    bounds: (u64, u64),
    meaning: &'static str,
) -> Setting {
    Setting { name, default, bounds: Some(bounds), secret: false, meaning }
}

const fn secret(name: &'static str, meaning: &'static str) -> Setting {
    Setting { name, default: "", bounds: None, secret: true, meaning }
}

/// Returns every setting, grouped by what it is about.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    [SERVICE, mcp::SETTINGS, relay::SETTINGS, WORK].into_iter().flatten()
}

/// The surfaces, who may operate, and the forge.
const SERVICE: &[Setting] = &[
    plain(
        "SVC_DATABASE",
        "/var/lib/svc/svc.db",
        "The database file, on a local disk. Its folder must exist.",
    ),
    plain(
        "SVC_CONTROL_SOCKET",
        "/run/svc/svcd.sock",
        "Unix socket for operators on this machine (mode 0660). Its group may stop the daemon.",
    ),
    plain(
        "SVC_OPERATOR_LISTEN",
        "",
        "TCP address of the operator API, for instance 127.0.0.1:7081. Off when empty.",
    ),
    plain(
        "SVC_ALLOW_REMOTE_OPERATOR",
        "false",
        "Allow SVC_OPERATOR_LISTEN on an address other machines reach. Put TLS in front of it.",
    ),
    plain(
        "SVC_OPERATOR_HOSTS",
        "",
        "Host names the operator address answers to besides loopback names and addresses, separated by commas.",
    ),
    plain("SVC_PUBLIC_LISTEN", "127.0.0.1:7080", "TCP address for webhooks, behind a TLS proxy."),
    number(
        "SVC_PUBLIC_CONNECTIONS_MAX",
        "4096",
        (16, 65_535),
        "Most connections at once through SVC_PUBLIC_LISTEN. Streams and WebSockets have at most half of them.",
    ),
    plain(
        "SVC_TRUSTED_PROXIES",
        "127.0.0.0/8,::1/128",
        "Networks of proxies in front of us, separated by commas: their X-Forwarded-For is believed, and they have no cap of their own.",
    ),
    secret(
        "SVC_OPERATOR_API_TOKEN",
        "Bearer token of the operator API: at least 32 visible ASCII characters. The API is off unless this and the actor are set.",
    ),
    plain(
        "SVC_OPERATOR_ACTOR_ID",
        "",
        "Who owns what operators do, as audit events name it: letters, digits, '.', '_', ':' and '-'.",
    ),
    secret(
        "SVC_WEBHOOK_SECRET",
        "Secret the forge signs webhooks with. The forge is off unless this, the app id and the private key are set.",
    ),
    secret(
        "SVC_WEBHOOK_SECRET_PREVIOUS",
        "The secret before, accepted too while a rotation is under way.",
    ),
    number(
        "SVC_WEBHOOK_BODY_BYTES",
        "26214400",
        (1_024, 67_108_864),
        "Largest webhook body, in bytes.",
    ),
    plain(
        "SVC_WEBHOOK_REDELIVERY",
        "false",
        "Look every 5 minutes for webhooks that did not arrive, up to 3 days back, and ask the forge to send them again: true or false.",
    ),
    plain("SVC_FORGE_APP_ID", "", "Number of the app at the forge."),
    secret("SVC_FORGE_PRIVATE_KEY", "RSA private key of the app, PEM."),
    plain(
        "SVC_FORGE_API_URL",
        "https://api.github.com",
        "Base of the forge's REST API. Plain http only on a loopback address.",
    ),
    plain(
        "SVC_FORGE_API_VERSION",
        "2022-11-28",
        "REST API version: 2022-11-28, 2026-03-10, or ghes for an Enterprise Server.",
    ),
    plain(
        "SVC_FORGE_ROOT_CERTIFICATE_FILE",
        "",
        "PEM file with the root certificate of a forge that has a private one.",
    ),
    number(
        "SVC_FORGE_WRITES_PER_MINUTE",
        "60",
        (1, 60_000),
        "Most writes at the forge in any minute for one installation: dispatches, and check runs created or updated. A sixth of them may leave at once.",
    ),
    plain("SVC_RELEASE_TAG_PATTERN", "v*", "A pushed tag that matches this glob starts a release."),
    plain(
        "SVC_RELEASE_WORKFLOW",
        "release.yml",
        "File name of the workflow that is dispatched for a release.",
    ),
    plain("SVC_CHECK_RUN_NAME", "release", "Name of the check run a release shows."),
    plain(
        "SVC_RESULT_ISSUERS",
        "https://token.actions.githubusercontent.com",
        "Issuers whose identity tokens results of releases are believed with, separated by commas; none when empty. The default is that of https://api.github.com; with another SVC_FORGE_API_URL it is empty.",
    ),
    secret(
        "SVC_RESULT_SECRET",
        "Secret results may be signed with at a forge without identity tokens: at least 32 visible ASCII characters. Off when unset.",
    ),
    secret(
        "SVC_RESULT_SECRET_PREVIOUS",
        "The secret before, accepted too while a rotation is under way.",
    ),
    plain(
        "SVC_PUBLIC_URL",
        "",
        "Address that clients of /mcp use, without a path, for instance https://svc.example; plain http only with a loopback name. It names the OAuth resource, and its host is answered to.",
    ),
];

/// How work is done, logged and stopped.
const WORK: &[Setting] = &[
    number(
        "SVC_OUTBOX_CONCURRENCY",
        "4",
        (1, 16),
        "Side effects sent at once; of one installation no more than half of them, and at least one.",
    ),
    number(
        "SVC_RETRY_ATTEMPTS",
        "8",
        (1, 50),
        "Tries before a job or side effect becomes a dead letter.",
    ),
    number(
        "SVC_RETRY_BASE_MS",
        "5000",
        (1, 3_600_000),
        "Delay after the first failure, in milliseconds; it doubles.",
    ),
    number(
        "SVC_RETRY_MAX_MS",
        "600000",
        (1, 86_400_000),
        "Longest delay between tries, in milliseconds.",
    ),
    number(
        "SVC_POLL_MS",
        "1000",
        (10, 60_000),
        "How long workers wait for news before they look by themselves, in milliseconds.",
    ),
    number(
        "SVC_SLO_POLL_MS",
        "15000",
        (20, 60_000),
        "How often the signals are evaluated, in milliseconds. Gates that count snapshots count these.",
    ),
    number(
        "SVC_RETENTION_DAYS",
        "30",
        (8, 3_650),
        "Days finished jobs, deliveries and side effects are kept. Dead letters and audit events are kept for ever.",
    ),
    number(
        "SVC_RECONCILIATION_CONCURRENCY",
        "2",
        (1, 64),
        "Reconciliations at the forge at once; of one installation no more than half of them, and at least one.",
    ),
    number(
        "SVC_RECONCILIATION_POLL_MS",
        "5000",
        (100, 3_600_000),
        "Poll interval of reconcilers, in milliseconds.",
    ),
    number(
        "SVC_RECONCILIATION_DETECT_INTERVAL_MS",
        "30000",
        (100, 3_600_000),
        "Detection interval of reconcilers, in milliseconds.",
    ),
    number(
        "SVC_RECONCILIATION_OBSERVATION_SECONDS",
        "300",
        (1, 604_800),
        "Wait before an attempt becomes a candidate, in seconds.",
    ),
    number(
        "SVC_RECONCILIATION_DEADLINE_SECONDS",
        "1800",
        (1, 2_592_000),
        "Longest time a detected attempt may stay ambiguous, in seconds.",
    ),
    number(
        "SVC_RECONCILIATION_NEXT_CHECK_SECONDS",
        "60",
        (1, 86_400),
        "Recheck interval, in seconds.",
    ),
    plain("SVC_LOG_FORMAT", "text", "text or json, one event a line on standard error."),
    plain("SVC_LOG_LEVEL", "info", "error, warn, info, debug or trace."),
    number(
        "SVC_STOP_SECONDS",
        "20",
        (1, 120),
        "Longest time a stop takes, in seconds. A call to the forge takes up to 15; one that is cut off is in doubt.",
    ),
];

/// Variables with our prefix that the command line reads, not the daemon.
pub const OF_THE_COMMAND_LINE: &[&str] = &["SVC_URL", "SVC_INSTALLATION"];
