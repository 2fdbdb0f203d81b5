//! Everything that expires: pairings, proposals, grants, running steps, allowances, and unused sessions.

use std::time::Duration;

use crate::domain::id::InvocationId;
use crate::domain::relay::RelayEventName;
use crate::domain::relay::invocation;
use crate::domain::relay::pairing;
use crate::domain::relay::session;
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account};
use crate::store::rows::relay::invocations::{self, Scene};
use crate::store::rows::relay::steps::{self, Step};
use crate::store::rows::relay::{grants, pairings, proposals, session_events, sessions};
use crate::store::sql::Tx;
use crate::store::types::relay::Effects;

/// Most items of each kind that one call ends, so that it does not delay its group commit.
const BATCH: u32 = 100;

impl Store {
    /// Ends up to 100 expired items of each kind, and sessions that were not used for `session_kept`. Returns whether
    /// there may be more. It claims nothing: [`Effects::free_for`] names the sessions that may claim.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_expire(&self, session_kept: Duration) -> Result<(Effects, bool), Error> {
        self.write(move |tx| {
            let mut effects = Effects::default();
            let counts = [
                end_pairings(tx, &mut effects)?,
                end_proposals(tx, &mut effects)?,
                end_grants(tx, &mut effects)?,
                end_running(tx, &mut effects)?,
                end_allowances(tx)?,
                end_sessions(tx, tx.now.minus(session_kept), &mut effects)?,
            ];
            let full = usize::try_from(BATCH).unwrap_or(usize::MAX);
            // A step that ended in this very call is no refusal to report: no caller waits for this verb.
            effects.unchanged = None;
            Ok((effects, counts.into_iter().any(|count| count >= full)))
        })
    }
}

fn end_pairings(tx: &Tx<'_>, effects: &mut Effects) -> Result<usize, Error> {
    let expired = pairings::expired(tx, BATCH)?;
    for pairing in &expired {
        let event = pairing::Event::TimeOver;
        let outcome = pairing::decide(pairing.state, event, pairing.expires_at, tx.now);
        if let pairing::Outcome::End(to, _) = outcome {
            pairings::finish(tx, pairing, to)?;
            effects.pairings.push(pairing.id);
        }
    }
    Ok(expired.len())
}

fn end_proposals(tx: &mut Tx<'_>, effects: &mut Effects) -> Result<usize, Error> {
    let expired = proposals::expired(tx, BATCH)?;
    for proposal in &expired {
        let steps = steps::of_proposal(tx, *proposal)?;
        happens(tx, steps, invocation::Event::Expires, effects)?;
    }
    Ok(expired.len())
}

fn end_grants(tx: &mut Tx<'_>, effects: &mut Effects) -> Result<usize, Error> {
    let expired = grants::expired(tx, BATCH)?;
    each(tx, &expired, invocation::Event::Expires, effects)?;
    Ok(expired.len())
}

fn end_running(tx: &mut Tx<'_>, effects: &mut Effects) -> Result<usize, Error> {
    let overdue = grants::overdue(tx, BATCH)?;
    each(tx, &overdue, invocation::Event::DeadlinePasses, effects)?;
    Ok(overdue.len())
}

/// Audits the end of allowances that have run out. It changes no right: a read is compared with the end itself.
fn end_allowances(tx: &Tx<'_>) -> Result<usize, Error> {
    let over = sessions::with_allowance_over(tx, BATCH)?;
    for session in &over {
        sessions::note_allowance_over(tx, session.id)?;
        audit::session(tx, RelayEventName::AllowanceEnded, session, &Account::default())?;
    }
    Ok(over.len())
}

fn end_sessions(tx: &mut Tx<'_>, before: Timestamp, effects: &mut Effects) -> Result<usize, Error> {
    let mut unused = sessions::unused(tx, before, BATCH)?;
    for session in &mut unused {
        let event = session::Event::Unused;
        session_events::happens(tx, session, event, &Account::default(), effects)?;
    }
    Ok(unused.len())
}

fn each(
    tx: &mut Tx<'_>,
    invocations: &[InvocationId],
    event: invocation::Event,
    effects: &mut Effects,
) -> Result<(), Error> {
    for invocation in invocations {
        // Read only now: the end of an earlier step may have ended this one too.
        let step = steps::find(tx, *invocation)?;
        happens(tx, step.into_iter().collect(), event, effects)?;
    }
    Ok(())
}

/// Applies an event to steps of one session.
fn happens(
    tx: &mut Tx<'_>,
    steps: Vec<Step>,
    event: invocation::Event,
    effects: &mut Effects,
) -> Result<(), Error> {
    let Some(first) = steps.first() else { return Ok(()) };
    let session = sessions::find(tx, first.session)?.ok_or(Error::Row("relay session"))?;
    let decided = invocations::decide(tx, &session, steps, |_| Some(event));
    invocations::carry_out(tx, &Scene::new(&session, Account::default()), decided, effects)
}
