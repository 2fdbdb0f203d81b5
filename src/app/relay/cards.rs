//! The cards that a socket was sent, until they are over.

use std::collections::VecDeque;

use crate::domain::digest::Digest;
use crate::domain::id::ProposalId;
use crate::store::relay::Changed;

/// Cards that a socket remembers: far more than can wait for a person.
const CARDS_MAX: usize = 64;

/// The cards of a socket, the oldest first.
#[derive(Default)]
pub(super) struct Cards(VecDeque<Card>);

struct Card {
    proposal: ProposalId,
    /// Of the arguments of each step.
    digests: Vec<Digest>,
    /// The plugin has not sent a decision.
    is_open: bool,
    /// How many steps have not ended, as far as this socket knows.
    steps_left: usize,
    /// Digest of what the plugin has shown, if that is not recorded yet.
    shown: Option<Digest>,
}

impl Card {
    const fn is_over(&self) -> bool {
        !self.is_open && self.steps_left == 0
    }
}

impl Cards {
    /// Notes that a card is sent; returns `false` if it was sent before.
    pub(super) fn sent(&mut self, proposal: ProposalId, digests: Vec<Digest>) -> bool {
        if self.0.iter().any(|card| card.proposal == proposal) {
            return false;
        }
        if self.0.len() == CARDS_MAX {
            // A card that waits for a person may be older than many reads that needed no decision.
            let over = self.0.iter().position(Card::is_over);
            let decided = || self.0.iter().position(|card| !card.is_open);
            // If all wait for a person, the oldest goes.
            self.0.remove(over.or_else(decided).unwrap_or_default());
        }
        let steps_left = digests.len();
        self.0.push_back(Card { proposal, digests, is_open: true, steps_left, shown: None });
        true
    }

    /// Notes that an open card was shown, to be recorded later; returns `false` if that cannot be noted.
    pub(super) fn shown(&mut self, proposal: ProposalId, preview: Digest) -> bool {
        let mut open = self.0.iter_mut().filter(|card| card.is_open && card.shown.is_none());
        let card = open.find(|card| card.proposal == proposal);
        card.map(|card| card.shown = Some(preview)).is_some()
    }

    /// Returns a card that was shown without a record of it, and the digest of what it showed.
    pub(super) fn unrecorded(&self) -> Option<(ProposalId, Digest)> {
        self.0.iter().find_map(|card| Some((card.proposal, card.shown?)))
    }

    /// Notes that it is recorded what a card showed.
    pub(super) fn recorded(&mut self, proposal: ProposalId) {
        let recorded = self.0.iter_mut().filter(|card| card.proposal == proposal);
        recorded.for_each(|card| card.shown = None);
    }

    /// Notes that the plugin has decided about a card; returns the digest of what it showed, if that is not recorded.
    pub(super) fn decided(&mut self, proposal: ProposalId) -> Option<Digest> {
        let decided = self.0.iter_mut().find(|card| card.proposal == proposal)?;
        decided.is_open = false;
        decided.shown.take()
    }

    /// Notes the steps that have ended.
    pub(super) fn ended(&mut self, changed: &[Changed]) {
        for step in changed.iter().filter(|step| step.state.is_terminal()) {
            let of_card = self.0.iter_mut().filter(|card| card.proposal == step.proposal);
            of_card.for_each(|card| card.steps_left = card.steps_left.saturating_sub(1));
        }
    }

    /// Returns the cards that the plugin has not decided about.
    pub(super) fn open(&self) -> Vec<ProposalId> {
        self.0.iter().filter(|card| card.is_open).map(|card| card.proposal).collect()
    }

    /// Returns the cards that the plugin has decided about, whose steps have not all ended.
    pub(super) fn at_work(&self) -> Vec<ProposalId> {
        let at_work = self.0.iter().filter(|card| !card.is_open && !card.is_over());
        at_work.map(|card| card.proposal).collect()
    }

    /// Returns the digests of the arguments that a card was sent with; none if it was not sent.
    pub(super) fn digests(&self, proposal: ProposalId) -> Vec<Digest> {
        let found = self.0.iter().find(|card| card.proposal == proposal);
        found.map(|card| card.digests.clone()).unwrap_or_default()
    }

    /// Forgets a card; returns whether it was sent.
    pub(super) fn forget(&mut self, proposal: ProposalId) -> bool {
        let before = self.0.len();
        self.0.retain(|card| card.proposal != proposal);
        self.0.len() < before
    }
}
