//! Processes that share the file: each notes that it lives, and closes what was open in one that has ended.

use crate::domain::id::RelayProcessId;
use crate::domain::relay::process::Beat;
use crate::domain::relay::session;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::Account;
use crate::store::rows::relay::{processes, session_events, sessions};
use crate::store::sql::Tx;
use crate::store::types::relay::Effects;

/// Sessions of an ended process that one transaction closes.
const BATCH: u32 = 100;

impl Store {
    /// Notes that a process which holds sockets lives.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_beat(&self, process: RelayProcessId) -> Result<(), Error> {
        self.write(move |tx| processes::beat(tx, process))
    }

    /// Returns the beats of the other processes that hold sockets, or held some until they ended.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_beats_beside(&self, process: RelayProcessId) -> Result<Vec<Beat>, Error> {
        self.read(|db| processes::others(db, process))
    }

    /// Notes that the sockets of a process have closed, for up to 100 sessions, because it has ended after this beat. Does
    /// nothing if it has beaten since. Returns whether there may be more.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_close_ended(&self, last: Beat) -> Result<(Effects, bool), Error> {
        self.write(move |tx| {
            // Compared in the transaction: a process that was only slow may have beaten after the last check.
            if processes::is_at(tx, last)? { close(tx, last) } else { Ok(Default::default()) }
        })
    }
}

fn close(tx: &mut Tx<'_>, last: Beat) -> Result<(Effects, bool), Error> {
    let mut effects = Effects::default();
    let mut open = sessions::of_process(tx, last.process, BATCH)?;
    for session in &mut open {
        let (event, account) = (session::Event::SocketClosed, Account::default());
        session_events::happens(tx, session, event, &account, &mut effects)?;
    }
    let may_have_more = u32::try_from(open.len()).is_ok_and(|count| count >= BATCH);
    // The row stays until the last session is closed: without it no process would close the rest.
    if !may_have_more {
        processes::delete(tx, last.process)?;
    }
    Ok((effects, may_have_more))
}
