//! The server for operators on this machine: `tiny_http` on a private Unix socket, and a guard on
//! the one operators know. Its owner and its group may connect to that.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::deadline::Deadline;
use super::guard::{Guard, INSIDE_MAX};
use super::inner::Inner;
use crate::http::message::Service;
use crate::runtime::notify::Notify;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;

/// Most bytes the system takes for the path of a socket, without its final zero.
const SOCKET_PATH_MAX: usize = 107;

/// What one operator may cost the others.
#[derive(Clone, Copy, Debug)]
pub struct ControlLimits {
    /// Most connections at once; further ones are closed at once.
    pub connections_max: usize,
    /// Time for a whole head, from the start of the connection.
    pub head_timeout: Duration,
    /// Time for a whole body.
    pub body_timeout: Duration,
    /// Time for a handler.
    pub handler_timeout: Duration,
    /// Time to take in a whole answer.
    pub write_timeout: Duration,
}

impl Default for ControlLimits {
    /// Returns limits for a few people and their scripts.
    fn default() -> Self {
        Self {
            connections_max: 32,
            head_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(15),
            handler_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(10),
        }
    }
}

/// A running server. It must be stopped: dropping it leaves its threads and its socket behind.
#[must_use = "the server runs until it is stopped"]
pub struct ControlServer {
    places: Places,
    wake: Notify,
    listener: UnixListener,
    acceptor: JoinHandle<()>,
    connections: Semaphore,
    inner: Arc<Inner>,
    inner_running: Semaphore,
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
    let places = Places::beside(path)?;
    let lock = places.lock()?;
    let listener = places.listen()?;
    let wake = Notify::new();
    let connections = Semaphore::new(limits.connections_max);
    let (inner, inner_running) =
        Inner::start(places.inner.clone(), Arc::clone(&service), wake.clone())?;
    let guard = Arc::new(Guard {
        service,
        limits,
        inner: places.inner.clone(),
        connections: connections.clone(),
        inside: Semaphore::new(INSIDE_MAX),
        wake: wake.clone(),
    });
    let accepting = listener.try_clone()?;
    let acceptor = thread::spawn("control", move || guard.accept(&accepting))?;
    Ok(ControlServer { places, wake, listener, acceptor, connections, inner, inner_running, lock })
}

impl ControlServer {
    /// Stops accepting at once, lets running exchanges finish within `grace`, and removes the
    /// socket. A handler that outlasts the grace is left behind.
    pub fn stop(self, grace: Duration) {
        let deadline = Deadline::after(grace);
        self.wake.stop();
        // Ends a waiting `accept`, which std can ask of a stream only.
        let accepted = UnixStream::from(OwnedFd::from(self.listener)).shutdown(Shutdown::Both);
        if accepted.is_ok() && self.acceptor.join().is_err() {
            log::error!(event = "http.server_panicked"; "the control server panicked");
        }
        let mut ended = self.connections.wait_free(deadline.left());
        self.inner.stop();
        ended &= self.inner_running.wait_free(deadline.left());
        if !ended {
            log::warn!(event = "http.handlers_left"; "leaving handlers behind that do not end");
        }
        self.places.clear();
        drop(self.lock);
    }
}

/// The paths of one server.
#[derive(Debug)]
struct Places {
    /// The socket operators know.
    outer: PathBuf,
    /// Keeps a second server away. Never removed: two could then hold one each.
    lock: PathBuf,
    /// A directory nobody else enters.
    private: PathBuf,
    /// The socket of `tiny_http`, in there.
    inner: PathBuf,
    /// Where the outer socket waits until it has its mode, in there.
    fresh: PathBuf,
}

impl Places {
    fn beside(path: &Path) -> io::Result<Self> {
        let with = |suffix: &str| {
            let mut path = path.as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        };
        let private = with(".inner");
        let inner = private.join("http");
        let (length, longest) = (path.as_os_str().len(), inner.as_os_str().as_bytes().len());
        if longest > SOCKET_PATH_MAX {
            let max = SOCKET_PATH_MAX - (longest - length);
            let problem = format!(
                "the path of the control socket has {length} bytes, at most {max} are possible"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let fresh = private.join("new");
        Ok(Self { outer: path.to_owned(), lock: with(".lock"), private, inner, fresh })
    }

    fn lock(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(&self.lock)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                let problem = format!("another svcd holds {}", self.lock.display());
                Err(io::Error::new(io::ErrorKind::AddrInUse, problem))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Binds the outer socket. It has its mode before anybody can reach it, so that the umask does
    /// not matter.
    fn listen(&self) -> io::Result<UnixListener> {
        if fs::symlink_metadata(&self.outer).is_ok_and(|found| !found.file_type().is_socket()) {
            let problem = format!("{} is there and is no socket", self.outer.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
        }
        match fs::remove_dir_all(&self.private) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => DirBuilder::new().mode(0o700).create(&self.private)?,
        }
        let listener = UnixListener::bind(&self.fresh)?;
        fs::set_permissions(&self.fresh, Permissions::from_mode(0o660))?;
        fs::rename(&self.fresh, &self.outer)?;
        Ok(listener)
    }

    /// Removes the sockets; what is left is replaced by the next start.
    fn clear(&self) {
        let removed = fs::remove_file(&self.outer).and(fs::remove_dir_all(&self.private));
        if let Err(error) = removed {
            log::warn!(
                event = "http.socket_left", error:% = error;
                "the control socket could not be removed"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_too_long_for_a_socket_is_named() {
        let path = PathBuf::from(format!("/{}", "x".repeat(95)));
        assert!(Places::beside(&path).is_ok());
        let problem = Places::beside(&path.join("y")).unwrap_err().to_string();
        assert_eq!(problem, "the path of the control socket has 98 bytes, at most 96 are possible");
    }
}
