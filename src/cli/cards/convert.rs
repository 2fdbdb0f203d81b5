//! `svcctl cards convert`: a card written anew in another variant.

use std::path::PathBuf;

use crate::card::{self, Variant};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::value_parser::one_of;

/// Losses that are told one by one.
const LOSSES: usize = 20;

/// Convert a card to another variant
///
/// Reads cards of both variants and official A2A cards, and prints the new card. If a part of the card has no
/// equivalent in the other variant (unless --lossy is given), or the new card is not valid, says so, prints no card and exits
/// with 1.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards convert --to current legacy-card.json > agent-card.json
  svcctl cards convert --to current --lossy .well-known/agent-card.json
")]
pub(crate) struct Args {
    /// File with the card, or - for standard input
    #[arg(default_value = super::STDIN)]
    file: PathBuf,

    /// Variant of the new card: current (protocolVersion 1.0 or 1.2) or legacy (0.3)
    #[arg(long, value_name = "VARIANT", value_parser = one_of(&Variant::ALL, Variant::as_str))]
    to: Variant,

    /// Omit the parts that have no equivalent, and list them
    #[arg(long)]
    lossy: bool,
}

pub(crate) fn run(args: &Args, output: Output) -> Result<Exit, Error> {
    let bytes = super::read_one(&args.file)?;
    let shown = args.file.display();
    let Some(conversion) = card::convert(&bytes, args.to) else {
        return Err(Error::new(Exit::Failed, format!("{shown} is not a JSON object"))
            .hint(format!("svcctl cards validate {shown}")));
    };
    let losses = conversion.losses.iter().map(|loss| format!("{}: {}", loss.pointer, loss.why));
    if !args.lossy && !conversion.losses.is_empty() {
        let count = conversion.losses.len();
        let noun = if count == 1 { "part" } else { "parts" };
        let mut error =
            Error::new(Exit::Failed, format!("{count} {noun} of {shown} would be lost"));
        for loss in losses.take(LOSSES) {
            error = error.hint(loss);
        }
        return Err(error.hint("use --lossy to omit them"));
    }
    if let Some(finding) = conversion.report.findings.first() {
        let count = conversion.report.findings.len();
        let message =
            format!("the new card would not be valid ({count} findings): {}", finding.message);
        return Err(Error::new(Exit::Failed, message)
            .hint(format!("correct it first: svcctl cards validate {shown}")));
    }
    for loss in losses {
        output.remark("omitted", &loss);
    }
    output.raw(conversion.text.as_bytes())?;
    Ok(Exit::Done)
}
