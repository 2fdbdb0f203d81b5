//! The way through a Unix socket, for a client that knows only TCP.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use http::Uri;
use ureq::config::Config;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout};

use crate::runtime::thread;

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

    /// A daemon that hangs stops accepting, and then `connect` blocks without end: it gets a thread
    /// of its own, which is left behind when the time is over.
    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _chained: Option<()>,
    ) -> Result<Option<Socket>, Error> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let path = self.path.clone();
        drop(thread::spawn("connect", move || {
            // Nobody listens any more when the time is over.
            drop(sender.send(UnixStream::connect(path)));
        })?);
        let stream = match details.timeout.not_zero() {
            Some(timeout) => {
                receiver.recv_timeout(*timeout).map_err(|_| Error::Timeout(Timeout::Connect))?
            }
            None => receiver.recv().map_err(|error| Error::Io(io::Error::other(error)))?,
        };
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(Socket { stream: stream?, buffers }))
    }
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
        addresses.push(([127, 0, 0, 1], 80).into());
        Ok(addresses)
    }
}
