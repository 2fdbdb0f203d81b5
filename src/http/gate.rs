//! The gate in front of routes that strangers call with tokens, some of them from pages in browsers.
//!
//! What it can tell from the head it decides before the body is read, in this order: the host, proxies, the page,
//! the preflight, the peer's rate, the method, the length, and whether there is a token. A token that was checked
//! before has its owner at once; any other is checked by the handler's thread, because keys may have to be
//! fetched. Every answer of such a route, a refusal too, passes the gate on its way out.
//!
//! See `docs/decisions/37-gate-for-token-routes.md`.

mod rules;

use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION,
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, RETRY_AFTER, STRICT_TRANSPORT_SECURITY, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode};

use crate::auth::access_token::TOKEN_BYTES_MAX;
use crate::http::error;
use crate::http::message::{Head, Refusal, Response, WayOut};
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;
use crate::runtime::rate_limiter::RateLimiter;

pub use crate::auth::access_token::Caller;
pub use rules::{Authorized, Challenge, GateRules, Refused, TokenRules, Tokens};

/// Most peers, and most subjects, whose rate is counted apart.
const BUCKETS_MAX: usize = 10_000;
/// What every answer carries: it is data, and nothing of it is to be kept, guessed at, shown in a frame or
/// told to others.
const HEADERS: [(HeaderName, &str); 4] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store, no-transform"),
    (REFERRER_POLICY, "no-referrer"),
    (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
];
/// Headers that proxies add.
static FORWARDED: [HeaderName; 5] = [
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];
/// That a request came: a bit beside one for each of [`FORWARDED`].
const CAME: u8 = 1 << 7;
/// For how long browsers come back by https alone: a year.
pub(super) const STRICT_TRANSPORT: &str = "max-age=31536000";

pub struct Gate {
    rules: GateRules,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    peers: Mutex<RateLimiter<Option<IpAddr>>>,
    subjects: Mutex<RateLimiter<String>>,
    /// Which of [`FORWARDED`] the last request had, a bit each; zero before the first one.
    forwarded: AtomicU8,
}

/// A request that was let in as far as its head goes, until its answer is out.
pub struct Visit {
    gate: Arc<Gate>,
    peer: Option<IpAddr>,
    /// The page it comes from.
    origin: Option<HeaderValue>,
    token: Token,
}

enum Token {
    /// None is asked for.
    Needless,
    Known(Arc<Caller>),
    Unchecked(String),
}

impl Gate {
    /// Returns a gate. `clock` is what rates are counted by; refusals are counted in `metrics`.
    #[must_use]
    pub fn new(rules: GateRules, clock: Arc<dyn Clock>, metrics: Arc<Metrics>) -> Self {
        let peers = Mutex::new(RateLimiter::new(rules.peer_rate, BUCKETS_MAX));
        let subjects = Mutex::new(RateLimiter::new(rules.subject_rate, BUCKETS_MAX));
        Self { rules, clock, metrics, peers, subjects, forwarded: AtomicU8::new(0) }
    }

    /// Returns the names of the headers of proxies that the last request had, whatever became of it, sorted; `None`
    /// before the first one.
    pub fn last_forwarded(&self) -> Option<impl Iterator<Item = &'static str>> {
        let forwarded = self.forwarded.load(Ordering::Relaxed);
        let had = move |bit: usize| forwarded & (1 << bit) != 0;
        let names = FORWARDED.iter().enumerate().filter(move |(bit, _)| had(*bit));
        (forwarded != 0).then(|| names.map(|(_, name)| name.as_str()))
    }

    /// Returns which tokens are asked for; `None` where none is.
    #[must_use]
    pub const fn tokens(&self) -> Option<&TokenRules> {
        self.rules.tokens.as_ref()
    }

    /// Decides from its head whether a request is let in to a route that has these methods, the one that
    /// is asked for with a body of up to `body_max` bytes. Never blocks.
    ///
    /// # Errors
    /// The answer instead.
    pub fn admit(
        self: &Arc<Self>,
        head: &Head,
        methods: &[Method],
        body_max: usize,
    ) -> Result<Visit, Box<Response>> {
        let origin = head.headers.get(ORIGIN).cloned();
        let visitor =
            |origin, token| Visit { gate: Arc::clone(self), peer: head.peer, origin, token };
        let is_forwarded = self.note_forwarded(head);
        if self.host_of(head).is_none() {
            return Err(Box::new(visitor(None, Token::Needless).refuse(Refused::Host)));
        }
        if self.rules.refuses_forwarded && is_forwarded {
            return Err(Box::new(visitor(None, Token::Needless).refuse(Refused::Forwarded)));
        }
        if !self.lets_pages_of_its_origin_call(head) {
            return Err(Box::new(visitor(None, Token::Needless).refuse(Refused::Origin)));
        }
        let visit = visitor(origin, Token::Needless);
        if head.method == Method::OPTIONS {
            return Err(Box::new(visit.preflight(head, methods)));
        }
        let decided = self.decide(head, methods, body_max);
        let token = decided.map_err(|refused| {
            let refusal = visit.refuse(refused);
            let is_method = refused == Refused::Method;
            Box::new(if is_method { refusal.with(ALLOW, list(methods)) } else { refusal })
        })?;
        Ok(Visit { token, ..visit })
    }

    /// Says whether a page may open a socket: by its host, by no proxy where that is refused, from exactly one of
    /// `origins`, and not too often. A program without a page cannot either.
    ///
    /// # Errors
    /// The first that does not hold.
    pub fn admit_socket(&self, head: &Head, origins: &[String]) -> Result<(), Refused> {
        let is_forwarded = self.note_forwarded(head);
        let origin = head.single(&ORIGIN).map(str::to_ascii_lowercase);
        let refused = if self.host_of(head).is_none() {
            Err(Refused::Host)
        } else if self.rules.refuses_forwarded && is_forwarded {
            Err(Refused::Forwarded)
        } else if !origin.is_some_and(|origin| origins.contains(&origin)) {
            Err(Refused::Origin)
        } else {
            take(&self.peers, head.peer, &*self.clock)
        };
        refused.inspect_err(|refused| self.metrics.mcp_refusals.count([("gate", refused.gate())]))
    }

    fn decide(&self, head: &Head, methods: &[Method], body_max: usize) -> Result<Token, Refused> {
        take(&self.peers, head.peer, &*self.clock)?;
        if !methods.contains(&head.method) {
            return Err(Refused::Method);
        }
        let length = head.single(&CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        match length {
            None if body_max > 0 => return Err(Refused::Server(Refusal::LengthRequired)),
            Some(length) if length > body_max => {
                return Err(Refused::Server(Refusal::PayloadTooLarge));
            }
            _ => {}
        }
        let Some(TokenRules { tokens, .. }) = &self.rules.tokens else {
            return Ok(Token::Needless);
        };
        let token = bearer(head)?;
        Ok(match tokens.known(token) {
            Some(caller) => {
                self.authorize(&caller)?;
                Token::Known(caller)
            }
            None => Token::Unchecked(token.to_owned()),
        })
    }

    /// Notes which headers of proxies a request has, and says whether it has any.
    fn note_forwarded(&self, head: &Head) -> bool {
        let has = FORWARDED.iter().enumerate().filter(|(_, name)| head.headers.contains_key(*name));
        let forwarded = has.fold(CAME, |forwarded, (bit, _)| forwarded | (1 << bit));
        self.forwarded.store(forwarded, Ordering::Relaxed);
        forwarded != CAME
    }

    /// Returns the host of a request, in its one spelling, if the gate goes by it. A name may end in the dot of the
    /// root.
    pub(super) fn host_of(&self, head: &Head) -> Option<&str> {
        let host = head.single(&HOST)?.to_ascii_lowercase();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host.as_str(), None),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        let host = port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        self.rules.hosts.iter().find(|own| **own == host).map(String::as_str)
    }

    fn lets_pages_of_its_origin_call(&self, head: &Head) -> bool {
        !head.headers.contains_key(ORIGIN)
            || head
                .single(&ORIGIN)
                .is_some_and(|it| self.rules.origins.contains(&it.to_ascii_lowercase()))
    }

    /// Admits a caller that has the scope every request needs and is within its rate.
    fn authorize(&self, caller: &Caller) -> Result<(), Refused> {
        let scope = self.rules.tokens.as_ref().map(|rules| rules.scope);
        if !scope.is_none_or(|scope| caller.scopes.contains(&scope)) {
            return Err(Refused::InsufficientScope);
        }
        take(&self.subjects, caller.subject.clone(), &*self.clock)
    }
}

impl Visit {
    /// Returns who calls, if that is known without waiting.
    #[must_use]
    pub fn known_caller(&self) -> Option<Option<Authorized<'_>>> {
        match &self.token {
            Token::Needless => Some(None),
            Token::Known(caller) => Some(self.authorized(Some(caller))),
            Token::Unchecked(_) => None,
        }
    }

    /// Returns a caller with the rules that it got through by.
    #[must_use]
    pub fn authorized<'a>(&'a self, caller: Option<&'a Caller>) -> Option<Authorized<'a>> {
        let rules = self.gate.rules.tokens.as_ref();
        caller.zip(rules).map(|(caller, rules)| Authorized { caller, rules })
    }

    /// Returns who calls; nothing where everybody may. May wait for keys.
    ///
    /// # Errors
    /// The answer instead.
    pub fn caller(&self) -> Result<Option<Arc<Caller>>, Box<Response>> {
        match (&self.token, &self.gate.rules.tokens) {
            (Token::Unchecked(token), Some(TokenRules { tokens, .. })) => {
                let caller = tokens.check(token, self.peer);
                let caller = caller.and_then(|it| self.gate.authorize(&it).map(|()| it));
                caller.map(Some).map_err(|refused| Box::new(self.refuse(refused)))
            }
            (Token::Known(caller), _) => Ok(Some(Arc::clone(caller))),
            (Token::Needless | Token::Unchecked(_), _) => Ok(None),
        }
    }

    /// Answers a request that does not get through.
    fn refuse(&self, refused: Refused) -> Response {
        self.gate.metrics.mcp_refusals.count([("gate", refused.gate())]);
        let (media_type, body) = (self.gate.rules.describe)(&refused);
        let response = Response::new(refused.status(), media_type, body);
        let response = match refused {
            Refused::TooMany { retry_after } | Refused::KeysUnavailable { retry_after } => {
                response.with(RETRY_AFTER, error::seconds(retry_after))
            }
            _ => response,
        };
        let response = match self.challenge(refused) {
            Some(challenge) => response.with(WWW_AUTHENTICATE, challenge),
            None => response,
        };
        self.finish(response)
    }

    /// Answers what a browser asks before it lets a page call, and anybody who asks for the methods.
    fn preflight(&self, head: &Head, methods: &[Method]) -> Response {
        let response = Response::empty(StatusCode::NO_CONTENT).with(ALLOW, list(methods));
        if self.origin.is_none() || !head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            return self.finish(response);
        }
        let headers = self.gate.rules.request_headers.clone();
        self.finish(
            response
                .with(ACCESS_CONTROL_ALLOW_METHODS, list(methods))
                .with(ACCESS_CONTROL_ALLOW_HEADERS, headers),
        )
    }

    /// Returns how a client comes by a token that gets through, where that would help.
    fn challenge(&self, refused: Refused) -> Option<HeaderValue> {
        let rules = self.gate.rules.tokens.as_ref()?;
        Some(rules.challenge(match refused {
            Refused::NoToken => Challenge::NoToken,
            Refused::InvalidRequest => Challenge::InvalidRequest,
            Refused::InvalidToken => Challenge::InvalidToken,
            Refused::InsufficientScope => Challenge::InsufficientScope(rules.scope),
            _ => return None,
        }))
    }
}

impl WayOut for Visit {
    fn refuse(&self, refusal: Refusal) -> Response {
        Self::refuse(self, Refused::Server(refusal))
    }

    fn finish(&self, mut response: Response) -> Response {
        for (name, value) in HEADERS {
            response.headers.insert(name, HeaderValue::from_static(value));
        }
        if self.gate.rules.is_https {
            let value = HeaderValue::from_static(STRICT_TRANSPORT);
            response.headers.insert(STRICT_TRANSPORT_SECURITY, value);
        }
        // A cache that did not know of it could show one page's answer to another.
        response.headers.insert(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = &self.origin {
            response.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            let readable = self.gate.rules.response_headers.clone();
            response.headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, readable);
        }
        response
    }
}

/// Takes one request from a bucket.
fn take<K: Eq + Hash>(
    buckets: &Mutex<RateLimiter<K>>,
    key: K,
    clock: &dyn Clock,
) -> Result<(), Refused> {
    let taken = lock(buckets).take(key, clock.monotonic());
    taken.map_err(|retry_after| Refused::TooMany { retry_after })
}

/// Returns the bearer token of a request (RFC 6750, sections 2.1 and 3.1).
fn bearer(head: &Head) -> Result<&str, Refused> {
    if !head.headers.contains_key(AUTHORIZATION) {
        return Err(Refused::NoToken);
    }
    let authorization = head.single(&AUTHORIZATION).ok_or(Refused::InvalidRequest)?;
    let (scheme, token) = authorization.split_once(' ').unwrap_or((authorization, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refused::NoToken);
    }
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if token.is_empty() || !token.bytes().all(is_of_token) {
        return Err(Refused::InvalidRequest);
    }
    if token.len() > TOKEN_BYTES_MAX { Err(Refused::InvalidToken) } else { Ok(token) }
}

/// Returns methods as a header lists them, with the one that asks for them.
fn list(methods: &[Method]) -> HeaderValue {
    let names = methods.iter().chain([&Method::OPTIONS]).map(Method::as_str);
    let names: Vec<&str> = names.collect();
    HeaderValue::try_from(names.join(", ")).expect("methods are tokens")
}

#[cfg(test)]
mod tests;
