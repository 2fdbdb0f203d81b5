//! `svcctl replay`: tries one dead letter once more.

pub(crate) mod advice;
pub(crate) mod wait;

use std::time::Duration;

use serde::Serialize;
use wait::{ReplayState, Replayed, ReplayedItem};

use crate::api::{AppliedBody, DeadLetterDetail};
use crate::cli::client::Client;
use crate::cli::dead_letters::{self, show};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::ids::{self, IdArg};
use crate::cli::keyed::{self, Keyed};
use crate::cli::next_command::NextCommand;
use crate::cli::output::{Format, Output};
use crate::cli::poll::{Notes, Polled, Schedule};
use crate::cli::value_parser::one_of;
use crate::cli::{Global, installations};
use crate::domain::dead_letter::ItemType;

/// Replay one dead letter that is safe to replay
///
/// A replay happens at most once for each idempotency key, however often it is requested. By default, svcctl
/// generates a new key, and prints it to standard error before it sends the request. If svcd is busy or the
/// connection is lost, the request is repeated with the same key. To repeat the request later without replaying the
/// item twice, pass the key with --idempotency-key.
///
/// Exits with 0 if the item was replayed, by this request or by an earlier one with the same key,
/// and with 5 if the item must not be replayed.
///
/// With --wait, exits with 0 once the item is done, 11 if it became a dead letter again, 12 if the effect is held, and 13
/// if --timeout passed first. svcd sends a held effect by itself, but later: the forge asked svcd to wait, or cannot be
/// reached. Without --wait, svcctl on a terminal looks at the item for one second, and warns if it became a dead letter
/// again.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a --dry-run
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a
  svcctl replay job 0199f3a0-0000-7000-8000-00000000000a --idempotency-key KEY
  svcctl replay outbox 0199f3a0-0000-7000-8000-00000000000a --wait --timeout 5m
")]
pub(crate) struct Args {
    /// Type of the item: job, or outbox for an effect
    #[arg(value_name = "TYPE", value_parser = one_of(ItemType::ALL, ItemType::as_str))]
    item_type: ItemType,

    /// ID of the item as shown in the list; its beginning is enough
    #[arg(value_name = "ID", value_parser = IdArg::parse)]
    item_id: IdArg,

    #[command(flatten)]
    keyed: Keyed,

    /// Show the item and whether it may be replayed, without replaying it
    #[arg(long, conflicts_with_all = ["idempotency_key", "retries"])]
    dry_run: bool,

    /// Wait until the item is done, has become a dead letter again, or is held; --timeout limits the whole wait
    #[arg(long, conflicts_with = "dry_run")]
    wait: bool,
}

/// How long a terminal looks after an item without --wait.
const GLANCE: Schedule = Schedule {
    shortest: Duration::from_millis(100),
    longest: Duration::from_millis(300),
    timeout: Some(Duration::from_secs(1)),
    has_answered: true,
};

/// What is printed in the machine formats with --wait.
#[derive(Serialize)]
struct Waited<'a> {
    #[serde(flatten)]
    applied: &'a AppliedBody,
    item: &'a ReplayedItem,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = match args.wait {
        true => Client::operator(&global.waiting())?,
        false => Client::operator(global)?,
    };
    let installation = installations::meant(&client, global)?;
    let kind = ids::kind_of(args.item_type);
    let id = args.item_id.resolve(kind, &client, installation, global)?;
    let item = format!("{}/{}/{id}", dead_letters::path(installation), args.item_type);
    if args.dry_run {
        let found = client.get(&item);
        let found =
            found.map_err(|failure| installations::item_failure(failure, &client, global))?;
        return dry_run(&found, output);
    }
    let command = NextCommand::new(&format!("replay {} {id}", args.item_type), global);
    let path = format!("{item}/replay");
    let (applied, key) =
        args.keyed.request(&client, &path, None, command.clone(), (global, output))?;
    let client = client.within(if args.wait { global.timeout } else { GLANCE.timeout });
    let replayed = Replayed {
        client: &client,
        installation,
        item_type: args.item_type,
        path: &item,
        audit_event: applied.audit_event_id,
    };
    if args.wait {
        let again = command.word("--wait").with("--idempotency-key", key.as_str());
        let show = NextCommand::new(&format!("dead-letters show {} {id}", args.item_type), global);
        return wait(
            &replayed,
            &applied,
            [again, show].map(NextCommand::into_line),
            global.timeout,
            output,
        );
    }
    keyed::print(&applied, output)?;
    if output.is_terminal() && output.format() == Format::Table {
        glance(&replayed, output);
    }
    Ok(Exit::Done)
}

/// Waits and says how it ended. What became of the item is printed whatever the end.
fn wait(
    replayed: &Replayed<'_>,
    applied: &AppliedBody,
    [again, show]: [String; 2],
    timeout: Option<Duration>,
    output: Output,
) -> Result<Exit, Error> {
    let is_table = output.format() == Format::Table;
    if is_table {
        keyed::print(applied, output)?;
    }
    let mut item = ReplayedItem::UNKNOWN;
    let polled = replayed.wait(Schedule::wait(timeout, true), &mut Notes::new(output), &mut item);
    if is_table {
        output.facts(vec![("item", item.state.text().to_owned())])?;
    } else {
        output.json(&Waited { applied, item: &item })?;
    }
    let hint = format!("to wait again, without a second replay: {again}");
    match (polled.map_err(|error| error.hint(&hint))?, item.state) {
        (Polled::TimedOut, _) | (Polled::End(()), ReplayState::Pending) => {
            let status = item.status.as_deref().unwrap_or("not known");
            let message = format!("the item is not done yet (status {status})");
            Err(Error::new(Exit::TimedOut, message).hint(hint))
        }
        (Polled::End(()), ReplayState::Done) => Ok(Exit::Done),
        (Polled::End(()), ReplayState::DiedAgain) => {
            Err(Error::new(Exit::DiedAgain, died_again(&item))
                .hint(format!("show why: {show}"))
                .hint("repair what the reason names, then replay the item again"))
        }
        (Polled::End(()), ReplayState::Held) => {
            let message = match item.held_until {
                Some(until) => {
                    format!("the effect is held: the forge asked svcd to wait until {until}")
                }
                None => "the effect is held: the forge cannot be reached".to_owned(),
            };
            Err(Error::new(Exit::Held, message).hint("svcd sends it by itself later").hint(hint))
        }
    }
}

/// Looks after an item for a moment. The replay holds whatever is seen, so a failure to look is none of the command.
fn glance(replayed: &Replayed<'_>, output: Output) {
    let mut item = ReplayedItem::UNKNOWN;
    let _seen = replayed.wait(GLANCE, &mut Notes::new(output), &mut item);
    if item.state == ReplayState::DiedAgain {
        output.alarm("warning", true, &died_again(&item));
    }
}

fn died_again(item: &ReplayedItem) -> String {
    let reason = item.reason_code.as_deref().unwrap_or("reason not known");
    format!("the item became a dead letter again ({reason})")
}

fn dry_run(item: &DeadLetterDetail, output: Output) -> Result<Exit, Error> {
    show::print(item, output)?;
    if show::allows(item, "replay") {
        return Ok(Exit::Done);
    }
    let class = show::class_now(item);
    let advice = advice::of(class);
    let message = format!("svcd would refuse the replay ({class})");
    Err(Error::new(Exit::NotReplayable, message).hint(advice.why).hint(advice.next))
}
