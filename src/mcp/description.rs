//! The protocol's settings as they are shown: by the daemon those it runs with, by the command line those of its
//! environment. One function for both, so that they can be compared.

use std::borrow::Cow;
use std::net::SocketAddr;

use crate::api::{self, McpRevisions};
use crate::config::{McpConfig, ProtocolConfig, PublicUrl, TokenIssuerConfig};
use crate::mcp::era::Era;
use crate::mcp::revision::{Legacy, MODERN};

// What `describe` returns, so that who hands it on need not know the API.
pub use crate::api::McpStatus;

/// Describes settings. `config` is `None` while `/mcp` is off; `listen` is the public address.
#[must_use]
pub fn describe(
    config: Option<&McpConfig>,
    protocol: ProtocolConfig,
    listen: SocketAddr,
) -> McpStatus {
    let public_url = config.and_then(|config| config.public_url.as_ref());
    let transports: &[&str] =
        if config.is_some() { &["stdio", "streamable_http"] } else { &["stdio"] };
    McpStatus {
        enabled: config.is_some(),
        transports: words(transports.iter().copied()),
        default_era: Cow::Borrowed(Era::Legacy.as_str()),
        default_revision: Cow::Borrowed(protocol.offered.as_str()),
        modern_routing: protocol.modern,
        supported_revisions: McpRevisions {
            legacy: words(Legacy::ALL.iter().rev().map(|revision| revision.as_str())),
            modern: words(protocol.modern.then_some(MODERN).into_iter()),
        },
        endpoint: config.and_then(|_| match public_url {
            Some(url) => Some(url.resource()),
            None => local_endpoint(listen),
        }),
        public_url: public_url.map(|url| url.origin().to_owned()),
        authorization: config.and_then(|it| it.authorization.as_ref()).map(authorization),
        forwarding_headers: None,
    }
}

fn authorization(config: &TokenIssuerConfig) -> api::McpAuthorization {
    api::McpAuthorization {
        resource_metadata: PublicUrl::resource_metadata(&config.public_url),
        issuer: config.issuer.clone(),
        // An operator may keep a secret in the query (docs/decisions/56-mcp-doctor.md).
        jwks_url: without_query(&config.jwks_url).to_owned(),
        audience: config.audience.clone(),
        algorithms: words(config.algorithms.iter().map(|algorithm| algorithm.as_str())),
        token_type: config.token_type.clone(),
    }
}

/// Returns a URL without its query.
#[must_use]
pub fn without_query(url: &str) -> &str {
    url.split_once('?').map_or(url, |(url, _)| url)
}

/// Returns the URL of `/mcp` at an address; `None` while the system has not chosen its port.
fn local_endpoint(listen: SocketAddr) -> Option<String> {
    match listen.port() {
        0 => None,
        // A client leaves the usual port out of `Host`, and so does the list of hosts.
        80 if listen.is_ipv6() => Some(format!("http://[{}]/mcp", listen.ip())),
        80 => Some(format!("http://{}/mcp", listen.ip())),
        _ => Some(format!("http://{listen}/mcp")),
    }
}

fn words(words: impl Iterator<Item = &'static str>) -> Vec<Cow<'static, str>> {
    words.map(Cow::Borrowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Source};

    fn of(variables: &[(&str, &str)]) -> McpStatus {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let config = Config::load(Source::of(owned)).unwrap();
        describe(config.mcp.as_ref(), config.protocol, config.public_listen)
    }

    #[test]
    fn nothing_is_served_over_http_until_it_is_asked_for() {
        let off = of(&[("SVC_PUBLIC_URL", "https://svc.example")]);
        assert_eq!((off.enabled, off.transports), (false, vec!["stdio".into()]));
        assert_eq!((off.endpoint, off.public_url, off.authorization), (None, None, None));
        assert_eq!((off.default_era, off.default_revision), ("legacy".into(), "2025-11-25".into()));
        assert_eq!(off.supported_revisions.legacy.first(), Some(&"2025-11-25".into()));
        assert_eq!(off.supported_revisions.legacy.last(), Some(&"2024-10-07".into()));
        assert_eq!((off.modern_routing, off.supported_revisions.modern), (false, Vec::new()));
        let modern = of(&[("MCP_V2_EXPERIMENTAL", "true"), ("MCP_PROTOCOL_VERSION", "2025-06-18")]);
        assert_eq!(
            (modern.default_era, modern.default_revision),
            ("legacy".into(), "2025-06-18".into())
        );
        assert_eq!(
            (modern.modern_routing, modern.supported_revisions.modern),
            (true, vec![MODERN.into()])
        );
    }

    #[test]
    fn clients_of_this_machine_use_the_address_itself() {
        for (listen, endpoint) in [
            ("127.0.0.1:7080", Some("http://127.0.0.1:7080/mcp")),
            ("[::1]:7080", Some("http://[::1]:7080/mcp")),
            ("127.0.0.1:80", Some("http://127.0.0.1/mcp")),
            ("[::1]:80", Some("http://[::1]/mcp")),
            ("127.0.0.1:0", None),
        ] {
            let status = of(&[("SVC_MCP", "true"), ("SVC_PUBLIC_LISTEN", listen)]);
            assert_eq!(status.endpoint.as_deref(), endpoint, "{listen}");
            assert_eq!((status.enabled, status.authorization), (true, None));
        }
    }

    #[test]
    fn no_secret_of_an_operator_is_shown() {
        let status = of(&[
            ("SVC_MCP", "true"),
            ("SVC_PUBLIC_URL", "https://svc.example"),
            ("SVC_MCP_ISSUER", "https://issuer.example"),
            ("SVC_MCP_JWKS_URL", "https://issuer.example/keys?key=secret"),
            ("SVC_MCP_ORIGINS", "https://app.example"),
        ]);
        assert_eq!(status.endpoint.as_deref(), Some("https://svc.example/mcp"));
        assert_eq!(status.public_url.as_deref(), Some("https://svc.example"));
        let expected = api::McpAuthorization {
            resource_metadata: "https://svc.example/.well-known/oauth-protected-resource/mcp"
                .into(),
            issuer: "https://issuer.example".into(),
            jwks_url: "https://issuer.example/keys".into(),
            audience: "https://svc.example/mcp".into(),
            algorithms: vec!["ES256".into(), "RS256".into()],
            token_type: "at+jwt".into(),
        };
        assert_eq!(status.authorization, Some(expected));
    }
}
