//! The self-check: through every real listener, and through the writer. The supervisor's watchdog is
//! fed only while it passes, because a process whose accept loop or writer is stuck looks alive from
//! outside. A surface that closes the connection at once is alive and has no place left; that passes
//! too, because a restart would not make room. A store that answers "disk full" passes: it needs room, not a restart; the write it tries
//! is also how a store that failed finds out that it works again.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use crate::daemon::tell_supervisor;
use crate::store::{self, Store};
use crate::workers::driver::{self, Worker};

/// One answer takes no longer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// What is asked, and how a good answer begins.
const REQUEST: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 ";

/// The check, as a worker.
pub(super) struct SelfCheck {
    pub(super) store: Store,
    pub(super) socket: PathBuf,
    pub(super) tcp_addresses: Vec<SocketAddr>,
}

impl Worker for SelfCheck {
    fn name(&self) -> &'static str {
        "self-check"
    }

    fn step(&mut self) -> driver::Next {
        match self.check() {
            Ok(()) => tell_supervisor(&[sd_notify::NotifyState::Watchdog]),
            Err(what) => {
                log::error!(event = "daemon.self_check_failed", what:% = what; "the daemon does not answer its own health request");
            }
        }
        driver::Next::Wait
    }
}

impl SelfCheck {
    fn check(&self) -> Result<(), String> {
        for address in &self.tcp_addresses {
            expect_alive(address, ask_tcp(*address))?;
        }
        expect_alive(&self.socket.display(), ask_socket(&self.socket))?;
        match self.store.record_tick("self_check", true) {
            Ok(()) | Err(store::Error::Unavailable(_)) => Ok(()),
            Err(error) => Err(format!("store: {}", error.class())),
        }
    }
}

/// Fails unless the answer of a surface shows that it is alive.
fn expect_alive(address: &dyn Display, answer: io::Result<()>) -> Result<(), String> {
    match answer {
        Err(error) if is_turned_away(&error) => {
            log::warn!(event = "daemon.surface_full", address:% = address; "a surface has no free connection left");
            Ok(())
        }
        answer => answer.map_err(|error| format!("{address}: {error}")),
    }
}

/// The connection was accepted and closed: the loop that accepts is alive.
fn is_turned_away(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

fn ask_tcp(address: SocketAddr) -> io::Result<()> {
    let stream = TcpStream::connect_timeout(&reachable(address), ANSWER_MAX)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    ask(stream)
}

fn ask_socket(path: &PathBuf) -> io::Result<()> {
    // This blocks while the backlog is full, that is while nothing accepts; then the watchdog rightly gets no word.
    let stream = UnixStream::connect(path)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    ask(stream)
}

fn ask(mut stream: impl Read + Write) -> io::Result<()> {
    stream.write_all(REQUEST)?;
    let mut start = [0; ANSWER.len()];
    stream.read_exact(&mut start)?;
    if start == *ANSWER {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "an answer other than 200"))
    }
}

/// A listener on every address is asked on loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
