//! The relay: plugins on their sockets, callers with their proposals, and the store between them.
//!
//! Each request of a plugin or a caller is a verb of the store, where the rules decide. What is to be done after its
//! commit is returned as [`Effects`], and [`Relay::carry_out`] tells the sockets and the waiting callers. Effects may
//! be lost with the process: a page that comes back is told again. No lock is held during a call to the store.
//!
//! See `docs/decisions/71-relay-hub.md`.

mod callers;
mod cards;
mod connection;
mod pairing;
mod plugin;
mod ready;
mod refusal;
mod results;
mod tick;
mod waits;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crate::domain::id::{PairingId, RelayProcessId, RelaySessionId};
use crate::domain::relay::CloseCode;
use crate::metrics::Metrics;
use crate::relay::frame::{self, FromDaemon, Settled, Withdraw};
use crate::relay::proof::{DaemonKey, DeviceKeyError};
use crate::runtime::clock::Clock;
use crate::runtime::keyed_semaphore::KeyedSemaphore;
use crate::runtime::mutex::lock;
use crate::runtime::random::Ids;
use crate::runtime::rate_limiter::{Rate, RateLimiter};
use crate::runtime::semaphore::Semaphore;
use crate::runtime::sliding_window::SlidingWindow;
use crate::store::relay::{Effects, SessionSocket, Tell};
use crate::store::{self, Store};

pub use crate::relay::frame::{PROTOCOL, is_other_version};
pub use callers::Who;
pub use connection::{Connection, NoRoom};
pub use plugin::{Closing, Socket};
pub use waits::{Ended, Waiter};

use connection::not_done;
use plugin::PluginSocket;
use results::Results;
use tick::Beside;
use waits::Waits;

/// Most sockets of one subject.
const SOCKETS_OF_SUBJECT_MAX: usize = 8;
/// Most sockets of one peer that have not proved a key.
const UNPROVED_OF_PEER_MAX: usize = 4;
/// Most codes offered to one peer within [`TEN_MINUTES`].
const OFFERS_OF_PEER_MAX: usize = 5;
/// Most wrong codes of one subject, and of one peer, within [`TEN_MINUTES`].
const WRONG_CODES_MAX: usize = 5;
/// Most wrong codes in all, per minute.
const WRONG_CODES_A_MINUTE: usize = 60;
const TEN_MINUTES: Duration = Duration::from_mins(10);
/// Most subjects and peers that are counted separately.
const KEYS_MAX: usize = 10_000;
/// Most reads per second of one session under an allowance.
const ALLOWED_READS_PER_SECOND: u32 = 20;

/// The relay's configuration.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Most sockets at once.
    pub connections_max: usize,
    /// How long a proposal waits for a decision.
    pub approval: Duration,
    /// How long a grant can be claimed, from its turn on.
    pub grant: Duration,
    /// How long a call waits for a person before it answers that approval is pending.
    pub call_wait: Duration,
    /// How long an unused session is kept.
    pub session_kept: Duration,
    /// The largest frame `result` whose value is taken, in bytes.
    pub result_bytes_max: usize,
    /// Most proposals per minute of one client in one session.
    pub proposals_per_minute: u32,
    /// Most frames per second of one plugin.
    pub frames_per_second: u32,
}

/// The relay of one process.
pub struct Relay {
    store: Store,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    ids: Mutex<Ids>,
    /// Stored with the sessions that sockets hold here.
    process: RelayProcessId,
    beside: Mutex<Beside>,
    key: DaemonKey,
    settings: Settings,
    /// Every socket, by a number of its own.
    sockets: Mutex<HashMap<u64, Arc<PluginSocket>>>,
    next_socket: AtomicU64,
    /// The sockets that hold a session.
    ready: Mutex<BTreeMap<SessionSocket, Arc<PluginSocket>>>,
    /// The sockets whose plugins show a code.
    offered: Mutex<HashMap<PairingId, Arc<PluginSocket>>>,
    room: Room,
    limits: Mutex<Limits>,
    results: Mutex<Results>,
    waits: Mutex<Waits>,
    is_stopping: AtomicBool,
}

/// Limits on the number of sockets.
struct Room {
    all: Semaphore,
    of_subject: KeyedSemaphore<String>,
    unproved_of_peer: KeyedSemaphore<Option<IpAddr>>,
}

/// Rate limits.
struct Limits {
    proposals: RateLimiter<(RelaySessionId, String)>,
    allowed_reads: RateLimiter<RelaySessionId>,
    offers: SlidingWindow<Option<IpAddr>>,
    wrong_of_subject: SlidingWindow<String>,
    wrong_of_peer: SlidingWindow<IpAddr>,
    wrong_in_all: SlidingWindow<()>,
}

/// Why the relay cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenRelayError {
    /// The store cannot return or keep the key, or cannot put right what a killed process left.
    #[error("the relay cannot be read from the store or written to it")]
    Store(#[from] store::Error),
    /// The stored key is not valid.
    #[error(transparent)]
    Key(#[from] DeviceKeyError),
}

impl Relay {
    /// Opens the relay. The first relay at a database makes the key. Sessions that were connected to a killed process are
    /// away from now on.
    ///
    /// # Errors
    /// When the key cannot be read, kept or used, or the store is unavailable.
    pub fn open(
        store: Store,
        settings: Settings,
        clock: Arc<dyn Clock>,
        mut ids: Ids,
        metrics: Arc<Metrics>,
    ) -> Result<Self, OpenRelayError> {
        // The candidate is kept only if the database has no key yet.
        let key = DaemonKey::read(&store.relay_key(DaemonKey::generate()?)?)?;
        // A killed process could not record that its sockets have closed, so the first one to open the database does.
        store.relay_close_left_sockets()?;
        let limits = Limits {
            proposals: RateLimiter::new(Rate::per_minute(settings.proposals_per_minute), KEYS_MAX),
            allowed_reads: RateLimiter::new(
                Rate::per_second(ALLOWED_READS_PER_SECOND, ALLOWED_READS_PER_SECOND),
                KEYS_MAX,
            ),
            offers: SlidingWindow::new(OFFERS_OF_PEER_MAX, TEN_MINUTES, KEYS_MAX),
            wrong_of_subject: SlidingWindow::new(WRONG_CODES_MAX, TEN_MINUTES, KEYS_MAX),
            wrong_of_peer: SlidingWindow::new(WRONG_CODES_MAX, TEN_MINUTES, KEYS_MAX),
            wrong_in_all: SlidingWindow::new(WRONG_CODES_A_MINUTE, Duration::from_mins(1), 1),
        };
        let room = Room {
            all: Semaphore::new(settings.connections_max),
            of_subject: KeyedSemaphore::default(),
            unproved_of_peer: KeyedSemaphore::default(),
        };
        let process = ids.id(clock.now());
        Ok(Self {
            store,
            clock,
            metrics,
            ids: Mutex::new(ids),
            process,
            beside: Mutex::default(),
            key,
            settings,
            sockets: Mutex::default(),
            next_socket: AtomicU64::default(),
            ready: Mutex::default(),
            offered: Mutex::default(),
            room,
            limits: Mutex::new(limits),
            results: Mutex::default(),
            waits: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        })
    }

    /// Accepts nothing new any more, and ends all waits of callers. The HTTP server closes the sockets.
    pub fn stop(&self) {
        // Before the waits are taken: `wait` reads the flag after it has added its waiter, so none is missed.
        self.is_stopping.store(true, Ordering::Relaxed);
        self.store.relay_stop_claims();
        let waiting = lock(&self.waits).take_all();
        for waiter in waiting {
            // Not under the lock of the waits, because ending one may call the store.
            waiter.end(Ended::Stopping);
        }
    }

    /// Returns how long a call waits for a person before it answers that approval is pending.
    #[must_use]
    pub const fn call_wait(&self) -> Duration {
        self.settings.call_wait
    }

    /// Returns the most bytes of a message that is read. It may be larger than a result may be, because the plugin has
    /// acted by then (docs/decisions/81-relay-large-results.md).
    #[must_use]
    pub fn message_bytes_max(&self) -> usize {
        self.settings.result_bytes_max.max(frame::RESULT_BYTES_MAX)
    }

    /// Returns how many sockets hold a session here.
    #[must_use]
    pub fn ready_count(&self) -> usize {
        lock(&self.ready).len()
    }

    /// Tells plugins and callers what a verb of the store has done.
    pub fn carry_out(&self, effects: Effects) {
        for (held, tell) in effects.tell {
            // Another process may hold the session; its page is told by that process, or when it comes back.
            let Some(plugin) = self.plugin(held) else { continue };
            self.tell(&plugin, tell);
        }
        for session in effects.free_for {
            self.claim_for(session);
        }
        for changed in &effects.changed {
            if changed.state.is_terminal() {
                self.metrics.relay_invocations.count([
                    ("effect", changed.effect.as_str()),
                    ("outcome", changed.state.as_str()),
                ]);
            }
        }
        for proposal in effects.finished {
            self.end_waits(proposal);
        }
    }

    /// Claims the next grant of a session whose lane is free now, if the session's socket is here.
    fn claim_for(&self, session: RelaySessionId) {
        let Some((held, _)) = self.plugin_of(session) else { return };
        match self.store.relay_claim_due(held) {
            Ok(effects) => self.carry_out(effects),
            // The worker looks again each second.
            Err(error) => not_done(&error),
        }
    }

    fn tell(&self, plugin: &PluginSocket, tell: Tell) {
        let frame = match tell {
            // Not twice, when the worker has found it ended in the meantime.
            Tell::Withdraw(proposal, _) if !plugin.with(|it| it.cards.forget(proposal)) => return,
            Tell::Withdraw(proposal, reason) => FromDaemon::Withdraw(Withdraw { proposal, reason }),
            Tell::Execute { grant, invocation, arguments_sha256, effect } => {
                // Before the frame is sent: the result may arrive before `send` returns.
                plugin.note_running(grant);
                let deadline_ms = u32::try_from(effect.deadline().as_millis()).unwrap_or(u32::MAX);
                FromDaemon::Execute(frame::Execute {
                    grant,
                    invocation,
                    arguments_sha256,
                    deadline_ms,
                })
            }
            Tell::Settled(grant) => FromDaemon::Settled(Settled { grant }),
            Tell::Close(code) => return self.close(plugin, code),
        };
        self.send(plugin, frame);
    }

    fn close(&self, plugin: &PluginSocket, code: CloseCode) {
        plugin.close(Closing::rule(code));
    }

    /// Sends a frame, if it may be sent now; returns whether it may arrive.
    fn send(&self, plugin: &PluginSocket, frame: FromDaemon) -> bool {
        let kind = frame.kind().as_str();
        let is_sent = plugin.send(&frame);
        if is_sent {
            self.metrics.relay_frames.count([("direction", "out"), ("type", kind)]);
        }
        is_sent
    }

    fn plugin(&self, held: SessionSocket) -> Option<Arc<PluginSocket>> {
        lock(&self.ready).get(&held).map(Arc::clone)
    }

    /// Returns the socket that holds a session here, in any epoch, with that epoch.
    fn plugin_of(&self, session: RelaySessionId) -> Option<(SessionSocket, Arc<PluginSocket>)> {
        let ready = lock(&self.ready);
        // Two sockets of a session can be here while one takes over; the highest epoch holds the session.
        let epochs =
            SessionSocket { session, epoch: 0 }..=SessionSocket { session, epoch: u32::MAX };
        ready.range(epochs).next_back().map(|(held, plugin)| (*held, Arc::clone(plugin)))
    }

    /// Returns the source of identifiers and random values.
    fn ids(&self) -> MutexGuard<'_, Ids> {
        lock(&self.ids)
    }

    fn refused(&self, reason: &'static str) {
        self.metrics.relay_refusals.count([("reason", reason)]);
    }
}
