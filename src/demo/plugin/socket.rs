//! A WebSocket of a client: its opening handshake, text, and the code it was closed with.
//!
//! The handshake is written here, because the library's needs two more crates for it.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::crypto::jose;
use crate::crypto::sha1::web_socket_accept;
use crate::relay::frame::PROTOCOL;
use crate::runtime::random::{Random as _, SystemEntropy};

/// Longest wait for the daemon to take or send what it must.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most bytes of the head of an answer.
const HEAD_BYTES_MAX: u64 = 16 << 10;

/// The address of a socket, and the headers of the request.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The daemon's public address.
    pub address: SocketAddr,
    pub host: String,
    /// `Origin`; `None` sends none.
    pub origin: Option<String>,
    /// `Sec-WebSocket-Protocol`; `None` sends none.
    pub protocol: Option<String>,
}

impl Opening {
    /// Returns the opening of a page that the daemon itself serves, without TLS.
    #[must_use]
    pub fn local(address: SocketAddr) -> Self {
        Self {
            address,
            host: address.to_string(),
            origin: Some(format!("http://{address}")),
            protocol: Some(PROTOCOL.to_owned()),
        }
    }
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The connection failed.
    #[error("cannot open a socket to the daemon: {0}")]
    Io(#[from] io::Error),
    /// The daemon answered with another status than 101.
    #[error("the daemon answered {0} to the request for a socket")]
    Refused(u16),
    /// The daemon answered 101 with headers that do not fit the request.
    #[error("the daemon's answer to the request for a socket is not one")]
    NotOne,
}

/// Received from the daemon.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// A text message.
    Text(String),
    /// Something else that a daemon never sends.
    Strange,
    /// Nothing, for as long as was asked.
    Nothing,
    /// The end, with the daemon's code; `None` when the connection ended without one.
    Closed(Option<u16>),
}

/// An open socket. When it is dropped, the connection ends without a closing handshake.
pub struct Socket(WebSocket<TcpStream>);

impl Socket {
    /// Opens a socket.
    ///
    /// # Errors
    /// By variant, what went wrong.
    pub fn open(opening: &Opening) -> Result<Self, OpenError> {
        let stream = TcpStream::connect_timeout(&opening.address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut key = [0; 16];
        SystemEntropy::new().fill(&mut key);
        // The header takes padded base64 in its usual alphabet (RFC 6455, 4.1), and 16 bytes end in two padding
        // characters.
        let key = format!("{}==", jose::encode(&key).replace('-', "+").replace('_', "/"));
        let mut request = format!(
            "GET /relay/v1/connect HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n",
            opening.host
        );
        for (name, value) in
            [("Origin", &opening.origin), ("Sec-WebSocket-Protocol", &opening.protocol)]
        {
            request.extend(value.iter().map(|value| format!("{name}: {value}\r\n")));
        }
        request.push_str("\r\n");
        (&stream).write_all(request.as_bytes())?;
        let (head, rest) = head(&stream)?;
        check(&head, &web_socket_accept(&key), opening.protocol.as_deref())?;
        // The daemon's first frame may have arrived with the head.
        Ok(Self(WebSocket::from_partially_read(stream, rest, Role::Client, None)))
    }

    /// Waits for a message of the daemon, at most for `patience`, which is more than zero.
    pub fn read(&mut self, patience: Duration) -> Heard {
        // A closed stream refuses this, and reading from it reports that.
        drop(self.0.get_ref().set_read_timeout(Some(patience)));
        loop {
            return match self.0.read() {
                Ok(Message::Text(text)) => Heard::Text(text.as_str().to_owned()),
                Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                Ok(Message::Binary(_) | Message::Frame(_)) => Heard::Strange,
                Ok(Message::Close(frame)) => {
                    // The answer to the close; after it there is nothing to send.
                    drop(self.0.flush());
                    Heard::Closed(frame.map(|frame| frame.code.into()))
                }
                Err(tungstenite::Error::Io(error)) if is_pause(&error) => Heard::Nothing,
                Err(_) => Heard::Closed(None),
            };
        }
    }

    /// Sends a text message. A connection that has ended says so when it is read.
    pub fn send(&mut self, text: &str) {
        drop(self.0.send(Message::text(text)));
    }

    /// Sends a message of any kind.
    pub fn send_message(&mut self, message: Message) {
        drop(self.0.send(message));
    }

    /// Writes raw bytes, bypassing the library: what no WebSocket would write.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        drop(self.0.get_mut().write_all(bytes));
    }

    /// Closes with a code, and does not wait for the answer.
    pub fn close(&mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        drop(self.0.close(Some(frame)));
        drop(self.0.get_ref().shutdown(Shutdown::Write));
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Reads the head of an answer; returns its lines, and the bytes that came after it.
fn head(stream: &TcpStream) -> Result<(Vec<String>, Vec<u8>), OpenError> {
    let mut reader = BufReader::new(stream.take(HEAD_BYTES_MAX));
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(OpenError::NotOne);
        }
        match line.trim_end() {
            // The reader may have read beyond the head.
            "" => return Ok((lines, reader.buffer().to_vec())),
            line => lines.push(line.to_owned()),
        }
    }
}

fn check(head: &[String], accept: &str, protocol: Option<&str>) -> Result<(), OpenError> {
    let status = head.first().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status: u16 = status.ok_or(OpenError::NotOne)?;
    if status != 101 {
        return Err(OpenError::Refused(status));
    }
    let header = |name: &str| {
        let mut lines = head.iter().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    // A protocol that was not asked for, or an extension, ends the handshake (RFC 6455, 4.1).
    let is_one = header("sec-websocket-accept") == Some(accept)
        && header("sec-websocket-protocol") == protocol
        && header("sec-websocket-extensions").is_none();
    if is_one { Ok(()) } else { Err(OpenError::NotOne) }
}
