//! `svcctl relay`: design files that people let agents work on. Operators look, end and deny; the person approves, in
//! the plugin.

mod audit;
mod devices;
mod invocations;
mod pair;
mod sessions;
mod status;

use clap::Subcommand;
use http::{HeaderMap, Method, StatusCode};
use serde_json::json;

use crate::api::{ListRow, NoFilter};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output, Times};
use crate::cli::pages::{self, Cursor, Part, Table};

/// Pair with a plugin, and manage how agents access open design files
///
/// An agent can propose changes to a design file that a person has open. A plugin in the design tool shows each
/// proposal to that person, on an approval card, and runs it once if the person approves it. Only that person can
/// approve a proposal; no command can. A proposal has one or more steps, called invocations.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Status(status::Args),
    Pair(pair::Args),
    #[command(subcommand)]
    Sessions(sessions::Command),
    #[command(subcommand)]
    Devices(devices::Command),
    #[command(subcommand)]
    Invocations(invocations::Command),
    #[command(subcommand)]
    Audit(audit::Command),
}

pub(crate) fn run(command: &Command, global: &Global, output: Output) -> Result<Exit, Error> {
    match command {
        Command::Status(args) => status::run(args, global, output),
        Command::Pair(args) => pair::run(args, global, output),
        Command::Sessions(command) => sessions::run(command, global, output),
        Command::Devices(command) => devices::run(command, global, output),
        Command::Invocations(command) => invocations::run(command, global, output),
        Command::Audit(command) => audit::run(command, global, output),
    }
}

/// The path of the operators' API for the relay.
const PATH: &str = "/api/v1/operator/relay";

pub(crate) fn path<R: ListRow>() -> String {
    format!("{PATH}/{}", R::LIST)
}

/// Runs the command of a list.
fn list<R: Table<Filter = NoFilter>, C: Cursor>(
    part: &Part<C>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    pages::show_at::<R>(&client, &path::<R>(), &part.of(NoFilter {}), global, output)
}

/// Shows one item; `facts` makes the lines for people.
fn show<R: ListRow>(
    id: impl ToString,
    facts: fn(&R, Times) -> Vec<(&'static str, String)>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let item: R = client
        .get(&format!("{}/{}", path::<R>(), id.to_string()))
        .map_err(|failure| refused(failure, R::LIST))?;
    print(&item, facts, output)?;
    Ok(Exit::Done)
}

fn print<R: ListRow>(
    item: &R,
    facts: fn(&R, Times) -> Vec<(&'static str, String)>,
    output: Output,
) -> Result<(), Error> {
    match output.format() {
        Format::Table => output.facts(facts(item, output.times()))?,
        Format::Json | Format::Ndjson => output.json(item)?,
    }
    Ok(())
}

/// Deletes one item; `outcome` says what it is then.
fn delete<R: ListRow>(
    id: impl ToString,
    outcome: &'static str,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    let (client, id) = (Client::operator(global)?, id.to_string());
    client
        .send(Method::DELETE, &format!("{}/{id}", path::<R>()), HeaderMap::new())
        .and_then(|answer| answer.expect_status(StatusCode::NO_CONTENT))
        .map_err(|failure| refused(failure, R::LIST))?;
    match output.format() {
        Format::Table => output.facts(vec![(outcome, id)])?,
        Format::Json | Format::Ndjson => output.json(&json!({ "id": id, "outcome": outcome }))?,
    }
    Ok(Exit::Done)
}

/// Says why the service refused a request about an item of a list, and what to do.
fn refused(failure: Failure, list: &str) -> Error {
    let Failure::Refused { problem, .. } = &failure else { return failure.into() };
    let command = if list == "audit-events" { "audit" } else { list };
    let (exit, message, hint) = match problem.outcome.as_ref() {
        "not_found" => {
            let hint = format!("list the items: svcctl relay {command} list");
            (Exit::NotFound, "there is no such item", hint)
        }
        "too_late" => (
            Exit::Failed,
            "the invocation has begun and cannot be denied",
            "the person who has the file open can undo it in the design tool".to_owned(),
        ),
        _ => return failure.into(),
    };
    let message = format!("{message} ({}, HTTP {})", problem.outcome, problem.status);
    Error::new(exit, message).hint(hint).problem(problem.clone())
}
