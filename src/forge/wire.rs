//! One HTTP exchange with the forge's API, and the settings of the HTTP client for it. It sends a request
//! once, follows a moved repository once by hand, and says of a request without an answer whether it can
//! have arrived.

use std::io;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode, Uri};
use rustls::CertificateError;
use secrecy::{ExposeSecret as _, SecretString};
use ureq::config::Config;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport,
};

use super::answer::Answer;
use super::settings::{ClientError, Settings, has_sound_port};
use crate::domain::dead_letter::FailureCause;
use crate::domain::outbox::SendResult;

pub(super) const USER_AGENT: &str = concat!("svcd/", env!("CARGO_PKG_VERSION"));
/// Largest answer that is read, in bytes.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

/// A request, addressed below the base URL.
pub(super) struct Request<'a> {
    pub(super) method: Method,
    pub(super) path: String,
    /// Where the same object stands when its repository was renamed.
    pub(super) moved_path: Option<String>,
    pub(super) bearer: &'a SecretString,
    /// A JSON object; nothing for a `GET`.
    pub(super) body: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendFailure {
    /// The gate was closed: nothing was sent.
    Stopped(SendResult),
    /// No connection came to stand, or it could not be asked for: nothing was sent.
    NotSent(Option<FailureCause>),
    /// It may have arrived.
    Lost(FailureCause),
}

pub(super) struct Wire {
    agent: ureq::Agent,
    /// Without a trailing slash.
    base: String,
    version: &'static str,
}

impl Wire {
    pub(super) fn new(settings: &Settings) -> Result<Self, ClientError> {
        let (base, is_https) = read_base(&settings.base_url)?;
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &settings.root_certificate {
            tls = tls.root_certs(read_roots(pem)?);
        }
        let config = Config::builder()
            .https_only(is_https)
            .tls_config(tls.build())
            .timeout_global(Some(settings.timeout))
            .timeout_connect(Some(settings.timeout_connect))
            // Answers are ours to judge, errors and redirects included.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The environment does not decide where tokens go.
            .proxy(None)
            // A kept connection may be dead, and a `POST` on it would be of uncertain fate.
            .max_idle_connections(0)
            .max_idle_connections_per_host(0)
            .max_idle_age(Duration::ZERO)
            .user_agent(USER_AGENT)
            .build();
        let agent = ureq::Agent::with_parts(
            config,
            BeforeSending(DefaultConnector::default()),
            BeforeSending(DefaultResolver::default()),
        );
        Ok(Self { agent, base, version: settings.api_version.header() })
    }

    /// Makes the exchange of a request, and once more with where its repository has moved when the forge says so.
    pub(super) fn send(
        &self,
        request: &Request<'_>,
        exchange: impl Fn(&str) -> Result<Answer, SendFailure>,
    ) -> Result<Answer, SendFailure> {
        let answer = exchange(&request.path)?;
        match &request.moved_path {
            Some(moved) if self.is_moved(&answer, &request.method, moved) => {
                exchange(moved).map(|answer| Answer { moved: true, ..answer })
            }
            _ => Ok(answer),
        }
    }

    /// Says whether the answer points to `moved`: the URL we make ourselves, never the one we are
    /// given, is where the token goes next. A redirected write did not happen.
    fn is_moved(&self, answer: &Answer, method: &Method, moved: &str) -> bool {
        let follows = match answer.status {
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
            // These two allow a client to turn a POST into a GET (RFC 9110, 15.4.2 and 15.4.3).
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *method == Method::GET,
            _ => false,
        };
        let location = answer.header("location").and_then(|text| text.parse::<Uri>().ok());
        let ours = format!("{}{moved}", self.base).parse::<Uri>().ok();
        let (Some(location), Some(ours)) = (location, ours) else { return false };
        follows
            && location.scheme() == ours.scheme()
            // Scheme and host as well: the token must not leave for another server.
            && location.authority() == ours.authority()
            && location.path() == ours.path()
    }

    /// Sends a request to a path, and reads the answer.
    pub(super) fn exchange(
        &self,
        request: &Request<'_>,
        path: &str,
    ) -> Result<Answer, SendFailure> {
        let head = http::Request::builder()
            .method(&request.method)
            .uri(format!("{}{path}", self.base))
            .header(AUTHORIZATION, authorization(request.bearer)?)
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", self.version)
            // The other half of keeping no connection: the server does not wait for another request.
            .header(CONNECTION, "close");
        let sent = match &request.body {
            None => self.agent.run(head.body(()).map_err(|_| SendFailure::NotSent(None))?),
            Some(body) => {
                let head = head.header(CONTENT_TYPE, "application/json");
                self.agent.run(head.body(body).map_err(|_| SendFailure::NotSent(None))?)
            }
        };
        let (head, mut body) = sent.map_err(|error| failure(&error))?.into_parts();
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            // The status holds even when the rest is cut off, too slow or too large.
            body: body.with_config().limit(BODY_BYTES_MAX).read_to_vec().ok(),
            moved: false,
        })
    }
}

/// Returns the header value that carries the token. It is marked as sensitive, so that neither the HTTP
/// client nor a `{:?}` shows it.
fn authorization(bearer: &SecretString) -> Result<HeaderValue, SendFailure> {
    let mut value = HeaderValue::try_from(format!("Bearer {}", bearer.expose_secret()))
        .map_err(|_| SendFailure::NotSent(None))?;
    value.set_sensitive(true);
    Ok(value)
}

fn failure(error: &ureq::Error) -> SendFailure {
    match error {
        ureq::Error::Other(other) if let Some(NoConnection(cause)) = other.downcast_ref() => {
            SendFailure::NotSent(Some(*cause))
        }
        ureq::Error::ConnectionFailed => SendFailure::NotSent(Some(FailureCause::Refused)),
        error => SendFailure::Lost(cause(error)),
    }
}

fn cause(error: &ureq::Error) -> FailureCause {
    match error {
        ureq::Error::Timeout(_) => FailureCause::Timeout,
        ureq::Error::Rustls(error) => tls_cause(error),
        ureq::Error::Tls(_) => FailureCause::TlsUntrusted,
        ureq::Error::Io(error) => {
            let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
            tls.map_or_else(|| io_cause(error.kind()), tls_cause)
        }
        // What is left are answers that are no HTTP.
        _ => FailureCause::Reset,
    }
}

const fn io_cause(kind: io::ErrorKind) -> FailureCause {
    use io::ErrorKind;
    match kind {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => FailureCause::Timeout,
        ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable
        // A packet filter says this.
        | ErrorKind::PermissionDenied => FailureCause::Refused,
        _ => FailureCause::Reset,
    }
}

const fn tls_cause(error: &rustls::Error) -> FailureCause {
    use CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet,
        NotValidYetContext,
    };
    match error {
        rustls::Error::InvalidCertificate(error) => match error {
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. } => {
                FailureCause::TlsExpired
            }
            NotValidForName | NotValidForNameContext { .. } => FailureCause::TlsName,
            _ => FailureCause::TlsUntrusted,
        },
        _ => FailureCause::TlsUntrusted,
    }
}

/// What failed before the request was sent. The client's own errors do not tell that apart.
#[derive(Debug, thiserror::Error)]
#[error("no connection: {0}")]
struct NoConnection(FailureCause);

impl From<NoConnection> for ureq::Error {
    fn from(error: NoConnection) -> Self {
        Self::Other(Box::new(error))
    }
}

/// Returns the base without a `/` at its end, and whether it is https.
pub(super) fn read_base(base_url: &str) -> Result<(String, bool), ClientError> {
    let base = base_url.trim_end_matches('/').to_owned();
    let is_https = check_base(&base).ok_or(ClientError::BaseUrl)?;
    Ok((base, is_https))
}

/// Returns whether the base is https; `None` when it cannot be a base. Plain http is for tests and
/// demonstrations on this machine.
fn check_base(base: &str) -> Option<bool> {
    let uri = base.parse::<Uri>().ok()?;
    let authority = uri.authority()?;
    // Paths are appended as text; behind a query or fragment they would not be part of the path.
    if uri.query().is_some()
        || base.contains(['#', '@'])
        || authority.host().is_empty()
        || !has_sound_port(authority)
    {
        return None;
    }
    match uri.scheme_str()? {
        "https" => Some(true),
        "http" if matches!(authority.host(), "127.0.0.1" | "[::1]" | "localhost") => Some(false),
        _ => None,
    }
}

pub(super) fn read_roots(pem: &[u8]) -> Result<RootCerts, ClientError> {
    let mut roots = Vec::new();
    for item in parse_pem(pem) {
        // A bundle may hold keys as well; they are skipped, not refused.
        if let PemItem::Certificate(certificate) = item.map_err(|_| ClientError::RootCertificate)? {
            roots.push(certificate);
        }
    }
    if roots.is_empty() { Err(ClientError::RootCertificate) } else { Ok(roots.into()) }
}

/// Finding the address and making the connection, TLS included. What fails here fails before the request is
/// sent: a [`NoConnection`].
#[derive(Debug)]
struct BeforeSending<T>(T);

impl<T: Resolver> Resolver for BeforeSending<T> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        self.0.resolve(uri, config, timeout).map_err(|_| NoConnection(FailureCause::Dns).into())
    }
}

impl<T: Connector> Connector for BeforeSending<T> {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        match self.0.connect(details, chained) {
            Ok(transport) => Ok(transport.map(|transport| -> Self::Out { Box::new(transport) })),
            Err(error) => Err(NoConnection(cause(&error)).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_header_is_sensitive_and_is_not_shown() {
        let value = authorization(&"ghs_1.a-b_c".into()).unwrap();
        assert_eq!(value.as_bytes(), b"Bearer ghs_1.a-b_c");
        assert!(value.is_sensitive());
        let shown = format!("{:?}", http::Request::builder().header(AUTHORIZATION, value).body(()));
        assert!(!shown.contains("ghs_1"), "{shown}");
        assert_eq!(authorization(&"two\nlines".into()), Err(SendFailure::NotSent(None)));
    }

    #[test]
    fn only_https_and_this_machine_can_be_a_base() {
        for (base, wanted) in [
            ("https://api.github.com", Some(true)),
            ("https://forge.example:8443/api/v3", Some(true)),
            ("http://127.0.0.1:8080/api/v3", Some(false)),
            ("http://[::1]:8080", Some(false)),
            ("http://localhost:1", Some(false)),
            ("http://forge.example", None),
            ("http://127.0.0.1.forge.example", None),
            ("http://localhost@forge.example", None),
            ("ftp://forge.example", None),
            ("https://user:secret@forge.example", None),
            ("https://forge.example/?a=b", None),
            ("https://forge.example/#a", None),
            ("/api/v3", None),
            ("forge.example", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(check_base(base), wanted, "{base}");
        }
    }
}
