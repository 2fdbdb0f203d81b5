//! The simulator's side of the socket: one request per connection, one connection at a time, so
//! that the order of effects is the order of connections. Only calls that are held let others go first.

use std::io::{self, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::Fault;
use super::message::{Reply, Request, read};
use super::state::State;
use crate::runtime::mutex::lock;
use crate::runtime::notify::Notify;
use crate::runtime::thread;

/// Longest time to wait for the rest of a request.
pub(super) const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest time for which a call is held.
const HOLD_MAX: Duration = Duration::from_secs(600);

/// Answers until the end is asked for.
pub(super) fn serve(listener: &TcpListener, state: &Arc<Mutex<State>>, stop: &Notify) {
    for stream in listener.incoming() {
        if stop.is_stopped() {
            return;
        }
        // A caller that went away is one of the things simulated.
        stream.and_then(|stream| answer(stream, state, stop)).unwrap_or(());
    }
}

fn answer(mut stream: TcpStream, state: &Arc<Mutex<State>>, stop: &Notify) -> io::Result<()> {
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    let request = read(&mut stream)?;
    // Locked for each step, so that a slow answer does not block the owner of the simulator.
    let fault = lock(state).begin(&request);
    let held = lock(state).held(&request);
    let Some(until) = held else { return finish(stream, &request, fault, state, stop) };
    let (state, stop) = (Arc::clone(state), stop.clone());
    let wait = move || {
        let _is_late = until.pause(HOLD_MAX);
        // As for any other: the caller may have gone.
        finish(stream, &request, fault, &state, &stop).unwrap_or(());
    };
    thread::spawn("simulator-held", wait).map(drop)
}

fn finish(
    mut stream: TcpStream,
    request: &Request,
    fault: Option<Fault>,
    state: &Mutex<State>,
    stop: &Notify,
) -> io::Result<()> {
    let lock = || lock(state);
    let reply = match fault {
        None => lock().apply(request),
        Some(Fault::Status(status)) => Reply::error(status),
        Some(Fault::Validation422) => Reply::error(422),
        Some(Fault::RateLimited { retry_after }) => Reply { retry_after, ..Reply::error(403) },
        Some(Fault::CutBeforeEffect) => return Ok(()),
        Some(Fault::CutAfterEffect) => {
            lock().apply(request);
            return Ok(());
        }
        Some(Fault::Slow(delay)) => {
            if !stop.pause(delay) {
                return Ok(());
            }
            lock().apply(request)
        }
        Some(Fault::Garbage) => {
            lock().apply(request);
            Reply { status: 200, body: "<html>it worked".to_owned(), ..Reply::error(200) }
        }
    };
    let now = lock().now();
    stream.write_all(reply.to_http(now).as_bytes())
}
