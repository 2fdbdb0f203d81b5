//! What the relay does by itself, about once a second: pings, deadlines, and changes by other processes.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Relay;
use super::connection::not_done;
use super::plugin::{Closing, Look, PluginSocket, ping};
use crate::domain::relay::process::{self, Beats};
use crate::domain::relay::{CloseCode, device, session};
use crate::relay::frame;
use crate::runtime::mutex::lock;
use crate::store;
use crate::store::relay::{HeldSession, SessionSocket};

/// Most batches of expired items in one tick.
const BATCHES_MAX: usize = 10;

/// What is known of other processes at the same database.
#[derive(Default)]
pub(super) struct Beside {
    beats: Beats,
    next_at: Duration,
}

impl Relay {
    /// Does what is due. Bounded; may block for some transactions.
    pub fn tick(&self) {
        self.look_at_sockets();
        self.record_cards();
        let looked =
            self.expire().and_then(|()| self.look_beside()).and_then(|()| self.look_at_store());
        if let Err(error) = looked {
            // The next tick tries again.
            not_done(&error);
        }
        self.look_at_waits();
        lock(&self.results).sweep(self.clock.monotonic());
    }

    fn look_at_sockets(&self) {
        // Copied, so that the lock is not held while frames are sent.
        let sockets: Vec<Arc<PluginSocket>> = lock(&self.sockets).values().cloned().collect();
        let (now, wall) = (self.clock.monotonic(), self.clock.now());
        for plugin in sockets {
            match plugin.look(now, wall) {
                Look::Nothing => {}
                Look::Ping(number) => {
                    self.send(&plugin, ping(number));
                }
                Look::Missed(number) => {
                    // A ping all the same: its answer ends the suspension.
                    self.send(&plugin, ping(number));
                    self.suspend(&plugin);
                }
                Look::TooLate => {
                    self.refused("too_late");
                    plugin.close(Closing::of(frame::Close::TooLate));
                }
                Look::PairingOver(_) => {
                    self.metrics.relay_pairings.count([("outcome", "expired")]);
                    plugin.close(Closing::rule(CloseCode::PairingExpired));
                }
            }
        }
    }

    fn suspend(&self, plugin: &PluginSocket) {
        let Some(held) = plugin.with(|state| state.held) else { return };
        match self.store.relay_session_event(held, session::Event::PongsMissed) {
            Ok(effects) => self.carry_out(effects),
            Err(error) => {
                plugin.not_suspended();
                return not_done(&error);
            }
        }
        if !plugin.is_suspended() {
            // Its answer came in the meantime, and may have been noted before.
            match self.store.relay_session_event(held, session::Event::PongAgain) {
                Ok(effects) => self.carry_out(effects),
                Err(error) => {
                    not_done(&error);
                    // In the store the session would stay suspended; the page's next socket repairs that.
                    plugin.close(Closing::TRY_LATER);
                }
            }
        }
    }

    /// Records which cards were shown, one commit for each.
    fn record_cards(&self) {
        let ready: Vec<_> =
            lock(&self.ready).iter().map(|(held, plugin)| (*held, Arc::clone(plugin))).collect();
        for (held, plugin) in ready {
            if let Err(error) = self.record_shown(held, &plugin) {
                // The store fails the others as well; the next tick tries again.
                return not_done(&error);
            }
        }
    }

    fn expire(&self) -> Result<(), store::Error> {
        // Bounded, so that a backlog does not delay the next pings.
        for _ in 0..BATCHES_MAX {
            let (effects, may_have_more) = self.store.relay_expire(self.settings.session_kept)?;
            self.carry_out(effects);
            if !may_have_more {
                break;
            }
        }
        Ok(())
    }

    /// Notes that this process lives, and closes what was open in processes that have ended: those who held the sockets
    /// cannot say so any more (docs/decisions/89-relay-processes.md).
    fn look_beside(&self) -> Result<(), store::Error> {
        let now = self.clock.monotonic();
        let mut beside = lock(&self.beside);
        if now < beside.next_at {
            return Ok(());
        }
        // Before the store is asked, so that a store that fails is not asked again each second.
        beside.next_at = now + process::LOOK_INTERVAL;
        // Not held during calls to the store.
        drop(beside);
        // Without sockets there is nothing that others could take for lost.
        if self.ready_count() > 0 {
            self.store.relay_beat(self.process)?;
        }
        let found = self.store.relay_beats_beside(self.process)?;
        let ended = lock(&self.beside).beats.look(&found);
        for last in ended {
            for _ in 0..BATCHES_MAX {
                let (effects, may_have_more) = self.store.relay_close_ended(last)?;
                self.carry_out(effects);
                if !may_have_more {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Checks what other processes have done to the sessions that are held here, and to the codes that are shown.
    fn look_at_store(&self) -> Result<(), store::Error> {
        let offered: Vec<_> = lock(&self.offered).keys().copied().collect();
        for pairing in offered {
            if let Some(claimed) = self.store.relay_pairing(pairing)? {
                self.tell_claimed(&claimed);
            }
        }
        let own: Vec<_> =
            lock(&self.ready).iter().map(|(it, plugin)| (*it, Arc::clone(plugin))).collect();
        if own.is_empty() {
            return Ok(());
        }
        let found = self.store.relay_held_sessions()?.into_iter();
        let found: HashMap<_, _> = found.map(|it| (it.held.session, it)).collect();
        for (held, plugin) in own {
            match self.look_at_session(held, &plugin, found.get(&held.session)) {
                // What is wrong with one session holds up no other.
                Err(error) if !matches!(error, store::Error::Unavailable(_)) => not_done(&error),
                looked => looked?,
            }
        }
        Ok(())
    }

    /// Looks at what is to be done about a session whose socket is here, as the store has it.
    fn look_at_session(
        &self,
        held: SessionSocket,
        plugin: &PluginSocket,
        found: Option<&HeldSession>,
    ) -> Result<(), store::Error> {
        match found {
            // Another process has ended it, or has taken this one for lost (docs/decisions/89-relay-processes.md).
            None => plugin.close(self.why_not_held(held, plugin)?),
            Some(session) if session.held.epoch > held.epoch => {
                plugin.close(Closing::rule(CloseCode::TakenOver));
            }
            Some(session) => {
                let (is_open, at_work) =
                    plugin.with(|state| (!state.cards.open().is_empty(), state.cards.at_work()));
                // Another process may have ended what was decided here, and cannot tell this plugin.
                self.withdraw_ended(plugin, at_work)?;
                // Open cards may have been ended by another process, so they are compared each second.
                if session.has_news || is_open {
                    self.show_waiting(held, plugin);
                    let effects = self.store.relay_claim_due(held)?;
                    self.carry_out(effects);
                }
            }
        }
        Ok(())
    }

    /// Returns how to close a socket whose session has no socket according to the store.
    fn why_not_held(
        &self,
        held: SessionSocket,
        plugin: &PluginSocket,
    ) -> Result<Closing, store::Error> {
        let key =
            plugin.with(|state| state.hello.as_ref().and_then(|(hello, _)| hello.key.point()));
        let device = key.map_or(Ok(None), |key| self.store.relay_device(&key))?;
        if device.is_some_and(|device| device.state == device::State::Revoked) {
            return Ok(Closing::rule(CloseCode::Revoked));
        }
        let found = self.store.relay_show_session(held.session)?;
        let ended = session::State::Ended.as_str();
        Ok(match found.filter(|session| session.state != ended) {
            None => Closing::rule(CloseCode::NoSuchSession),
            Some(session) if session.epoch > held.epoch => Closing::rule(CloseCode::TakenOver),
            // Taken for lost: the page connects again, and the session continues on a new socket.
            Some(_) => Closing::TRY_LATER,
        })
    }
}
