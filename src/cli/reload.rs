//! `svcctl reload`: the service reads its secrets again. The unit runs it, so it ends when the reload has ended.

use std::path::PathBuf;

use http::Method;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};

use crate::api::Reloaded;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::endpoint::Endpoint;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};

/// Make svcd read its secrets again: the operator token, the secrets of webhooks and results, and the app's key
///
/// All of them are replaced, or none: exits with 1 if svcd refuses one, and then the old secrets stay in use. Requires
/// access to the control socket, but no token. Secrets that systemd passes as credentials change only with a restart.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  systemctl reload svcd
  svcctl reload
  svcctl reload -o json | jq -r '.changed[]'
")]
pub(crate) struct Args {
    /// Control socket of svcd [default: that of --url]
    #[arg(long, value_name = "PATH", env = "SVC_CONTROL_SOCKET", hide_env_values = true)]
    control_socket: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let mut global = global.clone();
    if let Some(socket) = &args.control_socket {
        global.url = format!("unix:{}", socket.display());
    }
    if !matches!(Endpoint::parse(&global.url), Ok(Endpoint::Unix(_))) {
        return Err(Error::new(
            Exit::Usage,
            "secrets are reloaded only through the control socket",
        )
        .hint("for example: svcctl --url unix:/run/svc/svcd.sock reload"));
    }
    let headers = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static("0"))]);
    let answer = Client::anonymous(&global)?.send(Method::POST, "/api/v1/reload", headers)?;
    let reloaded: Reloaded = answer.expect_ok()?;
    match output.format() {
        Format::Json | Format::Ndjson => output.json(&reloaded)?,
        Format::Table => output.facts(vec![
            ("changed", listed(&reloaded.changed)),
            ("unchanged", listed(&reloaded.unchanged)),
        ])?,
    }
    Ok(Exit::Done)
}

fn listed(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
