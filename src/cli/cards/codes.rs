//! `svcctl cards codes`: what the codes of findings mean.

use serde_json::{Value, json};

use crate::card::FindingCode;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output};
use crate::cli::value_parser::one_of;

/// Explain the codes with which validation reports problems
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards codes
  svcctl cards codes card/other-variant
")]
pub(crate) struct Args {
    /// Code to explain [default: all codes, one per line]
    #[arg(value_parser = one_of(FindingCode::ALL, FindingCode::as_str), hide_possible_values = true)]
    code: Option<FindingCode>,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let codes = args.code.map_or_else(|| FindingCode::ALL.to_vec(), |code| vec![code]);
    match (output.format(), args.code) {
        (Format::Ndjson, _) => output.lines(&codes.into_iter().map(told).collect::<Vec<_>>())?,
        (Format::Json, Some(code)) => output.json(&told(code))?,
        (Format::Json, None) => {
            output.json(&json!({ "items": codes.into_iter().map(told).collect::<Vec<_>>() }))?;
        }
        (Format::Table, Some(code)) => {
            let text = format!("{}: {}\n\n{}\n", code.as_str(), code.title(), code.help());
            output.raw(text.as_bytes())?;
        }
        (Format::Table, None) => output.table(COLUMNS, &codes)?,
    }
    Ok(Exit::Done)
}

const COLUMNS: &[Column<FindingCode>] = &[
    Column::new(0, "CODE", |it, _| it.as_str().to_owned()),
    Column::free(0, "MEANING", |it, _| it.title().to_owned()),
];

fn told(code: FindingCode) -> Value {
    json!({ "code": code.as_str(), "title": code.title(), "help": code.help() })
}
