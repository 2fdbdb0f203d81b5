//! The two servers. Each reads a whole, strictly framed request within a deadline, hands it to the
//! service on a thread that may block, and sends the answer as fast as its peer takes it.
//!
//! Strangers and networks meet hyper ([`tcp`]): thousands of connections in one thread, each step
//! with a deadline. Operators on this machine meet `tiny_http` ([`control`]): it owes nothing to
//! the async runtime, so that they get through while the public side is drowning. Because
//! `tiny_http` trusts its peers, a guard stands before it and passes nothing but clean requests.
//!
//! Why there are two: `docs/decisions/34-two-http-servers.md`.

pub mod control;
pub mod limits;
pub mod tcp;

mod answer_body;
mod client_limits;
mod connection;
mod deadline;
mod exchange;
mod framing;
mod guard;
mod open_connections;
mod pending_heads;
mod pool;
mod private_directory;
mod socket;
mod stop;
mod targets;
mod timeout_stream;

use std::panic::{AssertUnwindSafe, catch_unwind};

use http::StatusCode;

use crate::http::message::{Admitted, Answer, Body, Refusal, Response, Service, Surface};

/// Answers an admitted request where all answers are whole: one that would outlast its handler is refused,
/// and a panic costs this one request.
fn answer_whole(service: &dyn Service, admitted: Admitted, body: Vec<u8>) -> Response {
    let surface = admitted.surface().as_str();
    match contained(surface, || admitted.answer(body, None)) {
        Some(Answer::Ready(response)) if matches!(response.body, Body::Whole(_)) => response,
        _ => service.refuse(Refusal::Internal),
    }
}

/// Counts an answer on its way to the control socket. Its status is read from its bytes, because it may be an answer
/// of a handler, of `tiny_http`, or of the guard.
fn counted<'a>(service: &dyn Service, answer: &'a [u8]) -> &'a [u8] {
    let status = answer.get(9..12).and_then(|digits| StatusCode::from_bytes(digits).ok());
    service.answered(Surface::Control, status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    answer
}

/// Runs a handler; returns `None` if it panics.
fn contained<T>(surface: &str, handler: impl FnOnce() -> T) -> Option<T> {
    // The service is shared by all threads, so it already has to survive a thread that stops
    // half-way; nothing else outlives the closure.
    let outcome = catch_unwind(AssertUnwindSafe(handler)).ok();
    if outcome.is_none() {
        log::error!(event = "http.handler_panicked", surface; "a handler panicked");
    }
    outcome
}
