//! What a gate is told: whom to let through, who says whose a token is, and why a request is refused.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, StatusCode};

use crate::auth::access_token::{self, Scope};
use crate::http::error;
use crate::http::message::Refusal;
use crate::runtime::rate_limiter::Rate;

/// What a gate lets through.
#[derive(Clone)]
pub struct GateRules {
    /// Hosts it goes by, each as a `Host` header has it, in lower case: with the port, if it is not the usual one.
    pub hosts: Vec<String>,
    /// Origins of the pages that may call, in lower case. `null` is that of pages without one.
    pub origins: Vec<String>,
    /// Requests that a proxy passed on are refused: it serves this machine, and a proxy would let in others.
    pub refuses_forwarded: bool,
    /// It is reached by https, and browsers are told to stay with it.
    pub is_https: bool,
    /// Headers that pages may send, separated by commas.
    pub request_headers: HeaderValue,
    /// Headers that pages may read.
    pub response_headers: HeaderValue,
    /// Requests of one peer.
    pub peer_rate: Rate,
    /// Requests of one owner of tokens.
    pub subject_rate: Rate,
    /// Who may call; anybody without it.
    pub tokens: Option<TokenRules>,
    /// Makes the body of a refusal, and its media type.
    pub describe: fn(&Refused) -> (&'static str, Vec<u8>),
}

/// Which tokens are asked for.
#[derive(Clone)]
pub struct TokenRules {
    /// The URL of what the tokens are for, as clients are given it.
    pub resource: String,
    /// Who gives them.
    pub issuer: String,
    /// The URL where a client learns both (RFC 9728).
    pub resource_metadata: String,
    /// The scope that every request needs.
    pub scope: Scope,
    /// Every scope that some request needs, that one included.
    pub all_scopes: Vec<Scope>,
    /// Checks them.
    pub tokens: Arc<dyn Tokens>,
}

/// A caller whose token was let through, and the rules that it was checked by.
#[derive(Clone, Copy)]
pub struct Authorized<'a> {
    /// Who calls.
    pub caller: &'a access_token::Caller,
    /// Which tokens are asked for.
    pub rules: &'a TokenRules,
}

/// Why a client is sent for a token (RFC 6750, section 3; `docs/decisions/47-mcp-credentials.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// It sent none, or credentials of another kind.
    NoToken,
    /// It sent more than one, or none where it announced one.
    InvalidRequest,
    /// It sent one that proves nothing.
    InvalidToken,
    /// Its token lacks this scope, or the one that every request needs.
    InsufficientScope(Scope),
}

impl TokenRules {
    /// Returns how a client comes by a token that gets through, as a `WWW-Authenticate` header has it. It names every
    /// scope that the request needs, so that a client asks for all of them at once.
    #[must_use]
    pub fn challenge(&self, challenge: Challenge) -> HeaderValue {
        let (further, error) = match challenge {
            Challenge::NoToken => (None, ""),
            Challenge::InvalidRequest => (None, ", error=\"invalid_request\""),
            Challenge::InvalidToken => (None, ", error=\"invalid_token\""),
            Challenge::InsufficientScope(scope) => (Some(scope), ", error=\"insufficient_scope\""),
        };
        let is_needed = |scope: &&Scope| **scope == self.scope || Some(**scope) == further;
        let scopes: Vec<&str> =
            Scope::ALL.iter().filter(is_needed).map(|scope| scope.as_str()).collect();
        let (metadata, scopes) = (&self.resource_metadata, scopes.join(" "));
        let value = format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scopes}\"{error}");
        HeaderValue::try_from(value).expect("a URL is visible ASCII")
    }
}

/// Checks tokens.
pub trait Tokens: Send + Sync {
    /// Returns the owner of a token that was checked before and still holds. Never blocks.
    fn known(&self, token: &str) -> Option<Arc<access_token::Caller>>;

    /// Checks a token; may wait for keys.
    ///
    /// # Errors
    /// Why it does not let its owner through.
    fn check(
        &self,
        token: &str,
        peer: Option<IpAddr>,
    ) -> Result<Arc<access_token::Caller>, Refused>;
}

/// Why a request does not get through, in a sentence for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The gate does not go by this host.
    #[error("this address does not accept that host name")]
    Host,
    /// A proxy passed the request on.
    #[error(
        "this address serves only its own machine, but a proxy forwarded the request; to serve \
        other machines, the operator must configure tokens"
    )]
    Forwarded,
    /// Pages of this origin may not call.
    #[error("pages of that origin may not call this address")]
    Origin,
    /// The peer, or the owner of the token, asks too often.
    #[error("too many requests; retry after the number of seconds in Retry-After")]
    TooMany {
        /// How long to wait.
        retry_after: Duration,
    },
    /// The route has no such method.
    #[error("the method is not allowed here; see Allow")]
    Method,
    /// There is no bearer token.
    #[error("send one bearer token in the Authorization header")]
    NoToken,
    /// There is more than one token, or none where one is announced.
    #[error("send the Authorization header once, as the word Bearer, a space and one token")]
    InvalidRequest,
    /// The token proves nothing.
    #[error("the token is not valid here; get another one")]
    InvalidToken,
    /// The token does not allow this.
    #[error("the token lacks a scope that is needed; see WWW-Authenticate")]
    InsufficientScope,
    /// What the token proves cannot be checked at present.
    #[error(
        "the keys for checking tokens are not available; retry after the number of seconds in Retry-After"
    )]
    KeysUnavailable {
        /// How long to wait.
        retry_after: Duration,
    },
    /// What any route refuses.
    #[error("{}", error::sentence(*.0))]
    Server(Refusal),
}

impl Refused {
    /// Returns which check of the gate refused, as a word of a closed set.
    #[must_use]
    pub const fn gate(&self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Forwarded => "forwarded",
            Self::Origin => "origin",
            Self::TooMany { .. } => "rate",
            Self::Method => "method",
            Self::NoToken => "no_token",
            Self::InvalidRequest => "invalid_request",
            Self::InvalidToken => "invalid_token",
            Self::InsufficientScope => "scope",
            Self::KeysUnavailable { .. } => "keys_unavailable",
            Self::Server(Refusal::LengthRequired | Refusal::PayloadTooLarge) => "size",
            Self::Server(_) => "server",
        }
    }

    /// Returns the status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            // RFC 9110, section 15.5.20: a client may send the request again over another connection.
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Forwarded | Self::Origin | Self::InsufficientScope => StatusCode::FORBIDDEN,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            // Not 401: a client would discard a token that may be good (docs/decisions/47-mcp-credentials.md).
            Self::InvalidRequest => StatusCode::BAD_REQUEST,
            Self::NoToken | Self::InvalidToken => StatusCode::UNAUTHORIZED,
            // Not 401 either: the token may well be valid.
            Self::KeysUnavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Server(refusal) => error::of_refusal(*refusal).status,
        }
    }
}
