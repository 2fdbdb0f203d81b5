//! Allowances: a person's permission to read a session's file for a limited time.

use crate::domain::relay::allowance;
use crate::domain::relay::{DecidedBy, RelayEventName};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account, Signed};
use crate::store::rows::relay::sessions;
use crate::store::sql::Tx;
use crate::store::types::relay::{Effects, NewAllowance, SessionSocket};

impl Store {
    /// Allows a session's page to approve reads by itself, or ends that. Nothing changes if another socket has been
    /// accepted since.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_allow(
        &self,
        held: SessionSocket,
        allowance: NewAllowance,
    ) -> Result<Effects, Error> {
        self.write(move |tx| allow(tx, held, &allowance).map(|()| Effects::default()))
    }
}

fn allow(tx: &Tx<'_>, held: SessionSocket, given: &NewAllowance) -> Result<(), Error> {
    let Some(session) = sessions::held(tx, held)? else { return Ok(()) };
    let lasts = session.allowance.is_some_and(|it| tx.now < it.until);
    // One that has run out is no longer there to be ended by the person, and has an end of its own in the log.
    if !lasts && sessions::end_allowance(tx, session.id)? {
        audit::session(tx, RelayEventName::AllowanceEnded, &session, &Account::default())?;
    }
    let outcome = allowance::decide(lasts, given.length, tx.now);
    match outcome {
        allowance::Outcome::Give(until) => sessions::give_allowance(tx, session.id, given, until)?,
        allowance::Outcome::End => sessions::end_allowance(tx, session.id).map(|_| ())?,
        allowance::Outcome::Unchanged => {}
    }
    let signed = Some(Signed::Allowance(given.length, &given.proof));
    let account = Account { signed, ..Account::of(DecidedBy::Person) };
    outcome.audit().map_or(Ok(()), |event| audit::session(tx, event, &session, &account))
}
