//! The TCP sockets of the daemon. One that the service manager listens at, and hands over, is used when
//! it has the address that was set: then connections wait in it while the daemon is restarted, and no
//! webhook is refused. Any other is bound here.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;

use super::Error;
use crate::http::message::Surface;

/// A socket that was handed over, and its address.
pub(super) type HandedOver = (TcpListener, SocketAddr);

/// Returns what the service manager hands over. See `sd_listen_fds(3)`. It changes the environment, so it
/// comes before any thread.
pub(super) fn handed_over() -> Result<Vec<HandedOver>, Error> {
    let mut sockets = ListenFd::from_env();
    let listeners = (0..sockets.len()).map(|index| sockets.take_tcp_listener(index));
    let taken = listeners.filter_map(Result::transpose).map(|listener| {
        let listener = listener?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    taken.collect::<io::Result<_>>().map_err(Error::HandedOver)
}

/// Returns a listening socket for each address, the public one first.
pub(super) fn listen(
    mut handed_over: Vec<HandedOver>,
    public: SocketAddr,
    operator: Option<SocketAddr>,
) -> Result<Vec<(Surface, TcpListener)>, Error> {
    // Before any is bound: an address that overlaps one of these would only be told to be in use.
    let is_wanted = |address: &SocketAddr| *address == public || Some(*address) == operator;
    if let Some((_, address)) = handed_over.iter().find(|(_, address)| !is_wanted(address)) {
        return Err(Error::StrangeSocket(*address));
    }
    std::iter::once((Surface::Public, public))
        .chain(operator.map(|address| (Surface::Operator, address)))
        .map(|(surface, address)| {
            let place = handed_over.iter().position(|(_, found)| *found == address);
            let listener = match place {
                Some(place) => Ok(handed_over.swap_remove(place).0),
                None => TcpListener::bind(address),
            };
            let failed = |error| Error::Listen(address, error);
            let listener = listener.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?.to_string();
            log::info!(event = "daemon.listening", surface = surface.as_str(), address:% = bound, handed_over = place.is_some(); "a surface is open");
            Ok((surface, listener))
        })
        .collect()
}
