//! `svcctl dead-letters list`.

use super::gather::{self, Filter};
use crate::api::{DeadLetter, PageBody};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output};
use crate::cli::pages::Paging;
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::{DeadLetterReason, ItemType};
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Most pages one run asks for: 100 000 items.
const PAGES_MAX: u32 = 1_000;

/// List dead letters, newest first
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters list
  svcctl dead-letters list --type outbox --reason forge_dispatch_uncertain
  svcctl dead-letters list --before 2026-11-21T09:00:00Z --limit 10
  svcctl dead-letters list --all -o ndjson | jq -r 'select(.replaySafe).itemId'
")]
pub(crate) struct Args {
    #[command(flatten)]
    paging: Paging,

    /// Show only items that failed before this time, such as 2026-11-21T09:00:00Z
    #[arg(long, value_name = "TIMESTAMP", value_parser = instant)]
    before: Option<Timestamp>,

    /// Show only items of this type: job, or outbox for an effect
    #[arg(long = "type", value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: Option<ItemType>,

    /// Show only items with this reason code
    #[arg(long, value_name = "CODE", value_parser = one_of(DeadLetterReason::ALL, DeadLetterReason::as_str))]
    reason: Option<DeadLetterReason>,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = super::path(installations::meant(&client, global)?);
    let page = gather_pages(&client, &path, args)?;
    if page.items.is_empty() {
        installations::ensure_known(&client, global)?;
    }
    match output.format() {
        Format::Json => output.json(&page)?,
        Format::Ndjson => output.lines(&page.items)?,
        Format::Table if page.items.is_empty() => output.remark("note", "no dead letters"),
        Format::Table => output.table(&HEADER, rows(&page.items, args.paging))?,
    }
    if let (Format::Table, Some(before)) = (output.format(), &page.next_before) {
        let command = NextCommand::new("dead-letters list", global)
            .with_some("--type", args.item_type.map(ItemType::as_str))
            .with_some("--reason", args.reason.map(DeadLetterReason::as_str));
        args.paging.tell_next(command, "--before", before, output);
    }
    Ok(Exit::Done)
}

fn gather_pages(client: &Client, path: &str, args: &Args) -> Result<PageBody<DeadLetter>, Failure> {
    let filter = Filter { item_type: args.item_type, reason: args.reason };
    // The service does not filter, so small pages would mean many requests for few items.
    let size = if filter.is_empty() || args.paging.all {
        args.paging.limit
    } else {
        crate::domain::page::PAGE_MAX
    };
    let limit = if args.paging.all { None } else { usize::try_from(args.paging.limit).ok() };
    let mut gathered = PageBody { items: Vec::new(), next_before: None };
    let mut before = args.before;
    for _ in 0..PAGES_MAX {
        let query = before.map(|before| format!("&before={before}")).unwrap_or_default();
        let page = client.get(&format!("{path}?limit={size}{query}"))?;
        let Some(next) = gather::take(&mut gathered, page, filter, limit) else { break };
        let next = instant(&next).map_err(|why| Failure::malformed("nextBefore", why))?;
        if before.is_some_and(|before| next >= before) {
            return Err(Failure::malformed("nextBefore", "the cursor does not go back in time"));
        }
        before = Some(next);
    }
    Ok(gathered)
}

/// What a person looks for first stands first; the columns of no fixed width stand last.
const HEADER: [&str; 9] =
    ["FAILED", "TYPE", "ID", "REPLAY", "TRIES", "CLASS", "CAUSE", "REASON", "REPOSITORY"];

fn rows(items: &[DeadLetter], paging: Paging) -> Vec<Vec<String>> {
    let now = SystemClock::new().now();
    let row = |item: &DeadLetter| {
        vec![
            paging.age(now, item.failed_at),
            item.item_type.to_string(),
            item.item_id.clone(),
            if item.replay_safe { "safe" } else { "no" }.to_owned(),
            item.attempt_count.to_string(),
            item.error_class.to_string(),
            item.cause.as_deref().unwrap_or("-").to_owned(),
            item.reason_code.to_string(),
            item.repository.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    };
    items.iter().map(row).collect()
}

fn instant(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse_rounding_up(text).ok_or("not a timestamp such as 2026-11-21T09:00:00Z")
}
