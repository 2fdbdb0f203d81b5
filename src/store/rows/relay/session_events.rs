//! Events of a session, and what follows for its proposals and grants, in one transaction.

use crate::domain::id::{GrantId, PageInstanceId, RelayProcessId};
use crate::domain::relay::invocation::{self, Journal};
use crate::domain::relay::session::{self, Toward};
use crate::domain::relay::{CloseCode, RelayEventName};
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account};
use crate::store::rows::relay::invocations::{self, Scene};
use crate::store::rows::relay::processes;
use crate::store::rows::relay::sessions::{self, Session};
use crate::store::rows::relay::steps::{self, Step};
use crate::store::sql::Tx;
use crate::store::types::relay::{Effects, Tell};

/// A page that returns.
#[derive(Clone, Copy)]
pub(in crate::store) struct Returning<'a> {
    pub(in crate::store) page: PageInstanceId,
    /// The process that has its socket.
    pub(in crate::store) process: RelayProcessId,
    /// What its journal says; `None` where that is not known: then a missing entry proves nothing.
    pub(in crate::store) journal: Option<&'a [(GrantId, invocation::Entry)]>,
}

/// Carries out an event of a session other than the return of a page. Returns the code that closes the socket on which
/// it came, if the socket is closed.
pub(in crate::store) fn happens(
    tx: &mut Tx<'_>,
    session: &mut Session,
    event: session::Event,
    account: &Account<'_>,
    effects: &mut Effects,
) -> Result<Option<CloseCode>, Error> {
    carry_out(tx, session, event, None, account, effects)
}

/// Carries out the return of a page that has proved itself for a session. Returns the code that closes its socket, if
/// it is closed.
pub(in crate::store) fn returns(
    tx: &mut Tx<'_>,
    session: &mut Session,
    returning: Returning<'_>,
    account: &Account<'_>,
    effects: &mut Effects,
) -> Result<Option<CloseCode>, Error> {
    carry_out(tx, session, session::Event::Proved, Some(returning), account, effects)
}

fn carry_out(
    tx: &mut Tx<'_>,
    session: &mut Session,
    event: session::Event,
    returning: Option<Returning<'_>>,
    account: &Account<'_>,
    effects: &mut Effects,
) -> Result<Option<CloseCode>, Error> {
    let change = match session::decide(session.state, event) {
        session::Outcome::Change(change) => change,
        session::Outcome::Close(code) => return Ok(Some(code)),
        session::Outcome::Unchanged => return Ok(None),
    };
    // The epoch under which the row is still stored: `update` compares it, and the old socket is addressed by it.
    let before = session.held();
    if let Some(code) = change.close_old {
        effects.tell.push((before, Tell::Close(code)));
    }
    session.state = change.to;
    session.epoch = session.epoch.saturating_add(u32::from(change.is_new_epoch));
    if let Some(returning) = returning {
        session.page = returning.page;
        session.process = Some(returning.process);
        // Without a row the other processes would not notice if this one is killed
        // (docs/decisions/89-relay-processes.md).
        processes::note(tx, returning.process)?;
    }
    sessions::update(tx, session, before)?;
    if let Some(event) = change.audit {
        audit::session(tx, event, session, account)?;
    }
    if change.ends_allowance {
        // Also in memory: the steps below are decided with this session.
        session.allowance = None;
        if sessions::end_allowance(tx, session.id)? {
            audit::session(tx, RelayEventName::AllowanceEnded, session, account)?;
        }
    }
    for toward in change.invocations {
        happens_to_steps(tx, session, *toward, returning, effects)?;
    }
    Ok(None)
}

fn happens_to_steps(
    tx: &mut Tx<'_>,
    session: &Session,
    toward: Toward,
    returning: Option<Returning<'_>>,
    effects: &mut Effects,
) -> Result<(), Error> {
    let event = match toward {
        Toward::SocketClosed => invocation::Event::SocketClosed,
        Toward::FileChanged => invocation::Event::FileChanged,
        Toward::Revoked => invocation::Event::Revoked,
        Toward::Returned => return settle_journal(tx, session, returning, effects),
    };
    let open = steps::open(tx, session.id)?;
    let decided = invocations::decide(tx, session, open, |_| Some(event));
    invocations::carry_out(tx, &Scene::new(session, Account::default()), decided, effects)
}

/// Applies what a returning page knows about the claimed grants.
fn settle_journal(
    tx: &mut Tx<'_>,
    session: &Session,
    returning: Option<Returning<'_>>,
    effects: &mut Effects,
) -> Result<(), Error> {
    let Some(returning) = returning else { return Ok(()) };
    let entries = returning.journal.unwrap_or_default();
    // UNKNOWN ones as well: the journal of a page that comes back late can still prove how they ended.
    let mut claimed = steps::open(tx, session.id)?;
    claimed.extend(steps::unknown(tx, session.id)?);
    for (grant, _) in entries {
        match steps::of_grant(tx, *grant)? {
            Some(step) if step.session == session.id => {
                if claimed.iter().all(|other| other.id != step.id) {
                    claimed.push(step);
                }
            }
            // It belongs to another session of the device, which handles it when a page returns to that session.
            Some(_) => {}
            // It ended so long ago that its row was deleted.
            None => effects.tell.push((session.held(), Tell::Settled(*grant))),
        }
    }
    let journal = |step: &Step| {
        let grant = step.grant?;
        let claimed_for = grant.claimed_for?;
        Some(invocation::Event::Returned(match returning.journal {
            Some(entries) => Journal::read(entries, grant.id, claimed_for, returning.page),
            None => Journal::SilentOtherPage,
        }))
    };
    let decided = invocations::decide(tx, session, claimed, journal);
    invocations::carry_out(tx, &Scene::new(session, Account::default()), decided, effects)
}
