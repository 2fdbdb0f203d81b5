//! The table itself: surface, method, path, who may call it, how large a body may be, handler.

use std::sync::Arc;

use http::Method;

use crate::api::relay::{RelayAuditEvent, RelayDevice, RelayInvocation, RelaySession};
use crate::api::{AuditEvent, DeadLetter, McpStatus, ReconciliationItem, ReleaseRun};
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::card;
use crate::domain::agent_card;
use crate::http::cards::registry;
#[cfg(feature = "fixture")]
use crate::http::fixture;
use crate::http::gate::{Authorized, Gate, TokenRules};
use crate::http::mcp::{self, McpEndpoint};
use crate::http::message::{Request, Response, Surface, Work};
use crate::http::operator::{lists, relay};
use crate::http::path::Path;
use crate::http::relay::{RelayRoutes, pairings, plugin, socket};
use crate::http::{callback, cards, health, metadata, operator, reload, slo, webhook};

/// Largest body of an operator's request, in bytes: a reason, or what has no meaning.
const OPERATOR_BODY_MAX: usize = 4 * 1024;
/// Largest body of a result, in bytes.
const RESULT_BODY_MAX: usize = 64 * 1024;

/// A handler that only operators may call.
type OfOperators = fn(&App, &Principal, &Request, &Path<'_>) -> Result<Response, app::Error>;

/// A handler, by who may call it.
pub(super) enum Handler {
    /// Anyone.
    Open(fn(&App, &Request) -> Response),
    /// Workflow runs; the use case checks which.
    Run(fn(&App, &Request, &Path<'_>) -> Response),
    /// Anyone who reaches the surface, about what the path names.
    Reader(fn(&App, &Request, &Path<'_>) -> Result<Response, app::Error>),
    /// Operators; the principal is the proof.
    Operator(OfOperators),
    /// Anyone, about the tokens that the gate asks for; where it asks for none, the path does not exist.
    Tokens(fn(&TokenRules) -> Response),
    /// Anyone who reaches the surface, about how MCP is set up.
    Setup(fn(&McpStatus, Option<&Gate>) -> Response),
    /// Pages of design tools, by the hosts that the gate goes by. The path does not exist where the relay is off.
    Relay(fn(&RelayRoutes, &Gate, &Request, &Path<'_>) -> Result<Response, app::Error>),
    /// Callers that the gate lets through; `None` where it asks for no token. Without MCP there is no such route.
    Mcp(fn(&Arc<McpEndpoint>, Option<Authorized<'_>>, &Request) -> Work),
    /// The same, for the relay. While that is off there is no such route.
    Pairing(fn(&Arc<app::relay::Relay>, Option<Authorized<'_>>, &Request) -> Work),
    /// The same, for tests.
    #[cfg(feature = "fixture")]
    Fixture(fn(Option<Authorized<'_>>, &Request) -> Work),
}

impl Handler {
    /// Says whether it is behind the gate.
    pub(super) const fn is_gated(&self) -> bool {
        match self {
            Self::Open(_) | Self::Run(_) | Self::Reader(_) => false,
            Self::Operator(_) | Self::Tokens(_) => false,
            Self::Setup(_) | Self::Relay(_) => false,
            Self::Mcp(_) | Self::Pairing(_) => true,
            #[cfg(feature = "fixture")]
            Self::Fixture(_) => true,
        }
    }
}

/// How large a body may be.
pub(super) enum BodyLimit {
    /// A request with any is refused.
    None,
    /// So many bytes.
    Max(usize),
    /// As configured for webhooks.
    Webhook,
    /// As configured for MCP.
    Mcp,
}

/// A row.
pub(super) struct Route {
    pub(super) surfaces: &'static [Surface],
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) body: BodyLimit,
    pub(super) handler: Handler,
}

const EVERYWHERE: &[Surface] = &[Surface::Control, Surface::Operator, Surface::Public];
const OPERATORS: &[Surface] = &[Surface::Control, Surface::Operator];
const PUBLIC: &[Surface] = &[Surface::Public];

/// Returns a row of operators, without a body.
const fn of_operators(method: Method, path: &'static str, handler: OfOperators) -> Route {
    let handler = Handler::Operator(handler);
    Route { surfaces: OPERATORS, method, path, body: BodyLimit::None, handler }
}

/// Returns a row of operators under which something is done, with a small body.
const fn request_of_operators(path: &'static str, handler: OfOperators) -> Route {
    let body = BodyLimit::Max(OPERATOR_BODY_MAX);
    let handler = Handler::Operator(handler);
    Route { surfaces: OPERATORS, method: Method::POST, path, body, handler }
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        surfaces: EVERYWHERE,
        method: Method::GET,
        path: "/health/live",
        body: BodyLimit::None,
        handler: Handler::Open(health::live),
    },
    Route {
        surfaces: EVERYWHERE,
        method: Method::GET,
        path: "/health/ready",
        body: BodyLimit::None,
        handler: Handler::Open(health::ready),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/status",
        body: BodyLimit::None,
        handler: Handler::Open(health::status),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/metrics",
        body: BodyLimit::None,
        handler: Handler::Open(health::metrics),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::POST,
        path: "/webhooks/forge",
        body: BodyLimit::Webhook,
        handler: Handler::Open(webhook::receive),
    },
    // Who may open the socket may do it (docs/decisions/94-reload.md).
    Route {
        surfaces: &[Surface::Control],
        method: Method::POST,
        path: "/api/v1/reload",
        body: BodyLimit::None,
        handler: Handler::Reader(reload::reload),
    },
    // Not public: it costs time, and who writes cards works on this machine or on that network.
    Route {
        surfaces: OPERATORS,
        method: Method::POST,
        path: "/api/v1/agent-cards/validate",
        body: BodyLimit::Max(card::BYTES_MAX),
        handler: Handler::Reader(cards::validate),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::POST,
        path: "/api/v1/release-runs/{releaseRunId}/attempts/{attemptId}/result",
        body: BodyLimit::Max(RESULT_BODY_MAX),
        handler: Handler::Run(callback::receive),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/agent-cards",
        body: BodyLimit::None,
        handler: Handler::Reader(registry::list),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/agent-cards/{name}",
        body: BodyLimit::None,
        handler: Handler::Reader(registry::show),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::PUT,
        path: "/api/v1/agent-cards/{name}",
        body: BodyLimit::Max(agent_card::BYTES_MAX),
        handler: Handler::Operator(registry::put),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::DELETE,
        path: "/api/v1/agent-cards/{name}",
        body: BodyLimit::None,
        handler: Handler::Operator(registry::remove),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations",
        body: BodyLimit::None,
        handler: Handler::Operator(operator::installations),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/slo",
        body: BodyLimit::None,
        handler: Handler::Operator(slo::slo),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/dead-letters",
        body: BodyLimit::None,
        handler: Handler::Operator(lists::list::<DeadLetter>),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/dead-letters/summary",
        body: BodyLimit::None,
        handler: Handler::Operator(operator::dead_letter_summary),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/dead-letters/{itemType}/{itemId}",
        body: BodyLimit::None,
        handler: Handler::Operator(operator::dead_letter),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::POST,
        path: "/api/v1/operator/installations/{installationId}/dead-letters/{itemType}/{itemId}/replay",
        body: BodyLimit::Max(OPERATOR_BODY_MAX),
        handler: Handler::Operator(operator::replay),
    },
    request_of_operators(
        "/api/v1/operator/installations/{installationId}/dead-letters/{itemType}/{itemId}/close",
        operator::close,
    ),
    of_operators(Method::GET, "/api/v1/operator/installations/{installationId}/ids", operator::ids),
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/audit-events",
        body: BodyLimit::None,
        handler: Handler::Operator(lists::list::<AuditEvent>),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/releases",
        body: BodyLimit::None,
        handler: Handler::Operator(lists::list::<ReleaseRun>),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/releases/{releaseRunId}",
        body: BodyLimit::None,
        handler: Handler::Operator(operator::releases::show),
    },
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/operator/installations/{installationId}/reconciliation-items",
        body: BodyLimit::None,
        handler: Handler::Operator(lists::list::<ReconciliationItem>),
    },
    request_of_operators(
        "/api/v1/operator/installations/{installationId}/reconciliation-items/{reconciliationId}/close",
        operator::close_reconciliation,
    ),
    of_operators(Method::GET, "/api/v1/operator/relay", relay::status),
    of_operators(Method::GET, "/api/v1/operator/relay/sessions", relay::list::<RelaySession>),
    of_operators(Method::GET, "/api/v1/operator/relay/sessions/{id}", relay::show::<RelaySession>),
    of_operators(Method::DELETE, "/api/v1/operator/relay/sessions/{id}", relay::end_session),
    of_operators(Method::GET, "/api/v1/operator/relay/devices", relay::list::<RelayDevice>),
    of_operators(Method::GET, "/api/v1/operator/relay/devices/{id}", relay::show::<RelayDevice>),
    of_operators(Method::DELETE, "/api/v1/operator/relay/devices/{id}", relay::revoke_device),
    of_operators(Method::GET, "/api/v1/operator/relay/invocations", relay::list::<RelayInvocation>),
    of_operators(
        Method::GET,
        "/api/v1/operator/relay/invocations/{id}",
        relay::show::<RelayInvocation>,
    ),
    Route {
        surfaces: OPERATORS,
        method: Method::POST,
        path: "/api/v1/operator/relay/invocations/{id}/deny",
        body: BodyLimit::Max(OPERATOR_BODY_MAX),
        handler: Handler::Operator(relay::deny),
    },
    of_operators(
        Method::GET,
        "/api/v1/operator/relay/audit-events",
        relay::list::<RelayAuditEvent>,
    ),
    // Before the row of one event, whose path it would be too.
    of_operators(Method::GET, "/api/v1/operator/relay/audit-events/verify", relay::verify_audit),
    of_operators(
        Method::GET,
        "/api/v1/operator/relay/audit-events/{id}",
        relay::show::<RelayAuditEvent>,
    ),
    Route {
        surfaces: OPERATORS,
        method: Method::GET,
        path: "/api/v1/mcp",
        body: BodyLimit::None,
        handler: Handler::Setup(mcp::status),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::POST,
        path: "/mcp",
        body: BodyLimit::Mcp,
        handler: Handler::Mcp(mcp::post),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::GET,
        path: "/mcp",
        body: BodyLimit::None,
        handler: Handler::Mcp(mcp::get),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::DELETE,
        path: "/mcp",
        body: BodyLimit::None,
        handler: Handler::Mcp(mcp::delete),
    },
    // Clients try the path of the resource first, and then none.
    Route {
        surfaces: PUBLIC,
        method: Method::GET,
        path: "/.well-known/oauth-protected-resource/mcp",
        body: BodyLimit::None,
        handler: Handler::Tokens(metadata::show),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::GET,
        path: "/.well-known/oauth-protected-resource",
        body: BodyLimit::None,
        handler: Handler::Tokens(metadata::show),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::GET,
        path: "/relay/v1/connect",
        body: BodyLimit::None,
        handler: Handler::Relay(socket::connect),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::POST,
        path: "/relay/v1/pairings/claim",
        body: BodyLimit::Max(pairings::BODY_BYTES_MAX),
        handler: Handler::Pairing(pairings::claim),
    },
    Route {
        surfaces: PUBLIC,
        method: Method::GET,
        path: "/relay/plugin/penpot/{file}",
        body: BodyLimit::None,
        handler: Handler::Relay(plugin::show),
    },
    #[cfg(feature = "fixture")]
    Route {
        surfaces: PUBLIC,
        method: Method::POST,
        path: "/fixture/gated",
        body: BodyLimit::Max(OPERATOR_BODY_MAX),
        handler: Handler::Fixture(fixture::gated),
    },
];
