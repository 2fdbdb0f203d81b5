//! One binary for every integration test.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test it helps")]

mod cli_client;
mod generated;
mod http_server;
