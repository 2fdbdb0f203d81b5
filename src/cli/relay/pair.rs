//! `svcctl relay pair`: enters the code that a plugin shows, for a person whose agent does not do it.

use std::path::PathBuf;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;

use crate::api::McpStatus;
use crate::api::relay::PairingClaim;
use crate::cli::client::{self, Client};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, or_dash};
use crate::cli::{Global, token};

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
const PUBLIC: &str =
    "name the public address of svcd with --url, such as https://svc.example (SVC_PUBLIC_URL)";

/// Enter the code that a plugin shows, so that your agents can propose changes to the open file
///
/// Pairs under your own name, with your access token for /mcp. The token needs the scopes mcp:read and mcp:pair. The
/// plugin then shows the account (subject) of the token, and you must confirm it in the plugin within one minute. The token is
/// sent to the public address and not stored. If SVC_RELAY_LOCAL is true, svcd requires no token. If --url
/// begins with unix:, svcctl asks svcd at that socket for its public address.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay pair 7K2M-9QXV                                       # on this machine, with SVC_RELAY_LOCAL
  svcctl relay pair 7K2M-9QXV --url https://svc.example --token-file my.token
  get-token | svcctl relay pair 7K2M-9QXV --url https://svc.example --token-file -
")]
pub(crate) struct Args {
    /// Code that the plugin shows; case, spaces and hyphens are ignored
    #[arg(value_name = "CODE")]
    code: String,

    /// File with your own access token, or - for standard input; not the operator token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let url = public_url(global)?;
    let client = Client::anonymous(&Global { url, ..global.clone() })?;
    let client = match &args.token_file {
        Some(file) => client.showing(token::of_person(file)?),
        None => client,
    };
    let headers =
        HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let body = json!({ "code": args.code }).to_string();
    let path = "/relay/v1/pairings/claim";
    let answer =
        client.send_body(Method::POST, path, headers, body.as_bytes(), ANSWER_BYTES_MAX)?;
    if let Some(refused) = refused(&answer, args.token_file.is_some()) {
        return Err(refused);
    }
    let claim: PairingClaim = answer.expect_ok()?;
    match output.format() {
        Format::Table => {
            output.facts(vec![
                ("pairing", claim.pairing.to_string()),
                ("tool", claim.tool.to_string()),
                ("file", or_dash(claim.file)),
                ("confirm until", claim.expires_at.to_string()),
            ])?;
            output.remark("next", "confirm in the plugin that it is your account");
        }
        Format::Json | Format::Ndjson => output.json(&claim)?,
    }
    Ok(Exit::Done)
}

/// Returns the address of `--url`, or the public address of the daemon behind the control socket.
fn public_url(global: &Global) -> Result<String, Error> {
    if !global.url.starts_with("unix:") {
        return Ok(global.url.clone());
    }
    // Without the token, which must reach the public address alone.
    let status: McpStatus = Client::anonymous(global)?.get("/api/v1/mcp")?;
    let endpoint = status.endpoint.as_deref().and_then(|url| url.strip_suffix("/mcp"));
    endpoint.map(str::to_owned).ok_or_else(|| {
        Error::new(Exit::Failed, "svcd does not serve /mcp, so the relay is off")
            .hint("an operator must turn on SVC_MCP and SVC_RELAY; see svcd.env(5)")
            .hint("if the relay runs in another svcd, name its public address: --url https://svc.example")
    })
}

/// Says why a code was refused, where a status means something else here than elsewhere.
fn refused(answer: &client::Answer, has_token: bool) -> Option<Error> {
    let (exit, message, hints) = match answer.status() {
        StatusCode::UNAUTHORIZED if has_token => (
            Exit::Unauthenticated,
            "svcd does not accept the token",
            ["use your own access token for /mcp; if it has expired, get another one", PUBLIC],
        ),
        StatusCode::UNAUTHORIZED => (
            Exit::Unauthenticated,
            "svcd requires an access token",
            [
                "name a file with it: --token-file FILE, or - for standard input",
                "it needs the scopes mcp:read and mcp:pair",
            ],
        ),
        StatusCode::FORBIDDEN => (
            Exit::Unauthenticated,
            "svcd refuses this request",
            [
                "the token needs the scopes mcp:read and mcp:pair",
                "if svcd requires no tokens, it refuses requests that a proxy forwards",
            ],
        ),
        StatusCode::NOT_FOUND => (
            Exit::NotFound,
            "no plugin shows that code now, or the relay is off",
            [
                "read the code from the plugin again: it is valid for five minutes and can be used once",
                PUBLIC,
            ],
        ),
        StatusCode::MISDIRECTED_REQUEST => (
            Exit::Failed,
            "svcd does not accept the host name of --url",
            [PUBLIC, "an svcd on this machine accepts localhost with its port"],
        ),
        _ => return None,
    };
    let message = format!("{message} (HTTP {})", answer.status().as_u16());
    Some(hints.into_iter().fold(Error::new(exit, message), Error::hint))
}
