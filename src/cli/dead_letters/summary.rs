//! `svcctl dead-letters summary`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::api::{DeadLetterCount, DeadLetterSummary, OfInstallation};
use crate::cli::client::{Client, Failure};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Column, Format, Output, or_dash};
use crate::cli::pages::InstallationScope;
use crate::cli::{Global, installations};
use crate::domain::id::InstallationId;

/// Count the dead letters by reason, repository and replay class
///
/// In the tables, OPEN counts the dead letters that were neither replayed nor closed, and REPLAY-SAFE those of them that
/// svcctl replay accepts. OLDEST is when the oldest open one became a dead letter.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  svcctl dead-letters summary
  svcctl dead-letters summary --all-installations
  svcctl dead-letters summary -o json | jq -r '.reasons[] | [.name, .count] | @tsv'
")]
pub(crate) struct Args {
    #[command(flatten)]
    scope: InstallationScope,
}

/// The summaries of all installations, as they are printed.
#[derive(Serialize)]
struct Summaries<'a> {
    installations: &'a [OfInstallation<DeadLetterSummary>],
}

pub(crate) fn run(args: &Args, global: &Global, output: Output) -> Result<Exit, Error> {
    let client = Client::operator(global)?;
    if args.scope.all_installations {
        let all = of_all(&client)?;
        match output.format() {
            Format::Json => output.json(&Summaries { installations: &all })?,
            Format::Ndjson => output.lines(&all)?,
            Format::Table => {
                output.table(INSTALLATIONS, &all)?;
                output.raw(b"\n")?;
                show(&sum(all.into_iter().map(|one| one.item)), output)?;
            }
        }
        return Ok(Exit::Done);
    }
    let summary = of(&client, installations::meant(&client, global)?)?;
    if summary.count == 0 {
        installations::ensure_known(&client, global)?;
    }
    match output.format() {
        Format::Json | Format::Ndjson => output.json(&summary)?,
        Format::Table => show(&summary, output)?,
    }
    Ok(Exit::Done)
}

fn of(client: &Client, installation: InstallationId) -> Result<DeadLetterSummary, Failure> {
    client.get(&format!("{}/summary", super::path(installation)))
}

/// Asks for the summary of each installation.
fn of_all(client: &Client) -> Result<Vec<OfInstallation<DeadLetterSummary>>, Failure> {
    installations::all(client)?
        .into_iter()
        .map(|known| {
            let installation_id = known.installation_id;
            Ok(OfInstallation { installation_id, item: of(client, installation_id)? })
        })
        .collect()
}

const INSTALLATIONS: &[Column<OfInstallation<DeadLetterSummary>>] = &[
    Column::new(0, "INSTALLATION", |it, _| it.installation_id.to_string()),
    Column::new(0, "OPEN", |it, _| counted(it.item.count, it.item.truncated)),
    Column::new(1, "REPLAY-SAFE", |it, _| it.item.replay_safe_count.to_string()),
    Column::new(2, "OLDEST", |it, times| or_dash(it.item.oldest_failed_at.map(|at| times.ago(at)))),
];

fn counted(count: u32, truncated: bool) -> String {
    if truncated { format!("more than {count}") } else { count.to_string() }
}

fn show(summary: &DeadLetterSummary, output: Output) -> Result<(), Error> {
    let oldest = summary.oldest_failed_at.map(|at| output.times().ago(at));
    output.facts(vec![
        ("open", counted(summary.count, summary.truncated)),
        ("replay-safe", summary.replay_safe_count.to_string()),
        ("oldest", or_dash(oldest)),
    ])?;
    for (columns, counts) in [
        (by("REASON"), &summary.reasons),
        (by("REPOSITORY"), &summary.repositories),
        (by("REPLAY CLASS"), &summary.replay_classes),
    ] {
        if !counts.is_empty() {
            output.raw(b"\n")?;
            output.table(&columns, counts)?;
        }
    }
    let named = u32::try_from(summary.repositories.len()).unwrap_or(u32::MAX);
    if summary.repository_count > named {
        let others = summary.repository_count - named;
        output.remark("note", &format!("{others} more repositories have fewer dead letters"));
    }
    Ok(())
}

/// Returns the columns of counts by what `name` says.
const fn by(name: &'static str) -> [Column<DeadLetterCount>; 4] {
    [
        Column::new(0, "OPEN", |it, _| it.count.to_string()),
        Column::new(1, "REPLAY-SAFE", |it, _| it.replay_safe_count.to_string()),
        Column::new(2, "OLDEST", |it, times| times.ago(it.oldest_failed_at)),
        Column::new(0, name, |it, _| or_dash(it.name.as_deref())),
    ]
}

/// Returns the summaries of several installations as one.
fn sum(all: impl Iterator<Item = DeadLetterSummary>) -> DeadLetterSummary {
    let mut sum = DeadLetterSummary {
        count: 0,
        replay_safe_count: 0,
        oldest_failed_at: None,
        truncated: false,
        reasons: Vec::new(),
        repositories: Vec::new(),
        repository_count: 0,
        replay_classes: Vec::new(),
    };
    for one in all {
        sum.count = sum.count.saturating_add(one.count);
        sum.replay_safe_count = sum.replay_safe_count.saturating_add(one.replay_safe_count);
        sum.oldest_failed_at =
            [sum.oldest_failed_at, one.oldest_failed_at].into_iter().flatten().min();
        sum.truncated |= one.truncated;
        sum.repository_count = sum.repository_count.saturating_add(one.repository_count);
        sum.reasons = added(sum.reasons, one.reasons);
        sum.replay_classes = added(sum.replay_classes, one.replay_classes);
        // A repository belongs to one installation. Cut each time, so that they never become many.
        sum.repositories = DeadLetterSummary::foremost(added(sum.repositories, one.repositories));
    }
    sum
}

/// Adds counts of the same name, and returns them with the greatest first.
fn added(some: Vec<DeadLetterCount>, more: Vec<DeadLetterCount>) -> Vec<DeadLetterCount> {
    let mut by_name: BTreeMap<Option<String>, DeadLetterCount> = BTreeMap::new();
    for count in some.into_iter().chain(more) {
        let sum = by_name.entry(count.name.clone()).or_insert_with(|| DeadLetterCount {
            count: 0,
            replay_safe_count: 0,
            ..count.clone()
        });
        sum.count = sum.count.saturating_add(count.count);
        sum.replay_safe_count = sum.replay_safe_count.saturating_add(count.replay_safe_count);
        sum.oldest_failed_at = sum.oldest_failed_at.min(count.oldest_failed_at);
    }
    let mut counts: Vec<_> = by_name.into_values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn count(name: &str, count: u32, safe: u32, oldest: i64) -> DeadLetterCount {
        let oldest_failed_at = Timestamp::from_micros(oldest);
        DeadLetterCount {
            name: Some(name.to_owned()),
            count,
            replay_safe_count: safe,
            oldest_failed_at,
        }
    }

    fn summary(
        reasons: Vec<DeadLetterCount>,
        repositories: Vec<DeadLetterCount>,
    ) -> DeadLetterSummary {
        DeadLetterSummary {
            count: reasons.iter().map(|count| count.count).sum(),
            replay_safe_count: reasons.iter().map(|count| count.replay_safe_count).sum(),
            oldest_failed_at: reasons.iter().map(|count| count.oldest_failed_at).min(),
            truncated: false,
            repository_count: u32::try_from(repositories.len()).unwrap(),
            replay_classes: reasons.clone(),
            reasons,
            repositories,
        }
    }

    #[test]
    fn several_installations_are_summed_by_name() {
        let none = summary(Vec::new(), Vec::new());
        let one =
            summary(vec![count("a", 3, 1, 50), count("b", 2, 2, 20)], vec![count("o/r", 5, 3, 20)]);
        let two = summary(vec![count("b", 2, 0, 70)], vec![count("p/q", 2, 0, 70)]);
        let sum = sum([none, one, two].into_iter());
        assert_eq!((sum.count, sum.replay_safe_count, sum.repository_count), (7, 3, 2));
        assert_eq!(sum.oldest_failed_at, Some(Timestamp::from_micros(20)));
        assert_eq!(sum.reasons, [count("b", 4, 2, 20), count("a", 3, 1, 50)]);
        assert_eq!(sum.repositories, [count("o/r", 5, 3, 20), count("p/q", 2, 0, 70)]);
    }

    #[test]
    fn the_repositories_that_are_named_stay_few() {
        let many = |start: u32| {
            let named =
                (start..start + 100).map(|number| count(&format!("o/r{number}"), number, 0, 1));
            summary(Vec::new(), named.collect())
        };
        let sum = sum([many(1), many(101)].into_iter());
        assert_eq!((sum.repositories.len(), sum.repository_count), (100, 200));
        assert_eq!(sum.repositories[0], count("o/r200", 200, 0, 1));
    }
}
