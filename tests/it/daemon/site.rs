//! A place where `svcd` can run again and again: a folder, settings, and a simulated forge.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use svc::domain::repository::RepositoryRef;
use svc::simulator::{Simulator, Webhooks};
use tempfile::TempDir;

use super::process::Daemon;
use super::{INSTALLATION, SECRET, STRANGER, TOKEN};

/// Everything but the process.
pub(crate) struct Site {
    folder: TempDir,
    settings: BTreeMap<String, String>,
    pub(crate) forge: Simulator,
    pub(crate) webhooks: Webhooks,
    /// Of another installation.
    pub(crate) strangers: Webhooks,
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Nothing when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Site {
    pub(crate) fn new() -> Self {
        let forge = Simulator::start().unwrap();
        let webhooks = webhooks(INSTALLATION, 99, "acme/site");
        let strangers = webhooks_of_strangers();
        forge.add_repository(&webhooks.repository);
        forge.add_repository(&strangers.repository);
        let folder = tempfile::tempdir().unwrap();
        let mut site = Self { folder, settings: BTreeMap::new(), forge, webhooks, strangers };
        site.configure();
        site
    }

    fn configure(&mut self) {
        self.secret("SVC_OPERATOR_API_TOKEN", TOKEN);
        self.secret("SVC_WEBHOOK_SECRET", SECRET);
        self.secret("SVC_FORGE_PRIVATE_KEY", self.forge.private_key_pem());
        let app = self.forge.app_id().to_string();
        let url = self.forge.base_url();
        let (database, socket) = (self.database(), self.socket());
        for (name, value) in [
            ("SVC_DATABASE", database.to_str().unwrap()),
            ("SVC_CONTROL_SOCKET", socket.to_str().unwrap()),
            ("SVC_PUBLIC_LISTEN", "127.0.0.1:0"),
            ("SVC_OPERATOR_LISTEN", "127.0.0.1:0"),
            ("SVC_OPERATOR_ACTOR_ID", "ops:tests"),
            ("SVC_FORGE_APP_ID", &app),
            ("SVC_FORGE_API_URL", &url),
            ("SVC_LOG_FORMAT", "json"),
            ("SVC_LOG_LEVEL", "trace"),
            ("SVC_POLL_MS", "50"),
            ("SVC_FORGE_WRITES_PER_MINUTE", "60000"),
            ("SVC_SLO_POLL_MS", "60000"),
            ("SVC_RETRY_BASE_MS", "20"),
            ("SVC_RETRY_MAX_MS", "200"),
            ("SVC_STOP_SECONDS", "5"),
        ] {
            self.set(name, value);
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.settings.remove(name);
    }

    /// Puts a secret into a file and points the setting there.
    pub(crate) fn secret(&mut self, name: &str, value: &str) {
        let path = self.path(name);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        writeln!(file.unwrap(), "{value}").unwrap();
        self.set(&format!("{name}_FILE"), path.to_str().unwrap());
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path("svc.db")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("svcd.sock")
    }

    /// Returns a command with the site's environment and nothing to read.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().envs(&self.settings).current_dir(self.folder.path());
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn start(&self) -> Daemon {
        self.try_start().unwrap_or_else(|log| panic!("svcd did not start:\n{log}"))
    }

    pub(crate) fn try_start(&self) -> Result<Daemon, String> {
        let socket = PathBuf::from(&self.settings["SVC_CONTROL_SOCKET"]);
        Daemon::start(&mut self.command(svcd()), socket)
    }

    /// Runs `svcd` to its end, which must come by itself.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        finish(self.command(svcd()).args(arguments))
    }

    /// Runs `svcctl` as the operator.
    pub(crate) fn svcctl(&self, url: &str, arguments: &[&str]) -> Ended {
        finish(self.svcctl_command(url).args(arguments))
    }

    /// The same in the site's folder, where its files are.
    pub(crate) fn svcctl_in_folder(&self, url: &str, arguments: &[&str]) -> Ended {
        finish(self.svcctl_command(url).args(arguments).current_dir(self.folder.path()))
    }

    /// Returns the command `svcctl` of the operator.
    pub(crate) fn svcctl_command(&self, url: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command
            .env_clear()
            .env("SVC_URL", url)
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.path("SVC_OPERATOR_API_TOKEN"))
            .env("SVC_INSTALLATION", INSTALLATION.to_string())
            .stdin(Stdio::null());
        command
    }

    /// Returns the bytes of the database file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.database()).unwrap()
    }
}

pub(crate) fn svcd() -> &'static str {
    env!("CARGO_BIN_EXE_svcd")
}

pub(crate) fn webhooks(installation: i64, repository: i64, name: &str) -> Webhooks {
    let repository =
        RepositoryRef { id: repository.try_into().unwrap(), full_name: name.parse().unwrap() };
    Webhooks { installation: installation.try_into().unwrap(), repository }
}

fn webhooks_of_strangers() -> Webhooks {
    webhooks(STRANGER, 100, "stranger/place")
}

fn finish(command: &mut Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
