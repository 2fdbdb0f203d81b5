//! How each group of settings is read, and what it takes to be valid.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;
use log::LevelFilter;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::public_url::read_host_name;
use crate::config::results;
use crate::config::source::{SettingProblem, Source, of_file, words};
use crate::config::{
    CONTROL_SOCKET_BYTES_MAX, ForgeConfig, LogConfig, OperatorConfig, ReconciliationConfig,
    WorkConfig,
};
use crate::crypto::secret;
use crate::domain::pace::Pace;
use crate::domain::reconcile::Rules;
use crate::domain::retry::RetryPolicy;
use crate::forge::client;
use crate::forge::settings::{ApiVersion, ClientError};

/// Largest file with root certificates, in bytes: a bundle of every public authority is much smaller.
const CERTIFICATE_BYTES_MAX: usize = 4 << 20;
const ADDRESS: &str = "an address and a port such as 127.0.0.1:7080";

pub(super) fn public_listen(source: &mut Source) -> Option<SocketAddr> {
    source.parsed("SVC_PUBLIC_LISTEN", ADDRESS, |text| text.parse().ok())
}

pub(super) fn path(source: &mut Source, name: &'static str) -> Option<PathBuf> {
    source.parsed(name, "the path of a file", |text| (!text.is_empty()).then(|| text.into()))
}

pub(super) fn control_socket(source: &mut Source) -> Option<PathBuf> {
    let path = path(source, "SVC_CONTROL_SOCKET")?;
    let bytes = path.as_os_str().len();
    if bytes > CONTROL_SOCKET_BYTES_MAX {
        let problem = format!(
            "the path has {bytes} bytes, but at most {CONTROL_SOCKET_BYTES_MAX} are allowed"
        );
        source.problem("SVC_CONTROL_SOCKET", problem);
        return None;
    }
    Some(path)
}

pub(super) fn operator_listen(source: &mut Source) -> Option<SocketAddr> {
    let allow = source
        .parsed("SVC_ALLOW_REMOTE_OPERATOR", "true or false", |text| text.parse::<bool>().ok())?;
    if source.text("SVC_OPERATOR_LISTEN").is_empty() {
        return None;
    }
    let listen: SocketAddr =
        source.parsed("SVC_OPERATOR_LISTEN", ADDRESS, |text| text.parse().ok())?;
    if !listen.ip().is_loopback() && !allow {
        source.problem(
            "SVC_OPERATOR_LISTEN",
            format!(
                "{} is reached by other machines; use a loopback address, or set \
                 SVC_ALLOW_REMOTE_OPERATOR=true and put TLS in front of it",
                listen.ip()
            ),
        );
        return None;
    }
    if !listen.ip().is_loopback() && source.text("SVC_OPERATOR_HOSTS").is_empty() {
        source.problem(
            "SVC_OPERATOR_HOSTS",
            "it is empty, so requests from other machines are refused; list the host names that they \
             use for SVC_OPERATOR_LISTEN",
        );
    }
    Some(listen)
}

/// Refuses two addresses of which the system gives only one.
pub(super) fn refuse_overlap(
    source: &mut Source,
    public: Option<SocketAddr>,
    operator: Option<SocketAddr>,
) {
    let Some((public, operator)) = public.zip(operator) else { return };
    // The system chooses another port for each 0.
    let same_port = public.port() == operator.port() && public.port() != 0;
    let (one, other) = (public.ip().to_canonical(), operator.ip().to_canonical());
    // That of IPv6 takes the addresses of IPv4 as well, unless the system was told otherwise.
    let takes = |all: IpAddr, one: IpAddr| all.is_unspecified() && (all.is_ipv6() || one.is_ipv4());
    if same_port && (one == other || takes(one, other) || takes(other, one)) {
        source.problem(
            "SVC_OPERATOR_LISTEN",
            format!("it overlaps with SVC_PUBLIC_LISTEN, {public}; use another port"),
        );
    }
}

/// Reads the host names of the operator address. One that no `Host` header can have would never match.
pub(super) fn operator_hosts(source: &mut Source) -> Option<Vec<String>> {
    source.parsed(
        "SVC_OPERATOR_HOSTS",
        "host names without scheme, port, path and wildcard, separated by commas",
        |text| words(text).map(read_host_name).collect(),
    )
}

/// Warns when every client counts as a proxy.
pub(super) fn warn_of_proxies(networks: &[IpNet], warnings: &mut Vec<SettingProblem>) {
    if networks.iter().any(|network| network.prefix_len() == 0) {
        warnings.push(SettingProblem {
            name: "SVC_TRUSTED_PROXIES".to_owned(),
            what: "every client is trusted as a proxy: it can claim any address, and no limit for one client holds; name \
                   only the networks of your proxies"
                .to_owned(),
        });
    }
}

/// Both settings, or the API is off. A setting that is there must be valid.
pub(super) fn operator(
    source: &mut Source,
    warnings: &mut Vec<SettingProblem>,
) -> Option<OperatorConfig> {
    let token = source.secret("SVC_OPERATOR_API_TOKEN");
    let actor = source.text("SVC_OPERATOR_ACTOR_ID");
    if let Some(token) = &token {
        let text = token.expose_secret();
        if text.len() < 32 || text.len() > 4_096 || !text.bytes().all(|b| b.is_ascii_graphic()) {
            source.problem(
                "SVC_OPERATOR_API_TOKEN",
                "it is not allowed; use 32 to 4096 visible ASCII characters without spaces",
            );
        }
    }
    let actor_is_plain =
        |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:-".contains(&b));
    if actor.len() > 128 || !actor_is_plain(&actor) {
        source.problem(
            "SVC_OPERATOR_ACTOR_ID",
            "it is not allowed; use at most 128 letters, digits, '.', '_', ':' and '-'",
        );
    }
    match token {
        Some(token) if !actor.is_empty() => Some(OperatorConfig { token, actor }),
        _ => {
            warnings.push(SettingProblem {
                name: "SVC_OPERATOR_API_TOKEN".to_owned(),
                what: "the operator API is off; set it together with SVC_OPERATOR_ACTOR_ID"
                    .to_owned(),
            });
            None
        }
    }
}

/// All three of secret, app and key, or none of them.
pub(super) fn forge(
    source: &mut Source,
    warnings: &mut Vec<SettingProblem>,
) -> Option<ForgeConfig> {
    let secret = webhook_secret(source, "SVC_WEBHOOK_SECRET");
    let previous = webhook_secret(source, "SVC_WEBHOOK_SECRET_PREVIOUS");
    let private_key = source.secret("SVC_FORGE_PRIVATE_KEY");
    let app_text = source.text("SVC_FORGE_APP_ID");
    let body_bytes = source.number("SVC_WEBHOOK_BODY_BYTES");
    let redelivery =
        source.parsed("SVC_WEBHOOK_REDELIVERY", "true or false", |text| text.parse::<bool>().ok());
    let api_version = source.parsed(
        "SVC_FORGE_API_VERSION",
        "2022-11-28, 2026-03-10 or ghes",
        ApiVersion::from_word,
    );
    let writes = source.number("SVC_FORGE_WRITES_PER_MINUTE");
    let pattern = source.parsed("SVC_RELEASE_TAG_PATTERN", "a glob such as v*", |text| {
        glob::Pattern::new(text).ok().filter(|_| !text.is_empty())
    });
    let name_allowed = |text: &str| {
        let plain = (1..=100).contains(&text.len()) && !text.chars().any(char::is_control);
        plain.then(|| text.to_owned())
    };
    let workflow =
        source.parsed("SVC_RELEASE_WORKFLOW", "a file name without its folder", |text| {
            // It becomes one segment of the path in the forge's API.
            name_allowed(text)
                .filter(|text| !text.contains(['/', '\\']) && text != "." && text != "..")
        });
    let check_run = source.parsed("SVC_CHECK_RUN_NAME", "1 to 100 characters", name_allowed);
    let root_certificate = root_certificate(source);
    let results = results::results(source, warnings);
    // Not before all settings are read: a bad value is reported even while the forge is off.
    if secret.is_none() && private_key.is_none() && app_text.is_empty() {
        warnings.push(SettingProblem {
            name: "SVC_WEBHOOK_SECRET".to_owned(),
            what: "the connection to the forge is off; set it together with SVC_FORGE_APP_ID and \
                   SVC_FORGE_PRIVATE_KEY"
                .to_owned(),
        });
        return None;
    }
    let app_id =
        source.parsed("SVC_FORGE_APP_ID", "the number of the app", |text| text.parse().ok());
    for (name, missing) in
        [("SVC_WEBHOOK_SECRET", secret.is_none()), ("SVC_FORGE_PRIVATE_KEY", private_key.is_none())]
    {
        // One that is there and cannot be read has a problem of its own.
        if missing && !source.has_problem(name) {
            source.problem(name, "it is missing, and the connection to the forge needs it");
        }
    }
    let api_url = source.text("SVC_FORGE_API_URL");
    for problem in client::problems(&api_url, private_key.as_ref(), root_certificate.as_deref()) {
        let name = match problem {
            ClientError::BaseUrl => "SVC_FORGE_API_URL",
            ClientError::PrivateKey => "SVC_FORGE_PRIVATE_KEY",
            ClientError::RootCertificate => "SVC_FORGE_ROOT_CERTIFICATE_FILE",
        };
        source.problem(name, problem.to_string());
    }
    Some(ForgeConfig {
        webhook_secrets: std::iter::once(secret?).chain(previous).collect(),
        webhook_body_bytes: usize::try_from(body_bytes?).unwrap_or(usize::MAX),
        webhook_redelivery: redelivery?,
        app_id: app_id?,
        private_key: private_key?,
        api_url,
        api_version: api_version?,
        root_certificate,
        writes: Pace::per_minute(u32::try_from(writes?).unwrap_or(u32::MAX)),
        release_tag_pattern: pattern?,
        release_workflow: workflow?,
        check_run_name: check_run?,
        results: results?,
    })
}

/// Reads a secret of webhooks. The forge takes any, and would sign with another one than a file with the line end of
/// another system seems to hold.
fn webhook_secret(source: &mut Source, name: &'static str) -> Option<SecretString> {
    let secret = source.secret(name)?;
    let text = secret.expose_secret();
    let visible = text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).count();
    // U+FEFF is what some editors put before a text.
    if visible < 16
        || text.len() > 4_096
        || text.contains(|c: char| c.is_control() || c == '\u{feff}')
    {
        source.problem(
            name,
            "it is not allowed; use at least 16 visible characters and at most 4096 bytes, without control characters \
             such as the carriage return of a file with CRLF",
        );
    }
    Some(secret)
}

fn root_certificate(source: &mut Source) -> Option<Vec<u8>> {
    let path = source.text("SVC_FORGE_ROOT_CERTIFICATE_FILE");
    if path.is_empty() {
        return None;
    }
    match secret::read_plain_file(Path::new(&path), CERTIFICATE_BYTES_MAX) {
        Ok(pem) => Some(pem.to_vec()),
        Err(error) => {
            let what = format!("{path}: {}", of_file(&error));
            source.problem("SVC_FORGE_ROOT_CERTIFICATE_FILE", what);
            None
        }
    }
}

/// Problems here are warnings: the daemon runs, is not ready, and reconciles nothing.
pub(super) fn reconciliation(
    source: &mut Source,
    warnings: &mut Vec<SettingProblem>,
) -> Option<ReconciliationConfig> {
    let before = source.problem_count();
    let concurrency = source.number("SVC_RECONCILIATION_CONCURRENCY");
    let poll = source.number("SVC_RECONCILIATION_POLL_MS");
    let detect = source.number("SVC_RECONCILIATION_DETECT_INTERVAL_MS");
    let observation = source.number("SVC_RECONCILIATION_OBSERVATION_SECONDS");
    let deadline = source.number("SVC_RECONCILIATION_DEADLINE_SECONDS");
    let next_check = source.number("SVC_RECONCILIATION_NEXT_CHECK_SECONDS");
    let problems = source.take_problems_from(before);
    let understood = problems.is_empty();
    warnings.extend(problems);
    understood.then_some(ReconciliationConfig {
        concurrency: concurrency?,
        poll: Duration::from_millis(poll?),
        detect_interval: Duration::from_millis(detect?),
        rules: Rules {
            observation: Duration::from_secs(observation?),
            deadline: Duration::from_secs(deadline?),
            next_check: Duration::from_secs(next_check?),
        },
    })
}

pub(super) fn work(source: &mut Source) -> Option<WorkConfig> {
    let outbox_concurrency = source.number("SVC_OUTBOX_CONCURRENCY");
    let attempts = source.number("SVC_RETRY_ATTEMPTS");
    let base = source.number("SVC_RETRY_BASE_MS");
    let max = source.number("SVC_RETRY_MAX_MS");
    let poll = source.number("SVC_POLL_MS");
    let slo_poll = source.number("SVC_SLO_POLL_MS");
    // A value that is wrong by itself is `None`, which would be less than any other.
    if base.zip(max).is_some_and(|(base, max)| base > max) {
        source.problem("SVC_RETRY_BASE_MS", "it is greater than SVC_RETRY_MAX_MS");
    }
    let days = source.number("SVC_RETENTION_DAYS");
    let release_days = source.number("SVC_RELEASE_RETENTION_DAYS");
    Some(WorkConfig {
        outbox_concurrency: outbox_concurrency?,
        retry: RetryPolicy {
            attempts_max: u32::try_from(attempts?).unwrap_or(u32::MAX),
            delay_base: Duration::from_millis(base?),
            delay_max: Duration::from_millis(max?),
        },
        poll: Duration::from_millis(poll?),
        slo_poll: Duration::from_millis(slo_poll?),
        retention: Duration::from_secs(days?.saturating_mul(86_400)),
        release_retention: Duration::from_secs(release_days?.saturating_mul(86_400)),
    })
}

pub(super) fn log_config(source: &mut Source) -> Option<LogConfig> {
    let json = source.parsed("SVC_LOG_FORMAT", "text or json", |text| match text {
        "text" => Some(false),
        "json" => Some(true),
        _ => None,
    });
    let level = source.parsed("SVC_LOG_LEVEL", "error, warn, info, debug or trace", |text| {
        text.parse().ok().filter(|level| *level != LevelFilter::Off)
    });
    Some(LogConfig { json: json?, level: level? })
}
