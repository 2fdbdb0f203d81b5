//! Frames: JSON text, one object each.
//!
//! A frame of a plugin is read strictly: no repeated name at any depth, no unknown member, and whatever the published
//! schema asks for. A frame of the daemon is built from typed values; debug builds validate it as well.
//!
//! Why both sides validate: `docs/decisions/73-relay-schemas.md`.

mod fault;
mod from_daemon;
mod from_plugin;
mod text;

#[cfg(test)]
mod made;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use serde_json::Value;

use crate::json::schema::{Schema, definition};
use crate::json::{self, Object};

pub use fault::{Close, Fault};
pub use from_daemon::{
    Challenge, Claimed, CloseNotice, DaemonFrame, Execute, FromDaemon, Pairing, Ping, Propose,
    Ready, Settled, Step, Withdraw,
};
pub use from_plugin::{
    ActionResult, Allowance, Bye, Confirm, Context, Decision, Entry, Failure, File, FromPlugin,
    Hello, PluginFrame, Pong, Proof, Shown,
};
pub use text::{ByeReason, DecidedInPlugin, Line, Nonce, Outcome, PublicJwk, Signature};

/// The name of the protocol, as it is offered and echoed in `Sec-WebSocket-Protocol`.
pub const PROTOCOL: &str = "svc.relay.v1";
/// What the name of every version of the protocol begins with.
const PROTOCOL_FAMILY: &str = "svc.relay.v";
/// Most digits of a version.
const VERSION_DIGITS_MAX: usize = 3;
/// The largest frame before `ready`, in bytes.
pub const BEFORE_READY_BYTES_MAX: usize = 16 << 10;
/// The largest frame after `ready`, in bytes. Only a `result` may be larger.
pub const BYTES_MAX: usize = 64 << 10;
/// The largest `result` that a plugin sends, in bytes.
pub const RESULT_BYTES_MAX: usize = 8 << 20;
/// Most values a frame may consist of. 256 KiB of small nodes have some 27,000.
const VALUES_MAX: usize = 30_000;

/// The published schema of all frames.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../docs/relay/frames.json"))
        .expect("the schema of frames is part of the program")
});

/// The schema of each frame of a plugin, in the order of [`PluginFrame::ALL`].
static PLUGIN: LazyLock<Vec<(PluginFrame, Schema)>> =
    LazyLock::new(|| PluginFrame::ALL.iter().map(|kind| (*kind, schema(kind.as_str()))).collect());

/// The schema of each frame of the daemon, in the order of [`DaemonFrame::ALL`].
static DAEMON: LazyLock<Vec<(DaemonFrame, Schema)>> =
    LazyLock::new(|| DaemonFrame::ALL.iter().map(|kind| (*kind, schema(kind.as_str()))).collect());

/// Says whether a name is that of another version of the protocol.
#[must_use]
pub fn is_other_version(name: &str) -> bool {
    let version = name.strip_prefix(PROTOCOL_FAMILY).unwrap_or_default();
    let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
    name != PROTOCOL && is_number && (1..=VERSION_DIGITS_MAX).contains(&version.len())
}

fn schema(kind: &str) -> Schema {
    let alone = definition(&DOCUMENT, kind);
    Schema::new(alone.expect("every frame is defined in its schema"))
}

/// Returns the type of a frame, without building its values.
///
/// # Errors
/// [`Fault::Malformed`], [`Fault::Repeated`] or [`Fault::UnknownType`].
pub fn kind(text: &str) -> Result<PluginFrame, Fault> {
    let frame = Object::read_members(text.as_bytes(), &["type"]).map_err(Fault::from)?;
    let word = frame.member::<String>("type").ok_or(Fault::UnknownType)?;
    PluginFrame::from_word(&word).ok_or(Fault::UnknownType)
}

/// Reads a frame of a plugin.
///
/// # Errors
/// By what is wrong with it.
pub fn read(text: &str) -> Result<FromPlugin, Fault> {
    let kind = kind(text)?;
    let value = json::read(text.as_bytes(), VALUES_MAX).map_err(Fault::from)?;
    let found = PLUGIN.iter().find(|(known, _)| *known == kind);
    let (_, schema) = found.ok_or(Fault::UnknownType)?;
    schema.check(&value).map_err(Fault::Mismatch)?;
    // The schema lets nothing through that the type does not take; a property holds that.
    serde_json::from_value(value).map_err(|_| Fault::Malformed)
}

/// Writes a frame of the daemon.
///
/// # Panics
/// In debug builds, when the frame is not as its schema asks.
#[must_use]
pub fn write(frame: &FromDaemon) -> String {
    let value =
        serde_json::to_value(frame).expect("frames have no maps but those with text as names");
    debug_assert_eq!(check(frame.kind(), &value), Ok(()), "a frame does not fit its schema");
    value.to_string()
}

/// Reads a frame of the daemon, as a plugin does: by its type and schema, and not further.
///
/// # Errors
/// By what is wrong with it.
pub fn read_of_daemon(text: &str) -> Result<(DaemonFrame, Value), Fault> {
    let value = json::read(text.as_bytes(), VALUES_MAX).map_err(Fault::from)?;
    let kind = value.get("type").and_then(Value::as_str).and_then(DaemonFrame::from_word);
    let kind = kind.ok_or(Fault::UnknownType)?;
    check(kind, &value).map_err(Fault::Mismatch)?;
    Ok((kind, value))
}

/// Checks a frame of the daemon.
fn check(kind: DaemonFrame, value: &Value) -> Result<(), json::schema::Mismatch> {
    let found = DAEMON.iter().find(|(known, _)| *known == kind);
    found.map_or(Ok(()), |(_, schema)| schema.check(value))
}
