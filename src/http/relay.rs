//! The relay: the sockets of plugins, and the plugin for Penpot.

pub mod plugin;
pub mod socket;

use plugin::Plugin;
use socket::Endpoint;

/// What the public address serves for the relay.
pub struct Relay {
    /// The sockets.
    pub sockets: Endpoint,
    /// The plugin for Penpot, where it is served.
    pub plugin: Option<Plugin>,
}
