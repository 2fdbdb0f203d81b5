//! The one use of SHA-1, which proves nothing to anybody: a WebSocket's handshake.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

/// What RFC 6455 appends to a key.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns the answer to the key of a handshake.
#[must_use]
pub fn web_socket_accept(key: &str) -> String {
    STANDARD.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{GUID}").as_bytes()))
}
