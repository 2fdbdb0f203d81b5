//! Which dead letters are newer than those of a plan, as far as they were looked at: when to look, and from where on.

use std::time::Duration;

use crate::cli::dead_letters::plan::document::PlannedItem;
use crate::domain::id::InstallationId;
use crate::domain::time::Timestamp;

/// After so many items, or after so long, one installation is asked what died. A fiftieth more requests.
const LOOK_ITEMS: usize = 50;
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What was looked at.
pub(super) struct Deaths {
    /// From when on the dead letters of each installation were not seen yet. The instant of a death rises within an
    /// installation, so no clock is compared with another.
    since: Vec<(InstallationId, Timestamp)>,
    /// Which installation is next.
    turn: usize,
    /// Items that were sent since the last look.
    items: usize,
    last: Duration,
}

impl Deaths {
    /// Begins after the newest death of each installation in a plan.
    pub(super) fn after(items: &[PlannedItem], now: Duration) -> Self {
        let mut since: Vec<(InstallationId, Timestamp)> = Vec::new();
        for item in items {
            let after = next_instant(item.failed_at);
            // Items of one installation stand together, so it is the last one, or a new one.
            let known = since.iter_mut().rev().find(|(known, _)| *known == item.installation);
            match known {
                Some((_, since)) => *since = after.max(*since),
                None => since.push((item.installation, after)),
            }
        }
        Self { since, turn: 0, items: 0, last: now }
    }

    pub(super) fn installations(&self) -> usize {
        self.since.len()
    }

    /// Notes that an item was sent.
    pub(super) fn sent(&mut self) {
        self.items += 1;
    }

    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.items >= LOOK_ITEMS || now.saturating_sub(self.last) >= LOOK_INTERVAL
    }

    /// Lets the next look be at the installation of the item that was just sent: there, items may be dying.
    pub(super) fn turn_to(&mut self, installation: InstallationId) {
        if let Some(place) = self.since.iter().position(|(known, _)| *known == installation) {
            self.turn = place;
        }
    }

    /// Returns which installation is looked at next, and from when on.
    pub(super) fn next(&self) -> Option<(InstallationId, Timestamp)> {
        self.since.get(self.turn).copied()
    }

    /// Notes that it was looked at, and the newest death that was seen, if there was one.
    pub(super) fn seen(&mut self, newest: Option<Timestamp>, now: Duration) {
        if let Some((_, since)) = self.since.get_mut(self.turn) {
            *since = newest.map_or(*since, |newest| next_instant(newest).max(*since));
        }
        self.turn = (self.turn + 1) % self.since.len().max(1);
        self.items = 0;
        self.last = now;
    }
}

fn next_instant(instant: Timestamp) -> Timestamp {
    instant.plus(Duration::from_micros(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::dead_letter::{ItemId, ItemType};

    fn item(installation: i64, micros: i64) -> PlannedItem {
        PlannedItem {
            installation: installation.try_into().unwrap(),
            item: ItemId::parse(ItemType::Job, "0199f3a0-0000-7000-8000-00000000000a").unwrap(),
            failed_at: Timestamp::from_micros(micros),
            reason: 0,
        }
    }

    fn next(deaths: &Deaths) -> Option<(i64, i64)> {
        deaths.next().map(|(installation, since)| (installation.get(), since.micros()))
    }

    #[test]
    fn installations_take_turns_and_each_goes_on_where_it_was() {
        let second = Duration::from_secs(1);
        let mut deaths = Deaths::after(&[item(1, 30), item(1, 20), item(2, 50)], second);
        assert_eq!((deaths.installations(), next(&deaths)), (2, Some((1, 31))));
        deaths.seen(Some(Timestamp::from_micros(70)), second);
        assert_eq!(next(&deaths), Some((2, 51)));
        deaths.seen(None, second);
        assert_eq!(next(&deaths), Some((1, 71)));
        deaths.turn_to(2.try_into().unwrap());
        assert_eq!(next(&deaths), Some((2, 51)), "items are sent there");
        let mut none = Deaths::after(&[], second);
        assert_eq!(next(&none), None);
        none.seen(None, second);
    }

    #[test]
    fn a_look_is_due_after_fifty_items_or_a_second() {
        let second = Duration::from_secs(1);
        let mut deaths = Deaths::after(&[item(1, 1)], second);
        assert!(!deaths.is_due(second));
        assert!(deaths.is_due(2 * second));
        for _ in 0..LOOK_ITEMS {
            assert!(!deaths.is_due(second));
            deaths.sent();
        }
        assert!(deaths.is_due(second));
        deaths.seen(None, second);
        assert!(!deaths.is_due(second));
    }
}
