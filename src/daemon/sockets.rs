//! The TCP sockets of the daemon, handed over by the service manager or bound here.
//!
//! One that is handed over is used when it has the address that was set: then connections wait in it while the daemon
//! is restarted, and no webhook is refused.
//!
//! See `docs/decisions/39-socket-activation.md`.

use std::io;
use std::net::{SocketAddr, TcpListener};

use listenfd::ListenFd;
use rustix::net::listen as set_backlog;

use super::{Error, descriptors};
use crate::http::message::Surface;
use crate::http::server::tcp::Listener;

/// Most connections that wait to be accepted, as with `packaging/systemd/svcd.socket`; std asks for 128.
const BACKLOG: i32 = 1_024;
/// Most connections at once through the operators' address.
const OPERATOR_CONNECTIONS_MAX: u16 = 1_024;

/// A socket that was handed over, and its address.
pub type HandedOver = (TcpListener, SocketAddr);

/// Returns what the service manager hands over. See `sd_listen_fds(3)`. It changes the environment, so it
/// comes before any thread.
///
/// # Errors
/// When one of them is no listening socket of TCP.
pub fn handed_over() -> Result<Vec<HandedOver>, Error> {
    let mut sockets = ListenFd::from_env();
    let listeners = (0..sockets.len()).map(|index| sockets.take_tcp_listener(index));
    let taken = listeners.filter_map(Result::transpose).map(|listener| {
        let listener = listener?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    });
    taken.collect::<io::Result<_>>().map_err(Error::HandedOver)
}

/// Which addresses are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listening {
    pub(super) public: SocketAddr,
    pub(super) public_connections_max: u16,
    pub(super) operator: Option<SocketAddr>,
}

/// Returns a listening socket for each address, the public one first.
pub(super) fn listen(
    mut handed_over: Vec<HandedOver>,
    wanted: Listening,
) -> Result<Vec<Listener>, Error> {
    let Listening { public, public_connections_max, operator } = wanted;
    // Before any is bound: an address that overlaps one of these would only be told to be in use.
    let is_wanted = |address: &SocketAddr| *address == public || Some(*address) == operator;
    if let Some((_, address)) = handed_over.iter().find(|(_, address)| !is_wanted(address)) {
        return Err(Error::StrangeSocket(*address));
    }
    let listeners: Vec<_> = std::iter::once((Surface::Public, public, public_connections_max))
        .chain(operator.map(|address| (Surface::Operator, address, OPERATOR_CONNECTIONS_MAX)))
        .collect();
    let most: Vec<u16> = listeners.iter().map(|listener| listener.2).collect();
    listeners
        .into_iter()
        .zip(descriptors::connections_max(&most))
        .map(|((surface, address, _), connections_max)| {
            let place = handed_over.iter().position(|(_, found)| *found == address);
            let socket = match place {
                Some(place) => Ok(handed_over.swap_remove(place).0),
                None => bind(address),
            };
            let failed = |error| Error::Listen(address, error);
            let socket = socket.map_err(failed)?;
            let bound = socket.local_addr().map_err(failed)?.to_string();
            log::info!(event = "daemon.listening", surface = surface.as_str(), address:% = bound, handed_over = place.is_some(); "a surface is listening");
            Ok(Listener { surface, socket, connections_max })
        })
        .collect()
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpListener::bind(address)?;
    // To listen again changes the number, and nothing else (listen(2)).
    set_backlog(&socket, BACKLOG)?;
    Ok(socket)
}
