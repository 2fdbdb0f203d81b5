//! Addresses as configuration has them: the one that clients use, hosts, origins, and URLs of an issuer. Each
//! has one spelling, because each is compared byte by byte with what a client or a token says.

use http::Uri;
use http::uri::Authority;

use crate::config::is_loopback_host;
use crate::config::source::words;
use crate::forge::settings::has_sound_port;

/// Longest of them, in bytes.
const BYTES_MAX: usize = 1024;

/// The address that clients of `/mcp` use. Shape: that of an origin, `https://svc.example`, in lower case, without
/// the usual port; `http` only with a loopback name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Reads an address; `None` when it has another shape.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let origin = read_origin(text)?;
        let url = Self(origin);
        (url.is_https() || (url.0.starts_with("http://") && url.is_loopback())).then_some(url)
    }

    /// Returns it, which is also the origin of its pages.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.0
    }

    /// Returns its host as a `Host` header has it: with the port, if it is not the usual one.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, host)| host)
    }

    /// Says whether it is reached by https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Says whether it names this machine's loopback.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host())
    }

    /// Returns the OAuth resource: the URL of `/mcp` that clients are given.
    #[must_use]
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.0)
    }

    /// Returns the URL of the resource's metadata (RFC 9728).
    #[must_use]
    pub fn resource_metadata(&self) -> String {
        format!("{}/.well-known/oauth-protected-resource/mcp", self.0)
    }
}

/// Returns an origin in lower case: a scheme and a host, with a port that is not the usual one.
pub(super) fn read_origin(text: &str) -> Option<String> {
    let origin = text.to_ascii_lowercase();
    let (scheme, host) = origin.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    // Browsers omit the usual port from `Origin`, so a spelling with it would never match.
    let usual = match scheme {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    };
    let is_usual = usual.is_some_and(|port| port_of(host) == Some(port));
    (is_scheme && !is_usual && read_host(host).is_some()).then_some(origin)
}

/// What [`read_page_origins`] takes, for people.
pub(super) const PAGE_ORIGINS: &str =
    "exact origins such as https://app.example, or null, separated by commas, without wildcards";

/// Returns origins of pages, each in lower case; `null` is that of a page without one.
pub(super) fn read_page_origins(text: &str) -> Option<Vec<String>> {
    let origin = |word: &str| if word == "null" { Some(word.into()) } else { read_origin(word) };
    words(text).map(origin).collect()
}

/// Returns a host in lower case, as a `Host` header has it. Without wildcards; a name ends in no dot.
pub(super) fn read_host(text: &str) -> Option<String> {
    let host = text.to_ascii_lowercase();
    let authority: Authority = host.parse().ok()?;
    let name = authority.host();
    let is_name = name.starts_with('[')
        || (!name.is_empty()
            && !name.ends_with('.')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)));
    let is_port = match host.strip_prefix(name) {
        Some("") => true,
        // One spelling: no sign, no leading zero.
        Some(rest) => port_of(&host).is_some_and(|port| port > 0 && rest == format!(":{port}")),
        // There is a user in front of the name.
        None => false,
    };
    (host.len() <= BYTES_MAX && is_name && is_port).then_some(host)
}

/// Returns a host in lower case, without a port.
pub(super) fn read_host_name(text: &str) -> Option<String> {
    read_host(text).filter(|host| port_of(host).is_none())
}

/// Says whether a host, with or without a port, names this machine's loopback.
pub(super) fn is_loopback(host: &str) -> bool {
    host.parse::<Authority>().is_ok_and(|host| is_loopback_host(host.host()))
}

fn port_of(host: &str) -> Option<u16> {
    host.parse::<Authority>().ok()?.port_u16()
}

/// Says whether tokens may name this issuer: https, or http on a loopback name; no user, query or fragment.
pub(super) fn is_issuer(text: &str) -> bool {
    is_url(text) && !text.contains('?')
}

/// Says whether keys may be fetched from here: https, or http on a loopback name; no user or fragment.
pub(super) fn is_url(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else { return false };
    let is_safe = match uri.scheme_str() {
        Some("https") => uri.host().is_some_and(|host| !host.is_empty()),
        Some("http") => uri.host().is_some_and(is_loopback_host),
        _ => false,
    };
    // `Uri` drops a fragment silently, and some parsers read a backslash as a slash and so see another host.
    let is_safe = is_safe && uri.authority().is_some_and(has_sound_port);
    is_safe && text.len() <= BYTES_MAX && !text.contains(['#', '@', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_origin_reached_by_https_or_on_this_machine() {
        for (text, host, is_loopback) in [
            ("https://svc.example", "svc.example", false),
            ("https://SVC.example:8443", "svc.example:8443", false),
            ("https://localhost", "localhost", true),
            ("http://localhost:7080", "localhost:7080", true),
            ("http://127.0.0.1", "127.0.0.1", true),
            ("http://[::1]:7080", "[::1]:7080", true),
            ("https://[2001:db8::1]", "[2001:db8::1]", false),
        ] {
            let url = PublicUrl::read(text).expect(text);
            assert_eq!((url.host(), url.is_loopback()), (host, is_loopback), "{text}");
            assert_eq!(url.origin(), text.to_ascii_lowercase());
            assert_eq!(url.resource(), format!("{}/mcp", url.origin()));
        }
        for text in [
            "",
            "svc.example",
            "http://svc.example",
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example",
            "https://user:word@svc.example",
            "https://svc.example/",
            "https://svc.example/mcp",
            "https://svc.example?a",
            "https://svc.example#a",
            "https://svc.example:443",
            "http://localhost:80",
            "https://svc.example:",
            "https://svc.example:0",
            "https://svc.example:08443",
            "https://svc.example:70000",
            "https://svc.example.",
            "https://*.example",
            "https://",
            "https:// svc.example",
            "https://svc.example\\@evil.example",
            "ftp://localhost",
            "null",
        ] {
            assert_eq!(PublicUrl::read(text), None, "{text}");
        }
    }

    #[test]
    fn origins_have_any_scheme_and_one_spelling() {
        for text in ["https://app.example", "http://app.example:8080", "vscode-webview://0a1b"] {
            assert_eq!(read_origin(text).as_deref(), Some(text));
        }
        for text in ["*", "https://*", "null", "//app.example", "https://app.example/", "1x://a"] {
            assert_eq!(read_origin(text), None, "{text}");
        }
    }

    #[test]
    fn an_issuer_may_have_a_path_and_keys_a_query() {
        for (text, issuer, url) in [
            ("https://issuer.example", true, true),
            ("https://issuer.example/tenant/", true, true),
            ("https://issuer.example/keys?p=1", false, true),
            ("http://127.0.0.1:9000/keys", true, true),
            ("http://issuer.example", false, false),
            ("https://user@issuer.example", false, false),
            ("https://issuer.example#a", false, false),
            ("https:///keys", false, false),
            ("/keys", false, false),
            ("*", false, false),
            ("", false, false),
        ] {
            assert_eq!((is_issuer(text), is_url(text)), (issuer, url), "{text}");
        }
    }
}
