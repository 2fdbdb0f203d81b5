//! Pairings: a code is offered, typed elsewhere, and confirmed in the plugin; or a known device asks for another file.

use crate::domain::digest::Digest;
use crate::domain::id::PairingId;
use crate::domain::relay::pairing::{self, CLAIMED};
use crate::domain::relay::{CloseCode, DecidedBy, RelayEventName, device, session};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account, Signed};
use crate::store::rows::relay::pairings::{Beginning, Pairing};
use crate::store::rows::relay::session_events::{self, Returning};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::{devices, pairings, processes, sessions};
use crate::store::sql::Tx;
use crate::store::types::relay::{
    Begins, ClaimedPairing, Device, Effects, NewPairing, OpenSession, Paired, PairingAnswer,
    SessionSocket, TooMany,
};

/// Most open pairings. With this many codes and the limits on guesses, guessing a code is hopeless.
const OPEN_MAX: u32 = 200;

impl Store {
    /// Begins a pairing. Refused when 200 are open.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_begin_pairing(&self, pairing: NewPairing) -> Result<Result<(), TooMany>, Error> {
        self.write(move |tx| {
            if pairings::open(tx)? >= OPEN_MAX {
                return Ok(Err(TooMany));
            }
            let device = match pairing.begins {
                Begins::Offered(_) => None,
                Begins::Claimed(device, _) => devices::find(tx, device)?,
            };
            let beginning = match (&pairing.begins, &device) {
                (Begins::Offered(code), _) => Beginning::Code(*code),
                (Begins::Claimed(_, session), Some(device)) => {
                    Beginning::Subject(&device.subject, *session)
                }
                (Begins::Claimed(..), None) => return Err(Error::Row("relay device")),
            };
            // The same code twice is so rare that telling the plugin to try later is good enough.
            Ok(if pairings::insert(tx, &pairing, beginning)? { Ok(()) } else { Err(TooMany) })
        })
    }

    /// Claims the pairing that offers a code, for the subject who typed it. From then on the person has a minute to
    /// confirm in the plugin. Returns `None` for a wrong, used or expired code alike.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_claim_pairing(
        &self,
        code: Digest,
        subject: &str,
        client: &str,
    ) -> Result<Option<ClaimedPairing>, Error> {
        let who = (subject.to_owned(), client.to_owned());
        self.write(move |tx| {
            let Some(pairing) = pairings::offering(tx, code)? else { return Ok(None) };
            match pairing::decide(
                pairing.state,
                pairing::Event::CodeTyped,
                pairing.expires_at,
                tx.now,
            ) {
                pairing::Outcome::Claim => {
                    let until = tx.now.plus(CLAIMED);
                    pairings::claim(tx, &pairing, (&who.0, &who.1), until)?;
                    Ok(pairings::find(tx, pairing.id)?.and_then(claimed))
                }
                // An expired code whose row is not ended yet looks like a wrong one.
                _ => Ok(None),
            }
        })
    }

    /// Returns a pairing that is claimed and open; `None` before its code was typed, and after its end.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_pairing(&self, id: PairingId) -> Result<Option<ClaimedPairing>, Error> {
        let now = self.clock.now();
        let open =
            |found: &Pairing| found.state == pairing::State::Claimed && now < found.expires_at;
        self.read(|db| Ok(pairings::find(db, id)?.filter(open).and_then(claimed)))
    }

    /// Records the person's answer in the plugin. If they accept, the device and its session are created where they do
    /// not exist yet; a session that the pairing names gets the new lane, and keeps epoch and socket.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_answer_pairing(&self, answer: PairingAnswer) -> Result<Paired, Error> {
        self.write(move |tx| self::answer(tx, &answer))
    }

    /// Ends a pairing whose socket has closed, unless it has ended.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_close_pairing(&self, id: PairingId) -> Result<(), Error> {
        self.write(move |tx| {
            let Some(pairing) = pairings::find(tx, id)? else { return Ok(()) };
            match pairing::decide(
                pairing.state,
                pairing::Event::SocketClosed,
                pairing.expires_at,
                tx.now,
            ) {
                pairing::Outcome::End(to, _) => pairings::finish(tx, &pairing, to),
                _ => Ok(()),
            }
        })
    }
}

fn claimed(pairing: Pairing) -> Option<ClaimedPairing> {
    Some(ClaimedPairing {
        id: pairing.id,
        subject: pairing.subject?,
        client: pairing.client?,
        tool: pairing.tool,
        expires_at: pairing.expires_at,
    })
}

fn answer(tx: &mut Tx<'_>, answer: &PairingAnswer) -> Result<Paired, Error> {
    let Some(pairing) = pairings::find(tx, answer.id)? else {
        return Ok(Paired::Close(CloseCode::BadFrame));
    };
    let event = if answer.accept { pairing::Event::Confirmed } else { pairing::Event::Refused };
    match pairing::decide(pairing.state, event, pairing.expires_at, tx.now) {
        pairing::Outcome::Pair => {}
        pairing::Outcome::End(to, code) => {
            pairings::finish(tx, &pairing, to)?;
            return Ok(Paired::Close(code.unwrap_or(CloseCode::PairingExpired)));
        }
        pairing::Outcome::Close(code) => return Ok(Paired::Close(code)),
        pairing::Outcome::Claim | pairing::Outcome::NotFound | pairing::Outcome::Unchanged => {
            return Ok(Paired::Close(CloseCode::BadFrame));
        }
    }
    let device = match bind(tx, &pairing, answer)? {
        Ok(device) => device,
        Err(code) => {
            // The code was right but cannot be used; the pairing must not stay open for another try.
            pairings::finish(tx, &pairing, pairing::State::Expired)?;
            return Ok(Paired::Close(code));
        }
    };
    pairings::finish(tx, &pairing, pairing::State::Confirmed)?;
    open_session(tx, &pairing, &device, answer)
}

/// Returns the device that has the key; it is made if there is none. The close code says why it cannot belong to this
/// subject.
fn bind(
    tx: &Tx<'_>,
    pairing: &Pairing,
    answer: &PairingAnswer,
) -> Result<Result<Device, CloseCode>, Error> {
    let subject = pairing.subject.clone().ok_or(Error::Row("relay pairing"))?;
    Ok(match devices::of_key(tx, &pairing.key)? {
        Some(known) if known.state == device::State::Revoked => Err(CloseCode::Revoked),
        // Another subject has paired the same plugin first, in another tab.
        Some(known) if known.subject != subject => Err(CloseCode::PairingExpired),
        Some(known) => Ok(known),
        None => {
            let device = Device { id: answer.device, subject, state: device::State::Active };
            devices::insert(tx, &device, &pairing.key, pairing.tool)?;
            let paired = (&pairing.key, pairing.client.as_deref());
            audit::device(
                tx,
                RelayEventName::DevicePaired,
                &device,
                Some(paired),
                &account(answer),
            )?;
            Ok(device)
        }
    })
}

fn open_session(
    tx: &mut Tx<'_>,
    pairing: &Pairing,
    device: &Device,
    answer: &PairingAnswer,
) -> Result<Paired, Error> {
    if let Some(held) = pairing.session {
        return change_file(tx, held, device, answer);
    }
    if let Some(mut session) = sessions::of_lane(tx, device.id, answer.lane)? {
        let mut effects = Effects::default();
        // The journal of this page came with its proof and is not here; its silence proves nothing.
        let returning = Returning { page: answer.page, process: answer.process, journal: None };
        let close =
            session_events::returns(tx, &mut session, returning, &account(answer), &mut effects)?;
        return Ok(close.map_or_else(|| Paired::Ready(opened(session, effects)), Paired::Close));
    }
    let session = Session {
        id: answer.session,
        device: device.id,
        subject: device.subject.clone(),
        tool: pairing.tool,
        lane: answer.lane,
        state: session::State::Connected,
        epoch: 1,
        page: answer.page,
        process: Some(answer.process),
        allowance: None,
    };
    processes::note(tx, answer.process)?;
    sessions::insert(tx, &session)?;
    audit::session(tx, RelayEventName::SessionOpened, &session, &account(answer))?;
    Ok(Paired::Ready(opened(session, Effects::default())))
}

/// Gives a connected session another file, if it still has the socket that asked for it. What was proposed in the old
/// file has already ended.
fn change_file(
    tx: &Tx<'_>,
    held: SessionSocket,
    device: &Device,
    answer: &PairingAnswer,
) -> Result<Paired, Error> {
    let found = sessions::find(tx, held.session)?;
    let found = found.filter(|session| session.device == device.id && session.has_socket());
    // Read again: while the person was asked, the session may have ended or another page may have taken it over.
    let Some(mut session) = found else {
        return Ok(Paired::Close(CloseCode::NoSuchSession));
    };
    if session.held() != held {
        return Ok(Paired::Close(CloseCode::TakenOver));
    }
    session.lane = answer.lane;
    sessions::update(tx, &session, session.held())?;
    audit::session(tx, RelayEventName::SessionOpened, &session, &account(answer))?;
    Ok(Paired::Ready(opened(session, Effects::default())))
}

/// Returns the person who confirmed, with the device's signature.
fn account(answer: &PairingAnswer) -> Account<'_> {
    let signed = Some(Signed::Confirm(answer.id, &answer.proof));
    Account { signed, ..Account::of(DecidedBy::Person) }
}

fn opened(session: Session, effects: Effects) -> OpenSession {
    let Session { id: session, device, epoch, subject, .. } = session;
    OpenSession { session, device, epoch, subject, effects }
}
