//! A running `svcd`: it is started, listened to until it is ready, limited, and stopped.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;

use crate::demo;
use crate::demo::stage::{PATIENCE, unexpected};
use crate::runtime::thread;

/// A running daemon. Stopped when dropped.
pub(super) struct Process {
    child: Option<Child>,
    pub(super) public: SocketAddr,
    pub(super) operator: SocketAddr,
}

impl Process {
    /// Starts a daemon whose log is added to a file, and waits until it is ready.
    pub(super) fn start(command: &mut Command, log: &Path) -> Result<Self, demo::Error> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        // Ctrl-C is for the demonstration, which stops its daemon in order.
        command.process_group(0);
        let child = command.spawn().map_err(|error| demo::Error::System("start svcd", error))?;
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        // The child has its owner from here on, so that every error below stops it.
        let mut process = Self { child: Some(child), public: nowhere, operator: nowhere };
        let lines =
            process.follow(log).map_err(|error| demo::Error::System("follow the log", error))?;
        process.public = listening(&lines, "public")?;
        process.operator = listening(&lines, "operator")?;
        event(&lines, "daemon.ready", |_| Some(()))?;
        Ok(process)
    }

    /// Copies the log to a file, and hands its lines on.
    fn follow(&mut self, path: &Path) -> io::Result<Receiver<Value>> {
        let log = self.child.as_mut().and_then(|child| child.stderr.take());
        let log = log.ok_or(io::ErrorKind::BrokenPipe)?;
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        let (sender, lines): (Sender<Value>, _) = channel();
        thread::spawn("demo-log", move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                // Who looks for a line reads the copy; here they matter only until the daemon is ready.
                drop(writeln!(file, "{line}"));
                drop(serde_json::from_str(&line).map(|line| sender.send(line)));
            }
        })?;
        Ok(lines)
    }

    /// Sets how large its files may become; nothing allows what this process may do itself.
    pub(super) fn limit_files(&self, bytes: Option<u64>) -> Result<(), demo::Error> {
        let own = getrlimit(Resource::Fsize);
        // Only the soft limit: a hard limit that was lowered cannot be raised again.
        let limit = Rlimit { current: bytes.or(own.current), maximum: own.maximum };
        prlimit(self.pid(), Resource::Fsize, limit)
            .map_err(|errno| demo::Error::System("limit the size of files", errno.into()))?;
        Ok(())
    }

    /// Stops it as a supervisor would.
    pub(super) fn stop(mut self) -> Result<(), demo::Error> {
        let ended = self.end().map_err(|error| demo::Error::System("wait for svcd", error))?;
        match ended {
            Some(ended) if !ended.success() => {
                Err(unexpected("svcd, asked to stop", &"exit status 0", &ended.to_string()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Asks it to stop and waits, which it bounds itself; how it ended is told once.
    fn end(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Some(pid) = self.pid() {
            // It may have ended by itself; waiting for it tells.
            drop(kill_process(pid, Signal::TERM).map_err(io::Error::from));
        }
        self.child.take().map(|mut child| child.wait()).transpose()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.as_ref()?.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // What it held is recovered by the next start anyway.
        drop(self.end());
    }
}

fn listening(lines: &Receiver<Value>, surface: &str) -> Result<SocketAddr, demo::Error> {
    event(lines, "daemon.listening", |line| {
        let is_it = line.get("surface").and_then(Value::as_str) == Some(surface);
        let address = line.get("address").and_then(Value::as_str).filter(|_| is_it);
        address.and_then(|address| address.parse().ok())
    })
}

/// Waits for a log line of an event that `read` makes something of.
fn event<T>(
    lines: &Receiver<Value>,
    name: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<T, demo::Error> {
    loop {
        let line = lines.recv_timeout(PATIENCE).map_err(|_| demo::Error::Waited(name))?;
        if line.get("event").and_then(Value::as_str) == Some(name)
            && let Some(found) = read(&line)
        {
            return Ok(found);
        }
    }
}
