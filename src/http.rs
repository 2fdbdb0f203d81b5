//! HTTP: one plain request and response, one table of routes, two thin servers around them.
//!
//! Three surfaces face three kinds of people: the control socket (operators on this machine), the
//! operator address (operators elsewhere, off by default), and the public address (the forge, behind
//! a TLS proxy). The same handlers serve them; the table says which route stands on which.

#[cfg(feature = "fixture")]
pub mod fixture;
pub mod gate;
pub mod long_lived;
pub mod mcp;
pub mod message;
pub mod relay;
mod reload;
pub mod routes;
pub mod server;
pub mod web_socket;

mod body_budget;
mod callback;
mod caller;
mod cards;
mod conditions;
mod error;
mod health;
mod host;
mod json;
mod metadata;
mod operator;
mod paging;
mod path;
mod query;
mod slo;
mod webhook;
