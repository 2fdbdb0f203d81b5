//! Configuration: the only reader of the environment.
//!
//! It is read once, checked as a whole, and every problem is reported at once, each naming its
//! variable, what was wrong and what is allowed. Two groups are forgiving on purpose: without a token
//! or an actor the operator API is off, and without its three settings the forge is off. Reconciliation
//! settings that cannot be understood leave the daemon running and not ready. Everything else that is
//! wrong refuses to start.

pub mod settings;

mod env_file;
mod groups;
mod mcp;
mod protocol;
mod public_url;
mod relay;
mod results;
mod source;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;
use log::LevelFilter;
use secrecy::SecretString;

use crate::config::groups::{
    control_socket, forge, log_config, operator, operator_hosts, operator_listen, path,
    public_listen, reconciliation, refuse_overlap, warn_of_proxies, work,
};
use crate::config::source::words;
use crate::domain::id::AppId;
use crate::domain::pace::Pace;
use crate::domain::reconcile::Rules;
use crate::domain::retry::RetryPolicy;
use crate::forge::settings::ApiVersion;

pub use mcp::{McpConfig, McpEnvironment, TokenIssuerConfig};
pub use protocol::ProtocolConfig;
pub use public_url::PublicUrl;
pub use relay::RelayConfig;
pub use source::{SecretDigests, SettingProblem, Source, journal_stream};

/// Most bytes of the path of the control socket: the system takes 107 for that of a socket, and the sockets in the folder
/// `.inner` beside it have longer ones.
pub const CONTROL_SOCKET_BYTES_MAX: usize = 107 - ".inner/ffff".len();

/// Everything the daemon needs to know.
#[derive(Debug)]
pub struct Config {
    /// The database file.
    pub database: PathBuf,
    /// The Unix socket of the operators.
    pub control_socket: PathBuf,
    /// The operator API's TCP address, when it has one.
    pub operator_listen: Option<SocketAddr>,
    /// Host names the operator address answers to, in lower case, besides loopback ones.
    pub operator_hosts: Vec<String>,
    /// The address of webhooks.
    pub public_listen: SocketAddr,
    /// Most connections through it.
    pub public_connections_max: u16,
    /// Networks whose connections carry many clients.
    pub trusted_proxies: Vec<IpNet>,
    /// Who may operate; nothing means the operator API is off.
    pub operator: Option<OperatorConfig>,
    /// The forge; nothing means it is off.
    pub forge: Option<ForgeConfig>,
    /// Reconciliation settings; nothing means they could not be understood.
    pub reconciliation: Option<ReconciliationConfig>,
    /// Which revisions of the Model Context Protocol are spoken.
    pub protocol: ProtocolConfig,
    /// `/mcp`; `None` means it is off.
    pub mcp: Option<McpConfig>,
    /// The relay; `None` means it is off.
    pub relay: Option<RelayConfig>,
    /// How work is done.
    pub work: WorkConfig,
    /// How lines are logged.
    pub log: LogConfig,
    /// Longest time a stop takes.
    pub stop_within: Duration,
    /// Which secrets were read.
    pub secrets: SecretDigests,
    /// What is wrong and does not stop the daemon from starting.
    pub warnings: Vec<SettingProblem>,
}

/// Who may operate.
#[derive(Debug)]
pub struct OperatorConfig {
    /// At least 32 visible ASCII characters.
    pub token: SecretString,
    /// Name in audit events.
    pub actor: String,
}

/// The forge and what we do there.
#[derive(Debug)]
pub struct ForgeConfig {
    /// Secrets webhooks may be signed with; one or two, none empty.
    pub webhook_secrets: Vec<SecretString>,
    /// Largest webhook body in bytes.
    pub webhook_body_bytes: usize,
    /// The forge is asked to send again what did not arrive.
    pub webhook_redelivery: bool,
    /// Number of our app.
    pub app_id: AppId,
    /// PEM.
    pub private_key: SecretString,
    /// Base of the REST API.
    pub api_url: String,
    /// Which dialect of the API is spoken.
    pub api_version: ApiVersion,
    /// PEM of a private root certificate.
    pub root_certificate: Option<Vec<u8>>,
    /// How fast writes of one installation leave.
    pub writes: Pace,
    /// Tags that start a release.
    pub release_tag_pattern: glob::Pattern,
    /// Workflow that is dispatched.
    pub release_workflow: String,
    /// Name of the check run.
    pub check_run_name: String,
    /// Whose results are believed.
    pub results: ResultConfig,
}

/// Whose results of releases are believed. With neither, none are.
#[derive(Debug)]
pub struct ResultConfig {
    /// Issuers of identity tokens, as tokens name them.
    pub issuers: Vec<String>,
    /// Secrets results may be signed with; none, one or two.
    pub secrets: Vec<SecretString>,
}

/// Reconciliation, by the specification's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconciliationConfig {
    /// At once.
    pub concurrency: u64,
    /// Poll interval.
    pub poll: Duration,
    /// Detection interval.
    pub detect_interval: Duration,
    /// Observation window, deadline and recheck interval.
    pub rules: Rules,
}

/// How work is done.
#[derive(Clone, Copy, Debug)]
pub struct WorkConfig {
    /// Side effects sent at once.
    pub outbox_concurrency: u64,
    /// Tries and delays.
    pub retry: RetryPolicy,
    /// How long workers wait for news.
    pub poll: Duration,
    /// How often the signals are evaluated.
    pub slo_poll: Duration,
    /// How long finished rows are kept.
    pub retention: Duration,
    /// How long finished release runs are kept.
    pub release_retention: Duration,
}

/// How lines are logged.
#[derive(Clone, Copy, Debug)]
pub struct LogConfig {
    /// One JSON object a line, or text.
    pub json: bool,
    /// The least severe level that is logged.
    pub level: LevelFilter,
}

impl Config {
    /// Reads and checks the configuration.
    ///
    /// # Errors
    /// Every problem there is.
    pub fn load(mut source: Source) -> Result<Self, Vec<SettingProblem>> {
        source.refuse_names();
        let source = &mut source;
        let mut warnings = Vec::new();
        let operator = operator(source, &mut warnings);
        let reconciliation = reconciliation(source, &mut warnings);
        let forge = forge(source, &mut warnings);
        source.refuse_equal_secrets();
        let protocol = protocol::read(source, &mut warnings);
        let operator_listen = operator_listen(source);
        let loaded =
            Self::assemble(source, operator_listen, operator, forge, reconciliation, protocol);
        match loaded {
            // A configuration can be assembled although a problem was noted, for instance with a group that is off.
            Some(mut config) if source.problem_count() == 0 => {
                warn_of_proxies(&config.trusted_proxies, &mut warnings);
                config.warnings = warnings;
                Ok(config)
            }
            _ => Err(source.take_problems_from(0)),
        }
    }

    fn assemble(
        source: &mut Source,
        operator_listen: Option<SocketAddr>,
        operator: Option<OperatorConfig>,
        forge: Option<ForgeConfig>,
        reconciliation: Option<ReconciliationConfig>,
        protocol: Option<ProtocolConfig>,
    ) -> Option<Self> {
        let public_listen = public_listen(source);
        refuse_overlap(source, public_listen, operator_listen);
        let mcp = mcp::read(source, public_listen);
        let relay = relay::read(source, public_listen, mcp.as_ref());
        let connections = source.number("SVC_PUBLIC_CONNECTIONS_MAX");
        let trusted_proxies = source.parsed(
            "SVC_TRUSTED_PROXIES",
            "networks such as 10.0.0.0/8, separated by commas",
            |text| words(text).map(|word| word.parse().ok()).collect(),
        );
        let work = work(source);
        let log = log_config(source);
        let stop = source.number("SVC_STOP_SECONDS");
        let database = path(source, "SVC_DATABASE");
        let control_socket = control_socket(source);
        let operator_hosts = operator_hosts(source);
        // Each `?` comes only now, when everything is read, so that all problems are reported at once.
        Some(Self {
            database: database?,
            control_socket: control_socket?,
            operator_listen,
            operator_hosts: operator_hosts?,
            public_listen: public_listen?,
            public_connections_max: u16::try_from(connections?).ok()?,
            trusted_proxies: trusted_proxies?,
            operator,
            forge,
            reconciliation,
            protocol: protocol?,
            mcp,
            relay,
            work: work?,
            log: log?,
            stop_within: Duration::from_secs(stop?),
            secrets: source.take_digests(),
            warnings: Vec::new(),
        })
    }
}

/// Says whether `host`, a `Host` header without its port, names this machine's loopback.
#[must_use]
pub fn is_loopback_host(host: &str) -> bool {
    // A `Host` header has an IPv6 address in brackets.
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests;
