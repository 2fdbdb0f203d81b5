//! Limits for each client, so that none can take everything: connections of a direct peer, and requests in
//! progress of a client behind a trusted proxy.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use crate::runtime::keyed_semaphore::{KeyedPermit, KeyedSemaphore};

/// The addresses a request passed, each proxy adding the one it saw at the right.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The slots that each client holds. A trusted proxy serves many clients, so it has no limit.
#[derive(Debug)]
pub(super) struct ClientLimits {
    max: u16,
    trusted: Vec<IpNet>,
    held: KeyedSemaphore<IpAddr>,
}

/// A slot of a client; returned when dropped. A trusted proxy's is not counted.
#[derive(Debug)]
pub(super) struct ClientSlot {
    _held: Option<KeyedPermit<IpAddr>>,
}

impl ClientLimits {
    /// Returns limits of `max` slots for each client, and none for the `trusted` networks.
    pub(super) fn new(max: u16, trusted: Vec<IpNet>) -> Self {
        Self { max, trusted, held: KeyedSemaphore::default() }
    }

    /// Returns whose request it is: the rightmost address that is no trusted proxy. Addresses to
    /// its left are unverified; without a trusted peer, all of them are.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        // Each proxy appends, so the last entry of the last line is the newest.
        let values = headers.get_all(FORWARDED_FOR).iter().rev();
        let mut client = peer;
        // Bytes, because what a client wrote in front of the list need not be text.
        for hop in values.flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b',')) {
            let hop = str::from_utf8(hop).ok().and_then(|hop| hop.trim().parse::<IpAddr>().ok());
            // What stands to the left of an unreadable entry is as unverified as the entry itself.
            let Some(hop) = hop else { break };
            client = hop.to_canonical();
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    fn trusts(&self, peer: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(&peer))
    }

    /// Returns whom to charge for what a client holds; `None` if it is a trusted proxy, which stands for
    /// many clients.
    pub(super) fn charged(&self, client: IpAddr) -> Option<IpAddr> {
        (!self.trusts(client)).then(|| subscriber(client))
    }

    /// Takes a slot for a connection or request; `None` if the client holds as many as it may.
    pub(super) fn take(&self, peer: IpAddr) -> Option<ClientSlot> {
        let Some(peer) = self.charged(peer) else { return Some(ClientSlot { _held: None }) };
        self.held.take(peer, usize::from(self.max)).map(|held| ClientSlot { _held: Some(held) })
    }
}

/// Returns a client's address, or the /64 of an IPv6 address, all of which are usually one subscriber's.
pub(super) fn subscriber(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => {
            // The low 64 bits are chosen by the subscriber's own machines.
            IpAddr::from((address.to_bits() & !u128::from(u64::MAX)).to_be_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_peer_has_its_cap_and_a_trusted_proxy_none() {
        let client_limits = ClientLimits::new(1, vec!["10.0.0.0/8".parse().unwrap()]);
        let stranger = "192.0.2.1".parse().unwrap();
        let slot = client_limits.take(stranger).unwrap();
        assert!(client_limits.take(stranger).is_none());
        assert!(client_limits.take("192.0.2.2".parse().unwrap()).is_some());
        let proxy = "10.1.2.3".parse().unwrap();
        let many: Vec<_> = (0..9).map(|_| client_limits.take(proxy)).collect();
        assert!(many.iter().all(Option::is_some));
        drop(slot);
        assert!(client_limits.take(stranger).is_some());
        let [one, same, other] = ["2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"];
        let _slot = client_limits.take(one.parse().unwrap()).unwrap();
        assert!(
            client_limits.take(same.parse().unwrap()).is_none(),
            "one subscriber has many of these"
        );
        assert!(client_limits.take(other.parse().unwrap()).is_some());
    }

    #[test]
    fn a_client_is_the_rightmost_address_that_is_not_trusted() {
        let client_limits = ClientLimits::new(1, vec!["10.0.0.0/8".parse().unwrap()]);
        let client = |peer: &str, values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED_FOR, HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            client_limits.client(peer.parse().unwrap(), &headers).to_string()
        };
        assert_eq!(client("192.0.2.1", &["192.0.2.9"]), "192.0.2.1", "a stranger says nothing");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["192.0.2.9"]), "192.0.2.9");
        assert_eq!(client("10.0.0.1", &["1.1.1.1, 192.0.2.9, 10.0.0.2"]), "192.0.2.9");
        assert_eq!(client("10.0.0.1", &["1.1.1.1", "192.0.2.9,10.0.0.2"]), "192.0.2.9");
        assert_eq!(client("10.0.0.1", &["1.1.1.1, nonsense, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &["::ffff:192.0.2.9"]), "192.0.2.9");
        assert_eq!(
            client("10.0.0.1", &["\u{e9}, 192.0.2.9"]),
            "192.0.2.9",
            "whatever stands before"
        );
    }
}
