//! `svcctl mcp doctor`: what this environment says of MCP, what the running daemon does, and what a client finds at its
//! address. Asks first, then decides; deciding is in `diagnosis`.
//!
//! See `docs/decisions/56-mcp-doctor.md`.

mod diagnosis;
mod findings;
mod issuer;
mod probe;
mod report;

use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};

use crate::api::McpStatus;
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::config::{McpEnvironment, Source};
use crate::mcp::description::{describe, without_query};
use diagnosis::{Away, Environment, diagnose};
use probe::{Exchange, Probe};

/// Longest time of each request.
const TIMEOUT_MAX: Duration = Duration::from_secs(5);

/// Compare the MCP settings of this environment with those of the running svcd, and test /mcp as a client would
///
/// For this environment and for the running svcd, shows the transports, the supported revisions of the protocol,
/// which revisions are served by default (legacy ones, which use sessions, or modern ones, which do not), and
/// whether modern revisions are enabled. Then requests /mcp, its OAuth metadata, and the metadata and keys of the issuer, without a
/// token and with a time limit of five seconds for each request. Exits with 0 if no problem is found, 1 if problems
/// are found, and 69 if svcd does not respond. For each problem, the next step is shown. If svcd does not respond,
/// only the settings of this environment are shown.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl mcp doctor
  sudo sh -c 'set -a; . /etc/svc/svcd.env; svcctl mcp doctor'     # with the settings of svcd
  svcctl mcp doctor -o json | jq -r '.findings[].next'
")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let timeout = global.request_timeout().min(TIMEOUT_MAX);
    let client = Client::anonymous(&Global { timeout: Some(timeout), ..global.clone() })?;
    let (facts, exit) = gather(&client, &Probe::new(timeout));
    let diagnosis = diagnose(&facts);
    match output.format() {
        Format::Table => report::show(&facts, &diagnosis, output)?,
        Format::Json | Format::Ndjson => output.json(&report::of(&facts, &diagnosis))?,
    }
    Ok(exit.unwrap_or(if diagnosis.findings.is_empty() { Exit::Done } else { Exit::Failed }))
}

/// Asks everything, one after another; returns with it how to end when the daemon does not answer.
fn gather(client: &Client, probe: &Probe) -> (diagnosis::Facts, Option<Exit>) {
    let (environment, keys_url) = environment();
    let asked = ask(client).map_err(Error::from);
    let exit = asked.as_ref().err().map(Error::exit);
    let daemon = asked.map_err(|error| Away::new(error.chain(), error.hints()));
    let mut facts = diagnosis::Facts {
        environment,
        daemon,
        endpoint: None,
        metadata: None,
        issuer: None,
        keys: None,
    };
    let Some(subject) = facts.subject().cloned() else { return (facts, exit) };
    facts.endpoint = subject.endpoint.as_deref().map(|url| probe.discover(url));
    if let Some(authorization) = &subject.authorization {
        facts.metadata = Some(probe.get(&authorization.resource_metadata));
        facts.issuer = find_issuer(probe, &authorization.issuer);
        // Only this environment may know the query.
        let own = keys_url.filter(|url| without_query(url) == authorization.jwks_url);
        facts.keys = Some(probe.get(own.as_deref().unwrap_or(&authorization.jwks_url)));
    }
    // Behind a proxy, the request that was just made shows how others arrive.
    if let (Ok(daemon), Some(_)) = (&mut facts.daemon, &subject.public_url)
        && let Ok(now) = ask(client)
    {
        daemon.forwarding_headers = now.forwarding_headers;
    }
    (facts, exit)
}

/// Looks for an issuer's metadata where a client does, one place after another; returns the last answer without a
/// good one.
fn find_issuer(probe: &Probe, issuer: &str) -> Option<Exchange> {
    let mut last = None;
    for url in issuer::metadata_urls(issuer) {
        let exchange = probe.get(&url);
        let is_found = exchange.document().is_ok();
        last = Some(exchange);
        if is_found {
            break;
        }
    }
    last
}

/// Asks the daemon how it is set up.
fn ask(client: &Client) -> Result<McpStatus, Failure> {
    let answer = client.send(Method::GET, "/api/v1/mcp", HeaderMap::new())?;
    if answer.status() == StatusCode::NOT_FOUND {
        return Err(Failure::malformed("the response from svcd", "it has no /api/v1/mcp"));
    }
    answer.expect_ok()
}

/// Reads the settings of this environment; returns the whole URL of the issuer's keys with them.
fn environment() -> (Environment, Option<String>) {
    match McpEnvironment::load(Source::process()) {
        Ok((McpEnvironment { protocol, mcp, public_listen }, warnings)) => {
            let status = describe(mcp.as_ref(), protocol, public_listen);
            let keys_url = mcp.and_then(|mcp| mcp.authorization).map(|it| it.jwks_url);
            (Environment { status: Some(status), problems: Vec::new(), warnings }, keys_url)
        }
        Err(problems) => (Environment { status: None, problems, warnings: Vec::new() }, None),
    }
}
