//! `svcctl dead-letters show`.

use uuid::Uuid;

use crate::api::DeadLetterDetail;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output, ago};
use crate::cli::replay::advice;
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::ItemType;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Show one dead letter, and whether it may be replayed
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  svcctl dead-letters show outbox 0199f3a0-0000-7000-8000-00000000000a
")]
pub(crate) struct Args {
    /// Type of the item: job, or outbox for an effect
    #[arg(value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: ItemType,

    /// ID of the item, as shown in the list
    #[arg(value_name = "ID")]
    item_id: Uuid,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    let path = super::path(installations::meant(&client, global)?);
    let item: DeadLetterDetail = client
        .get(&format!("{path}/{}/{}", args.item_type, args.item_id))
        .map_err(|failure| installations::item_failure(failure, &client, global))?;
    print(&item, output)?;
    if output.format() == Format::Table && item.dead_letter.replay_safe {
        let replay = format!("replay {} {}", args.item_type, args.item_id);
        output.remark("to replay this item", &NextCommand::new(&replay, global).into_line());
    }
    Ok(Exit::Done)
}

/// Prints one dead letter.
pub(crate) fn print(item: &DeadLetterDetail, output: Output) -> Result<(), Error> {
    match output.format() {
        Format::Table => output.facts(facts(item, SystemClock::new().now()))?,
        Format::Json | Format::Ndjson => output.json(item)?,
    }
    Ok(())
}

fn facts(item: &DeadLetterDetail, now: Timestamp) -> Vec<(&'static str, String)> {
    let letter = &item.dead_letter;
    let advice = advice::of(&item.replay_class);
    let safe = if letter.replay_safe { "safe" } else { "no" };
    vec![
        ("item", format!("{} {}", letter.item_type, letter.item_id)),
        ("repository", letter.repository.clone().unwrap_or_else(|| "-".to_owned())),
        ("failed", format!("{} ({})", letter.failed_at, ago(now, letter.failed_at))),
        ("reason", letter.reason_code.to_string()),
        ("error class", letter.error_class.to_string()),
        ("cause", letter.cause.as_deref().unwrap_or("-").to_owned()),
        ("tries", letter.attempt_count.to_string()),
        ("replay", format!("{safe}, {}: {}", item.replay_class, advice.why)),
        ("next step", advice.next.to_owned()),
    ]
}
