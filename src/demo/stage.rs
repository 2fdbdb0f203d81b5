//! The stage: a temporary folder, a real daemon on free ports, a simulated forge with its issuer of
//! identity tokens, and an operator's environment. It is taken down when dropped.

mod process;
mod requests;

use std::fmt::Debug;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use process::Process;
pub(super) use requests::result_path;
use serde_json::Value;

use crate::demo;
use crate::domain::repository::RepositoryRef;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};
use crate::simulator::{Issuer, Simulator, Webhooks};

/// Nothing in the demonstration takes longer, or it has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The one tenant.
pub(super) const INSTALLATION: i64 = 4_711;
/// Signs the demonstration's webhooks.
const WEBHOOK_SECRET: &str = "a secret of the demonstration";
/// What takes minutes in real life, shortened so that it can be watched.
pub(super) const SHORTENED: [(&str, &str); 6] = [
    ("SVC_RECONCILIATION_OBSERVATION_SECONDS", "1"),
    ("SVC_RECONCILIATION_DEADLINE_SECONDS", "4"),
    ("SVC_RECONCILIATION_NEXT_CHECK_SECONDS", "1"),
    ("SVC_RECONCILIATION_DETECT_INTERVAL_MS", "200"),
    ("SVC_RECONCILIATION_POLL_MS", "100"),
    ("SVC_SLO_POLL_MS", "200"),
];

/// Everything that runs.
pub(super) struct Stage {
    folder: PathBuf,
    daemon: Option<Process>,
    token: String,
    svcctl: PathBuf,
    clock: SystemClock,
    ids: Ids,
    issuer: Issuer,
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
    /// Starts everything; the daemon with these settings besides.
    pub(super) fn start(settings: &[(&str, &str)]) -> Result<Self, demo::Error> {
        let clock = SystemClock::new();
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let svcctl = std::env::current_exe().map_err(|e| demo::Error::System("find svcctl", e))?;
        let folder = std::env::temp_dir().join(format!("svc-demo-{}", ids.uuid(clock.now())));
        let failed = |error| demo::Error::System("make a temporary folder", error);
        // An existing folder is an error: another user could have prepared it.
        DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        let token = format!("demo-{}", ids.uuid(clock.now()));
        let forge =
            Simulator::start().map_err(|e| demo::Error::System("start the simulator", e))?;
        let issuer = Issuer::start().map_err(|e| demo::Error::System("start the issuer", e))?;
        let repository = RepositoryRef {
            id: 99.try_into().expect("99 is positive"),
            full_name: "demo-org/rocket".parse().expect("it is a plain name"),
        };
        forge.add_repository(&repository);
        let installation = INSTALLATION.try_into().expect("it is positive");
        let webhooks = Webhooks { installation, repository };
        let mut stage =
            Self { folder, daemon: None, token, svcctl, clock, ids, issuer, forge, webhooks };
        stage.write_secrets()?;
        stage.start_daemon(settings)?;
        Ok(stage)
    }

    fn write_secrets(&self) -> Result<(), demo::Error> {
        for (name, text) in [
            ("operator.token", self.token.as_str()),
            ("webhook.secret", WEBHOOK_SECRET),
            ("forge.pem", self.forge.private_key_pem()),
        ] {
            let path = self.folder.join(name);
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
            file.and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| demo::Error::System("write a secret file", error))?;
        }
        Ok(())
    }

    fn start_daemon(&mut self, settings: &[(&str, &str)]) -> Result<(), demo::Error> {
        let svcd = self.svcctl.with_file_name("svcd");
        if !svcd.exists() {
            return Err(demo::Error::NoDaemon(svcd));
        }
        let mut command = Command::new(svcd);
        command
            // Settings of the caller's environment would change the demonstration.
            .env_clear()
            // Five releases within seconds are more than one installation's pace.
            .env("SVC_FORGE_WRITES_PER_MINUTE", "600")
            .env("SVC_DATABASE", self.folder.join("svc.db"))
            .env("SVC_CONTROL_SOCKET", self.socket())
            // Free ports, which the log of the daemon tells.
            .env("SVC_PUBLIC_LISTEN", "127.0.0.1:0")
            .env("SVC_OPERATOR_LISTEN", "127.0.0.1:0")
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.folder.join("operator.token"))
            .env("SVC_OPERATOR_ACTOR_ID", "demo:operator")
            .env("SVC_WEBHOOK_SECRET_FILE", self.folder.join("webhook.secret"))
            .env("SVC_FORGE_PRIVATE_KEY_FILE", self.folder.join("forge.pem"))
            .env("SVC_FORGE_APP_ID", self.forge.app_id().to_string())
            .env("SVC_FORGE_API_URL", self.forge.base_url())
            .env("SVC_RESULT_ISSUERS", self.issuer.url())
            .env("SVC_LOG_FORMAT", "json")
            .envs(settings.iter().copied());
        self.daemon = Some(Process::start(&mut command, &self.log())?);
        Ok(())
    }

    /// Stops the daemon, and starts it on the same store with what takes minutes shortened.
    pub(super) fn restart_shortened(&mut self) -> Result<(), demo::Error> {
        self.daemon.take().map_or(Ok(()), Process::stop)?;
        self.start_daemon(&SHORTENED)
    }

    /// Sets how large the daemon's files may become; nothing lifts the limit.
    pub(super) fn limit_files(&self, bytes: Option<u64>) -> Result<(), demo::Error> {
        self.daemon()?.limit_files(bytes)
    }

    /// Runs `svcctl` as an operator would.
    pub(super) fn svcctl(&self, arguments: &[&str]) -> Result<Ran, demo::Error> {
        let output = Command::new(&self.svcctl)
            .args(arguments)
            .env_clear()
            .env("SVC_URL", self.url())
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.folder.join("operator.token"))
            .stdin(Stdio::null())
            .output()
            .map_err(|error| demo::Error::System("run svcctl", error))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }

    /// Returns the daemon's public address.
    pub(super) fn public(&self) -> Result<SocketAddr, demo::Error> {
        Ok(self.daemon()?.public)
    }

    /// Returns the time that passes.
    pub(super) fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    /// Returns the lines of the daemon's log about one event.
    pub(super) fn events(&self, name: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|line: &Value| line.get("event").and_then(Value::as_str) == Some(name))
            .collect()
    }

    /// Returns the commands to go on with by hand.
    pub(super) fn how_to_play_on(&self) -> Result<String, demo::Error> {
        Ok(format!(
            "\nEverything keeps running, still shortened. In another shell:\n\n\
             \x20 export SVC_URL={}\n\
             \x20 export SVC_OPERATOR_API_TOKEN_FILE={}\n\
             \x20 {} dead-letters list\n\
             \x20 curl -H \"Authorization: Bearer $(cat $SVC_OPERATOR_API_TOKEN_FILE)\" \\\n\
             \x20      http://{}/api/v1/operator/installations/{INSTALLATION}/releases\n\
             \x20 tail -f {}\n\n\
             One more dead letter:\n\n\
             \x20 kill -USR1 {}\n\n\
             Press Enter or Ctrl-C here to stop it and to clean up; without a terminal, send it SIGTERM.\n",
            self.url(),
            self.folder.join("operator.token").display(),
            self.svcctl.display(),
            self.daemon()?.operator,
            self.log().display(),
            std::process::id(),
        ))
    }

    /// Returns the last lines of the daemon's log, for a reader who wants to know why.
    pub(super) fn log_tail(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines.len().saturating_sub(10);
        format!("\nThe end of the daemon's log:\n{}\n", lines.split_at(tail).1.join("\n"))
    }

    /// Stops the daemon as a supervisor would, and removes everything.
    pub(super) fn stop(mut self) -> Result<(), demo::Error> {
        self.daemon.take().map_or(Ok(()), Process::stop)
    }

    fn daemon(&self) -> Result<&Process, demo::Error> {
        self.daemon.as_ref().ok_or_else(|| unexpected("svcd", &"it runs", &"it does not"))
    }

    fn log(&self) -> PathBuf {
        self.folder.join("svcd.log")
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
        // First who writes there.
        drop(self.daemon.take());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Returns the error for an answer that is not what it must be.
pub(super) fn unexpected(what: &str, expected: &impl Debug, found: &impl Debug) -> demo::Error {
    demo::Error::Unexpected {
        what: what.to_owned(),
        expected: format!("{expected:?}"),
        found: format!("{found:?}"),
    }
}
