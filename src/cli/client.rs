//! Requests to the service: one connection each unless many follow each other, no redirects, no proxy, no cookies; the token goes
//! to the one configured address and nowhere else.

mod failure;
mod literal;
mod unix;

use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use serde::de::DeserializeOwned;
use ureq::config::Config;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, AsSendBody};

pub(crate) use failure::Failure;

use crate::api::Problem;
use crate::cli::Global;
use crate::cli::client::literal::LiteralResolver;
use crate::cli::endpoint::{Endpoint, Refused};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::token::{self, Authorization};
use crate::runtime::clock::{Clock as _, SystemClock};

/// Largest answer that is read.
const BODY_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The last request of a wait is made when the time is over; it takes no longer than this.
const LAST_REQUEST_MAX: Duration = Duration::from_secs(1);
/// Longest wait for a connection.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(5);
const ANSWER_TYPES: HeaderValue =
    HeaderValue::from_static("application/json, application/problem+json");

const ASK_THE_PROXY: &str = "check what the proxy in front of svcd requires";

/// Speaks to one service.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    authorization: Option<HeaderValue>,
    /// Where the operator's token was found, for the hint when it is refused.
    origin: Option<String>,
    /// It keeps its connection between requests.
    keeps: bool,
    /// How long its requests may take together.
    deadline: Option<WaitDeadline>,
}

/// The end of a wait.
#[derive(Debug)]
struct WaitDeadline {
    /// Began with the wait.
    clock: SystemClock,
    timeout: Duration,
}

impl WaitDeadline {
    /// Returns how long a request may take after so long a wait.
    fn left(&self, waited: Duration) -> Duration {
        self.timeout.saturating_sub(waited).max(LAST_REQUEST_MAX)
    }
}

/// What came back, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    retry_after: Option<Duration>,
    body: Vec<u8>,
    /// What to do if the status is 401.
    token_hints: Vec<String>,
}

impl Client {
    /// Returns a client that shows no token.
    pub(crate) fn anonymous(global: &Global) -> Result<Self, Error> {
        Self::with_connections(global, 0)
    }

    /// Returns a client that keeps so many connections between requests.
    fn with_connections(global: &Global, kept: usize) -> Result<Self, Error> {
        let endpoint = Endpoint::parse(&global.url).map_err(address_refused)?;
        let config = kept_config(global.request_timeout(), kept);
        let agent = match &endpoint {
            Endpoint::Unix(path) => {
                Agent::with_parts(config, unix::SocketConnector::new(path), unix::NoResolver)
            }
            Endpoint::Url(_) => {
                Agent::with_parts(config, DefaultConnector::new(), LiteralResolver::default())
            }
        };
        let keeps = kept > 0;
        Ok(Self { agent, endpoint, authorization: None, origin: None, keeps, deadline: None })
    }

    /// Returns it for a wait that begins now: its requests end with the wait.
    pub(crate) fn within(self, timeout: Option<Duration>) -> Self {
        let deadline = |timeout| WaitDeadline { clock: SystemClock::new(), timeout };
        Self { deadline: timeout.map(deadline), ..self }
    }

    /// Returns a client that shows the operator's token.
    pub(crate) fn operator(global: &Global) -> Result<Self, Error> {
        Self::anonymous(global)?.with_operator_token(global)
    }

    /// Returns the same for many requests, one after the other: it keeps its connection where the service does.
    pub(crate) fn operator_keeping(global: &Global) -> Result<Self, Error> {
        Self::with_connections(global, 1)?.with_operator_token(global)
    }

    fn with_operator_token(self, global: &Global) -> Result<Self, Error> {
        let Authorization { header, origin } = token::authorization(global.token_file.as_deref())?;
        Ok(Self { authorization: Some(header), origin: Some(origin), ..self })
    }

    /// Returns it with what it shows instead of an operator's token.
    pub(crate) fn showing(self, authorization: HeaderValue) -> Self {
        Self { authorization: Some(authorization), ..self }
    }

    /// Reads one resource.
    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.send(Method::GET, path, HeaderMap::new())?.expect_ok()
    }

    /// Asks for something to be done, under a key that makes it happen once. A body is JSON.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        key: &str,
        body: Option<&[u8]>,
    ) -> Result<T, Failure> {
        let key = HeaderValue::from_str(key).map_err(|error| Failure::malformed("key", error))?;
        let mut headers =
            HeaderMap::from_iter([(http::HeaderName::from_static("idempotency-key"), key)]);
        let answer = match body {
            Some(body) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                self.send_body(Method::POST, path, headers, body, BODY_BYTES_MAX)?
            }
            None => {
                headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
                self.send(Method::POST, path, headers)?
            }
        };
        answer.expect_ok()
    }

    /// Writes one resource.
    pub(crate) fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<T, Failure> {
        let answer = self.send_body(Method::PUT, path, headers, body, BODY_BYTES_MAX)?;
        if answer.status.is_success() { answer.json() } else { Err(answer.refusal()) }
    }

    /// Sends a request without a body, and reads the whole answer.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
    ) -> Result<Answer, Failure> {
        let request = self.request(method, path, headers, ())?;
        self.exchange(request, BODY_BYTES_MAX)
    }

    /// Sends a request with a body, and reads the whole answer, which may be so long.
    pub(crate) fn send_body(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: &[u8],
        answer_max: u64,
    ) -> Result<Answer, Failure> {
        let request = self.request(method, path, headers, body)?;
        self.exchange(request, answer_max)
    }

    fn request<B>(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: B,
    ) -> Result<Request<B>, Failure> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = format!("{}{path}", self.endpoint.base())
            .parse()
            .map_err(|error| Failure::malformed("the path of the request", error))?;
        *request.headers_mut() = headers;
        if !self.keeps {
            // A connection that is kept would occupy the daemon between requests.
            request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        request.headers_mut().insert(ACCEPT, ANSWER_TYPES);
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }

    /// Returns what to do when svcd itself answers 401. It does not say why, so no reason is named.
    fn token_hints(&self) -> Vec<String> {
        let Some(origin) = &self.origin else {
            return vec![format!("this command sends no token; {ASK_THE_PROXY}")];
        };
        let compare = format!(
            "the token came from {origin}; compare it with the SVC_OPERATOR_API_TOKEN of svcd"
        );
        match &self.endpoint {
            Endpoint::Unix(_) => vec![compare],
            Endpoint::Url(_) => {
                vec![compare, "a proxy in between must pass on the header Authorization".to_owned()]
            }
        }
    }

    fn exchange(
        &self,
        request: Request<impl AsSendBody>,
        answer_max: u64,
    ) -> Result<Answer, Failure> {
        let failed = |error| Failure::of_transport(&self.endpoint, error);
        let usual = self.agent.config().timeouts().global;
        let left = self.deadline.as_ref().map(|it| it.left(it.clock.monotonic()));
        let timeout = usual.into_iter().chain(left).min();
        let request = self.agent.configure_request(request).timeout_global(timeout).build();
        let mut response = self.agent.run(request).map_err(failed)?;
        let body = response.body_mut().with_config().limit(answer_max);
        Ok(Answer {
            body: body.read_to_vec().map_err(failed)?,
            status: response.status(),
            retry_after: retry_after(response.headers()),
            token_hints: self.token_hints(),
        })
    }
}

impl Answer {
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Reads the body, whatever the status.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body)
            .map_err(|error| Failure::malformed("the response from svcd", error))
    }

    /// Reads the body of a success; everything else is a failure.
    pub(crate) fn expect_ok<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        if self.status == StatusCode::OK { self.json() } else { Err(self.refusal()) }
    }

    /// Returns the body of a success as it is; everything else is a failure.
    pub(crate) fn expect_bytes(self) -> Result<Vec<u8>, Failure> {
        self.expect_status(StatusCode::OK).map(|answer| answer.body)
    }

    /// Returns an answer of this status; every other is a failure.
    pub(crate) fn expect_status(self, status: StatusCode) -> Result<Self, Failure> {
        if self.status == status { Ok(self) } else { Err(self.refusal()) }
    }

    /// Reads the lines of a success, a document each; everything else is a failure.
    pub(crate) fn expect_lines<T: DeserializeOwned>(&self) -> Result<Vec<T>, Failure> {
        if self.status != StatusCode::OK {
            return Err(self.refusal());
        }
        let lines = self.body.split_inclusive(|byte| *byte == b'\n');
        lines
            .map(serde_json::from_slice)
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::malformed("the response from svcd", error))
    }

    /// Returns what the service, or something before it, had against the request.
    pub(crate) fn refusal(&self) -> Failure {
        let status = self.status.as_u16();
        let retry_after = self.retry_after;
        if let Ok(problem) = serde_json::from_slice(&self.body) {
            let token_hints = self.token_hints.clone();
            return Failure::Refused { problem, retry_after, token_hints };
        }
        match from_between(status) {
            Some(problem) => {
                let token_hints = vec![format!("the response is not from svcd; {ASK_THE_PROXY}")];
                Failure::Refused { problem, retry_after, token_hints }
            }
            None => Failure::NotOurs { status },
        }
    }
}

/// Returns how every request is made, to the service or another address: an answer of any status, no redirects, no proxy,
/// no connection kept, no longer than `timeout`.
pub(crate) fn config(timeout: Duration) -> Config {
    kept_config(timeout, 0)
}

/// Returns the same for a client that keeps so many connections between requests.
fn kept_config(timeout: Duration, kept: usize) -> Config {
    Agent::config_builder()
        // A refusal has a body that says why.
        .http_status_as_error(false)
        // A redirect could lead the token to another address.
        .max_redirects(0)
        // ureq would otherwise take a proxy from the environment, which could see the token.
        .proxy(None)
        .max_idle_connections(kept)
        .max_idle_connections_per_host(kept)
        .timeout_global(Some(timeout))
        .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT_MAX)))
        .user_agent(concat!("svcctl/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Returns the problem a proxy means that knows nothing of ours; `None` when only it knows.
fn from_between(status: u16) -> Option<Box<Problem>> {
    let outcome = match status {
        401 => "unauthenticated",
        429 => "rate_limited",
        502..=504 => "unavailable",
        _ => return None,
    };
    Some(Box::new(Problem {
        kind: format!("urn:svc:problem:{outcome}"),
        title: format!("HTTP {status} from a proxy in front of svcd").into(),
        status,
        outcome: outcome.into(),
        detail: None,
        replay_class: None,
        report: None,
    }))
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn address_refused(why: Refused) -> Error {
    let hint = match why {
        Refused::Shape => "for example: --url unix:/run/svc/svcd.sock",
        Refused::Secret => "keep the token in a file and name it with --token-file",
        Refused::Plain => {
            "use https, or a tunnel: ssh -L 7081:127.0.0.1:7081 HOST, then --url http://127.0.0.1:7081"
        }
    };
    Error::new(Exit::Usage, "--url (or SVC_URL) is refused").caused_by(why).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_what_is_left_of_the_wait() {
        let seconds = Duration::from_secs;
        let deadline = WaitDeadline { clock: SystemClock::new(), timeout: seconds(60) };
        let left = [0, 45, 60, 90].map(|waited| deadline.left(seconds(waited)));
        assert_eq!(left, [seconds(60), seconds(15), LAST_REQUEST_MAX, LAST_REQUEST_MAX]);
    }
}
