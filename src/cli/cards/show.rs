//! `svcctl cards show`.

use http::{HeaderMap, Method};

use super::registry;
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::domain::agent_card::CardName;

/// Print a registered agent card, byte for byte as it was pushed
///
/// The card is already JSON, so --output has no effect. svcctl cards list shows its metadata.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards show route-planner
  svcctl cards show route-planner | sha256sum    # its digest
")]
pub(crate) struct Args {
    /// Name of the card, as shown in the list
    #[arg(value_name = "NAME", value_parser = registry::name)]
    name: CardName,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::anonymous(global)?;
    let answer = client
        .send(Method::GET, &registry::path(&args.name), HeaderMap::new())
        .and_then(|answer| answer.expect_bytes())
        .map_err(|failure| registry::refused(failure, &args.name, &HeaderMap::new()))?;
    output.raw(&answer)?;
    Ok(Exit::Done)
}
