//! What is wrong with a command line, as the parser says it: text for people, or a problem like every other failure where
//! JSON was asked for. It was not read to its end, so what was asked for is looked up in the words.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::cli;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Color, FormatArg, Output};
use crate::runtime::stdout;

/// Prints what the parser has to say: the help that was asked for, or what is wrong with the
/// command line.
#[must_use]
pub fn usage(mut error: clap::Error, words: impl IntoIterator<Item = OsString>) -> Exit {
    if let Some(usage) = usage_of_command(&error) {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    }
    if error.use_stderr() && wants_json(words) {
        Output::new(FormatArg::Ndjson, Color::Auto, false).failure(&failure(&error));
        return Exit::Usage;
    }
    let printed = stdout::flushed(error.print());
    if error.use_stderr() {
        // When even this cannot be printed, there is no reader to tell.
        return Exit::Usage;
    }
    printed.map_or_else(
        |unprinted| {
            let unprinted = Error::from(unprinted);
            Output::new(FormatArg::Table, Color::Auto, false).failure(&unprinted);
            unprinted.exit()
        },
        |()| Exit::Done,
    )
}

/// Returns the usage of the command that was typed, as its help prints it. The parser's own shows each option as required
/// that has a value from the environment.
fn usage_of_command(error: &clap::Error) -> Option<StyledStr> {
    let Some(ContextValue::StyledStr(shown)) = error.get(ContextKind::Usage) else { return None };
    let shown = shown.to_string();
    let mut command = cli::command();
    command.build();
    let mut command = &mut command;
    // Behind `Usage: svcctl`.
    for name in shown.split_whitespace().skip(2) {
        if command.find_subcommand(name).is_none() {
            break;
        }
        command = command.find_subcommand_mut(name)?;
    }
    Some(command.render_usage())
}

/// Returns what the parser says: what is wrong is its first paragraph, and what to do the others.
fn failure(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut paragraphs = text.trim_end().split("\n\n");
    let wrong = paragraphs.next().unwrap_or_default().lines().map(str::trim);
    let wrong = wrong.collect::<Vec<_>>().join(" ");
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    let hints = paragraphs.flat_map(str::lines).map(str::trim);
    hints.fold(Error::new(Exit::Usage, wrong), Error::hint)
}

/// Says whether the last `--output`, or `-o` behind other letters too, asks for JSON.
fn wants_json(words: impl IntoIterator<Item = OsString>) -> bool {
    let words = words.into_iter().map(|word| word.to_string_lossy().into_owned());
    let mut words = words.take_while(|word| word != "--");
    let mut wanted = String::new();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--") {
            Some("output") => Some(""),
            Some(long) => long.strip_prefix("output="),
            None => word.strip_prefix('-').and_then(|short| Some(short.split_once('o')?.1)),
        };
        match value.map(|value| value.strip_prefix('=').unwrap_or(value)) {
            Some("") => wanted = words.next().unwrap_or_default(),
            Some(value) => value.clone_into(&mut wanted),
            None => {}
        }
    }
    wanted == "json" || wanted == "ndjson"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_found_however_it_is_written() {
        let wants = |line: &str| wants_json(line.split(' ').map(OsString::from));
        for line in [
            "svcctl -o json slo",
            "svcctl slo -ojson",
            "svcctl slo -o=ndjson",
            "svcctl slo --output json",
            "svcctl slo --output=ndjson --bogus",
            "svcctl releases list -Ao json",
            "svcctl slo -o table -o json",
        ] {
            assert!(wants(line), "{line}");
        }
        for line in [
            "svcctl slo",
            "svcctl slo -o table",
            "svcctl slo -o json -o table",
            "svcctl slo -o",
            "svcctl slo json",
            "svcctl slo --only json",
            "svcctl cards validate -- -o json",
        ] {
            assert!(!wants(line), "{line}");
        }
    }
}
