//! The real binary, with a simulated forge.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::thread;
use svc::simulator::Simulator;

use crate::support::Folder;
use crate::work::repository;

/// Signs webhooks.
pub(crate) const SECRET: &str = "the secret of a benchmark";

/// Where it runs, again and again.
pub(crate) struct Site {
    folder: Folder,
    forge: Simulator,
}

/// A running daemon, killed when dropped.
pub(crate) struct Svcd {
    child: Child,
    /// Where webhooks go.
    pub(crate) public: SocketAddr,
    /// From the call that started it to its word that it is ready.
    pub(crate) start: Duration,
}

impl Site {
    pub(crate) fn new() -> Self {
        let site = Self { folder: Folder::new(), forge: Simulator::start().unwrap() };
        site.forge.add_repository(&repository());
        for (name, secret) in [
            ("webhook", SECRET),
            ("token", "0123456789abcdef0123456789abcdef"),
            ("key", site.forge.private_key_pem()),
        ] {
            let mut options = std::fs::OpenOptions::new();
            let file = options.write(true).create_new(true).mode(0o600);
            writeln!(file.open(site.folder.path(name)).unwrap(), "{secret}").unwrap();
        }
        site
    }

    /// Where its database is.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path("svc.db")
    }

    /// Where operators reach it.
    pub(crate) fn url(&self) -> String {
        format!("unix:{}", self.folder.path("s").display())
    }

    /// Starts it and waits until it is ready.
    pub(crate) fn start(&self) -> Svcd {
        self.start_with(&[])
    }

    /// The same with further settings.
    pub(crate) fn start_with(&self, settings: &[(&str, &str)]) -> Svcd {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcd"));
        command
            .env_clear()
            .env("SVC_DATABASE", self.database())
            .env("SVC_CONTROL_SOCKET", self.folder.path("s"))
            .env("SVC_PUBLIC_LISTEN", "127.0.0.1:0")
            .env("SVC_OPERATOR_ACTOR_ID", "ops:bench")
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.folder.path("token"))
            .env("SVC_WEBHOOK_SECRET_FILE", self.folder.path("webhook"))
            .env("SVC_FORGE_PRIVATE_KEY_FILE", self.folder.path("key"))
            .env("SVC_FORGE_APP_ID", self.forge.app_id().to_string())
            .env("SVC_FORGE_API_URL", self.forge.base_url())
            .env("SVC_FORGE_WRITES_PER_MINUTE", "60000")
            .env("SVC_LOG_FORMAT", "json")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let clock = SystemClock::new();
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let public = until_ready(&mut log);
        let start = clock.monotonic();
        // The log is not read here, and it must not stand still for that.
        thread::spawn("bench-log", move || std::io::copy(&mut log, &mut std::io::sink())).unwrap();
        Svcd { child, public, start }
    }
}

fn until_ready(log: &mut BufReader<ChildStderr>) -> SocketAddr {
    let (mut public, mut seen) = (None, String::new());
    for line in log.lines().map_while(Result::ok) {
        seen.push_str(&line);
        let Ok(event) = serde_json::from_str::<serde_json::Value>(&line) else { continue };
        let text = |name: &str| event.get(name).and_then(|value| value.as_str()).unwrap_or("");
        match (text("event"), text("surface")) {
            ("daemon.listening", "public") => public = text("address").parse().ok(),
            ("daemon.ready", _) => return public.unwrap(),
            _ => {}
        }
    }
    panic!("svcd did not start: {seen}")
}

impl Svcd {
    /// Its resident memory in MiB.
    pub(crate) fn resident(&self) -> f64 {
        resident(self.child.id())
    }

    /// Asks it to end and waits until it has.
    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// What all its threads together have run so far.
    pub(crate) fn ran(&self) -> Duration {
        ran(self.child.id())
    }
}

/// Returns the resident memory of a process in MiB.
pub(crate) fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1_024.0
}

/// Returns what all threads of a process together have run so far.
pub(crate) fn ran(pid: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let nanos = tasks.map(|task| {
        let path = task.unwrap().path().join("schedstat");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0)
    });
    Duration::from_nanos(nanos.sum())
}

impl Drop for Svcd {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
