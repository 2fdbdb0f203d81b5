//! The two servers. Each reads a whole, strictly framed request within a deadline, hands it to the
//! service on a thread that may block, and sends the whole answer within a deadline.
//!
//! Strangers and networks meet hyper ([`tcp`]): thousands of connections in one thread, each step
//! with a deadline. Operators on this machine meet `tiny_http` ([`control`]): it owes nothing to
//! the async runtime, so that they get through while the public side is drowning. Because
//! `tiny_http` trusts its peers, a guard stands before it and passes nothing but clean requests.

mod bodies;
pub mod control;
mod deadline;
mod exchange;
mod framing;
mod guard;
pub mod limits;
mod newcomers;
mod peers;
mod pool;
mod stall;
pub mod tcp;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::http::message::{Admitted, Refusal, Response, Service};

/// Answers an admitted request; a panic costs this one request.
fn answer(service: &dyn Service, admitted: Admitted, body: Vec<u8>) -> Response {
    let surface = admitted.surface().as_str();
    // The service is shared by all threads, so it already has to survive a thread that stops
    // half-way; nothing else outlives the closure.
    catch_unwind(AssertUnwindSafe(|| admitted.answer(body))).unwrap_or_else(|_panic| {
        log::error!(event = "http.handler_panicked", surface; "a handler panicked");
        service.refuse(Refusal::Internal)
    })
}
