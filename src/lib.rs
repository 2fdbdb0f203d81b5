//! A control plane for a single-node site.

pub mod domain;

pub mod store;

pub mod clock;
pub mod config;
pub mod logging;
pub mod metrics;
pub mod random;
pub mod secret;
pub mod thread;
pub mod wake;

pub mod api;
