//! The wire protocol of the relay, `svc.relay.v1`, and the catalogue of actions, as values.
//!
//! A plugin in a design tool and the daemon exchange frames over one socket. What is said here is how a frame is read
//! and written, which one may come when, what is signed and what a digest is made over, and which actions there are
//! with what they take and give. Nothing here knows a socket, a store or a clock. What may happen to a session or an
//! invocation is decided in `domain`.
//!
//! The schemas in `docs/relay` are published: the plugin validates with the same documents. A text that does not fit
//! its schema changes nothing, on either side.

#[macro_use]
mod as_text;

pub mod action;
pub mod code;
pub mod conversation;
pub mod digest;
pub mod frame;
pub mod proof;
