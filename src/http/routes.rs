//! The table of routes: surface, method, path, who may call it, how large a body may be, handler.
//!
//! Authentication comes before everything else about a request: below `OPERATOR_PREFIX` an
//! unauthenticated caller gets the same answer for every path, method and body; elsewhere, for every
//! request an operator's route would answer.

mod table;

use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST};
use http::{Method, StatusCode};

use crate::api::McpStatus;
use crate::app::{self, App};
use crate::auth::operator::Principal;
use crate::config::is_loopback_host;
use crate::http::error;
use crate::http::gate::{Authorized, Gate};
use crate::http::mcp::McpEndpoint;
use crate::http::message::{
    Admitted, Answer, Head, Refusal, Request, Response, Service, Surface, Work,
};
use crate::http::path::{self, Path};
use crate::http::relay::RelayRoutes;
use table::{BodyLimit, Handler, ROUTES, Route};

/// Longest body that an async thread reads itself, in bytes; a longer one would hold up others.
const PROMPT_BODY_MAX: usize = 16 << 10;
/// Everything below it needs the operator's token.
const OPERATOR_PREFIX: &str = "/api/v1/operator";

/// Says of every route which surfaces, method and path it has, for documents and tests.
pub fn listing() -> impl Iterator<Item = (&'static [Surface], &'static Method, &'static str)> {
    ROUTES.iter().map(|route| (route.surfaces, &route.method, route.path))
}

/// Serves the table.
pub struct Router {
    app: Arc<App>,
    operator_hosts: Vec<String>,
    gate: Option<Arc<Gate>>,
    mcp: Option<Arc<McpEndpoint>>,
    mcp_status: Option<Arc<McpStatus>>,
    relay: Option<Arc<RelayRoutes>>,
}

impl Router {
    /// Returns a router over the use cases of `app`. The operator address answers to loopback names
    /// and to `operator_hosts`, in lower case. Without a gate, the routes behind it do not exist.
    #[must_use]
    pub fn new(app: Arc<App>, operator_hosts: Vec<String>, gate: Option<Gate>) -> Self {
        Self {
            app,
            operator_hosts,
            gate: gate.map(Arc::new),
            mcp: None,
            mcp_status: None,
            relay: None,
        }
    }

    /// Returns it with `/mcp`, which is behind the gate.
    #[must_use]
    pub fn with_mcp(self, mcp: Arc<McpEndpoint>) -> Self {
        Self { mcp: Some(mcp), ..self }
    }

    /// Returns it with what operators are told of how MCP is set up.
    #[must_use]
    pub fn with_mcp_status(self, status: McpStatus) -> Self {
        Self { mcp_status: Some(Arc::new(status)), ..self }
    }

    /// Returns it with the relay, where that is on.
    #[must_use]
    pub fn with_relay(self, relay: Option<RelayRoutes>) -> Self {
        Self { relay: relay.map(Arc::new), ..self }
    }

    /// Finds the route of a request, and who asks when that matters.
    fn find(&self, head: &Head) -> Result<(&'static Route, Asker), Box<Response>> {
        let found = self.look_up(head);
        let needs_token = is_below(&head.path, OPERATOR_PREFIX)
            || found.as_ref().is_ok_and(|route| matches!(route.handler, Handler::Operator(_)));
        // Operators have no routes on the public address, so their token is not compared there.
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

    /// Looks a request up in the table; otherwise returns the methods its path has on its surface.
    fn look_up(&self, head: &Head) -> Result<&'static Route, Vec<Method>> {
        let mut allowed = Vec::new();
        for route in rows(head).filter(|route| self.exists(&route.handler)) {
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

    /// Says whether a route is there: one whose part is switched off is answered like one that never existed, whatever
    /// the method.
    fn exists(&self, handler: &Handler) -> bool {
        match handler {
            Handler::Open(_) | Handler::Run(_) | Handler::Reader(_) | Handler::Operator(_) => true,
            Handler::Tokens(_) => self.gate.as_deref().and_then(Gate::tokens).is_some(),
            Handler::Setup(_) => self.mcp_status.is_some(),
            Handler::Relay(_) => self.relay.is_some() && self.gate.is_some(),
            Handler::Mcp(_) => self.mcp.is_some() && self.gate.is_some(),
            Handler::Pairing(_) => self.app.relay.is_some() && self.gate.is_some(),
            #[cfg(feature = "fixture")]
            Handler::Fixture(_) => self.gate.is_some(),
        }
    }

    /// Says whether the operator address answers to the request's host: a page that made a browser
    /// resolve its own name to this address does not get through.
    fn goes_by(&self, head: &Head) -> bool {
        let Some(host) = head.single(&HOST) else { return false };
        // In `[::1]` a bracket follows the last colon, so that part is not taken for a port.
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
            BodyLimit::Mcp => Ok(self.mcp.as_ref().map_or(0, |mcp| mcp.body_bytes_max)),
            BodyLimit::Webhook => match &self.app.intake {
                Some(rules) => Ok(rules.body_bytes_max),
                None => Err(Box::new(error::of_app(&app::Error::ForgeOff))),
            },
        }
    }
}

impl Router {
    /// Admits a request to a path whose routes are behind the gate.
    fn admit_gated(&self, head: Head) -> Result<Admitted, Box<Response>> {
        let exists = rows(&head).all(|route| self.exists(&route.handler));
        let gate = self.gate.as_ref().filter(|_| exists);
        let gate = gate.ok_or_else(|| Box::new(error::no_route()))?;
        let methods: Vec<Method> = rows(&head).map(|route| route.method.clone()).collect();
        let route = rows(&head).find(|route| route.method == head.method);
        let body_max = route.map_or(Ok(0), |route| self.limit_of(route))?;
        let visit = Arc::new(gate.admit(&head, &methods, body_max)?);
        let way_out = Arc::clone(&visit);
        // The gate lets in no other method.
        let handler = route.and_then(|route| self.gated(&route.handler));
        let handler = handler.ok_or_else(|| Box::new(error::no_route()))?;
        // Small requests need no thread; a token that is not remembered may have to wait for keys
        // (docs/decisions/50-mcp-answers.md).
        let begin = move |request: &Request| match visit.known_caller() {
            Some(caller) if request.body.len() <= PROMPT_BODY_MAX => handler(caller, request),
            _ => Work::blocking(move |request| match visit.caller() {
                Ok(caller) => handler(visit.authorized(caller.as_deref()), request).finish(request),
                Err(refusal) => Answer::from(*refusal),
            }),
        };
        Ok(Admitted::prompt(head, body_max, begin).through(way_out))
    }

    /// Returns a handler behind the gate with what it needs.
    fn gated(&self, handler: &Handler) -> Option<GatedHandler> {
        match *handler {
            Handler::Open(_) | Handler::Run(_) | Handler::Reader(_) => None,
            Handler::Operator(_) | Handler::Tokens(_) => None,
            Handler::Setup(_) | Handler::Relay(_) => None,
            Handler::Pairing(handler) => {
                let relay = self.app.relay.clone()?;
                Some(Box::new(move |caller, request| handler(&relay, caller, request)))
            }
            Handler::Mcp(handler) => {
                let endpoint = self.mcp.clone()?;
                Some(Box::new(move |caller, request| handler(&endpoint, caller, request)))
            }
            #[cfg(feature = "fixture")]
            Handler::Fixture(handler) => Some(Box::new(handler)),
        }
    }
}

/// A handler behind the gate.
type GatedHandler = Box<dyn Fn(Option<Authorized<'_>>, &Request) -> Work + Send>;

impl Service for Router {
    fn admit(&self, head: Head) -> Result<Admitted, Box<Response>> {
        // All routes of a path are behind the gate, or none.
        if rows(&head).next().is_some_and(|route| route.handler.is_gated()) {
            return self.admit_gated(head);
        }
        let (route, asker) = self.find(&head)?;
        // Before the body is read: a part that is not configured refuses without it.
        let body_max = self.limit_of(route)?;
        let (app, gate) = (Arc::clone(&self.app), self.gate.clone());
        let (mcp, relay) = (self.mcp_status.clone(), self.relay.clone());
        Ok(Admitted::new(head, body_max, move |request| {
            match (&route.handler, &mcp, &relay, &gate) {
                (Handler::Setup(handler), Some(mcp), ..) => handler(mcp, gate.as_deref()),
                (Handler::Relay(handler), _, Some(relay), Some(gate)) => {
                    let path = Path::new(route.path, &request.head.path);
                    handler(relay, gate, request, &path).unwrap_or_else(|why| error::of_app(&why))
                }
                _ => answer(&app, gate.as_deref(), route, &asker, request),
            }
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

    fn answered(&self, surface: Surface, status: StatusCode) {
        let labels = [("surface", surface.as_str()), ("status", class(status))];
        self.app.metrics.requests.count(labels);
    }
}

/// Who asks.
enum Asker {
    Anyone,
    Operator(Principal),
}

/// Returns the rows of a request's path on its surface: those of the first pattern that the path matches. So a
/// variable never stands for a word that has a route of its own, and `Allow` lists what can be asked of the path
/// (`docs/decisions/129-documented-answers.md`).
fn rows(head: &Head) -> impl Iterator<Item = &'static Route> {
    let theirs = |route: &&Route| {
        route.surfaces.contains(&head.surface) && path::matches(route.path, &head.path)
    };
    let pattern = ROUTES.iter().find(theirs).map(|route| route.path);
    ROUTES.iter().filter(move |route| pattern == Some(route.path)).filter(theirs)
}

fn answer(
    app: &App,
    gate: Option<&Gate>,
    route: &Route,
    asker: &Asker,
    request: &Request,
) -> Response {
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
        (Handler::Operator(_), Asker::Anyone) => error::of_app(&app::Error::Unauthenticated),
        (Handler::Tokens(handler), _) => {
            gate.and_then(Gate::tokens).map_or_else(error::no_route, handler)
        }
        // The others have a way of their own, or what they need is off.
        (_, _) => error::no_route(),
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        // A WebSocket was opened.
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}

fn answers(route: &Route, method: &Method) -> bool {
    // HEAD is answered wherever GET is (RFC 9110, section 9.3.2); the servers leave its body out.
    route.method == *method || (route.method == Method::GET && *method == Method::HEAD)
}

fn is_below(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
