//! Allowances: a person's permission to read a session's file for a limited time.

use crate::domain::relay::allowance::{self, Outcome};
use crate::domain::relay::{AuditEvent, DecidedBy};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account, Signed};
use crate::store::rows::relay::sessions;
use crate::store::sql::Tx;
use crate::store::types::relay::{Effects, Held, NewAllowance};

impl Store {
    /// Allows a session's page to approve reads by itself, or ends that. Nothing changes if another socket has been
    /// accepted since.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_allow(&self, held: Held, allowance: NewAllowance) -> Result<Effects, Error> {
        self.write(move |tx| allow(tx, held, &allowance).map(|()| Effects::default()))
    }
}

fn allow(tx: &Tx<'_>, held: Held, given: &NewAllowance) -> Result<(), Error> {
    let Some(session) = sessions::held(tx, held)? else { return Ok(()) };
    let lasts = session.allowance.is_some_and(|it| tx.now < it.until);
    // One that has run out is no longer there to be ended by the person, and has an end of its own in the log.
    if !lasts && sessions::end_allowance(tx, session.id)? {
        audit::session(tx, AuditEvent::AllowanceEnded, &session, &Account::default())?;
    }
    let outcome = allowance::decide(lasts, given.length, tx.now);
    match outcome {
        Outcome::Give(until) => sessions::give_allowance(tx, session.id, given, until)?,
        Outcome::End => sessions::end_allowance(tx, session.id).map(|_| ())?,
        Outcome::Unchanged => {}
    }
    let signed = Some(Signed::Allowance(given.length, &given.proof));
    let account = Account { signed, ..Account::of(DecidedBy::Person) };
    outcome.audit().map_or(Ok(()), |event| audit::session(tx, event, &session, &account))
}
