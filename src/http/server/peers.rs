//! How many connections each address holds, so that one peer cannot take them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;

type Counts = Arc<Mutex<HashMap<IpAddr, u16>>>;

/// The connections of each peer. Behind a trusted proxy are many people, so it has no cap.
#[derive(Debug)]
pub(super) struct Peers {
    max: u16,
    trusted: Vec<IpNet>,
    counts: Counts,
}

/// One counted connection; given back when dropped. A trusted proxy's is not counted.
#[derive(Debug)]
pub(super) struct Place(Option<(Counts, IpAddr)>);

impl Peers {
    /// Returns a count that allows `max` connections each, and any number from `trusted` networks.
    pub(super) fn new(max: u16, trusted: Vec<IpNet>) -> Self {
        Self { max, trusted, counts: Counts::default() }
    }

    /// Counts one more connection, unless the peer has as many as it may.
    pub(super) fn take(&self, peer: IpAddr) -> Option<Place> {
        if self.trusted.iter().any(|network| network.contains(&peer)) {
            return Some(Place(None));
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(peer).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Place(Some((Arc::clone(&self.counts), peer))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((counts, peer)) = &self.0 else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(peer) {
            *count -= 1;
            if *count == 0 {
                counts.remove(peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_its_cap_and_a_trusted_proxy_none() {
        let peers = Peers::new(1, vec!["10.0.0.0/8".parse().unwrap()]);
        let stranger = "192.0.2.1".parse().unwrap();
        let place = peers.take(stranger).unwrap();
        assert!(peers.take(stranger).is_none());
        assert!(peers.take("192.0.2.2".parse().unwrap()).is_some());
        let proxy = "10.1.2.3".parse().unwrap();
        let many: Vec<_> = (0..9).map(|_| peers.take(proxy)).collect();
        assert!(many.iter().all(Option::is_some));
        drop(place);
        assert!(peers.counts.lock().unwrap().is_empty());
        assert!(peers.take(stranger).is_some());
    }
}
