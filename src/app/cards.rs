//! Agent cards: are they valid? Whoever reaches the surface may ask; it costs time and tells nothing.

use crate::app::{App, Error};
use crate::card::{self, BATCH_MAX, Report};

impl App {
    /// Checks one card.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub fn check_card(&self, card: &[u8]) -> Result<Report, Error> {
        let _turn = self.checks.take().ok_or(Error::Busy)?;
        Ok(card::check(card))
    }

    /// Checks cards that are lines, and tells of each in turn, with its number, until that fails.
    ///
    /// # Errors
    /// [`Error::TooManyCards`] before any is checked, [`Error::Busy`], and those of `tell`.
    pub fn check_cards(
        &self,
        lines: &[u8],
        mut tell: impl FnMut(u64, Report) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if card::lines(lines).nth(BATCH_MAX).is_some() {
            return Err(Error::TooManyCards);
        }
        let _turn = self.checks.take().ok_or(Error::Busy)?;
        card::lines(lines).try_for_each(|(number, line)| tell(number, card::check(line)))
    }
}
