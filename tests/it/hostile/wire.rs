//! A connection as a hostile peer has it: any bytes, from any loopback address, and a reader of
//! answers that counts them.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};

use super::PATIENCE;
use crate::daemon::ask::Endpoint;

/// After as many answers as must come: how long a further one is waited for.
const QUIET: Duration = Duration::from_millis(40);

pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(super) fn connect(endpoint: &Endpoint) -> io::Result<Self> {
        let socket = match endpoint {
            Endpoint::Tcp(address) => Self::Tcp(TcpStream::connect(address)?),
            Endpoint::Unix(path) => Self::Unix(UnixStream::connect(path)?),
        };
        socket.patience(PATIENCE)?;
        Ok(socket)
    }

    /// Sets how long a read or write may take.
    pub(super) fn patience(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_write_timeout(Some(time))?;
                stream.set_read_timeout(Some(time))
            }
            Self::Unix(stream) => {
                stream.set_write_timeout(Some(time))?;
                stream.set_read_timeout(Some(time))
            }
        }
    }

    /// Lets reads and writes fail instead of wait.
    pub(super) fn never_wait(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(true),
            Self::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    pub(super) fn end(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Self::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects from addresses of its choice: all of 127.0.0.0/8 is this machine.
pub(crate) struct Crowd(Runtime);

impl Crowd {
    pub(crate) fn new() -> Self {
        Self(Builder::new_current_thread().enable_all().build().unwrap())
    }

    pub(crate) fn connect(&self, from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
        let stream = self.0.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.bind((from, 0).into())?;
            socket.connect(to).await
        })?;
        let stream = stream.into_std()?;
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}

/// Ends a connection with a reset.
pub(super) fn reset(stream: TcpStream, runtime: &Crowd) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    runtime.0.block_on(async { tokio::net::TcpStream::from_std(stream)?.set_zero_linger() })
}

/// What came back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Of each whole answer; interim ones are none.
    pub(super) statuses: Vec<u16>,
    pub(super) bytes: Vec<u8>,
    /// Whether what came is answers and nothing else.
    pub(super) clean: bool,
    /// Whether the server ended the connection.
    pub(super) closed: bool,
}

/// Sends bytes, and reads answers until the server ends or has no more to say.
pub(super) fn exchange_messages(
    endpoint: &Endpoint,
    bytes: &[u8],
    (ends, headless): (bool, bool),
    answers_least: usize,
) -> io::Result<Seen> {
    let mut socket = Socket::connect(endpoint)?;
    // A server that has seen enough answers and closes; its answer is what counts.
    drop(socket.write_all(bytes));
    if ends {
        drop(socket.end());
    }
    let mut seen = Seen::default();
    let mut chunk = [0; 16 << 10];
    loop {
        let (statuses, clean) = answers(&seen.bytes, headless);
        (seen.statuses, seen.clean) = (statuses, clean);
        let enough = clean && answers_least > 0 && seen.statuses.len() >= answers_least;
        socket.patience(if enough { QUIET } else { PATIENCE })?;
        match socket.read(&mut chunk) {
            Ok(count) if count > 0 => seen.bytes.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(seen),
            Ok(_) | Err(_) => {
                seen.closed = true;
                return Ok(seen);
            }
        }
    }
}

/// Returns the statuses of all whole answers, and whether nothing else is there.
fn answers(mut bytes: &[u8], headless: bool) -> (Vec<u16>, bool) {
    let mut statuses = Vec::new();
    while !bytes.is_empty() {
        let mut lines = [httparse::EMPTY_HEADER; 32];
        let mut head = httparse::Response::new(&mut lines);
        let Ok(httparse::Status::Complete(length)) = head.parse(bytes) else {
            return (statuses, false);
        };
        let status = head.code.unwrap();
        let declared = head
            .headers
            .iter()
            .find(|line| line.name.eq_ignore_ascii_case("content-length"))
            .map(|line| std::str::from_utf8(line.value).unwrap().parse::<usize>().unwrap());
        let body = if headless { 0 } else { declared.unwrap_or(0) };
        let Some(rest) = bytes.get(length + body..) else { return (statuses, false) };
        bytes = rest;
        if status >= 200 {
            statuses.push(status);
        }
    }
    (statuses, true)
}
