//! Agent cards: are they valid, and which are registered? Every client of the surface may ask; a write
//! asks for the principal. No line of the log has a word of a card, or its name.

use std::time::Duration;

use crate::api::AgentCard;
use crate::app::{App, Error};
use crate::auth::operator::Principal;
use crate::card::{self, BATCH_MAX, ValidationReport};
use crate::crypto::sha256;
use crate::domain::agent_card::{CardName, Condition, NewAgentCard, Removal, Write};
use crate::domain::digest::Digest;
use crate::domain::page::Page;

/// How long one more check waits for its turn, holding its thread.
const CHECK_WAIT: Duration = Duration::from_millis(100);

words! {
    /// What became of a card that is registered now.
    Put {
        /// Its name was free.
        Created => "created",
        /// Another card had its name.
        Replaced => "replaced",
        /// It was there already, byte for byte.
        Unchanged => "unchanged",
    }
}

impl App {
    /// Checks one card.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub fn check_card(&self, card: &[u8]) -> Result<ValidationReport, Error> {
        let _turn = self.card_checks.take(CHECK_WAIT).ok_or(Error::Busy)?;
        Ok(card::check(card))
    }

    /// Checks cards that are lines, and tells of each in turn, with its number, until that fails.
    ///
    /// # Errors
    /// [`Error::TooManyCards`] before any is checked, [`Error::Busy`], and those of `tell`.
    pub fn check_cards(
        &self,
        lines: &[u8],
        mut tell: impl FnMut(u64, ValidationReport) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if card::lines(lines).nth(BATCH_MAX).is_some() {
            return Err(Error::TooManyCards);
        }
        let _turn = self.card_checks.take(CHECK_WAIT).ok_or(Error::Busy)?;
        card::lines(lines).try_for_each(|(number, line)| tell(number, card::check(line)))
    }

    /// Registers a valid card, when the condition holds.
    ///
    /// # Errors
    /// [`Error::InvalidCard`], [`Error::RegistryFull`], [`Error::PreconditionFailed`], or
    /// [`Error::Unavailable`].
    pub fn put_agent_card(
        &self,
        principal: &Principal,
        name: CardName,
        bytes: &[u8],
        condition: Condition,
    ) -> Result<(Put, AgentCard), Error> {
        // Without a permit of `card_checks`: strangers who have cards checked must not hold up operators.
        let report = card::check(bytes);
        // Only of a valid card, because bytes that are no JSON have no members to read.
        let version = || card::protocol_version(bytes);
        let valid = report.variant.filter(|_| report.is_valid());
        let Some((variant, protocol_version)) = valid.and_then(|it| Some((it, version()?))) else {
            return Err(Error::InvalidCard(Box::new(report)));
        };
        let actor = principal.actor().to_owned();
        let card = NewAgentCard {
            name,
            bytes: bytes.to_owned(),
            digest: sha256::of(bytes),
            variant: variant.as_str(),
            protocol_version,
            actor,
        };
        let put = match self.store.put_agent_card(card, condition)? {
            (Write::Full, _) => return Err(Error::RegistryFull),
            (Write::PreconditionFailed, _) => return Err(Error::PreconditionFailed),
            (Write::Create, card) => card.map(|card| (Put::Created, card)),
            (Write::Replace, card) => card.map(|card| (Put::Replaced, card)),
            (Write::Keep, card) => card.map(|card| (Put::Unchanged, card)),
        };
        let (put, card) = put.ok_or(Error::Unavailable)?;
        log::info!(event = "agent_card.registered", outcome = put.as_str(), digest:% = card.digest, revision = card.revision, bytes = card.size, actor = principal.actor(); "an operator registered an agent card");
        Ok((put, card))
    }

    /// Removes a registered card, when the condition holds.
    ///
    /// # Errors
    /// [`Error::NoSuchCard`], [`Error::PreconditionFailed`], or [`Error::Unavailable`].
    pub fn remove_agent_card(
        &self,
        principal: &Principal,
        name: CardName,
        condition: Condition,
    ) -> Result<(), Error> {
        match self.store.remove_agent_card(name, condition)? {
            Removal::NotFound => Err(Error::NoSuchCard),
            Removal::PreconditionFailed => Err(Error::PreconditionFailed),
            Removal::Remove(digest) => {
                log::info!(event = "agent_card.removed", digest:% = digest, actor = principal.actor(); "an operator removed an agent card");
                Ok(())
            }
        }
    }

    /// Returns a registered card, byte for byte, and its digest.
    ///
    /// # Errors
    /// [`Error::NoSuchCard`] or [`Error::Unavailable`].
    pub fn agent_card(&self, name: &CardName) -> Result<(Vec<u8>, Digest), Error> {
        self.store.agent_card(name)?.ok_or(Error::NoSuchCard)
    }

    /// Returns a page of the registered cards, by name.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn agent_cards(
        &self,
        after: Option<&CardName>,
        limit: u32,
    ) -> Result<Page<AgentCard, CardName>, Error> {
        Ok(self.store.agent_cards(after, limit)?)
    }
}
