//! A raw loop on PostgreSQL: `pgbench` with two scripts, on a server of its own with its shipped settings, `fsync` and
//! `synchronous_commit` among them.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use svc::runtime::notify::Notify;

use super::{JOBS, Rates, output};
use crate::support::Folder;

/// PostgreSQL refuses to run as root; the package makes this user.
const USER: &str = "postgres";
const SCHEMA: &str = "CREATE TABLE jobs (id bigserial PRIMARY KEY, key text NOT NULL UNIQUE, \
    body text NOT NULL, state text NOT NULL DEFAULT 'available'); \
    CREATE INDEX jobs_available ON jobs (id) WHERE state = 'available'";
const RECORD: &str =
    "INSERT INTO jobs (key, body) VALUES (gen_random_uuid()::text, repeat('x', 300));\n";
/// Two transactions, as ours are: the claim is on disk before the work begins.
const CLAIM_AND_RUN: &str = "UPDATE jobs SET state = 'leased' WHERE id = (SELECT id FROM jobs \
    WHERE state = 'available' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id \\gset\n\
    UPDATE jobs SET state = 'done' WHERE id = :id;\n";

/// A server, ended when dropped.
pub(super) struct Postgres {
    programs: PathBuf,
    folder: Folder,
    /// Short, because the name of a socket has little room.
    socket: tempfile::TempDir,
    process: Option<Child>,
}

impl Postgres {
    pub(super) fn start() -> Option<Self> {
        let programs = match programs() {
            Some(programs) => programs,
            None if geteuid().is_root() => {
                output(Command::new("apt-get").args(["install", "-y", "-q", "postgresql"]))?;
                programs()?
            }
            None => return None,
        };
        let (folder, socket) = (Folder::new(), tempfile::tempdir().unwrap());
        let mut server = Self { programs, folder, socket, process: None };
        for (name, script) in [("record.sql", RECORD), ("run.sql", CLAIM_AND_RUN)] {
            fs::write(server.folder.path(name), script).unwrap();
        }
        if geteuid().is_root() {
            let mut own = Command::new("chown");
            output(own.args(["-R", USER]).arg(server.folder.path(".")).arg(server.socket.path()))?;
        }
        let data = server.folder.path("data");
        output(server.program("initdb").args(["-A", "trust", "-U", USER, "-D"]).arg(&data))?;
        let sockets = format!("unix_socket_directories={}", server.socket.path().display());
        let log = fs::File::create(server.folder.path("log")).unwrap();
        let mut start = server.program("postgres");
        start.args(["-c", "listen_addresses=", "-c", &sockets, "-D"]).arg(&data).stderr(log);
        server.process = Some(start.spawn().ok()?);
        // Until it takes connections, for up to 30 s.
        let is_ready = || output(server.client("pg_isready").arg("-q")).is_some();
        (0..300).find(|_| is_ready() || !Notify::new().pause(Duration::from_millis(100)))?;
        output(server.client("psql").args(["-q", "-c", SCHEMA]))?;
        Some(server)
    }

    pub(super) fn rates(&self, callers: usize) -> Rates {
        ["record.sql", "run.sql"].map(|script| self.per_second(script, callers))
    }

    fn per_second(&self, script: &str, callers: usize) -> f64 {
        let (clients, each) = (callers.to_string(), (JOBS / callers).to_string());
        let mut bench = self.client("pgbench");
        bench.args(["-n", "-M", "prepared", "-c", &clients, "-t", &each, "-f"]);
        let printed = output(bench.arg(self.folder.path(script)).arg(USER)).unwrap();
        let line = printed.lines().find_map(|line| line.strip_prefix("tps = ")).unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    }

    /// A program of the server, not run as root. It ends with the benchmark, also when that is killed.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if geteuid().is_root() {
            command.args(["--reuid", USER, "--regid", USER, "--init-groups"]);
        }
        command.arg(self.programs.join(name)).current_dir(self.socket.path());
        command
    }

    fn client(&self, name: &str) -> Command {
        let mut command = self.program(name);
        command.args(["-U", USER, "-h"]).arg(self.socket.path());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // At once: what it holds is not needed any more.
            kill_process(Pid::from_child(&process), Signal::QUIT).unwrap();
            process.wait().unwrap();
        }
    }
}

/// Returns where Debian has the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.filter_map(Result::ok);
    let places = versions.map(|version| version.path().join("bin"));
    places.filter(|place| place.join("initdb").exists()).max()
}
