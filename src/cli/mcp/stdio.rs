//! `svcctl mcp stdio`: the server of the protocol for the one client that starts it. The protocol is spoken in this
//! process; only calls of tools need the daemon.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::cli::Global;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::mcp::backend::Daemon;
use crate::cli::output::Output;
use crate::config::{ProtocolConfig, SettingProblem, Source};
use crate::mcp::backend::Backend;
use crate::mcp::{self, Server, ServerSettings};
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};

/// Serve MCP over standard input and output, to the program that starts this command
///
/// An MCP client starts this command itself; svcd does not need to listen on TCP. Each message is one line.
/// Serves the legacy revisions of the protocol, which use sessions. If MCP_V2_EXPERIMENTAL is true, it also serves the
/// modern revision, which has no sessions; the first message from the client selects between them. The tools send
/// requests to svcd at the address in --url, with a time limit of one second for each request. While svcd is not
/// running, the tools are still listed, and each call returns an error that says what to do. The tools of the relay
/// are served over HTTP only. Exits at the end of the input.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl mcp stdio                  # the command to enter in the configuration of an MCP client
  MCP_V2_EXPERIMENTAL=true svcctl mcp stdio
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let (protocol, warnings) = ProtocolConfig::load(Source::process()).map_err(|it| refuse(&it))?;
    for warning in &warnings {
        output.remark("warning", &warning.to_string());
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let backend: Arc<dyn Backend> = Arc::new(Daemon::new(global, Arc::clone(&clock))?);
    let ProtocolConfig { modern, offered } = protocol;
    // The control socket is not the person's, so there are no tools of the relay (`docs/decisions/88-relay-stdio.md`).
    let settings =
        ServerSettings { modern, offered, limits: mcp::stdio::LIMITS, relay_wait: Duration::ZERO };
    let ids = Ids::new(Box::new(SystemEntropy::new()));
    let server = Server::new(&settings, &backend, None, clock, ids, Arc::default());
    let served =
        mcp::stdio::serve(&server, io::stdin().lock(), Arc::new(Mutex::new(output.stream())));
    match served {
        Ok(()) => Ok(Exit::Done),
        // The client has gone, and that is its way to end.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Done),
        Err(error) => {
            let message = "cannot read standard input, or write standard output";
            Err(Error::new(Exit::LocalFile, message).caused_by(error))
        }
    }
}

fn refuse(problems: &[SettingProblem]) -> Error {
    let problems: Vec<String> = problems.iter().map(SettingProblem::to_string).collect();
    Error::new(Exit::Usage, format!("the environment is refused: {}", problems.join("; ")))
        .hint("the settings of svcd and of svcctl mcp are described in svcd.env(5)")
}
