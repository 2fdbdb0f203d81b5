//! Sessions: pages that come and go, and the list of a person's own sessions.

use crate::domain::id::RelaySessionId;
use crate::domain::relay::session;
use crate::domain::relay::{CloseCode, DecidedBy, device};
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::Account;
use crate::store::rows::relay::claims::Claims;
use crate::store::rows::relay::session_events::{self, Returning};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::{devices, sessions};
use crate::store::sql::{Row, Tx, params};
use crate::store::types::relay::{
    Arrival, Arrived, Effects, HeldSession, OpenSession, OwnSession, SessionSocket, Tell,
};

/// Sessions of a killed process that one transaction takes up.
const LEFT_BATCH: u32 = 100;
/// Most sessions that a subject is shown.
const OWN_MAX: u32 = 100;

impl Store {
    /// Lets a page that has proved its device's key take up its session: the one it remembers, or the device's own for the
    /// open file. Its epoch rises, a socket that it had before is closed, and the journal settles what was claimed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_arrive(&self, arrival: Arrival) -> Result<Arrived, Error> {
        self.write(move |tx| arrive(tx, &arrival))
    }

    /// Notes for every session that is held by a process which was killed that its socket is closed. Only where this process
    /// was the first to use the file, and for what happened before: another one may have accepted sockets since.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot do it now; what is left is away once its page returns.
    pub fn relay_close_left_sockets(&self) -> Result<(), Error> {
        let Some(began) = self.in_use.began_alone() else { return Ok(()) };
        // One transaction for each batch, so that other verbs get their turn.
        while self.write(move |tx| close_left(tx, began))? {}
        Ok(())
    }

    /// Carries out what happens to a session on its socket: it closes, its page does not answer or answers again, another
    /// file is open, or the person ends it. Any other event changes nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_session_event(
        &self,
        held: SessionSocket,
        event: session::Event,
    ) -> Result<Effects, Error> {
        let claims = self.relay_claims.clone();
        self.write(move |tx| happens(tx, &claims, held, event))
    }

    /// Ends a session at the request of the operator `by`. Returns `None` if there is no such session, and no effects if
    /// it had ended before.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_end_session(
        &self,
        session: RelaySessionId,
        by: &str,
    ) -> Result<Option<Effects>, Error> {
        let by = by.to_owned();
        self.write(move |tx| {
            let Some(mut session) = sessions::find(tx, session)? else { return Ok(None) };
            let (account, mut effects) = (Account::operator(&by), Effects::default());
            let event = session::Event::Revoked;
            session_events::happens(tx, &mut session, event, &account, &mut effects)?;
            Ok(Some(effects))
        })
    }

    /// Returns every session that a socket of any process holds.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_held_sessions(&self) -> Result<Vec<HeldSession>, Error> {
        self.read(|db| {
            db.query(
                "SELECT s.session_id, s.epoch, \
                    EXISTS (SELECT 1 FROM relay_proposals p INDEXED BY relay_proposals_waiting_of_session \
                        WHERE p.session_id = s.session_id AND p.is_waiting = 1) \
                    OR EXISTS (SELECT 1 FROM relay_grants g WHERE g.session_id = s.session_id \
                        AND g.state = 'unused' AND g.expires_at IS NOT NULL) AS has_news \
                 FROM relay_sessions s INDEXED BY relay_sessions_held \
                 WHERE s.state IN ('connected', 'suspended')",
                params! {},
                |row| {
                    let (session, epoch) = (row.get("session_id")?, row.get("epoch")?);
                    let held = SessionSocket { session, epoch };
                    Ok(HeldSession { held, has_news: row.get("has_news")? })
                },
            )
        })
    }

    /// Returns the newest 100 sessions of a subject that have not ended, the newest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_sessions_of(&self, subject: &str) -> Result<Vec<OwnSession>, Error> {
        let now = self.clock.now();
        self.read(|db| {
            db.query(
                "SELECT s.session_id, s.tool, s.state, s.epoch, a.expires_at AS allowance_until \
                 FROM relay_sessions s LEFT JOIN relay_allowances a \
                    ON a.session_id = s.session_id AND a.page = s.page AND a.expires_at > :now \
                 WHERE s.subject = :subject AND s.state <> 'ended' \
                 ORDER BY s.id DESC LIMIT +:limit",
                params! { ":subject": subject, ":now": now, ":limit": OWN_MAX },
                own,
            )
        })
    }
}

/// Closes a batch; returns whether there may be more.
fn close_left(tx: &mut Tx<'_>, before: Timestamp) -> Result<bool, Error> {
    let mut left = sessions::left(tx, before, LEFT_BATCH)?;
    for session in &mut left {
        // Those who are told are gone with the process.
        let mut effects = Effects::default();
        let (event, account) = (session::Event::SocketClosed, Account::default());
        session_events::happens(tx, session, event, &account, &mut effects)?;
    }
    Ok(u32::try_from(left.len()).is_ok_and(|count| count == LEFT_BATCH))
}

fn own(row: &Row<'_>) -> Result<OwnSession, Error> {
    let until: Option<Timestamp> = row.get("allowance_until")?;
    Ok(OwnSession {
        id: row.get("session_id")?,
        tool: row.get("tool")?,
        state: row.get("state")?,
        epoch: row.get("epoch")?,
        allowance_until: until,
    })
}

fn arrive(tx: &mut Tx<'_>, arrival: &Arrival) -> Result<Arrived, Error> {
    let device = devices::find(tx, arrival.device)?;
    if device.is_none_or(|device| device.state != device::State::Active) {
        return Ok(Arrived::Close(CloseCode::Revoked));
    }
    // Also if no session is found: the key was proved, and that is what operators see.
    devices::note_seen(tx, arrival.device)?;
    let mut session = match find(tx, arrival)? {
        Found::Session(session) => session,
        Found::None => return Ok(Arrived::Ask),
        Found::NotThis => return Ok(Arrived::Close(CloseCode::NoSuchSession)),
    };
    let mut effects = Effects::default();
    let returning =
        Returning { page: arrival.page, process: arrival.process, journal: Some(&arrival.journal) };
    if let Some(code) =
        session_events::returns(tx, &mut session, returning, &Account::default(), &mut effects)?
    {
        return Ok(Arrived::Close(code));
    }
    let Session { id: session, device, epoch, subject, .. } = session;
    Ok(Arrived::Ready(OpenSession { session, device, epoch, subject, effects }))
}

/// The session that a page may take up.
enum Found {
    Session(Session),
    /// There is no session for the open file.
    None,
    /// The session that it remembers does not exist, belongs to another device, or is over.
    NotThis,
}

fn find(tx: &Tx<'_>, arrival: &Arrival) -> Result<Found, Error> {
    let Some(remembered) = arrival.session else {
        let Some(lane) = arrival.lane else { return Ok(Found::None) };
        let found = sessions::of_lane(tx, arrival.device, lane)?;
        return Ok(found.map_or(Found::None, Found::Session));
    };
    let found = sessions::find(tx, remembered)?;
    Ok(match found.filter(|session| session.device == arrival.device && !session.has_ended()) {
        None => Found::NotThis,
        Some(session) if arrival.lane == Some(session.lane) => Found::Session(session),
        Some(_) => Found::None,
    })
}

fn happens(
    tx: &mut Tx<'_>,
    claims: &Claims,
    held: SessionSocket,
    event: session::Event,
) -> Result<Effects, Error> {
    let mut effects = Effects::default();
    let Some(mut session) = sessions::held(tx, held)? else { return Ok(effects) };
    let account = match event {
        session::Event::SocketClosed
        | session::Event::PongsMissed
        | session::Event::PongAgain
        | session::Event::FileChanged => Account::default(),
        session::Event::Bye => Account::of(DecidedBy::Person),
        session::Event::Proved
        | session::Event::Revoked
        | session::Event::DeviceRevoked
        | session::Event::Unused => {
            // Events of the store or of operators; a socket cannot cause them.
            return Ok(effects);
        }
    };
    let closed = session_events::happens(tx, &mut session, event, &account, &mut effects)?;
    effects.tell.extend(closed.map(|code| (held, Tell::Close(code))));
    // While the page did not answer, nothing was claimed for it.
    if event == session::Event::PongAgain {
        claims.claim_due(tx, &session, held, &mut effects)?;
    }
    Ok(effects)
}
