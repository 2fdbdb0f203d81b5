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
        "Path of the database file, on a local disk. Its folder must exist.",
    ),
    plain(
        "SVC_CONTROL_SOCKET",
        "/run/svc/svcd.sock",
        "Unix socket for operators on this machine (mode 0660). Add only trusted accounts to its group: they can make svcd reload its secrets, even without the token.",
    ),
    plain(
        "SVC_OPERATOR_LISTEN",
        "",
        "TCP address of the operator API, for instance 127.0.0.1:7081. If empty, the operator API \
        is not served over TCP.",
    ),
    plain(
        "SVC_ALLOW_REMOTE_OPERATOR",
        "false",
        "Allow SVC_OPERATOR_LISTEN to be an address that other machines can reach: true or false. Put a TLS proxy in front of such an address.",
    ),
    plain(
        "SVC_OPERATOR_HOSTS",
        "",
        "Host names and addresses, without ports, that the operator address accepts in addition to localhost and loopback addresses, separated by commas.",
    ),
    plain(
        "SVC_PUBLIC_LISTEN",
        "127.0.0.1:7080",
        "TCP address for webhooks, results and /mcp. Put a TLS proxy in front of it.",
    ),
    number(
        "SVC_PUBLIC_CONNECTIONS_MAX",
        "4096",
        (16, 65_535),
        "Maximum number of simultaneous connections to SVC_PUBLIC_LISTEN. Streams and WebSockets can use at most half of them.",
    ),
    plain(
        "SVC_TRUSTED_PROXIES",
        "127.0.0.0/8,::1/128",
        "Networks of the proxies in front of svcd, separated by commas. The X-Forwarded-For header of their requests is trusted, and limits per client do not apply to the proxies themselves.",
    ),
    secret(
        "SVC_OPERATOR_API_TOKEN",
        "Bearer token of the operator API: at least 32 visible ASCII characters. The operator API is off unless this and SVC_OPERATOR_ACTOR_ID are set.",
    ),
    plain(
        "SVC_OPERATOR_ACTOR_ID",
        "",
        "Name of the operator in audit events. It can contain letters, digits, '.', '_', ':' and '-'.",
    ),
    secret(
        "SVC_WEBHOOK_SECRET",
        "Secret that the forge uses to sign webhooks: at least 16 visible characters, no \
        control characters. Set this, \
        SVC_FORGE_APP_ID and SVC_FORGE_PRIVATE_KEY together; if none of them is set, the \
        connection to the forge is off.",
    ),
    secret(
        "SVC_WEBHOOK_SECRET_PREVIOUS",
        "Previous secret, which is accepted too while the secret is being rotated. An empty file means that there is no previous secret.",
    ),
    number(
        "SVC_WEBHOOK_BODY_BYTES",
        "26214400",
        (1_024, 67_108_864),
        "Maximum size of a webhook body, in bytes.",
    ),
    plain(
        "SVC_WEBHOOK_REDELIVERY",
        "false",
        "Check every 5 minutes for webhooks of the last 3 days that did not arrive, and ask the forge to resend them: true or false.",
    ),
    plain("SVC_FORGE_APP_ID", "", "Number that identifies the app on the forge (its app ID)."),
    secret("SVC_FORGE_PRIVATE_KEY", "RSA private key of the app, in PEM format."),
    plain(
        "SVC_FORGE_API_URL",
        "https://api.github.com",
        "Base URL of the forge's REST API. Plain http is allowed only on a loopback address.",
    ),
    plain(
        "SVC_FORGE_API_VERSION",
        "2022-11-28",
        "REST API version: 2022-11-28, 2026-03-10, or ghes for an Enterprise Server.",
    ),
    plain(
        "SVC_FORGE_ROOT_CERTIFICATE_FILE",
        "",
        "PEM file with the root certificate, if the forge uses a private certificate authority.",
    ),
    number(
        "SVC_FORGE_WRITES_PER_MINUTE",
        "60",
        (1, 60_000),
        "Maximum number of writes to the forge per minute for one installation. Dispatching a workflow and creating or updating a check run are writes. A sixth of this number can be sent in one burst.",
    ),
    plain("SVC_RELEASE_TAG_PATTERN", "v*", "A pushed tag that matches this glob starts a release."),
    plain(
        "SVC_RELEASE_WORKFLOW",
        "release.yml",
        "File name of the workflow that a release dispatches.",
    ),
    plain("SVC_CHECK_RUN_NAME", "release", "Name of the check run of a release."),
    plain(
        "SVC_RESULT_ISSUERS",
        "https://token.actions.githubusercontent.com",
        "Issuers of the identity tokens that are accepted with results of releases, separated by commas. If empty, none are accepted. The default is the issuer for https://api.github.com; with another SVC_FORGE_API_URL, the default is empty.",
    ),
    secret(
        "SVC_RESULT_SECRET",
        "Secret for the HMAC signatures of results, for a forge that does not issue identity tokens: at least 32 visible ASCII characters. If neither this nor SVC_RESULT_SECRET_PREVIOUS is set, results with an HMAC signature are refused.",
    ),
    secret(
        "SVC_RESULT_SECRET_PREVIOUS",
        "Previous secret, which is accepted too while the secret is being rotated. An empty file means that there is no previous secret.",
    ),
    plain(
        "SVC_PUBLIC_URL",
        "",
        "Public base URL that clients of /mcp use, without a path, for instance https://svc.example; plain http is allowed only with a loopback name. The OAuth resource is derived from this URL, and requests for its host are accepted.",
    ),
];

/// How work is done, logged and stopped.
const WORK: &[Setting] = &[
    number(
        "SVC_OUTBOX_CONCURRENCY",
        "4",
        (1, 16),
        "Maximum number of effects (calls that change something on the forge) that are sent at the same time. At most half of these can be for one installation, if the setting is greater than 1.",
    ),
    number(
        "SVC_RETRY_ATTEMPTS",
        "8",
        (1, 50),
        "Maximum number of tries of a job or an effect, which becomes a dead letter if the last try fails.",
    ),
    number(
        "SVC_RETRY_BASE_MS",
        "5000",
        (1, 3_600_000),
        "Delay after the first failure, in milliseconds. It doubles after each further failure.",
    ),
    number(
        "SVC_RETRY_MAX_MS",
        "600000",
        (1, 86_400_000),
        "Maximum delay between tries, in milliseconds.",
    ),
    number(
        "SVC_POLL_MS",
        "1000",
        (10, 60_000),
        "How long an idle worker waits for a notification before it checks for work anyway, in milliseconds.",
    ),
    number(
        "SVC_SLO_POLL_MS",
        "15000",
        (20, 60_000),
        "Interval between evaluations of the service-level signals (svcctl slo), in milliseconds. Some signals fire only after several bad evaluations in a row.",
    ),
    number(
        "SVC_RETENTION_DAYS",
        "30",
        (8, 3_650),
        "Number of days for which jobs, deliveries and effects are kept after they have finished, or after their dead letter was closed. Open dead letters and audit events are never deleted.",
    ),
    number(
        "SVC_RELEASE_RETENTION_DAYS",
        "400",
        (30, 3_650),
        "Number of days for which finished release runs are kept, with their attempts and results. A release run is kept for longer while any of its effects is still stored, while one of its reconciliations is unfinished, or while its repository has a job that is unfinished or that has become a dead letter.",
    ),
    number(
        "SVC_RECONCILIATION_CONCURRENCY",
        "2",
        (1, 64),
        "Maximum number of reconciliations that query the forge at the same time. At most half of these can be for one installation, if the setting is greater than 1.",
    ),
    number(
        "SVC_RECONCILIATION_POLL_MS",
        "5000",
        (100, 3_600_000),
        "How often an idle reconciler checks whether a known reconciliation is due, in milliseconds.",
    ),
    number(
        "SVC_RECONCILIATION_DETECT_INTERVAL_MS",
        "30000",
        (100, 3_600_000),
        "How often svcd searches for attempts, check runs and webhooks that must be reconciled, in milliseconds.",
    ),
    number(
        "SVC_RECONCILIATION_OBSERVATION_SECONDS",
        "300",
        (1, 604_800),
        "How long an attempt may stay unfinished without a change before a reconciliation of it begins, in seconds.",
    ),
    number(
        "SVC_RECONCILIATION_DEADLINE_SECONDS",
        "1800",
        (1, 2_592_000),
        "Maximum duration of a reconciliation, in seconds. It then ends, even if the forge has given no usable answer.",
    ),
    number(
        "SVC_RECONCILIATION_NEXT_CHECK_SECONDS",
        "60",
        (1, 86_400),
        "Interval at which a reconciliation queries the forge again until it ends, in seconds.",
    ),
    plain(
        "SVC_LOG_FORMAT",
        "text",
        "Log format, text (logfmt) or json, with one event per line on standard error.",
    ),
    plain(
        "SVC_LOG_LEVEL",
        "info",
        "Least severe level that is logged: error, warn, info, debug or trace.",
    ),
    number(
        "SVC_STOP_SECONDS",
        "20",
        (1, 120),
        "Maximum time that svcd takes to stop, in seconds. A call to the forge can take up to 15 seconds; if svcd stops before the call ends, the outcome of the call is unknown.",
    ),
];

/// Variables with our prefix that the command line reads, not the daemon.
pub const OF_THE_COMMAND_LINE: &[&str] = &["SVC_URL", "SVC_INSTALLATION"];
