//! `svcctl relay invocations deny`.

use http::{HeaderMap, HeaderValue, Method, header};
use uuid::Uuid;

use super::facts;
use crate::api::relay::RelayInvocation;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::relay;

/// Deny an invocation (one step of a proposal), and the other steps of the same proposal that have not begun
///
/// The plugin stops showing the proposal. An invocation that is running, has succeeded or may have succeeded cannot
/// be denied; the command then exits with 1. A denied invocation has the state cancelled and the reason
/// denied_by_operator. Denying it again changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl relay invocations deny 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// ID of the invocation, as shown in the list
    #[arg(value_name = "ID")]
    invocation: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = format!("{}/{}/deny", relay::path::<RelayInvocation>(), args.invocation);
    let headers = HeaderMap::from_iter([(header::CONTENT_LENGTH, HeaderValue::from_static("0"))]);
    let denied: RelayInvocation = client
        .send(Method::POST, &path, headers)
        .and_then(|answer| answer.expect_ok())
        .map_err(|failure| relay::refused(failure, "invocations"))?;
    relay::print(&denied, facts, output)?;
    Ok(Exit::Done)
}
