//! Completion of values that only the running service knows: installations, ids and repositories. Whatever keeps them
//! from being known in time, such as a service that is down or a token that may not be read, completes nothing and says
//! nothing.
//!
//! Which engine completes, and why: `docs/decisions/122-live-completion.md`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::api::relay::{RelayDevice, RelayInvocation, RelaySession};
use crate::api::{DeadLetter, ListRow, PageBody, ReconciliationItem, ReleaseRun};
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::output::{Color, FormatArg};
use crate::cli::{Global, URL_DEFAULT, installations, pages, relay};
use crate::domain::dead_letter::ItemType;
use crate::domain::id::InstallationId;
use crate::domain::page::PAGE_MAX;
use crate::domain::reconcile::ReconcileStatus;
use crate::runtime::thread;

/// A person waits for this.
const LIMIT: Duration = Duration::from_millis(200);

/// What was typed, as far as it decides what is asked.
struct Typed {
    global: Global,
    item_type: Option<ItemType>,
}

/// A value, and what helps to choose it.
type Value = (String, String);
/// Asks the service.
type Source = fn(&Client, &Typed) -> Result<Vec<Value>, Error>;

/// Returns the tree of commands with what completes live values.
pub(super) fn with_values(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| match source(arg.get_id().as_str()) {
            Some(source) => {
                arg.add(ArgValueCompleter::new(move |current: &OsStr| candidates(current, source)))
            }
            None => arg,
        })
        .mut_subcommands(with_values)
}

/// Returns where the values of an argument come from. An argument of this name means the same in every command.
fn source(argument: &str) -> Option<Source> {
    Some(match argument {
        "installation" => installations,
        "item_id" => dead_letters,
        "release_run" => releases,
        "reconciliation_id" => given_up,
        "repository" => repositories,
        "session" => |client, _| relay_rows::<RelaySession>(client, |row| &row.state),
        "device" => |client, _| relay_rows::<RelayDevice>(client, |row| &row.state),
        "invocation" => |client, _| relay_rows::<RelayInvocation>(client, |row| &row.state),
        _ => return None,
    })
}

/// Returns those that begin with what was typed of the value, if they come in time.
fn candidates(current: &OsStr, source: Source) -> Vec<CompletionCandidate> {
    let (sender, receiver) = mpsc::channel();
    let ask = move || {
        let typed = Typed::read(std::env::args_os());
        let asked = Client::operator(&typed.global).and_then(|client| source(&client, &typed));
        // Without a receiver, the time is over and the process about to end.
        drop(sender.send(asked.unwrap_or_default()));
    };
    let Ok(_thread) = thread::spawn("completion", ask) else { return Vec::new() };
    let values = receiver.recv_timeout(LIMIT).unwrap_or_default();
    let Some(current) = current.to_str() else { return Vec::new() };
    // What a service sends is not trusted: a shell shows it as it is.
    let is_plain = |text: &str| text.bytes().all(|b| b.is_ascii_graphic());
    let fitting = values
        .into_iter()
        .filter(|(value, help)| value.starts_with(current) && is_plain(value) && is_plain(help));
    fitting.map(|(value, help)| CompletionCandidate::new(value).help(Some(help.into()))).collect()
}

impl Typed {
    /// Reads the words behind the first `--`, which the shell puts before them, and the environment.
    fn read(arguments: impl Iterator<Item = OsString>) -> Self {
        let words: Vec<OsString> = arguments.skip_while(|word| word != "--").skip(1).collect();
        let mut backwards = words.iter().rev();
        let item_type = backwards.find_map(|word| ItemType::from_word(word.to_str()?));
        // The last words may be an option without its value: the parser then reads no environment, and has no URL.
        let read = (0..=words.len()).rev().take(3).find_map(|count| {
            let matches =
                lenient(crate::cli::command()).try_get_matches_from(words.get(..count)?).ok()?;
            matches.contains_id("url").then_some(matches)
        });
        let matches = read.as_ref();
        let url = matches.and_then(|it| it.get_one::<String>("url").cloned());
        Self {
            global: Global {
                url: url.unwrap_or_else(|| URL_DEFAULT.to_owned()),
                installation: matches
                    .and_then(|it| it.get_one::<InstallationId>("installation").copied()),
                token_file: matches.and_then(|it| it.get_one::<PathBuf>("token_file").cloned()),
                output: FormatArg::Table,
                utc: false,
                color: Color::Never,
                timeout: Some(Duration::from_secs(1)),
            },
            item_type,
        }
    }
}

/// Returns a tree of commands that reads a line which is not whole yet, and may be wrong.
fn lenient(command: clap::Command) -> clap::Command {
    command
        .ignore_errors(true)
        .subcommand_required(false)
        .arg_required_else_help(false)
        .mut_subcommands(lenient)
}

fn installations(client: &Client, _: &Typed) -> Result<Vec<Value>, Error> {
    let found = installations::all(client)?.into_iter();
    Ok(found.map(|it| (it.installation_id.to_string(), it.state.into_owned())).collect())
}

fn dead_letters(client: &Client, typed: &Typed) -> Result<Vec<Value>, Error> {
    let letters = rows::<DeadLetter>(client, typed)?.into_iter();
    let fitting =
        letters.filter(|it| typed.item_type.is_none_or(|wanted| it.item_type == wanted.as_str()));
    Ok(fitting.map(|it| (it.item_id.to_string(), it.reason_code.to_string())).collect())
}

fn releases(client: &Client, typed: &Typed) -> Result<Vec<Value>, Error> {
    let found = rows::<ReleaseRun>(client, typed)?.into_iter();
    Ok(found.map(|it| (it.release_run_id.to_string(), it.status.to_string())).collect())
}

/// Returns the reconciliations that were given up, which can be closed.
fn given_up(client: &Client, typed: &Typed) -> Result<Vec<Value>, Error> {
    let path = pages::path::<ReconciliationItem>(installations::meant(client, &typed.global)?);
    let path = format!("{path}?limit={PAGE_MAX}&status={}", ReconcileStatus::DeadLetter);
    let page: PageBody<ReconciliationItem> = client.get(&path)?;
    let open = page.items.into_iter().filter(|it| it.closed_at.is_none());
    Ok(open.map(|it| (it.reconciliation_id.to_string(), it.reason.to_string())).collect())
}

/// Returns the repositories of the newest releases.
fn repositories(client: &Client, typed: &Typed) -> Result<Vec<Value>, Error> {
    let found = rows::<ReleaseRun>(client, typed)?.into_iter().filter_map(|it| it.repository);
    let names: BTreeSet<String> = found.map(|name| name.to_string()).collect();
    Ok(names.into_iter().map(|name| (name, String::new())).collect())
}

fn relay_rows<R: ListRow>(client: &Client, state: fn(&R) -> &String) -> Result<Vec<Value>, Error>
where
    R::Cursor: ToString,
{
    let found = page::<R>(client, &relay::path::<R>())?.into_iter();
    Ok(found.map(|row| (row.cursor().to_string(), state(&row).clone())).collect())
}

/// Returns the newest rows of a list of the installation that is meant.
fn rows<R: ListRow>(client: &Client, typed: &Typed) -> Result<Vec<R>, Error> {
    page(client, &pages::path::<R>(installations::meant(client, &typed.global)?))
}

fn page<R: ListRow>(client: &Client, path: &str) -> Result<Vec<R>, Error> {
    let page: PageBody<R> = client.get(&format!("{path}?limit={PAGE_MAX}"))?;
    Ok(page.items)
}
