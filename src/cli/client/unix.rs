//! The way through a Unix socket, for a client that knows only TCP.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Uri;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use ureq::config::Config;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout};

use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::notify::Notify;

/// Longest wait for a daemon to accept, unless the request has a bound of its own.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// From one try to the next while the daemon does not accept.
const CONNECT_RETRY: Duration = Duration::from_millis(10);

/// Connects to one path, whatever the URL says.
#[derive(Debug)]
pub(super) struct SocketConnector {
    path: PathBuf,
}

impl SocketConnector {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }
}

impl Connector for SocketConnector {
    type Out = Socket;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _chained: Option<()>,
    ) -> Result<Option<Socket>, Error> {
        let timeout = details.timeout.not_zero().map_or(CONNECT_TIMEOUT, |timeout| *timeout);
        let stream = connect(&self.path, timeout)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(Socket { stream, buffers }))
    }
}

/// Connects to a socket. A daemon that hangs stops accepting, and a blocking `connect` would then wait without end.
fn connect(path: &Path, timeout: Duration) -> Result<UnixStream, Error> {
    let address = SocketAddrUnix::new(path).map_err(|_| {
        io::Error::new(ErrorKind::InvalidInput, "the path is not a valid socket name")
    })?;
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
        .map_err(io::Error::from)?;
    let clock = SystemClock::new();
    let end = clock.monotonic() + timeout;
    loop {
        match net::connect(&socket, &address) {
            Ok(()) => break,
            // EAGAIN means that the backlog is full (connect(2)). Nothing is under way then that could be polled for.
            Err(Errno::AGAIN | Errno::INTR) if clock.monotonic() < end => {
                // Only the signal that ends the process interrupts this wait.
                let _over = Notify::new().pause(CONNECT_RETRY);
            }
            Err(Errno::AGAIN | Errno::INTR) => return Err(Error::Timeout(Timeout::Connect)),
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
    }
    let stream = UnixStream::from(socket);
    // Timeouts of a socket hold for blocking calls only.
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// A connection to the socket.
#[derive(Debug)]
pub(super) struct Socket {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let timeout = timeout.for_write();
        self.stream.set_write_timeout(timeout.not_zero().map(|left| *left))?;
        let output = self.buffers.output().get(..amount).expect("no more than was written");
        self.stream.write_all(output).map_err(|error| told_apart(error, timeout))
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = timeout.for_read();
        self.stream.set_read_timeout(timeout.not_zero().map(|left| *left))?;
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input).map_err(|error| told_apart(error, timeout))?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    /// Asked only to use a connection again, which is never done.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// A socket whose time is over says `WouldBlock`.
fn told_apart(error: io::Error, timeout: NextTimeout) -> Error {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
        Error::Timeout(timeout.reason)
    } else {
        Error::Io(error)
    }
}

/// A socket needs no name looked up.
#[derive(Debug)]
pub(super) struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(
        &self,
        _uri: &Uri,
        _config: &Config,
        _timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        // ureq demands at least one address of a resolver; the connector ignores it.
        addresses.push(([127, 0, 0, 1], 80).into());
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_daemon_that_stopped_accepting_is_waited_for_no_longer_than_it_may_take() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("svcd.sock");
        let never = || connect(&path, Duration::ZERO);
        assert!(matches!(never(), Err(Error::Io(error)) if error.kind() == ErrorKind::NotFound));
        let listener = UnixListener::bind(&path).unwrap();
        let mut waiting = Vec::new();
        let refused = loop {
            match never() {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, Error::Timeout(Timeout::Connect)), "{refused}");
        assert!(waiting.len() > 1);
        // After a short wait the backlog has room again.
        drop(listener.accept().unwrap());
        assert!(connect(&path, Duration::from_secs(60)).is_ok());
    }
}
