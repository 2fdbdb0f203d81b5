//! What is told while a plan is applied: a line that is written over on a terminal, otherwise one JSON line an item.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use serde::Serialize;

use super::decision::{ApplyCounts, ItemOutcome};
use crate::cli::dead_letters::plan::document::{Plan, PlannedItem};
use crate::cli::error::Error;
use crate::cli::exit::Exit;
use crate::cli::output::{Format, Output};
use crate::domain::id::{AuditEventId, InstallationId};
use crate::runtime::clock::{Clock as _, SystemClock};

/// Between two looks of a person.
const PAUSE: Duration = Duration::from_millis(200);

/// Tells how it goes.
pub(super) struct Report {
    output: Output,
    kind: Kind,
    clock: SystemClock,
    last: Option<Duration>,
    items: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A person looks at it.
    Terminal,
    /// One JSON document an item, and one at the end.
    Lines,
    /// One JSON document at the end.
    Document,
}

/// What became of one item.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemLine<'a> {
    installation_id: InstallationId,
    item_type: &'a str,
    item_id: String,
    outcome: ItemOutcome,
    /// Why it was skipped, or died again.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit_event_id: Option<AuditEventId>,
}

/// How it ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EndLine<'a> {
    plan_id: &'a str,
    outcome: &'a str,
    items: usize,
    #[serde(flatten)]
    counts: ApplyCounts,
    not_tried: usize,
}

impl Report {
    pub(super) fn new(output: Output, items: usize) -> Self {
        let kind = match output.format() {
            Format::Table if output.is_terminal() => Kind::Terminal,
            Format::Table | Format::Ndjson => Kind::Lines,
            Format::Json => Kind::Document,
        };
        Self { output, kind, clock: SystemClock::new(), last: None, items }
    }

    /// Says whether a person looks at it.
    pub(super) fn is_for_people(&self) -> bool {
        self.kind == Kind::Terminal
    }

    /// Tells what became of an item.
    pub(super) fn item(
        &mut self,
        item: &PlannedItem,
        outcome: ItemOutcome,
        why: Option<&str>,
        audit_event_id: Option<AuditEventId>,
        counts: ApplyCounts,
    ) -> Result<(), Error> {
        if self.kind == Kind::Lines {
            self.output.lines(&[ItemLine {
                installation_id: item.installation,
                item_type: item.item.item_type().as_str(),
                item_id: item.item.to_string(),
                outcome,
                why,
                audit_event_id,
            }])?;
        }
        self.progress(counts);
        Ok(())
    }

    /// Writes the line over on a terminal, not too often.
    pub(super) fn progress(&mut self, counts: ApplyCounts) {
        if !self.is_for_people() || !io::stderr().is_terminal() {
            return;
        }
        let now = self.clock.monotonic();
        if self.last.is_some_and(|last| now - last < PAUSE) {
            return;
        }
        self.last = Some(now);
        // When it cannot be printed, there is no reader to tell.
        drop(write!(io::stderr(), "\r{}\x1b[K", progress(counts, self.items)));
    }

    /// Tells how it ended.
    pub(super) fn end(&self, plan: &Plan, exit: Exit, counts: ApplyCounts) -> Result<(), Error> {
        let not_tried = counts.not_tried(self.items);
        if !self.is_for_people() {
            let outcome = exit.as_str();
            let plan_id = plan.head.plan_id.as_str();
            let end = EndLine { plan_id, outcome, items: self.items, counts, not_tried };
            match self.kind {
                Kind::Document => self.output.json(&end)?,
                Kind::Lines | Kind::Terminal => self.output.lines(&[end])?,
            }
            return Ok(());
        }
        if self.last.is_some() {
            drop(write!(io::stderr(), "\r\x1b[K"));
        }
        let applied = if plan.head.reason.is_some() { "closed" } else { "replayed" };
        Ok(self.output.facts(vec![
            ("outcome", exit.title().to_owned()),
            (applied, counts.applied.to_string()),
            ("already applied", counts.already_applied.to_string()),
            ("skipped", counts.skipped.to_string()),
            ("dead letters again", counts.died_again.to_string()),
            ("under way", counts.under_way.to_string()),
            ("not tried", not_tried.to_string()),
        ])?)
    }
}

fn progress(counts: ApplyCounts, items: usize) -> String {
    let tried = items - counts.not_tried(items);
    let ApplyCounts { skipped, died_again, under_way, .. } = counts;
    format!(
        "{tried} of {items} items, {skipped} skipped, {died_again} dead letters again, {under_way} under way"
    )
}
