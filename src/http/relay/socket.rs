//! The sockets of plugins: which pages may open one, and how messages are passed on. `app/relay` interprets them.
//!
//! See `docs/decisions/72-relay-socket-limits.md`.

use std::sync::Arc;

use crate::app;
use crate::app::relay::{self, Closing, PROTOCOL};
use crate::http::error;
use crate::http::gate::{Gate, Refused};
use crate::http::long_lived::{Close, Message, NoRoom, Sender, Session, Terms};
use crate::http::message::{Refusal, Request, Response};
use crate::http::path::Path;
use crate::http::relay::RelayRoutes;
use crate::http::web_socket::{Handshake, offered};

/// The relay behind `/relay/v1/connect`.
pub struct RelayEndpoint {
    relay: Arc<relay::Relay>,
    /// Origins of the pages that may connect, in lower case.
    origins: Vec<String>,
}

impl RelayEndpoint {
    /// Returns the endpoint of a relay, for pages of these origins.
    #[must_use]
    pub const fn new(relay: Arc<relay::Relay>, origins: Vec<String>) -> Self {
        Self { relay, origins }
    }
}

/// Opens a socket.
pub(in crate::http) fn connect(
    relay: &RelayRoutes,
    gate: &Gate,
    request: &Request,
    _path: &Path<'_>,
) -> Result<Response, app::Error> {
    Ok(match open(&relay.sockets, gate, request) {
        Ok(response) => response,
        Err(NotOpened::Gate(Refused::Host)) => error::misdirected(),
        Err(NotOpened::Gate(Refused::TooMany { retry_after })) => error::too_many(retry_after),
        Err(NotOpened::Gate(_)) => error::forbidden(
            "only the plugin's own page may connect: its origin must be listed in SVC_RELAY_ORIGINS",
        ),
        Err(NotOpened::Server(refusal)) => error::of_refusal(refusal),
    })
}

enum NotOpened {
    Gate(Refused),
    Server(Refusal),
}

impl From<Refusal> for NotOpened {
    fn from(refusal: Refusal) -> Self {
        Self::Server(refusal)
    }
}

fn open(endpoint: &RelayEndpoint, gate: &Gate, request: &Request) -> Result<Response, NotOpened> {
    gate.admit_socket(&request.head, &endpoint.origins).map_err(NotOpened::Gate)?;
    // A plugin that offers several versions gets ours, wherever it stands in the list.
    let is_ours = offered(&request.head).any(|it| it.eq_ignore_ascii_case(PROTOCOL));
    let other = offered(&request.head).find(|it| !is_ours && relay::is_other_version(it));
    let handshake = Handshake::read(request, Some(other.unwrap_or(PROTOCOL)))?;
    let long_lived = request.long_lived.as_ref().ok_or(Refusal::UpgradeRequired)?;
    let socket = if other.is_some() {
        // A browser does not tell its page the status of a refused handshake (docs/decisions/82-relay-version.md).
        long_lived.web_socket(0, |sender| {
            let closing = close(endpoint.relay.other_version());
            // The queue is new and a close reserves no bytes, so this cannot fail.
            let _sent = sender.send(Message::Close(closing));
            Ok(OtherVersion(closing))
        })
    } else {
        long_lived.web_socket(endpoint.relay.message_bytes_max(), |sender| {
            let connection = relay::Connection::open(
                &endpoint.relay,
                request.head.peer,
                Box::new(PluginSender(sender)),
            );
            connection.map(PluginSession).map_err(|relay::NoRoom| NoRoom)
        })
    };
    Ok(handshake.accept(socket.map_err(Refusal::from)?))
}

/// A plugin whose socket is closed before it has said anything.
struct OtherVersion(Close);

impl Session for OtherVersion {
    fn receive(&mut self, _message: &str) -> Result<(), Close> {
        Err(self.0)
    }

    fn terms(&self) -> Terms {
        Terms { bytes_max: 0, too_long: self.0, too_slow: Some(self.0) }
    }
}

/// Sends to a plugin.
struct PluginSender(Sender<Message>);

impl relay::Socket for PluginSender {
    fn send(&self, text: String) -> bool {
        self.0.send(Message::Text(text)).is_ok()
    }

    fn close(&self, closing: Closing) {
        // If there is no room for the close, the socket ends when this is dropped.
        let _sent = self.0.send(Message::Close(close(closing)));
    }
}

/// Passes the messages of a plugin on to its connection.
struct PluginSession(relay::Connection);

impl Session for PluginSession {
    fn receive(&mut self, message: &str) -> Result<(), Close> {
        self.0.receive(message).map_err(close)
    }

    fn terms(&self) -> Terms {
        Terms {
            bytes_max: self.0.bytes_max(),
            too_long: close(Closing::TOO_LARGE),
            too_slow: Some(close(Closing::TOO_LATE)),
        }
    }
}

const fn close(Closing { code, reason }: Closing) -> Close {
    Close { code, reason }
}
