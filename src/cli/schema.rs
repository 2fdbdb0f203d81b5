//! `svcctl schema`: the JSON Schemas of documents that other programs write or read. Sends no request.
//!
//! See `docs/decisions/130-published-schemas.md`.

use serde::Serialize;

use crate::card::{self, Variant};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output};
use crate::cli::value_parser::one_of;

/// Print the JSON Schema (draft 2020-12) of a document, or list the documents that have one
///
/// A validator that uses the schema of a card must be configured to check the format "uri". JSON Schema cannot express
/// that repeated properties are refused.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl schema
  svcctl schema release-result > release-result.schema.json
")]
pub(crate) struct Args {
    /// Document to print the schema of
    #[arg(value_name = "NAME", value_parser = one_of(DOCUMENTS, |document| document.name))]
    document: Option<Document>,
}

/// A document that has a schema.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    name: &'static str,
    meaning: &'static str,
    #[serde(skip)]
    schema: &'static str,
}

/// A new document is an entry here.
const DOCUMENTS: &[Document] = &[
    Document {
        name: "agent-card",
        meaning: "an agent card, current variant",
        schema: card::schema(Variant::Current),
    },
    Document {
        name: "agent-card-legacy",
        meaning: "an agent card, legacy variant",
        schema: card::schema(Variant::Legacy),
    },
    Document {
        name: "card-report",
        meaning: "what svcctl cards validate and svcd report about a card",
        schema: include_str!("../../docs/schemas/card-report.json"),
    },
    Document {
        name: "dead-letter-plan",
        meaning: "a plan of dead letters, which svcctl dead-letters plan writes and apply reads",
        schema: include_str!("../../docs/schemas/dead-letter-plan.json"),
    },
    Document {
        name: "release-result",
        meaning: "the result of a release, which its workflow run sends",
        schema: include_str!("../../docs/schemas/release-result.json"),
    },
];

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    match (args.document, output.format()) {
        (Some(document), _) => output.raw(document.schema.as_bytes())?,
        (None, Format::Json) => output.json(&DOCUMENTS)?,
        (None, Format::Ndjson) => output.lines(DOCUMENTS)?,
        (None, Format::Table) => output.table(COLUMNS, DOCUMENTS)?,
    }
    Ok(Exit::Done)
}

const COLUMNS: &[Column<Document>] = &[
    Column::new(0, "NAME", |it, _| it.name.to_owned()),
    Column::free(0, "MEANING", |it, _| it.meaning.to_owned()),
];
