//! `svcctl cards push`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};

use super::report::text::Text;
use super::report::{Checked, Reporter as _};
use super::several::{CardFile, Outcome};
use super::{inputs, registry};
use crate::api::{AgentCard, CardReport};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::domain::agent_card::CardName;
use crate::domain::digest::Digest;

/// Register agent cards, or replace the registered cards with the same names
///
/// Only valid cards of at most 1 MiB are registered; svcd stores their bytes unchanged. Pushing the same
/// bytes again changes nothing. Folders are searched for .json files, except in .git and node_modules, and except files that
/// .gitignore and .ignore files exclude; a file or folder that is named on the command line is always read. If svcd
/// refuses a card, the other cards are registered anyway, and the highest exit code is returned. If two files have the same
/// name, nothing is registered.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards push route-planner.json
  svcctl cards push agents/ 'more/*.json'
  svcctl cards push agent-card.json --name route-planner --create
  svcctl cards push agent-card.json --name route-planner --if-match DIGEST
")]
pub(crate) struct Args {
    /// Files, folders, patterns, or - for standard input
    #[arg(value_name = "FILE|DIR|-", required = true)]
    names: Vec<PathBuf>,

    /// Name of the card, if one file is given: a-z, 0-9, '.', '_' and '-' [default: the file name without its extension]
    #[arg(long, value_parser = registry::name)]
    name: Option<CardName>,

    /// Replace the registered card only if it has this digest, so that another writer's change is not lost; can be used with one
    /// file only
    #[arg(long, value_name = "DIGEST", value_parser = registry::tag, conflicts_with = "create")]
    if_match: Option<Digest>,

    /// Register the card only if the name is not in use
    #[arg(long)]
    create: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    if let Some(file) = inputs::one_file(&args.names) {
        let name = match &args.name {
            Some(name) => name.clone(),
            None => name_of(file)?,
        };
        let registry = Registry::new(args, global, output)?;
        let card = registry.push(file, &name, &super::read_one(file)?)?;
        match output.format() {
            Format::Table => output.facts(registry::facts(card))?,
            Format::Json | Format::Ndjson => output.json(&card)?,
        }
        return Ok(Exit::Done);
    }
    if args.name.is_some() || args.if_match.is_some() {
        let message =
            "--name and --if-match need exactly one file, but several files or a folder are given";
        return Err(Error::new(Exit::Usage, message).hint("push the files one at a time"));
    }
    several(args, global, output)
}

fn several(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let registry = Registry::new(args, global, output)?;
    let mut outcome = Outcome::new(output);
    let named = named(outcome.files(&args.names)?, &mut outcome)?;
    let mut cards = Vec::new();
    let mut ended = Ok(());
    for (name, file) in named {
        let bytes = match super::read_one(&file) {
            Ok(bytes) => bytes,
            Err(error) => {
                outcome.failed(&error);
                continue;
            }
        };
        match registry.push(&file, &name, &bytes) {
            Ok(card) => {
                outcome.add(Exit::Done);
                let (revision, file) = (card.revision, file.display());
                match output.format() {
                    Format::Table => output.facts(vec![(
                        "registered",
                        format!("{name}, revision {revision}, from {file}"),
                    )])?,
                    Format::Ndjson => output.json(&card)?,
                    Format::Json => cards.push(card),
                }
            }
            Err(error) if is_about_all(error.exit()) => {
                ended = Err(error);
                break;
            }
            Err(error) => outcome.failed(&error.about(&file.display().to_string())),
        }
    }
    // What was registered is told, however it ends.
    if output.format() == Format::Json {
        output.json(&serde_json::json!({ "cards": cards }))?;
    }
    ended.and_then(|()| outcome.end())
}

/// Returns the files under the names of their cards.
///
/// # Errors
/// When two files have the same name, because one would replace the other.
fn named(
    files: Vec<CardFile>,
    outcome: &mut Outcome,
) -> Result<BTreeMap<CardName, PathBuf>, Error> {
    let mut named = BTreeMap::new();
    for CardFile { path, has_lines } in files {
        let shown = path.display();
        if has_lines {
            let message = format!("{shown} has a card on each line, and such cards have no names");
            outcome.failed(
                &Error::new(Exit::Usage, message).hint("write each card to a file of its own"),
            );
            continue;
        }
        match name_of(&path) {
            Ok(name) => {
                if let Some(other) = named.get(&name) {
                    let other: &PathBuf = other;
                    let message = format!(
                        "{} and {shown} have the same name, {name}; nothing was registered",
                        other.display()
                    );
                    return Err(Error::new(Exit::Usage, message)
                        .hint("push them one at a time, each with its own name: --name NAME"));
                }
                named.insert(name, path);
            }
            Err(error) => outcome.failed(&error),
        }
    }
    Ok(named)
}

/// Says whether the next card would fail in the same way.
const fn is_about_all(exit: Exit) -> bool {
    matches!(exit, Exit::Unauthenticated | Exit::Unreachable | Exit::Malformed | Exit::Temporary)
}

/// The service's registry, as this command writes to it.
struct Registry {
    client: Client,
    condition: HeaderMap,
    output: Output,
}

impl Registry {
    fn new(args: &Args, global: &Global, output: Output) -> Result<Self, Error> {
        let mut condition = registry::condition(args.if_match, args.create);
        condition.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self { client: Client::operator(global)?, condition, output })
    }

    fn push(&self, file: &Path, name: &CardName, bytes: &[u8]) -> Result<AgentCard, Error> {
        self.client
            .put(&registry::path(name), self.condition.clone(), bytes)
            .map_err(|failure| self.refused(failure, file, name, bytes))
    }

    /// A card that is not valid is told as `validate` tells it.
    fn refused(&self, failure: Failure, file: &Path, name: &CardName, bytes: &[u8]) -> Error {
        let report: Option<&CardReport> = match &failure {
            Failure::Refused { problem, .. } => problem.report.as_deref(),
            _ => None,
        };
        if let (Some(report), Format::Table) = (report, self.output.format()) {
            let mut text = String::new();
            let card = Checked { name: &file.to_string_lossy(), bytes, report };
            Text::new(self.output).card(&card, &mut text);
            // The refusal itself follows, whatever becomes of this.
            drop(self.output.raw(text.as_bytes()));
        }
        registry::refused(failure, name, &self.condition)
    }
}

/// Returns the name a file gives its card.
fn name_of(file: &Path) -> Result<CardName, Error> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    registry::name(&stem).map_err(|why| {
        let message = format!("no card name can be derived from {}", file.display());
        Error::new(Exit::Usage, message).caused_by(why).hint("pass a name: --name NAME")
    })
}
