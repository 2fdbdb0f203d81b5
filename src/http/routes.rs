//! The table of routes: surface, method, path, who may call it, how large a body may be, handler.
//!
//! Authentication comes before everything else about a request: below `OPERATOR_PREFIX` an
//! unauthenticated caller gets the same answer for every path, method and body; elsewhere, for every
//! request an operator's route would answer.

use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST};
use http::{Method, StatusCode};

use crate::api::{AuditEvent, DeadLetter, ReconciliationItem, ReleaseRun};
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::card;
use crate::config::is_loopback_host;
use crate::domain::agent_card;
use crate::http::cards::registry;
use crate::http::message::{Admitted, Head, Refusal, Request, Response, Service, Surface};
use crate::http::operator::lists;
use crate::http::path::{self, Path};
use crate::http::{callback, cards, error, health, operator, slo, webhook};

/// Everything below it needs the operator's token.
const OPERATOR_PREFIX: &str = "/api/v1/operator";
/// Largest body of an operator's request, in bytes: none has a meaning.
const OPERATOR_BODY_MAX: usize = 4 * 1024;
/// Largest body of a result, in bytes.
const RESULT_BODY_MAX: usize = 64 * 1024;

/// A handler, by who may call it.
enum Handler {
    /// Anyone.
    Open(fn(&App, &Request) -> Response),
    /// Workflow runs; the intention checks which.
    Run(fn(&App, &Request, &Path<'_>) -> Response),
    /// Anyone who reaches the surface, about what the path names.
    Reader(fn(&App, &Request, &Path<'_>) -> Result<Response, Error>),
    /// Operators; the principal is the proof.
    Operator(fn(&App, &Principal, &Request, &Path<'_>) -> Result<Response, Error>),
}

/// How large a body may be.
enum BodyLimit {
    /// A request with any is refused.
    None,
    /// So many bytes.
    Max(usize),
    /// As configured for webhooks.
    Webhook,
}

struct Route {
    surfaces: &'static [Surface],
    method: Method,
    path: &'static str,
    body: BodyLimit,
    handler: Handler,
}

const EVERYWHERE: &[Surface] = &[Surface::Control, Surface::Operator, Surface::Public];
const OPERATORS: &[Surface] = &[Surface::Control, Surface::Operator];
const PUBLIC: &[Surface] = &[Surface::Public];

const ROUTES: &[Route] = &[
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
];

/// Says of every route which surfaces, method and path it has, for documents and tests.
pub fn listing() -> impl Iterator<Item = (&'static [Surface], &'static Method, &'static str)> {
    ROUTES.iter().map(|route| (route.surfaces, &route.method, route.path))
}

/// Serves the table.
pub struct Router {
    app: Arc<App>,
    operator_hosts: Vec<String>,
}

impl Router {
    /// Returns a router over the intentions of `app`. The operator address answers to loopback names
    /// and to `operator_hosts`, in lower case.
    #[must_use]
    pub const fn new(app: Arc<App>, operator_hosts: Vec<String>) -> Self {
        Self { app, operator_hosts }
    }

    /// Finds the route of a request, and who asks when that matters.
    fn find(&self, head: &Head) -> Result<(&'static Route, Asker), Box<Response>> {
        let found = look_up(head);
        let needs_token = is_below(&head.path, OPERATOR_PREFIX)
            || found.as_ref().is_ok_and(|route| matches!(route.handler, Handler::Operator(_)));
        let asker = if needs_token && head.surface != Surface::Public {
            let authorization = head.single(&AUTHORIZATION);
            let principal = self.app.operator(authorization);
            Asker::Operator(principal.map_err(|why| Box::new(error::of_app(&why)))?)
        } else {
            Asker::Anyone
        };
        if head.surface == Surface::Operator && !self.goes_by(head) {
            return Err(Box::new(error::wrong_host()));
        }
        match found {
            Ok(route) => Ok((route, asker)),
            Err(allowed) if allowed.is_empty() => Err(Box::new(error::no_route())),
            Err(allowed) => Err(Box::new(error::wrong_method(&allowed))),
        }
    }

    /// Says whether the operator address answers to the request's host: a page that made a browser
    /// resolve its own name to this address does not get through.
    fn goes_by(&self, head: &Head) -> bool {
        let Some(host) = head.single(&HOST) else { return false };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => host,
        };
        is_loopback_host(name)
            || self.operator_hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    fn limit_of(&self, route: &Route) -> Result<usize, Box<Response>> {
        match route.body {
            BodyLimit::None => Ok(0),
            BodyLimit::Max(bytes) => Ok(bytes),
            BodyLimit::Webhook => match &self.app.intake {
                Some(rules) => Ok(rules.body_bytes_max),
                None => Err(Box::new(error::of_app(&Error::ForgeOff))),
            },
        }
    }
}

impl Service for Router {
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
        let surface = head.surface;
        let found = self.find(&head);
        let found = found.and_then(|(route, asker)| Ok((route, asker, self.limit_of(route)?)));
        let (route, asker, body_max) = found.inspect_err(|response| {
            count(&self.app, surface, response.status);
        })?;
        let app = Arc::clone(&self.app);
        Ok(Admitted::new(head, body_max, move |request| {
            let response = answer(&app, route, &asker, request);
            count(&app, surface, response.status);
            response
        }))
    }

    fn body_max(&self, surface: Surface, method: &Method) -> usize {
        let theirs = |route: &&Route| route.surfaces.contains(&surface) && answers(route, method);
        let limits = ROUTES.iter().filter(theirs).filter_map(|route| self.limit_of(route).ok());
        limits.max().unwrap_or_default()
    }

    fn refuse(&self, refusal: Refusal) -> Response {
        error::of_refusal(refusal)
    }
}

/// Who asks.
enum Asker {
    Anyone,
    Operator(Principal),
}

/// Looks a request up in the table; otherwise returns the methods its path has on its surface.
fn look_up(head: &Head) -> Result<&'static Route, Vec<Method>> {
    let mut allowed = Vec::new();
    for route in ROUTES.iter().filter(|route| route.surfaces.contains(&head.surface)) {
        if !path::matches(route.path, &head.path) {
            continue;
        }
        if answers(route, &head.method) {
            return Ok(route);
        }
        allowed.push(route.method.clone());
        if route.method == Method::GET {
            allowed.push(Method::HEAD);
        }
    }
    Err(allowed)
}

fn answer(app: &App, route: &Route, asker: &Asker, request: &Request) -> Response {
    let path = Path::new(route.path, &request.head.path);
    match (&route.handler, asker) {
        (Handler::Open(handler), _) => handler(app, request),
        (Handler::Run(handler), _) => handler(app, request, &path),
        (Handler::Reader(handler), _) => {
            handler(app, request, &path).unwrap_or_else(|why| error::of_app(&why))
        }
        (Handler::Operator(handler), Asker::Operator(principal)) => {
            handler(app, principal, request, &path).unwrap_or_else(|why| error::of_app(&why))
        }
        // An operator's route on the public surface would be a mistake in the table; refuse it.
        (Handler::Operator(_), Asker::Anyone) => error::of_app(&Error::Unauthenticated),
    }
}

fn count(app: &App, surface: Surface, status: StatusCode) {
    let class = match status.as_u16() {
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    };
    app.metrics.requests.count([("surface", surface.as_str()), ("status", class)]);
}

fn answers(route: &Route, method: &Method) -> bool {
    route.method == *method || (route.method == Method::GET && *method == Method::HEAD)
}

fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
