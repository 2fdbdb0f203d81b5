//! What applying a plan decides, as plain functions.
//!
//! See `docs/decisions/124-apply.md`.

use std::time::Duration;

use serde::Serialize;

use crate::api::AppliedBody;
use crate::cli::client::Failure;
use crate::cli::exit::Exit;

/// What became of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ItemOutcome {
    /// Replayed by this run.
    Replayed,
    /// Closed by this run.
    Closed,
    /// Replayed or closed by an earlier run of the same plan.
    AlreadyApplied,
    /// Changed since the plan was made; nothing was done.
    Skipped,
    /// Replayed by this plan, and a dead letter again.
    DiedAgain,
}

impl ItemOutcome {
    /// Returns what an answer says; `None` when it says nothing of the item. An item that the daemon does not know, or that is
    /// not as the plan has it, is skipped.
    pub(super) fn of(answer: &Result<AppliedBody, Failure>) -> Option<Self> {
        let word = match answer {
            Ok(applied) => applied.outcome.as_ref(),
            Err(Failure::Refused { problem, .. }) => problem.outcome.as_ref(),
            Err(_) => return None,
        };
        match (answer.is_ok(), word) {
            (true, "replayed") => Some(Self::Replayed),
            (true, "closed") => Some(Self::Closed),
            (true, "already_applied") => Some(Self::AlreadyApplied),
            (false, "not_replayable" | "not_open" | "not_found") => Some(Self::Skipped),
            _ => None,
        }
    }
}

/// How often each came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplyCounts {
    /// Replayed or closed by this run.
    pub(super) applied: usize,
    pub(super) already_applied: usize,
    pub(super) skipped: usize,
    /// Counted among those that were applied, too.
    pub(super) died_again: usize,
    /// Replayed, and neither done nor dead again as far as is known. Counted among those that were applied, too.
    pub(super) under_way: usize,
}

impl ApplyCounts {
    pub(super) fn count(&mut self, outcome: ItemOutcome) {
        let count = match outcome {
            ItemOutcome::Replayed | ItemOutcome::Closed => &mut self.applied,
            ItemOutcome::AlreadyApplied => &mut self.already_applied,
            ItemOutcome::Skipped => &mut self.skipped,
            ItemOutcome::DiedAgain => &mut self.died_again,
        };
        *count += 1;
    }

    /// Returns how many items of the plan were not reached.
    pub(super) const fn not_tried(self, items: usize) -> usize {
        items.saturating_sub(self.applied + self.already_applied + self.skipped)
    }

    /// Says whether so many items died again that no other is replayed.
    pub(super) const fn must_stop(self, failures_max: usize) -> bool {
        failures_max > 0 && self.died_again >= failures_max
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplyEnding {
    /// Every item was tried.
    Complete,
    /// Items died again.
    DiedAgain,
    /// The first items were neither done nor dead in time.
    CanaryPending,
    /// The person who started it stopped it.
    Interrupted,
}

impl ApplyEnding {
    pub(super) const fn exit(self, counts: ApplyCounts) -> Exit {
        match self {
            Self::DiedAgain => Exit::ItemsDiedAgain,
            Self::CanaryPending => Exit::Temporary,
            Self::Interrupted => Exit::Interrupted,
            Self::Complete if counts.died_again > 0 => Exit::ItemsDiedAgain,
            Self::Complete if counts.under_way > 0 => Exit::TimedOut,
            Self::Complete if counts.skipped > 0 => Exit::ItemsSkipped,
            Self::Complete => Exit::Done,
        }
    }
}

/// Returns the order in which items are tried first: one of each reason, then another one of each, because what is repaired
/// for one reason need not be repaired for another.
pub(super) fn canary_order(reasons: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut seen: Vec<u32> = Vec::new();
    let mut order: Vec<(u32, usize)> = Vec::new();
    for (place, reason) in reasons.enumerate() {
        let reason = usize::try_from(reason).unwrap_or(usize::MAX);
        if seen.len() <= reason {
            seen.resize(reason.saturating_add(1), 0);
        }
        if let Some(round) = seen.get_mut(reason) {
            order.push((*round, place));
            *round += 1;
        }
    }
    order.sort_unstable();
    order.into_iter().map(|(_, place)| place).collect()
}

/// How many items may be sent in which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ApplyRate {
    /// From one item to the next.
    pub(super) interval: Duration,
}

impl ApplyRate {
    /// Reads `5/s`, `300/m` or `1000/h`.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        const SHAPE: &str = "not a rate such as 5/s, 300/m or 1000/h";
        let (count, unit) = text.split_once('/').ok_or(SHAPE)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            _ => return Err(SHAPE),
        };
        let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
        let count: u32 = count.parse().ok().filter(|count| is_number && *count > 0).ok_or(SHAPE)?;
        Ok(Self { interval: Duration::from_secs(seconds) / count })
    }
}

#[cfg(test)]
mod tests;
