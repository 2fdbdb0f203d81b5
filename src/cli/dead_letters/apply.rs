//! `svcctl dead-letters apply`: does what a plan says, once.

mod deaths;
mod decision;
mod interrupt;
mod report;
mod runner;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use decision::{ApplyCounts, ApplyEnding, ApplyRate};
use interrupt::Interrupt;
use report::Report;
use runner::{ApplyOptions, Runner};

use super::plan;
use super::plan::document::{Plan, PlanFault, PlannedAction};
use crate::cli::Global;
use crate::cli::client::Client;
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Output, Times};
use crate::cli::value_parser::between;
use crate::cli::when;
use crate::domain::time::Timestamp;
use crate::runtime::clock::{Clock as _, SystemClock};

/// A plan that is older is refused: too much may have happened since.
const AGE_MAX: Duration = Duration::from_secs(7 * 86_400);
/// A plan may be so much ahead of this machine's clock, because another one made it.
const SKEW_MAX: Duration = Duration::from_secs(5 * 60);
/// Items that are tried first, unless the operator says otherwise.
const CANARY_DEFAULT: usize = 3;

/// Replay or close the dead letters of a plan, each once
///
/// Shows what is in the plan and asks for confirmation, unless --yes is given. Then it replays some items first (as many as
/// --canary says, taken from the reasons in turn), and waits until they have succeeded before it replays the others. From the
/// first replay to the end, it looks for replayed items that have become dead letters again, and stops when there are as many
/// as --stop-after-failures says. Items that have changed since the plan was written are skipped. After the last request, it
/// waits until all replayed items are done or dead letters again (--settle-timeout).
///
/// Each request has an idempotency key made of the plan and the item, so a plan can be applied again after an interruption, a
/// lost connection or a restart of svcd, and nothing happens twice. The audit log shows the key, which begins with the ID of
/// the plan.
///
/// On a terminal, it shows its progress; otherwise, or with -o ndjson, it prints one JSON document per line: one line per item,
/// and one at the end with the counts. With -o json, it prints one document, at the end, with the counts. An item that becomes a
/// dead letter again has a second line (died_again). In these lines, "why" is a code: for a skipped item, the replay class or
/// outcome that prevented the request; for an item that became a dead letter again, its new reason code.
///
/// Exits with 0 if every item was closed, or was replayed and is done, 13 if replayed items were still under way at the end, 15
/// if some were skipped, 16 if items became dead letters again, 130 if it was interrupted or you did not confirm it, 64 if it
/// cannot ask and --yes is missing, 69 if svcd cannot be reached, 74 if the plan is too old, was edited or was written from another
/// database, and 75 if the first items were not done in time.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters apply plan.json
  svcctl dead-letters apply plan.json --canary 10 --rate 5/s
  svcctl dead-letters apply plan.json --yes -o ndjson | jq -r 'select(.outcome == \"skipped\") | .itemId'
")]
pub(crate) struct Args {
    /// File with the plan
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,

    /// Number of items to replay first, and to wait for; 0 means none [default: 3]
    #[arg(long, value_name = "N")]
    canary: Option<usize>,

    /// Maximum time to wait for the first items
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = when::duration)]
    canary_timeout: Duration,

    /// Maximum time to wait, after the last request, until all replayed items are done or dead letters again
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = when::duration)]
    settle_timeout: Duration,

    /// Maximum rate, such as 5/s, 300/m or 1000/h [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = ApplyRate::parse)]
    rate: Option<ApplyRate>,

    /// Stop when this many replayed items have become dead letters again; 0 means never [default: 1]
    ///
    /// While it waits for the items of --canary, one is enough, whatever N is.
    #[arg(long, value_name = "N")]
    stop_after_failures: Option<usize>,

    /// Maximum number of retries of one request if svcd is busy or restarts
    #[arg(long, value_name = "N", default_value_t = 8)]
    #[arg(value_parser = between(0_u32, 20))]
    retries: u32,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,

    /// Apply the whole plan, even if --installation or SVC_INSTALLATION names one installation
    ///
    /// Without any of these, the whole plan is applied anyway. If one installation is named, a plan with items of another
    /// one is refused.
    #[arg(short = 'A', long)]
    all_installations: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let plan = read(&args.file)?;
    check(&plan, args, global, SystemClock::new().now())?;
    let client = Client::operator_keeping(global)?;
    let store = plan::store_id(&client)?;
    if store != plan.head.store_id {
        let message = format!("{} was written from another database", args.file.display());
        return Err(Error::new(Exit::LocalFile, message)
            .hint("check --url: it must lead to the svcd from which the plan was written")
            .hint(new_plan(&plan, args, global)));
    }
    let report = Report::new(output, plan.items.len());
    let beside = if report.is_for_people() { output } else { output.aside() };
    if !args.yes && !is_confirmed(&plan, beside)? {
        output.remark("note", "nothing was sent");
        return Ok(Exit::Interrupted);
    }
    let interrupt = Interrupt::install()
        .map_err(|error| Error::new(Exit::Failed, "cannot watch for signals").caused_by(error))?;
    let mut runner = Runner::new(&client, &plan, options(args), &interrupt, report);
    let ended = runner.run();
    let (report, counts) = runner.into_report();
    let exit = match &ended {
        Ok(ending) => ending.exit(counts),
        Err(error) => error.exit(),
    };
    let reported = report.end(&plan, exit, counts);
    match ended {
        Ok(ending) => advise(ending, counts, &plan, (args, global, output)),
        // It says more than an output that cannot be written.
        Err(error) => return Err(error.hint(format!("to go on: {}", again(args, &plan, global)))),
    }
    reported?;
    Ok(exit)
}

fn options(args: &Args) -> ApplyOptions {
    ApplyOptions {
        canary: args.canary.unwrap_or(CANARY_DEFAULT),
        canary_timeout: args.canary_timeout,
        settle_timeout: args.settle_timeout,
        interval: args.rate.map(|rate| rate.interval),
        failures_max: args.stop_after_failures.unwrap_or(1),
        retries: args.retries,
    }
}

fn read(file: &Path) -> Result<Plan, Error> {
    let unusable = || {
        let message = format!("the plan {} cannot be used; nothing was sent", file.display());
        Error::new(Exit::LocalFile, message)
    };
    let plan = Plan::read(|| File::open(file)).map_err(|error| unusable().caused_by(error))?;
    let again = "write a new plan: svcctl dead-letters plan --file FILE";
    plan.map_err(|fault| {
        let hint = match &fault {
            PlanFault::Newer(_) => "update svcctl, or write a new plan with this version",
            PlanFault::NotAPlan(_) | PlanFault::Edited => again,
        };
        unusable().caused_by(fault).hint(hint)
    })
}

/// Refuses what can be refused without asking the service.
fn check(plan: &Plan, args: &Args, global: &Global, now: Timestamp) -> Result<(), Error> {
    if now.since(plan.head.created_at) > AGE_MAX {
        let made = Times { now, is_exact: false }.ago(plan.head.created_at);
        let file = args.file.display();
        let message = format!("{file} was written {made}; a plan can be applied for a week");
        return Err(Error::new(Exit::LocalFile, message).hint(new_plan(plan, args, global)));
    }
    if plan.head.created_at.since(now) > SKEW_MAX {
        let (file, created) = (args.file.display(), plan.head.created_at);
        let message =
            format!("{file} was written at {created}, and the clock of this machine says {now}");
        return Err(Error::new(Exit::LocalFile, message)
            .hint("set the clock that is wrong")
            .hint(new_plan(plan, args, global)));
    }
    let named = global.installation.filter(|_| !args.all_installations);
    let foreign = named.and_then(|named| {
        let other = plan.items.iter().find(|item| item.installation != named)?;
        Some((named, other.installation))
    });
    if let Some((named, other)) = foreign {
        let message = format!(
            "{} has items of installation {other}, and installation {named} was given",
            args.file.display()
        );
        return Err(Error::new(Exit::Usage, message)
            .hint("to apply it to all its installations, add --all-installations"));
    }
    let is_close = plan.action != PlannedAction::Replay;
    if is_close && (args.canary.is_some() || args.stop_after_failures.is_some()) {
        let message = "the plan closes its items, and nothing that is closed can fail again";
        return Err(
            Error::new(Exit::Usage, message).hint("omit --canary and --stop-after-failures")
        );
    }
    Ok(())
}

/// Shows the plan and asks.
fn is_confirmed(plan: &Plan, output: Output) -> Result<bool, Error> {
    plan::show(&plan.head, &plan.summary, output)?;
    if !io::stdin().is_terminal() {
        let message = "standard input is not a terminal, so svcctl cannot ask for confirmation; nothing was sent";
        return Err(
            Error::new(Exit::Usage, message).hint("to apply it without a question, add --yes")
        );
    }
    let verb = if plan.head.reason.is_some() { "Close" } else { "Replay" };
    let count = plan.items.len();
    let items = if count == 1 { "item" } else { "items" };
    write!(io::stderr(), "{verb} {count} {items}? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says what to do next.
fn advise(
    ending: ApplyEnding,
    counts: ApplyCounts,
    plan: &Plan,
    (args, global, output): (&Args, &Global, Output),
) {
    match ending {
        ApplyEnding::Interrupted => output.remark("to go on", &again(args, plan, global)),
        ApplyEnding::CanaryPending => {
            output.remark("note", "the first items are not done yet; the others were not replayed");
            output.remark("to go on", &again(args, plan, global));
        }
        ApplyEnding::Complete if counts.under_way > 0 => {
            output.remark("note", &format!("{} replayed items are not done yet", counts.under_way));
            let again = again(args, plan, global);
            output.remark("to wait again, without a second replay", &again);
        }
        ApplyEnding::Complete | ApplyEnding::DiedAgain => {}
    }
    if counts.died_again > 0 {
        let list = plan::scoped("dead-letters summary", &plan.head, global);
        output.remark("to see why items became dead letters again", &list.into_line());
        let next = plan::plan_command(&plan.head, &next_file(&args.file), global);
        output.remark("once the cause is repaired, to write a plan of the rest", &next.into_line());
    }
}

fn again(args: &Args, plan: &Plan, global: &Global) -> String {
    plan::apply_command(&plan.head, &args.file, global).into_line()
}

fn new_plan(plan: &Plan, args: &Args, global: &Global) -> String {
    let command = plan::plan_command(&plan.head, &next_file(&args.file), global);
    format!("write a new plan: {}", command.into_line())
}

/// Returns the name of a file beside the plan, for the next one.
fn next_file(file: &Path) -> PathBuf {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    file.with_file_name(format!("{}-next.json", stem.unwrap_or_default()))
}
