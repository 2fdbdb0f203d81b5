//! The relay: the sockets of plugins, the plugin for Penpot, and codes that people enter themselves.

pub mod plugin;
pub mod socket;

pub(super) mod pairings;

use plugin::Plugin;
use socket::Endpoint;

/// What the public address serves for the relay.
pub struct Relay {
    /// The sockets.
    pub sockets: Endpoint,
    /// The plugin for Penpot, where it is served.
    pub plugin: Option<Plugin>,
}
