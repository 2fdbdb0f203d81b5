//! The only starter of threads: every thread has a name, and a failure to start one is an error.

use std::io;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

/// Starts a thread named `name` (at most 15 bytes are shown by the system).
///
/// # Errors
/// When the system gives no thread.
#[expect(clippy::disallowed_methods, reason = "this is the module that starts threads")]
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Finds out whether the system gives `count` more threads at once. Libraries start some of their own,
/// and panic where they get none; so this is asked before they are.
///
/// # Errors
/// When it gives fewer.
pub fn check_supply(count: usize) -> io::Result<()> {
    let mut waiting = Vec::with_capacity(count);
    let supply = (0..count).try_for_each(|_| {
        // Each thread waits, so that all of them exist at once; one after another would prove nothing.
        let (end, ended) = channel::<()>();
        let thread = spawn("supply", move || ended.recv().is_err())?;
        waiting.push((end, thread));
        Ok(())
    });
    // Also after a failure: the threads that did start must end.
    for (end, thread) in waiting {
        drop(end);
        // It does nothing that could panic.
        drop(thread.join());
    }
    supply
}
