//! The server for operators on this machine: `tiny_http` on a private Unix socket, and a guard on
//! the one operators know. Its owner and its group may connect to that.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Error, ErrorKind};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::deadline::Deadline;
use super::guard::Guard;
use super::limits::ControlLimits;
use super::private_directory;
use crate::http::message::Service;
use crate::runtime::{lock_file, thread};

/// A running server. It must be stopped: dropping it leaves its threads and its socket behind.
#[must_use = "the server runs until it is stopped"]
pub struct ControlServer {
    path: PathBuf,
    listener: UnixListener,
    acceptor: JoinHandle<()>,
    guard: Arc<Guard>,
    /// Held until the sockets are gone.
    lock: File,
}

/// Starts the server on a Unix socket at `path`, for its owner and its group. One server at a time
/// has a path; a socket left behind by another one is replaced.
///
/// # Errors
/// When another server has the path, when something else than a socket stands there, when the path
/// is too long for a socket, or when the system gives no socket, directory or thread.
pub fn start(
    path: &Path,
    service: Arc<dyn Service>,
    limits: ControlLimits,
) -> io::Result<ControlServer> {
    let (path, private) = (path.to_owned(), path.with_added_extension("inner"));
    let lock = lock(&path)?;
    let listener = listen(&path, &private)?;
    let guard = Arc::new(Guard::start(private, service, limits)?);
    let (accepting, accepted) = (Arc::clone(&guard), listener.try_clone()?);
    let acceptor = thread::spawn("control", move || accepting.accept_loop(&accepted))?;
    Ok(ControlServer { path, listener, acceptor, guard, lock })
}

impl ControlServer {
    /// Stops accepting at once, lets running exchanges finish within `grace`, and removes the
    /// socket. A handler that outlasts the grace is left behind.
    pub fn stop(self, grace: Duration) {
        let deadline = Deadline::after(grace);
        self.guard.stopping.stop();
        // Ends a waiting `accept`, which std can ask of a stream only.
        let accepted = UnixStream::from(OwnedFd::from(self.listener)).shutdown(Shutdown::Both);
        if accepted.is_ok() && self.acceptor.join().is_err() {
            log::error!(event = "http.server_panicked"; "the control server panicked");
        }
        if !self.guard.join(&deadline) {
            log::warn!(event = "http.handlers_left"; "some request handlers did not end in time");
        }
        // What is left is replaced by the next start.
        let removed =
            fs::remove_file(&self.path).and(private_directory::remove(&self.guard.directory));
        if let Err(error) = removed {
            log::warn!(event = "http.socket_left", error:% = error; "the control socket could not be removed");
        }
        drop(self.lock);
    }
}

/// Keeps a second server away. The file is never removed: two servers could then hold one each.
fn lock(path: &Path) -> io::Result<File> {
    let path = path.with_added_extension("lock");
    let file = lock_file::open(&path)?;
    let in_use = format!("another svcd holds {}", path.display());
    file.try_lock().map(|()| file).map_err(|error| match error {
        TryLockError::WouldBlock => Error::new(ErrorKind::AddrInUse, in_use),
        TryLockError::Error(error) => error,
    })
}

/// Creates the private directory and binds the socket. The socket has its mode before it can be reached, so
/// that the umask does not matter.
fn listen(path: &Path, private: &Path) -> io::Result<UnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_socket()) {
        let problem = format!("{} exists and is not a socket", path.display());
        return Err(Error::new(ErrorKind::AlreadyExists, problem));
    }
    private_directory::replace(private)?;
    let fresh = private.join("new");
    let listener = UnixListener::bind(&fresh)?;
    fs::set_permissions(&fresh, Permissions::from_mode(0o660))?;
    fs::rename(&fresh, path)?;
    Ok(listener)
}

#[cfg(test)]
mod tests;
