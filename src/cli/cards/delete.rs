//! `svcctl cards delete`.

use http::{Method, StatusCode};
use serde_json::json;

use super::registry;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;

/// Remove a registered agent card
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards delete route-planner
  svcctl cards delete route-planner --if-match DIGEST
")]
pub(crate) struct Args {
    /// Name of the card, as shown in the list
    #[arg(value_name = "NAME", value_parser = registry::name)]
    name: CardName,

    /// Delete the card only if it has this digest
    #[arg(long, value_name = "DIGEST", value_parser = registry::tag)]
    if_match: Option<Digest>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let headers = registry::condition(args.if_match, false);
    let answer = client
        .send(Method::DELETE, &registry::path(&args.name), headers.clone())
        .and_then(|answer| answer.expect_status(StatusCode::NO_CONTENT))
        .map_err(|failure| registry::refused(failure, &args.name, &headers))?;
    drop(answer);
    let name = args.name.as_str();
    match output.format() {
        Format::Table => output.facts(vec![("deleted", name.to_owned())])?,
        Format::Json | Format::Ndjson => {
            output.json(&json!({ "name": name, "outcome": "deleted" }))?;
        }
    }
    Ok(Exit::Done)
}
