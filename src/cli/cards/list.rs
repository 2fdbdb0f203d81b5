//! `svcctl cards list`.

use super::registry;
use crate::api::{AgentCard, PageAfter};
use crate::cli::Global;
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Column, Format, Output};
use crate::cli::pages::Paging;
use crate::cli::watch::Watched;
use crate::domain::agent_card::CardName;

/// More pages than this are no list but a service that turns in circles.
const PAGES_MAX: u32 = 10_000;

/// List the registered agent cards, sorted by name
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl cards list
  svcctl cards list --all -o ndjson | jq -r 'select(.variant == \"legacy\").name'
")]
pub(crate) struct Args {
    #[command(flatten)]
    paging: Paging,

    /// Select only cards whose name sorts after this one
    #[arg(long, value_name = "NAME", value_parser = registry::name)]
    after: Option<CardName>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::anonymous(global)?;
    args.paging.watch.run(Watched::List(&["name"]), "cards list", output, |output| {
        show(args, &client, global, output)
    })
}

fn show(args: &Args, client: &Client, global: &Global, output: Output) -> Result<Exit, Error> {
    let page = gather(args, client)?;
    match output.format() {
        Format::Json => output.json(&page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", "no cards"),
        Format::Table => output.table(COLUMNS, &page.items)?,
    }
    if let (Format::Table, Some(after)) = (output.format(), &page.next_after) {
        let command = NextCommand::new("cards list", global);
        args.paging.tell_next(command, Some(("--after", after)), output);
    }
    Ok(Exit::Done)
}

/// Asks for one page, or for all of them from there on.
fn gather(args: &Args, client: &Client) -> Result<PageAfter<AgentCard>, Failure> {
    let mut gathered = PageAfter { items: Vec::new(), next_after: None };
    let mut after = args.after.clone();
    for _ in 0..PAGES_MAX {
        let cursor = after.as_ref().map(|after| format!("&after={after}")).unwrap_or_default();
        let path = format!("{}?limit={}{cursor}", registry::PATH, args.paging.limit);
        let page: PageAfter<AgentCard> = client.get(&path)?;
        gathered.items.extend(page.items);
        gathered.next_after = page.next_after;
        let Some(next) = gathered.next_after.as_deref().filter(|_| args.paging.all) else {
            return Ok(gathered);
        };
        let next = registry::name(next).map_err(|why| Failure::malformed("nextAfter", why))?;
        // A cursor that does not rise would repeat pages without end.
        if after.as_ref() >= Some(&next) {
            break;
        }
        after = Some(next);
    }
    Err(Failure::malformed("nextAfter", "the cursor does not advance"))
}

const COLUMNS: &[Column<AgentCard>] = &[
    Column::new(0, "NAME", |it, _| it.name.to_string()),
    Column::new(1, "VARIANT", |it, _| it.variant.clone()),
    Column::new(1, "PROTOCOL", |it, _| it.protocol_version.clone()),
    Column::new(5, "BYTES", |it, _| it.size.to_string()),
    Column::new(2, "REVISION", |it, _| it.revision.to_string()),
    Column::new(2, "CHANGED", |it, times| times.ago(it.updated_at)),
    Column::new(3, "BY", |it, _| it.updated_by.clone()),
    Column::new(4, "DIGEST", |it, _| it.digest.to_string()),
];
