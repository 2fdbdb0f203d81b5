//! A control plane for a single-node site: one daemon, `svcd`, and its operators' tool, `svcctl`.
//!
//! The main job, in one line: a signed webhook of the forge becomes a durable inbox row and a job, the
//! job becomes a release run and side effects in an outbox, what fails becomes a dead letter, and an
//! operator lists it and replays it when that is proved to be safe.
//!
//! The modules stand below in reading order. `domain` decides and touches nothing. `store` and `forge` reach
//! outside, and never meet. `app` holds the use cases, one function each; `http` and `cli` translate to and
//! from them; `workers` do what was queued; `daemon` starts and stops it all. `ARCHITECTURE.md` is the map of
//! all modules and says what each may import; `docs/decisions` has the reasons.

#[macro_use]
pub mod words;

pub mod domain;

pub mod card;

pub mod card_signature;

pub mod store;

pub mod forge;

pub mod auth;

pub mod jwks;

pub mod mcp;

pub mod relay;

pub mod app;

pub mod workers;

pub mod api;

pub mod http;

pub mod daemon;

pub mod cli;

pub mod config;
pub mod crypto;
pub mod json;
pub mod logging;
pub mod metrics;
pub mod runtime;

pub mod demo;
pub mod simulator;
