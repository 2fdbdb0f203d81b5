//! Where the service listens: a Unix socket, or a URL. Refuses whatever would carry the token in
//! the clear, and never repeats an address it refused, because that may hold a secret.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use http::Uri;

/// An address the token may be sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An absolute path.
    Unix(PathBuf),
    /// `http` or `https`, host, and what stands before the API's paths; no `/` at the end.
    Url(String),
}

/// Why an address was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the URL must be unix:/path, http://host or https://host")]
    Shape,
    #[error("the URL must not hold a user name, a password, a query or a fragment")]
    Secret,
    #[error("plain http would expose the token to the network")]
    Plain,
}

impl Endpoint {
    pub(crate) fn parse(text: &str) -> Result<Self, Refused> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = Path::new(path);
            return if path.is_absolute() {
                Ok(Self::Unix(path.to_owned()))
            } else {
                Err(Refused::Shape)
            };
        }
        if text.contains(['@', '?', '#']) {
            return Err(Refused::Secret);
        }
        let uri: Uri = text.parse().map_err(|_| Refused::Shape)?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(Refused::Shape)?;
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_loopback(host) => {}
            Some("http") => return Err(Refused::Plain),
            Some(_) | None => return Err(Refused::Shape),
        }
        Ok(Self::Url(text.trim_end_matches('/').to_owned()))
    }

    /// Returns what stands before the path of a request. A socket has no host; one must be named.
    pub(crate) fn base(&self) -> &str {
        match self {
            Self::Unix(_) => "http://localhost",
            Self::Url(base) => base,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Url(base) => f.write_str(base),
        }
    }
}

/// Says whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_sockets_https_and_plain_http_on_this_machine() {
        for (text, base) in [
            ("unix:/run/svc/svcd.sock", "http://localhost"),
            ("https://ops.example", "https://ops.example"),
            ("https://ops.example:8443/svc/", "https://ops.example:8443/svc"),
            ("http://127.0.0.1:7081/", "http://127.0.0.1:7081"),
            ("http://localhost", "http://localhost"),
            ("http://[::1]:7081", "http://[::1]:7081"),
        ] {
            assert_eq!(Endpoint::parse(text).as_ref().map(Endpoint::base), Ok(base), "{text}");
        }
    }

    #[test]
    fn refuses_what_would_show_the_token() {
        for (text, why) in [
            ("http://ops.example", Refused::Plain),
            ("http://10.0.0.1", Refused::Plain),
            ("http://127.0.0.1.example", Refused::Plain),
            ("http://localhost.example", Refused::Plain),
            ("https://me:secret@ops.example", Refused::Secret),
            ("https://ops.example?token=secret", Refused::Secret),
            ("https://ops.example#secret", Refused::Secret),
            ("ftp://ops.example", Refused::Shape),
            ("ops.example", Refused::Shape),
            ("https://", Refused::Shape),
            ("unix:svcd.sock", Refused::Shape),
            ("", Refused::Shape),
        ] {
            assert_eq!(Endpoint::parse(text), Err(why), "{text}");
        }
    }
}
