//! The sessions of the legacy era: bound to who began them, limited for each caller, and ended when idle. They
//! live in this process; after a restart a client begins anew.
//!
//! See `docs/decisions/51-mcp-sessions.md`.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::mcp::asks::Asks;
use crate::mcp::legacy::streams::Streams;
use crate::mcp::revision::Legacy;
use crate::mcp::rpc::{Code, Error, Id};
use crate::mcp::stream::{Channel, Stream};
use crate::mcp::{Caller, Status};
use crate::metrics::{Counted, Metrics};
use crate::runtime::clock::Clock;
use crate::runtime::mutex::lock;
use crate::runtime::random::Ids;

/// Time between two sweeps of idle sessions.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// Limits of sessions, and of subscriptions, which are what the modern era has in their stead.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most of all callers together.
    pub max: usize,
    /// Most of one subject, by whatever clients.
    pub per_subject_max: usize,
    /// How long one is kept that is not used.
    pub idle: Duration,
}

/// All sessions.
pub struct Sessions {
    limits: Limits,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    all: Mutex<All>,
}

struct All {
    ids: Ids,
    by_id: HashMap<String, Arc<Session>>,
    /// How many each subject has.
    of_subject: HashMap<String, usize>,
    swept_at: Duration,
}

pub(super) struct Session {
    pub(super) id: String,
    pub(super) revision: Legacy,
    pub(super) asks: Arc<Asks>,
    owner: Caller,
    _counted: Counted,
    used_at: Mutex<Duration>,
    /// Requests that a thread works on.
    in_use: AtomicUsize,
    streams: Mutex<Streams>,
}

/// Keeps a session while a request is worked on.
pub(super) struct InUse(Arc<Session>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.in_use.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sessions {
    pub(in crate::mcp) fn new(
        limits: Limits,
        clock: Arc<dyn Clock>,
        ids: Ids,
        metrics: Arc<Metrics>,
    ) -> Self {
        let swept_at = clock.monotonic();
        let all =
            Mutex::new(All { ids, by_id: HashMap::new(), of_subject: HashMap::new(), swept_at });
        Self { limits, clock, metrics, all }
    }

    /// Begins a session. Where there is no room for the subject, or at all, the one that was not used for the longest ends; those in use stay, and
    /// when all are, there is no session.
    pub(super) fn begin(&self, owner: &Caller, revision: Legacy) -> Option<Arc<Session>> {
        let now = self.clock.monotonic();
        let mut ended = Vec::new();
        let mut all = lock(&self.all);
        // A look reads all sessions, so not every `initialize` causes one.
        if now.saturating_sub(all.swept_at) >= SWEEP_INTERVAL {
            all.swept_at = now;
            ended.extend(all.take_where(|it| it.is_idle(now, self.limits.idle)));
        }
        let own = all.of_subject.get(&owner.subject).copied().unwrap_or_default();
        // At its own limit a subject replaces one of its own sessions, never that of another subject.
        let has_room = if own >= self.limits.per_subject_max {
            all.take_oldest(|session| session.owner.subject == owner.subject, &mut ended)
        } else {
            all.by_id.len() < self.limits.max || all.take_oldest(|_| true, &mut ended)
        };
        if !has_room {
            return None;
        }
        // 128 random bits: the protocol asks for ids that cannot be guessed.
        let id: String = all.ids.bytes::<16>().iter().map(|byte| format!("{byte:02x}")).collect();
        let session = Arc::new(Session {
            id: id.clone(),
            revision,
            asks: Arc::default(),
            owner: owner.clone(),
            _counted: self.metrics.mcp_sessions.count(),
            used_at: Mutex::new(now),
            in_use: AtomicUsize::new(0),
            streams: Mutex::default(),
        });
        all.by_id.insert(id, Arc::clone(&session));
        *all.of_subject.entry(owner.subject.clone()).or_default() += 1;
        drop(all);
        end(ended);
        Some(session)
    }

    /// Returns a caller's session, which is in use with that.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let now = self.clock.monotonic();
        let mut all = lock(&self.all);
        // The id of another caller is answered like an unknown one.
        let session = all.by_id.get(id).filter(|session| session.owner.is_same(caller))?;
        if session.is_idle(now, self.limits.idle) {
            let ended = all.take(id);
            drop(all);
            end(ended);
            return None;
        }
        *lock(&session.used_at) = now;
        Some(Arc::clone(session))
    }

    pub(super) fn remove(&self, id: &str) {
        let ended = lock(&self.all).take(id);
        end(ended);
    }

    pub(in crate::mcp) fn clear(&self) {
        let ended = lock(&self.all).take_where(|_| true);
        end(ended);
    }

    /// Ends idle sessions, and lets go of streams whose clients have gone.
    pub(in crate::mcp) fn sweep(&self) {
        let now = self.clock.monotonic();
        let mut all = lock(&self.all);
        let ended = all.take_where(|session| session.is_idle(now, self.limits.idle));
        let rest: Vec<Arc<Session>> = all.by_id.values().cloned().collect();
        drop(all);
        end(ended);
        for session in rest {
            session.sweep();
            // Its time begins when what keeps it has ended.
            if session.is_in_use() {
                *lock(&session.used_at) = now;
            }
        }
    }

    pub(in crate::mcp) fn count(&self) -> usize {
        lock(&self.all).by_id.len()
    }

    pub(in crate::mcp) fn notify_all(&self, message: &str) {
        let all: Vec<Arc<Session>> = lock(&self.all).by_id.values().cloned().collect();
        for session in all {
            let standalone = lock(&session.streams).standalone.clone();
            if let Some(stream) = standalone {
                stream.send(message.to_owned());
            }
        }
    }
}

impl All {
    fn take_where(&mut self, which: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        let ids = self.by_id.values().filter(|it| which(it)).map(|it| it.id.clone());
        let ids: Vec<String> = ids.collect();
        ids.iter().filter_map(|id| self.take(id)).collect()
    }

    /// Takes a session out, if it is there.
    fn take(&mut self, id: &str) -> Option<Arc<Session>> {
        let session = self.by_id.remove(id)?;
        let subject = &session.owner.subject;
        if let Some(own) = self.of_subject.get_mut(subject) {
            *own -= 1;
            if *own == 0 {
                self.of_subject.remove(subject);
            }
        }
        Some(session)
    }

    /// Takes the session out that was not used for the longest, of those that are not in use.
    fn take_oldest(
        &mut self,
        which: impl Fn(&Session) -> bool,
        ended: &mut Vec<Arc<Session>>,
    ) -> bool {
        let may_end = self.by_id.values().filter(|it| which(it) && !it.is_in_use());
        let oldest = may_end.min_by_key(|session| *lock(&session.used_at));
        let taken = oldest.map(|it| it.id.clone()).and_then(|id| self.take(&id));
        let is_taken = taken.is_some();
        ended.extend(taken);
        is_taken
    }
}

/// Ends sessions. Never under a lock of all of them: what waits in them ends as well.
fn end(sessions: impl IntoIterator<Item = Arc<Session>>) {
    for session in sessions {
        // Before the streams are cancelled, so that clients still get the ends of these calls.
        session.asks.clear();
        let streams = std::mem::take(&mut *lock(&session.streams));
        for (_, stream) in streams.of_requests {
            stream.cancel();
        }
        if let Some(stream) = streams.standalone {
            stream.cancel();
        }
    }
}

impl Session {
    /// Notes that a thread works on one of its requests.
    pub(super) fn in_use(self: &Arc<Self>) -> InUse {
        self.in_use.fetch_add(1, Ordering::Relaxed);
        InUse(Arc::clone(self))
    }

    /// Opens the stream of a request; with too many, the request is refused through the channel.
    pub(super) fn open(&self, id: &Id, channel: Box<dyn Channel>) -> Option<Stream> {
        let mut streams = lock(&self.streams);
        if !streams.make_room() {
            drop(streams);
            let message = "this session has too many requests under way; wait for one of them";
            let error = Error::new(Code::InvalidRequest, message).of(id);
            channel.finish(Status::Ok, &error.to_message(), None);
            return None;
        }
        let stream = Stream::new(channel, streams.name(self.revision));
        streams.of_requests.push((id.clone(), stream.clone()));
        Some(stream)
    }

    /// Opens the stream of the session, in place of the one before.
    pub(super) fn open_standalone(&self, channel: Box<dyn Channel>) {
        let mut streams = lock(&self.streams);
        let stream = Stream::new(channel, streams.name(self.revision));
        let before = streams.standalone.replace(stream);
        drop(streams);
        if let Some(before) = before {
            before.cancel();
        }
    }

    /// Returns the stream of a name.
    pub(super) fn stream(&self, name: u32) -> Option<Stream> {
        let streams = lock(&self.streams);
        let all = streams.of_requests.iter().map(|(_, stream)| stream).chain(&streams.standalone);
        all.into_iter().find(|stream| stream.name() == Some(name)).cloned()
    }

    /// Cancels what a client has asked for under an id.
    pub(super) fn cancel(&self, id: &Id) {
        let mut streams = lock(&self.streams);
        let cancelled: Vec<Stream> = streams
            .of_requests
            .extract_if(.., |(of, _)| of == id)
            .map(|(_, stream)| stream)
            .collect();
        drop(streams);
        for stream in cancelled {
            stream.cancel();
        }
    }

    /// Forgets what its client will not come back to.
    pub(super) fn forget_finished(&self) {
        lock(&self.streams).forget_finished();
    }

    fn sweep(&self) {
        let mut streams = lock(&self.streams);
        streams.forget_finished();
        if streams.standalone.as_ref().is_some_and(|stream| !stream.is_attached()) {
            streams.standalone = None;
        }
        for (_, stream) in &streams.of_requests {
            if !stream.is_attached() {
                stream.detach();
            }
        }
    }

    fn is_idle(&self, now: Duration, idle: Duration) -> bool {
        now.saturating_sub(*lock(&self.used_at)) >= idle && !self.is_in_use()
    }

    /// Says whether a request or an open stream still needs it.
    fn is_in_use(&self) -> bool {
        let streams = lock(&self.streams);
        let mut all = streams.of_requests.iter().map(|(_, it)| it).chain(&streams.standalone);
        self.in_use.load(Ordering::Relaxed) > 0 || all.any(Stream::is_attached)
    }
}
