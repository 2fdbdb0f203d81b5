//! The relay: the plugin for Penpot.

pub mod plugin;
