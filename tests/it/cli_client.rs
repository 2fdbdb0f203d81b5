//! `svcctl` as a person or a script meets it: the real binary against a service that answers from a
//! list. Shows requests, output, standard error and exit codes.

mod access;
mod answers;
mod applies;
pub(crate) mod canned_server;
mod filters;
mod ids;
mod list;
mod lists;
pub(crate) mod mcp_stdio;
mod refusals;
mod relay_audit;
mod relay_pair;
mod replay;
mod slo;
mod status;
mod terminals;
mod usage;
mod waits;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use canned_server::{CannedServer, Reply};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const ID: &str = "0199f3a0-0000-7000-8000-00000000000a";
const KEY: &str = "0199f3a0-0000-7000-8000-0000000000ff";

/// A service and the files of an operator.
struct Desk {
    directory: TempDir,
    server: CannedServer,
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    fn new(replies: Vec<Reply>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let server = CannedServer::unix(&directory.path().join("svcd.sock"), replies);
        let desk = Self { directory, server };
        desk.write_token(0o640);
        desk
    }

    fn token_file(&self) -> PathBuf {
        self.directory.path().join("operator.token")
    }

    fn write_token(&self, mode: u32) {
        fs::write(self.token_file(), format!("{TOKEN}\n")).unwrap();
        fs::set_permissions(self.token_file(), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svcctl"));
        command
            .env_clear()
            .env("SVC_URL", &self.server.url)
            .env("SVC_INSTALLATION", "42")
            .env("SVC_OPERATOR_API_TOKEN_FILE", self.token_file())
            .args(args.split_whitespace())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &str) -> Run {
        finish(&mut self.command(args))
    }
}

fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn item(id: &str, kind: &str, failed_at: &str) -> String {
    format!(
        r#"{{"itemType":"{kind}","itemId":"{id}","repository":"acme/site","reasonCode":"crash_loop","errorClass":"crash","cause":null,"attemptCount":5,"failedAt":"{failed_at}","replaySafe":true,"replayClass":"job_transaction","effectKind":null,"releaseRunId":null}}"#
    )
}

fn page(items: &[String], next: Option<&str>) -> Reply {
    let next = next.map_or("null".to_owned(), |next| format!("\"{next}\""));
    Reply::json(200, &format!(r#"{{"items":[{}],"nextBefore":{next}}}"#, items.join(",")))
}

fn problem(status: u16, outcome: &str, extra: &str) -> Reply {
    Reply::json(
        status,
        &format!(
            r#"{{"type":"urn:svc:problem:{outcome}","title":"a title","status":{status},"outcome":"{outcome}"{extra}}}"#
        ),
    )
}

fn replayed(outcome: &str) -> Reply {
    Reply::json(200, &format!(r#"{{"outcome":"{outcome}","auditEventId":"{KEY}"}}"#))
}

fn detail(class: &str, safe: bool) -> Reply {
    let item = item(ID, "outbox", "2020-01-01T00:00:00.000002Z")
        .replace("\"replaySafe\":true", &format!("\"replaySafe\":{safe}"))
        .replace("job_transaction", class);
    Reply::json(200, &item)
}

/// Returns a pipe whose other end is closed.
fn unread() -> Stdio {
    let (_reader, writer) = std::io::pipe().unwrap();
    writer.into()
}
