//! The lists of all installations as one, newest row first. There is no such list at the service, whose requests are each
//! about one installation: this one is put together from a page of each, and another one of those that run out. So its
//! memory is a page of each installation and, unless every row has a line of its own, the rows that are shown.
//!
//! Why there is no such list, and where the next part begins: `docs/decisions/117-all-installations.md`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use serde::Serialize;

use super::{Tenant, Wanted, filtered, page, path};
use crate::api::{Filter as _, OfInstallation};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output, Rows};
use crate::cli::{Global, installations};
use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;

/// Most rows of one run.
const ROWS_MAX: u32 = 100_000;
/// Rows that are written at once, where each has a line of its own.
const ROWS_WRITTEN: usize = 100;

/// The part that was asked for, as it is printed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Merged<R> {
    items: Vec<OfInstallation<R>>,
    /// Value for `--until` of the next part; null on the last one.
    next_until: Option<Timestamp>,
}

/// Runs the command of a list of all installations.
pub(super) fn show<R: Tenant>(
    client: &Client,
    wanted: &Wanted<R::Filter>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    if wanted.before.is_some() {
        let message =
            "--before continues the list of one installation; to continue this one, use --until";
        return Err(Error::new(Exit::Usage, message));
    }
    let mut lists = Lists::<R>::open(client, wanted)?;
    let mut merged = Merged { items: Vec::new(), next_until: None };
    let rows_max = if wanted.paging.all { ROWS_MAX } else { wanted.paging.limit };
    let mut last = None;
    for count in 0..ROWS_MAX {
        // Rows of one instant stay together: the next part begins with an instant, not with a row.
        if count >= rows_max && lists.newest() != last {
            break;
        }
        let Some(row) = lists.next()? else { break };
        last = Some(row.item.instant());
        merged.items.push(row);
        if output.format() == Format::Ndjson && merged.items.len() == ROWS_WRITTEN {
            if output.part_lines(&merged.items)?.is_break() {
                return Ok(Exit::Done);
            }
            merged.items.clear();
        }
    }
    merged.next_until = lists.newest().map(|newest| newest.plus(Duration::from_micros(1)));
    print(&merged, wanted, global, output)
}

fn print<R: Tenant>(
    merged: &Merged<R>,
    wanted: &Wanted<R::Filter>,
    global: &Global,
    output: Output,
) -> Result<Exit, Error> {
    match output.format() {
        Format::Json => output.json(merged)?,
        Format::Ndjson => output.lines(&merged.items)?,
        Format::Table if merged.items.is_empty() => output.remark("note", R::NOTHING),
        Format::Table => table(&merged.items, output)?,
    }
    if let (Format::Table, Some(until)) = (output.format(), merged.next_until) {
        let mut filter = wanted.filter.clone();
        filter.set("until", &until.to_string()).map_err(|why| Error::new(Exit::Malformed, why))?;
        let command = NextCommand::of_all(R::COMMAND, global);
        wanted.paging.tell_next(filtered(command, &filter), None, output);
    }
    Ok(Exit::Done)
}

fn table<R: Tenant>(items: &[OfInstallation<R>], output: Output) -> Result<(), Error> {
    let mut rows = Rows::new(R::COLUMNS, items.iter().map(|row| &row.item), output.times());
    rows.prepend("INSTALLATION", items.iter().map(|row| row.installation_id.to_string()));
    Ok(output.list(&rows)?)
}

/// The lists of all installations.
struct Lists<'a, R: Tenant> {
    client: &'a Client,
    wanted: &'a Wanted<R::Filter>,
    lists: Vec<Rest<R>>,
    /// The first row of each list that has one, by its instant. Of equal instants, the least number comes first.
    first: BinaryHeap<(Timestamp, Reverse<usize>)>,
}

/// What is not yet taken of one list.
struct Rest<R> {
    installation: InstallationId,
    rows: VecDeque<R>,
    next_before: Option<String>,
}

impl<'a, R: Tenant> Lists<'a, R> {
    fn open(client: &'a Client, wanted: &'a Wanted<R::Filter>) -> Result<Self, Failure> {
        let mut all = Self { client, wanted, lists: Vec::new(), first: BinaryHeap::new() };
        for (number, known) in installations::all(client)?.into_iter().enumerate() {
            let installation = known.installation_id;
            let page = page::<R>(client, &path::<R>(installation), wanted, None)?;
            let (rows, next_before) = (page.items.into(), page.next_before);
            all.lists.push(Rest { installation, rows, next_before });
            all.offer(number);
        }
        Ok(all)
    }

    /// Takes the newest row.
    fn next(&mut self) -> Result<Option<OfInstallation<R>>, Failure> {
        let Some((_, Reverse(number))) = self.first.pop() else { return Ok(None) };
        let Some(list) = self.lists.get_mut(number) else { return Ok(None) };
        let installation_id = list.installation;
        let row = list.rows.pop_front();
        if list.rows.is_empty()
            && let Some(before) = list.next_before.take()
        {
            let path = path::<R>(installation_id);
            let page = page::<R>(self.client, &path, self.wanted, Some(&before))?;
            (list.rows, list.next_before) = (page.items.into(), page.next_before);
        }
        self.offer(number);
        Ok(row.map(|item| OfInstallation { installation_id, item }))
    }

    /// Returns the instant of the newest row.
    fn newest(&self) -> Option<Timestamp> {
        self.first.peek().map(|(instant, _)| *instant)
    }

    fn offer(&mut self, number: usize) {
        let first = self.lists.get(number).and_then(|list| list.rows.front());
        self.first.extend(first.map(|row| (row.instant(), Reverse(number))));
    }
}
