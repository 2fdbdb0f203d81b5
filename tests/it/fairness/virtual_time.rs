//! Virtual time: of all threads one runs at once, and when it waits, the one that is due first goes on.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use svc::workers::driver::{Next, Worker};

use crate::support::ManualClock;

thread_local! {
    /// The number of the thread that runs.
    static ME: Cell<usize> = const { Cell::new(usize::MAX) };
}

#[derive(Default)]
struct State {
    now: Duration,
    /// Threads that wait, by when they go on and in which order they began to wait.
    waiting: BTreeMap<(Duration, u64), usize>,
    order: u64,
    running: Option<usize>,
    threads: Vec<JoinHandle<()>>,
}

pub(super) struct VirtualTime {
    state: Mutex<State>,
    turned: Condvar,
    clock: Arc<ManualClock>,
}

impl VirtualTime {
    pub(super) fn new(clock: Arc<ManualClock>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), turned: Condvar::new(), clock })
    }

    /// Adds a thread that steps a worker, until so much time is over.
    pub(super) fn spawn(
        self: &Arc<Self>,
        name: String,
        mut worker: Box<dyn Worker>,
        poll: Duration,
        lasts: Duration,
    ) {
        let mut state = self.state.lock().unwrap();
        let me = state.threads.len();
        let order = state.order;
        state.order += 1;
        // Not all at once: what polls in step would never wait for each other.
        state.waiting.insert((Duration::from_millis(700) * u32::try_from(me).unwrap(), order), me);
        let time = Arc::clone(self);
        let thread = svc::runtime::thread::spawn(&name, move || {
            ME.set(me);
            time.wait_for_turn(me);
            while time.state.lock().unwrap().now < lasts {
                let next = worker.step();
                time.pass(if next == Next::Now { Duration::ZERO } else { poll });
            }
            time.hand_over(&mut time.state.lock().unwrap());
        });
        state.threads.push(thread.unwrap());
    }

    /// Lets the threads run, until all have ended.
    pub(super) fn run(&self) {
        let threads = {
            let mut state = self.state.lock().unwrap();
            self.hand_over(&mut state);
            std::mem::take(&mut state.threads)
        };
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Lets time pass for the thread that runs.
    pub(super) fn pass(&self, by: Duration) {
        let me = ME.get();
        {
            let mut state = self.state.lock().unwrap();
            let (due, order) = (state.now + by, state.order);
            state.order += 1;
            state.waiting.insert((due, order), me);
            self.hand_over(&mut state);
        }
        self.wait_for_turn(me);
    }

    fn hand_over(&self, state: &mut State) {
        state.running = state.waiting.pop_first().map(|((due, _), next)| {
            self.clock.advance(due.saturating_sub(state.now));
            state.now = state.now.max(due);
            next
        });
        self.turned.notify_all();
    }

    fn wait_for_turn(&self, me: usize) {
        let state = self.state.lock().unwrap();
        drop(self.turned.wait_while(state, |state| state.running != Some(me)).unwrap());
    }
}
