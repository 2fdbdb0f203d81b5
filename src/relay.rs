//! The wire protocol of the relay, `svc.relay.v1`, as values.

pub mod code;
