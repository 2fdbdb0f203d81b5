//! The only starter of threads: every thread has a name, and a failure to start one is an error.

use std::io;
use std::thread::JoinHandle;

/// Starts a thread named `name` (at most 15 bytes are shown by the system).
///
/// # Errors
/// When the system gives no thread.
#[expect(clippy::disallowed_methods, reason = "this is the room that starts threads")]
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}
