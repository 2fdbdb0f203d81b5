//! `svcctl cards schema`: the rules as a JSON Schema, for other people's tools.

use crate::card::{self, Variant};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::value_parser::one_of;

/// Print the JSON Schema (draft 2020-12) of a variant
///
/// A validator that uses the schema must be configured to check the format "uri". Only svcctl cards validate checks
/// the rules that JSON Schema cannot express, such as the one against repeated properties.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards schema --variant current > agent-card.schema.json
")]
pub(crate) struct Args {
    /// Variant to print the schema of
    #[arg(long, value_name = "VARIANT", value_parser = one_of(&Variant::ALL, Variant::as_str))]
    variant: Variant,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    output.raw(card::schema(args.variant).as_bytes())?;
    Ok(Exit::Done)
}
