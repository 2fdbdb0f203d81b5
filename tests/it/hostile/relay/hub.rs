//! A relay in this process at a store of its own, and what its callers ask for.

use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, current};
use std::time::Duration;

use serde_json::{Map, Value, json};
use svc::app::relay::{Relay, Settings, Who};
use svc::domain::id::InvocationId;
use svc::domain::time::Timestamp;
use svc::relay::action::CheckedAction;
use svc::runtime::clock::Clock;
use svc::runtime::random::Ids;
use svc::store::{LogRules, Options, Store};

use super::peer::Peer;
use crate::support::{ManualClock, SeededRandom};

/// A relay at a store of its own.
pub(super) struct Hub {
    folder: tempfile::TempDir,
    pub(super) clock: Arc<ManualClock>,
    moments: Arc<Moments>,
    pub(super) store: Store,
    pub(super) relay: Arc<Relay>,
}

/// What happens.
type Moment = Box<dyn FnOnce() + Send>;

/// Has something happen when this thread has the store look at its clock, which is just before it reads.
struct Moments {
    clock: Arc<ManualClock>,
    next: Mutex<Option<(ThreadId, Moment)>>,
}

impl Clock for Moments {
    fn now(&self) -> Timestamp {
        let taken = {
            let mut next = self.next.lock().unwrap();
            next.take_if(|(thread, _)| *thread == current().id())
        };
        if let Some((_, happen)) = taken {
            happen();
        }
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }
}

impl Hub {
    pub(super) fn new() -> Self {
        Self::with_proposals_per_minute(6_000)
    }

    pub(super) fn with_proposals_per_minute(proposals: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new());
        let moments = Arc::new(Moments { clock: Arc::clone(&clock), next: Mutex::default() });
        let store = Store::open(Options {
            path: folder.path().join("svc.db"),
            clock: Arc::<Moments>::clone(&moments),
            ids: Ids::new(Box::new(SeededRandom(1))),
            on_fatal: Box::new(|error| panic!("the disk failed: {error:?}")),
            on_opening: Arc::new(|_| {}),
            log: LogRules::default(),
        });
        let store = store.unwrap();
        let relay = relay(&store, &clock, 2, proposals);
        Self { folder, clock, moments, store, relay }
    }

    /// Another process at the same file: what the one does, the other only reads from the store.
    pub(super) fn beside(&self) -> Arc<Relay> {
        relay(&self.store, &self.clock, 3, 6_000)
    }

    pub(super) fn database(&self) -> std::path::PathBuf {
        self.folder.path().join("svc.db")
    }

    /// A plugin that `subject` has paired, with a file open.
    pub(super) fn paired(&self, number: u8, subject: &str) -> Peer {
        let mut peer = Peer::new(number);
        peer.connect(&self.relay).unwrap();
        peer.pair(&self.relay, subject);
        peer
    }

    /// Has something happen the next time that this thread has the store read what waits.
    pub(super) fn just_before_reading(&self, happen: impl FnOnce() + Send + 'static) {
        *self.moments.next.lock().unwrap() = Some((current().id(), Box::new(happen)));
    }

    /// A second passes.
    pub(super) fn tick(&self) {
        self.clock.advance(Duration::from_secs(1));
        self.relay.tick();
    }
}

fn relay(
    store: &Store,
    clock: &Arc<ManualClock>,
    seed: u64,
    proposals_per_minute: u32,
) -> Arc<Relay> {
    let settings = Settings {
        connections_max: 64,
        approval: Duration::from_secs(300),
        grant: Duration::from_secs(60),
        call_wait: Duration::from_secs(20),
        session_kept: Duration::from_secs(30 * 86_400),
        result_bytes_max: 1 << 20,
        proposals_per_minute,
        frames_per_second: 5_000,
    };
    let ids = Ids::new(Box::new(SeededRandom(seed)));
    let time: Arc<dyn Clock> = Arc::<ManualClock>::clone(clock);
    Arc::new(Relay::open(store.clone(), settings, time, ids, Arc::default()).unwrap())
}

pub(super) fn who(subject: &str) -> Who<'_> {
    Who { subject, client: "agent" }
}

/// Steps of an action with some text.
pub(super) fn set_text(texts: &[&str]) -> Vec<CheckedAction> {
    let steps: Vec<(&str, Map<String, Value>)> = texts
        .iter()
        .map(|text| ("set_text", json!({"node": "1:2", "text": text}).as_object().unwrap().clone()))
        .collect();
    CheckedAction::steps(&steps).unwrap_or_else(|refusal| panic!("{}", refusal.message))
}

/// A read.
pub(super) fn get_selection() -> Vec<CheckedAction> {
    let steps = [("get_selection", Map::new())];
    CheckedAction::steps(&steps).unwrap_or_else(|refusal| panic!("{}", refusal.message))
}

/// The state of an invocation, as its subject sees it.
pub(super) fn state(relay: &Relay, subject: &str, step: &Value) -> String {
    let id: InvocationId = serde_json::from_value(step["invocation"].clone()).unwrap();
    relay.invocation(who(subject), id).unwrap().state.into_owned()
}
