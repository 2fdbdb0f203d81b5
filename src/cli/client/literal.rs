//! An address in a URL, which needs no lookup.

use std::net::SocketAddr;

use http::Uri;
use ureq::Error;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Takes an address as it is, and looks a name up. ureq asks for each request, on a kept connection too, and its own
/// resolver starts a thread each time, so that a lookup can be given up: half of what a request costs the client.
#[derive(Debug, Default)]
pub(super) struct LiteralResolver(DefaultResolver);

impl Resolver for LiteralResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let Some(address) = literal(uri) else { return self.0.resolve(uri, config, timeout) };
        let mut addresses = self.empty();
        addresses.push(address);
        Ok(addresses)
    }
}

fn literal(uri: &Uri) -> Option<SocketAddr> {
    DefaultResolver::host_and_port(uri.scheme()?, uri.authority()?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_they_are_and_names_are_not() {
        for (url, address) in [
            ("http://127.0.0.1:7081/x", Some("127.0.0.1:7081")),
            ("http://[::1]:7081", Some("[::1]:7081")),
            ("https://10.0.0.1", Some("10.0.0.1:443")),
            ("http://localhost:7081", None),
            ("https://svc.example", None),
            // No address as the standard has it: whatever a resolver makes of it.
            ("http://127.1:80", None),
        ] {
            let address = address.map(|address| address.parse().unwrap());
            assert_eq!(literal(&url.parse().unwrap()), address, "{url}");
        }
    }
}
