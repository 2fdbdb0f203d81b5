//! Waits for the ends of what a plan replayed: of the first items, before the others are tried, and of all at the end.

use std::time::Duration;

use super::{Halt, ItemState, Runner};
use crate::api::DeadLetterDetail;
use crate::cli::dead_letters::apply::decision::{ApplyCounts, ApplyEnding, canary_order};
use crate::cli::replay::wait::{ReplayState, of_story};
use crate::runtime::clock::Clock as _;

/// Between two looks at the same items: from the shortest, doubling, to the longest.
const POLL_MIN: Duration = Duration::from_millis(100);
const POLL_MAX: Duration = Duration::from_secs(2);
/// At least so long for each of them, so that many that wait for long are not asked for all the time.
const POLL_ITEM: Duration = Duration::from_millis(2);
/// The last look begins when the time is over, and takes no longer than this.
const LAST_LOOK_MAX: Duration = Duration::from_secs(10);

impl Runner<'_> {
    /// Tries the first items, and waits until they have succeeded.
    pub(super) fn canary(&mut self) -> Result<Option<ApplyEnding>, Halt> {
        let mut replayed = Vec::new();
        if self.options.canary > 0 {
            for place in canary_order(self.plan.items.iter().map(|item| item.reason)) {
                if replayed.len() >= self.options.canary {
                    break;
                }
                self.apply(place)?;
                let is_replayed = self.states.get(place).is_some_and(|it| it.replay.is_some());
                replayed.extend(is_replayed.then_some(place));
            }
        }
        // One is enough, however many may fail later.
        self.wait_for(replayed, self.options.canary_timeout, 1)?;
        Ok(match self.counts {
            ApplyCounts { died_again: 1.., .. } => Some(ApplyEnding::DiedAgain),
            ApplyCounts { under_way: 1.., .. } => Some(ApplyEnding::CanaryPending),
            _ => None,
        })
    }

    /// Waits, after the last request, for the ends of all replayed items.
    pub(super) fn settle(&mut self) -> Result<(), Halt> {
        for _ in 0..self.deaths.installations() {
            self.look_at_next()?;
        }
        let under_way = |(place, state): (usize, &ItemState)| state.under_way().map(|_| place);
        let places = self.states.iter().enumerate().filter_map(under_way).collect();
        self.wait_for(places, self.options.settle_timeout, self.options.failures_max)
    }

    /// Asks for items until each is done or dead again, so many have died again, or the time is over.
    fn wait_for(
        &mut self,
        mut places: Vec<usize>,
        timeout: Duration,
        failures_max: usize,
    ) -> Result<(), Halt> {
        let end = self.clock.monotonic() + timeout;
        let mut wait = POLL_MIN;
        loop {
            let mut left = Vec::new();
            for place in places {
                let is_over = self.clock.monotonic() >= end + LAST_LOOK_MAX;
                if is_over || self.counts.must_stop(failures_max) {
                    return Ok(());
                }
                if self.look_at(place)? {
                    left.push(place);
                }
            }
            let rest = end.saturating_sub(self.clock.monotonic());
            if left.is_empty() || rest.is_zero() || self.counts.must_stop(failures_max) {
                return Ok(());
            }
            let items = u32::try_from(left.len()).unwrap_or(u32::MAX);
            self.interrupt.pause(wait.max(POLL_ITEM.saturating_mul(items)).min(rest));
            wait = POLL_MAX.min(wait * 2);
            places = left;
        }
    }

    /// Asks what became of a replayed item; returns whether it is still under way.
    fn look_at(&mut self, place: usize) -> Result<bool, Halt> {
        let replay = self.states.get(place).and_then(|state| state.under_way());
        let (Some(replay), Some(item)) = (replay, self.plan.items.get(place)) else {
            return Ok(false);
        };
        let path = super::path(item);
        let story: DeadLetterDetail = self.retrying(|client| client.get(&path))?;
        let after = of_story(&story, &replay);
        match after.state {
            ReplayState::Pending | ReplayState::Held => return Ok(true),
            ReplayState::DiedAgain => {
                self.died(item.item, after.reason_code.as_deref().unwrap_or_default())?;
            }
            ReplayState::Done => {
                if let Some(state) = self.states.get_mut(place) {
                    state.is_done = true;
                    self.counts.under_way -= 1;
                }
                self.report.progress(self.counts);
            }
        }
        Ok(false)
    }
}
