//! The relay: the sockets of plugins, the plugin for Penpot, and codes that people enter themselves.

pub mod plugin;
pub mod socket;

pub(super) mod pairings;

use plugin::PluginPages;
use socket::RelayEndpoint;

/// What the public address serves for the relay.
pub struct RelayRoutes {
    pub sockets: RelayEndpoint,
    /// The plugin for Penpot, where it is served.
    pub plugin: Option<PluginPages>,
}
