//! The TCP sockets of the daemon. One that the service manager listens at, and hands over, is used when
//! it has the address that was set: then connections wait in it while the daemon is restarted, and no
//! webhook meets a closed door. Any other is bound here.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;

use super::Error;
use crate::http::message::Surface;

/// Returns a listening socket for each address, the public one first.
pub(super) fn listen(
    public: SocketAddr,
    operator: Option<SocketAddr>,
) -> Result<Vec<(Surface, TcpListener)>, Error> {
    let mut handed_over =
        handed_over().map_err(|error| Error::Start("a socket handed over", error))?;
    let wanted = std::iter::once((Surface::Public, public))
        .chain(operator.map(|address| (Surface::Operator, address)));
    let listeners = wanted
        .map(|(surface, address)| {
            let place = handed_over.iter().position(|(_, found)| *found == address);
            let listener = match place {
                Some(place) => Ok(handed_over.swap_remove(place).0),
                None => TcpListener::bind(address),
            };
            let failed = |error| Error::Listen(address, error);
            let listener = listener.map_err(failed)?;
            let bound = listener.local_addr().map_err(failed)?.to_string();
            log::info!(event = "daemon.listening", surface = surface.as_str(), address = bound.as_str(), handed_over = place.is_some(); "a surface is open");
            Ok((surface, listener))
        })
        .collect::<Result<_, _>>()?;
    match handed_over.first() {
        Some((_, address)) => Err(Error::StrangeSocket(*address)),
        None => Ok(listeners),
    }
}

/// Returns what the service manager hands over, with its addresses. See `sd_listen_fds(3)`.
fn handed_over() -> io::Result<Vec<(TcpListener, SocketAddr)>> {
    let mut sockets = ListenFd::from_env();
    let listeners = (0..sockets.len()).map(|index| sockets.take_tcp_listener(index));
    listeners
        .filter_map(Result::transpose)
        .map(|listener| {
            let listener = listener?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        })
        .collect()
}
