//! `svcctl cards push`.

use std::path::{Path, PathBuf};

use http::header::{CONTENT_TYPE, HeaderValue};

use super::registry;
use super::report::text::Text;
use super::report::{Checked, Reporter as _};
use crate::api::{AgentCard, CardReport};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;

/// Register an agent card, or replace the card of that name
///
/// Only valid cards of at most 1 MiB are registered; the service stores their bytes unchanged. Pushing the same
/// bytes again changes nothing.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards push route-planner.json
  svcctl cards push agent-card.json --name route-planner --create
  svcctl cards push agent-card.json --name route-planner --if-match DIGEST
")]
pub(crate) struct Args {
    /// File with the card, or - for standard input
    file: PathBuf,

    /// Name of the card: a-z, 0-9, '.', '_' and '-' [default: the file name without its extension]
    #[arg(long, value_parser = registry::name)]
    name: Option<CardName>,

    /// Replace the card only if it has this digest, so that another writer's change is not lost
    #[arg(long, value_name = "DIGEST", value_parser = registry::tag, conflicts_with = "create")]
    if_match: Option<Digest>,

    /// Register the card only if the name is not in use
    #[arg(long)]
    create: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => name_of(&args.file)?,
    };
    let client = Client::operator(global)?;
    let bytes = super::read_one(&args.file)?;
    let mut headers = registry::condition(args.if_match, args.create);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let card = client
        .put::<AgentCard>(&registry::path(&name), headers, &bytes)
        .map_err(|failure| refused(failure, args, &name, &bytes, output))?;
    match output.format() {
        Format::Table => output.facts(registry::facts(card))?,
        Format::Json | Format::Ndjson => output.json(&card)?,
    }
    Ok(Exit::Done)
}

/// Returns the name a file gives its card.
fn name_of(file: &Path) -> Result<CardName, Error> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    registry::name(&stem).map_err(|why| {
        let message = format!("no card name can be derived from {}", file.display());
        Error::new(Exit::Usage, message).caused_by(why).hint("pass a name: --name NAME")
    })
}

/// A card that is not valid is told as `validate` tells it.
fn refused(failure: Failure, args: &Args, name: &CardName, bytes: &[u8], output: Output) -> Error {
    let report: Option<&CardReport> = match &failure {
        Failure::Refused { problem, .. } => problem.report.as_deref(),
        _ => None,
    };
    if let (Some(report), Format::Table) = (report, output.format()) {
        let mut text = String::new();
        let card = Checked { name: &args.file.to_string_lossy(), bytes, report };
        Text::new(output.is_colored()).card(&card, &mut text);
        // The refusal itself follows, whatever becomes of this.
        drop(output.raw(text.as_bytes()));
    }
    registry::refused(failure, name)
}
