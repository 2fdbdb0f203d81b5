//! `/mcp`, put together: the gate that stands before it, made of the configuration, and the protocol's server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;

use super::Error;
use super::workers::Workers;
use crate::app::{AccessTokens, App, TokenError};
use crate::auth::access_token::{self, Scope};
use crate::config::{McpConfig, ProtocolConfig, PublicUrl, TokenIssuerConfig};
use crate::forge::issuer::IssuerClient;
use crate::http::gate::{self, GateRules, TokenRules, Tokens};
use crate::http::mcp::{McpEndpoint, describe as describe_refusal};
use crate::jwks::JwksCache;
use crate::mcp::backend::Backend;
use crate::mcp::description::{McpStatus, describe};
use crate::mcp::legacy;
use crate::mcp::relay::RelayBackend;
use crate::mcp::{Server, ServerSettings};
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::runtime::rate_limiter::Rate;
use crate::workers::driver::{self, Worker};

/// Time between two sweeps of idle sessions and of clients that have gone.
const SWEEP_POLL: Duration = Duration::from_mins(1);
/// The scope that every request needs.
const SCOPE: Scope = Scope::Read;
/// For how many seconds' requests a burst is.
const BURST_SECONDS: u32 = 4;
/// Headers that pages may send in either era, and those of the modern one.
const REQUEST_HEADERS: &str =
    "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, last-event-id";
const REQUEST_HEADERS_WITH_MODERN: &str = "authorization, content-type, accept, \
    mcp-protocol-version, mcp-session-id, last-event-id, mcp-method, mcp-name";
/// Headers that pages may read.
const RESPONSE_HEADERS: &str = "mcp-session-id, www-authenticate, retry-after";

/// How the protocol is set up, and what serves it.
pub(super) struct Mcp {
    pub(super) status: McpStatus,
    /// The gate and what is behind it, if `/mcp` is on.
    pub(super) served: Option<(gate::Gate, Arc<McpEndpoint>)>,
}

/// Sets the protocol up. `public` is the address that is listened at.
pub(super) fn open(
    config: Option<&McpConfig>,
    protocol: ProtocolConfig,
    public: SocketAddr,
    app: &Arc<App>,
) -> Result<Mcp, Error> {
    let status = describe(config, protocol, public);
    let Some(config) = config else { return Ok(Mcp { status, served: None }) };
    // No root certificate: the one in the settings is the forge's, and this issuer is another host.
    let client = IssuerClient::new(None).map_err(Error::Forge)?;
    let document_at = move |url: &str| client.document_at(url);
    let endpoint = Arc::new(endpoint(config, protocol, app));
    let gate = gate(config, protocol, public.port(), &endpoint, document_at, app);
    Ok(Mcp { status, served: Some((gate, endpoint)) })
}

/// Ends idle sessions, and lets go of streams whose clients have gone.
struct Sweep(Arc<McpEndpoint>);

impl Worker for Sweep {
    fn name(&self) -> &'static str {
        "mcp-sweep"
    }

    fn step(&mut self) -> driver::Next {
        self.0.sweep();
        driver::Next::Wait
    }
}

/// Starts the worker that maintains sessions and streams, if there are any.
pub(super) fn start_sweep(
    workers: &mut Workers,
    endpoint: Option<&Arc<McpEndpoint>>,
) -> Result<(), Error> {
    let Some(endpoint) = endpoint else { return Ok(()) };
    workers.start(Box::new(Sweep(Arc::clone(endpoint))), Notify::new(), SWEEP_POLL)
}

/// Returns the endpoint. Its tools ask the service itself.
#[must_use]
pub fn endpoint(config: &McpConfig, protocol: ProtocolConfig, app: &Arc<App>) -> McpEndpoint {
    let settings = ServerSettings {
        modern: protocol.modern,
        offered: protocol.offered,
        limits: legacy::Limits {
            max: config.sessions_max,
            per_subject_max: config.sessions_per_subject_max,
            idle: config.session_idle,
        },
        relay_wait: app.relay.as_ref().map_or(Duration::ZERO, |relay| relay.call_wait()),
    };
    let backend: Arc<dyn Backend> = Arc::<App>::clone(app);
    let ids = Ids::new(Box::new(SystemEntropy::new()));
    let (clock, metrics) = (Arc::clone(&app.clock), Arc::clone(&app.metrics));
    let relay = app.relay.clone().map(|relay| -> Arc<dyn RelayBackend> { relay });
    let server = Server::new(&settings, &backend, relay, clock, ids, metrics);
    McpEndpoint::new(Arc::new(server), config.streams_max, config.body_bytes_max)
}

/// Returns the gate before an endpoint. `port` is that of the public address; `document_at` gets the document at a URL,
/// and `None` when it cannot be had.
#[must_use]
pub fn gate(
    config: &McpConfig,
    protocol: ProtocolConfig,
    port: u16,
    endpoint: &McpEndpoint,
    document_at: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
    app: &App,
) -> gate::Gate {
    let (clock, metrics) = (&app.clock, &app.metrics);
    // Clients request the scopes that are published; one that no tool needs would ask people for consent to nothing.
    let is_needed = |scope: &Scope| *scope == SCOPE || endpoint.needs(*scope);
    let tokens = config.authorization.as_ref().map(|authorization| TokenRules {
        resource: authorization.public_url.resource(),
        issuer: authorization.issuer.clone(),
        resource_metadata: authorization.public_url.resource_metadata(),
        scope: SCOPE,
        all_scopes: Scope::ALL.iter().copied().filter(is_needed).collect(),
        tokens: Arc::new(access_tokens(authorization, document_at, clock, metrics)),
    });
    let request_headers =
        if protocol.modern { REQUEST_HEADERS_WITH_MODERN } else { REQUEST_HEADERS };
    let rate = |count: u32| Rate::per_second(count, count * BURST_SECONDS);
    let rules = GateRules {
        hosts: config.hosts.iter().map(|host| with_port(host, port)).collect(),
        origins: config.origins.iter().map(|origin| with_port(origin, port)).collect(),
        // Without tokens `/mcp` is for this machine alone, and a forwarding header means that a proxy lets others in.
        refuses_forwarded: tokens.is_none(),
        is_https: config.public_url.as_ref().is_some_and(PublicUrl::is_https),
        request_headers: HeaderValue::from_static(request_headers),
        response_headers: HeaderValue::from_static(RESPONSE_HEADERS),
        peer_rate: rate(config.peer_rate),
        subject_rate: rate(config.subject_rate),
        tokens,
        describe: describe_refusal,
    };
    gate::Gate::new(rules, Arc::clone(clock), Arc::clone(metrics))
}

/// Returns a host or an origin with the port that the system gave, where the configuration left it to the system.
pub(super) fn with_port(text: &str, port: u16) -> String {
    text.strip_suffix(":0").map_or_else(|| text.to_owned(), |name| format!("{name}:{port}"))
}

fn access_tokens(
    authorization: &TokenIssuerConfig,
    document_at: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
    clock: &Arc<dyn Clock>,
    metrics: &Arc<Metrics>,
) -> AccessTokens {
    let TokenIssuerConfig { issuer, jwks_url, audience, algorithms, token_type, .. } =
        authorization.clone();
    let keys = JwksCache::new(
        vec![issuer.clone()],
        algorithms.clone(),
        // There is one issuer, and its URL of keys is set, so the argument is not needed.
        Box::new(move |_| document_at(&jwks_url)),
        Arc::clone(clock),
    );
    let rules = access_token::AccessTokenRules { issuer, audience, algorithms, token_type };
    AccessTokens::new(rules, keys, Arc::clone(clock), Arc::clone(metrics))
}

impl Tokens for AccessTokens {
    fn known(&self, token: &str) -> Option<Arc<access_token::Caller>> {
        Self::known(self, token)
    }

    fn check(
        &self,
        token: &str,
        peer: Option<IpAddr>,
    ) -> Result<Arc<access_token::Caller>, gate::Refused> {
        Self::check(self, token, peer).map_err(|error| match error {
            // The caller learns that the token is invalid, and not which check failed.
            TokenError::Fault(_) => gate::Refused::InvalidToken,
            TokenError::KeysUnavailable { retry_after } => {
                gate::Refused::KeysUnavailable { retry_after }
            }
        })
    }
}
