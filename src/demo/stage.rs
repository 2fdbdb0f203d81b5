//! The stage: a temporary folder, a real daemon on free ports, a simulated forge, and an operator's
//! environment. It is taken down when dropped.

use std::fmt::Debug;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::clock::{Clock as _, SystemClock};
use crate::demo::Error;
use crate::domain::delivery::{DeliveryId, RepositoryRef};
use crate::random::{Ids, SystemEntropy};
use crate::simulator::{Simulator, Webhook, Webhooks, sign};
use crate::thread;
use crate::wake::Wake;

/// Nothing in the demonstration takes longer, or it has failed.
const PATIENCE: Duration = Duration::from_secs(10);
/// The one tenant.
pub(super) const INSTALLATION: i64 = 4_711;
/// Signs the demonstration's webhooks.
const WEBHOOK_SECRET: &str = "a secret of the demonstration";

/// Everything that runs.
pub(super) struct Stage {
    folder: PathBuf,
    daemon: Option<Child>,
    public: SocketAddr,
    operator: SocketAddr,
    token: String,
    svcctl: PathBuf,
    clock: SystemClock,
    ids: Ids,
    pub(super) forge: Simulator,
    pub(super) webhooks: Webhooks,
}

/// How a command of `svcctl` ended.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Stage {
    pub(super) fn start() -> Result<Self, Error> {
        let clock = SystemClock::new();
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let svcctl = std::env::current_exe().map_err(|e| Error::System("find svcctl", e))?;
        let svcd = svcctl.with_file_name("svcd");
        if !svcd.exists() {
            return Err(Error::NoDaemon(svcd));
        }
        let folder = std::env::temp_dir().join(format!("svc-demo-{}", ids.uuid(clock.now())));
        let failed = |error| Error::System("make a temporary folder", error);
        DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        let token = format!("demo-{}", ids.uuid(clock.now()));
        let forge = Simulator::start().map_err(|e| Error::System("start the simulator", e))?;
        let repository = RepositoryRef {
            id: 99.try_into().expect("99 is positive"),
            full_name: "demo-org/rocket".parse().expect("it is a plain name"),
        };
        forge.add_repository(&repository);
        let installation = INSTALLATION.try_into().expect("it is positive");
        let mut stage = Self {
            webhooks: Webhooks { installation, repository },
            forge,
            folder,
            daemon: None,
            public: SocketAddr::from(([127, 0, 0, 1], 0)),
            operator: SocketAddr::from(([127, 0, 0, 1], 0)),
            token,
            svcctl,
            clock,
            ids,
        };
        stage.start_daemon(&svcd)?;
        Ok(stage)
    }

    fn start_daemon(&mut self, svcd: &Path) -> Result<(), Error> {
        let write = |name: &str, text: &str| {
            let path = self.folder.join(name);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            file.and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| Error::System("write a secret file", error))?;
            Ok::<_, Error>(path)
        };
        let token = write("operator.token", &self.token)?;
        let secret = write("webhook.secret", WEBHOOK_SECRET)?;
        let key = write("forge.pem", self.forge.private_key_pem())?;
        let mut command = Command::new(svcd);
        command
            .env_clear()
            .env("SVC_DATABASE", self.folder.join("svc.db"))
            .env("SVC_CONTROL_SOCKET", self.socket())
            .env("SVC_PUBLIC_LISTEN", "127.0.0.1:0")
            .env("SVC_OPERATOR_LISTEN", "127.0.0.1:0")
            .env("SVC_OPERATOR_API_TOKEN_FILE", token)
            .env("SVC_OPERATOR_ACTOR_ID", "demo:operator")
            .env("SVC_WEBHOOK_SECRET_FILE", secret)
            .env("SVC_FORGE_PRIVATE_KEY_FILE", key)
            .env("SVC_FORGE_APP_ID", self.forge.app_id().to_string())
            .env("SVC_FORGE_API_URL", self.forge.base_url())
            .env("SVC_LOG_FORMAT", "json")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut daemon = command.spawn().map_err(|e| Error::System("start svcd", e))?;
        let log = daemon.stderr.take();
        self.daemon = Some(daemon);
        let lines = follow(log, &self.folder.join("svcd.log"))?;
        self.public = listening(&lines, "public")?;
        self.operator = listening(&lines, "operator")?;
        event(&lines, "daemon.ready", |_| Some(()))
    }

    /// Sends a webhook as the forge would, under a delivery id of its own; returns both.
    pub(super) fn deliver(
        &mut self,
        webhook: &Webhook,
    ) -> Result<(DeliveryId, u16, String), Error> {
        let id: DeliveryId =
            self.ids.uuid(self.clock.now()).to_string().parse().expect("a UUID is a delivery id");
        let (status, outcome) = self.deliver_as(&id, webhook)?;
        Ok((id, status, outcome))
    }

    /// Sends a webhook under a delivery id; returns the status and the outcome it was answered with.
    pub(super) fn deliver_as(
        &self,
        id: &DeliveryId,
        webhook: &Webhook,
    ) -> Result<(u16, String), Error> {
        let failed = |e: ureq::Error| Error::System("deliver a webhook", io::Error::other(e));
        let mut answer = ureq::post(format!("http://{}/webhooks/forge", self.public))
            .config()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .header("Content-Type", "application/json")
            .header("X-GitHub-Event", webhook.event)
            .header("X-GitHub-Delivery", id.to_string())
            .header("X-Hub-Signature-256", sign(WEBHOOK_SECRET, &webhook.body))
            .send(&webhook.body)
            .map_err(failed)?;
        let body: Value = answer.body_mut().read_json().map_err(failed)?;
        let outcome = body.get("outcome").and_then(Value::as_str).unwrap_or_default();
        Ok((answer.status().as_u16(), outcome.to_owned()))
    }

    /// Runs `svcctl` as an operator would.
    pub(super) fn svcctl(&self, arguments: &[&str]) -> Result<Ran, Error> {
        let output = Command::new(&self.svcctl)
            .args(arguments)
            .env_clear()
            .env("SVC_URL", self.url())
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.folder.join("operator.token"))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::System("run svcctl", error))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }

    /// Looks again and again until there is something to see.
    pub(super) fn wait_for<T>(
        &self,
        what: &'static str,
        mut look: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let began = self.clock.monotonic();
        loop {
            if let Some(seen) = look()? {
                return Ok(seen);
            }
            let waited = self.clock.monotonic().saturating_sub(began);
            if waited > PATIENCE || !Wake::new().pause(Duration::from_millis(20)) {
                return Err(Error::Waited(what));
            }
        }
    }

    /// Returns the commands to go on with by hand.
    pub(super) fn how_to_play_on(&self) -> String {
        format!(
            "\nEverything keeps running. In another shell:\n\n\
             \x20 export SVC_URL={}\n\
             \x20 export SVC_OPERATOR_API_TOKEN_FILE={}\n\
             \x20 {} dead-letters list\n\
             \x20 curl -H \"Authorization: Bearer $(cat $SVC_OPERATOR_API_TOKEN_FILE)\" \\\n\
             \x20      http://{}/api/v1/operator/installations/{INSTALLATION}/dead-letters\n\
             \x20 tail -f {}\n\n\
             Press Enter here to stop it and to clean up.\n",
            self.url(),
            self.folder.join("operator.token").display(),
            self.svcctl.display(),
            self.operator,
            self.folder.join("svcd.log").display(),
        )
    }

    /// Returns the last lines of the daemon's log, for a reader who wants to know why.
    pub(super) fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.folder.join("svcd.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines.len().saturating_sub(10);
        format!("\nThe end of the daemon's log:\n{}\n", lines.split_at(tail).1.join("\n"))
    }

    /// Stops the daemon as a supervisor would, and removes everything.
    pub(super) fn stop(mut self) -> Result<(), Error> {
        let Some(mut daemon) = self.daemon.take() else { return Ok(()) };
        terminate(&daemon);
        let ended = daemon.wait().map_err(|error| Error::System("wait for svcd", error))?;
        if ended.success() {
            Ok(())
        } else {
            Err(unexpected("svcd, asked to stop", &"exit status 0", &ended.to_string()))
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("svcd.sock")
    }

    fn url(&self) -> String {
        format!("unix:{}", self.socket().display())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            terminate(&daemon);
            // It stops within its own bound; what it held is recovered by the next start anyway.
            drop(daemon.wait());
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Returns the error for an answer that is not what it must be.
pub(super) fn unexpected(what: &str, expected: &impl Debug, found: &impl Debug) -> Error {
    Error::Unexpected {
        what: what.to_owned(),
        expected: format!("{expected:?}"),
        found: format!("{found:?}"),
    }
}

fn terminate(daemon: &Child) {
    let pid = i32::try_from(daemon.id()).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended by itself; waiting for it tells.
        drop(kill_process(pid, Signal::TERM).map_err(io::Error::from));
    }
}

/// Copies the daemon's log to a file, and hands its lines on.
fn follow(log: Option<ChildStderr>, path: &Path) -> Result<Receiver<Value>, Error> {
    let failed = |error| Error::System("follow the log", error);
    let log = log.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
    let mut file = fs::File::create(path).map_err(failed)?;
    let (sender, lines): (Sender<Value>, _) = channel();
    thread::spawn("demo-log", move || {
        for line in BufReader::new(log).lines().map_while(Result::ok) {
            // The copy is for a curious reader, and lines matter only until the daemon is ready.
            drop(writeln!(file, "{line}"));
            drop(serde_json::from_str(&line).map(|line| sender.send(line)));
        }
    })
    .map_err(failed)?;
    Ok(lines)
}

fn listening(lines: &Receiver<Value>, surface: &str) -> Result<SocketAddr, Error> {
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
) -> Result<T, Error> {
    loop {
        let line = lines.recv_timeout(PATIENCE).or(Err(Error::Waited(name)))?;
        if line.get("event").and_then(Value::as_str) == Some(name)
            && let Some(found) = read(&line)
        {
            return Ok(found);
        }
    }
}
