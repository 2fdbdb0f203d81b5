//! The part of the exam about the relay: what its verbs change, and what they leave alone.

mod audit;
mod flow;
mod journal;
mod limits;
mod pairing;
mod privacy;
mod sessions;
mod time;

use std::path::PathBuf;

use svc::domain::id::{GrantId, InvocationId};
use svc::domain::relay::invocation::{Report, State};
use svc::store::relay::{Effects, SessionSocket, Tell};

use super::{Bench, Open, bench};
use crate::support::relay::Relay;

/// A store with the relay's people, and where its file is.
struct Room {
    bench: Bench,
    relay: Relay,
}

impl Room {
    fn new(open: Open) -> Self {
        let bench = bench(open);
        let relay = Relay::new(&bench.store, &bench.clock);
        Self { bench, relay }
    }

    fn database(&self) -> PathBuf {
        self.bench.folder.path().join("svc.db")
    }
}

pub(super) fn exercise(open: Open) {
    pairing::exercise(open);
    sessions::exercise(open);
    flow::exercise(open);
    journal::exercise(open);
    limits::exercise(open);
    time::exercise(open);
    privacy::exercise(open);
    audit::exercise(open);
}

/// The states that effects say have changed.
fn changed(effects: &Effects) -> Vec<(InvocationId, State)> {
    effects.changed.iter().map(|changed| (changed.invocation, changed.state)).collect()
}

/// What the plugin that holds a socket is told.
fn told(effects: &Effects, held: SessionSocket) -> Vec<Tell> {
    effects.tell.iter().filter(|(to, _)| *to == held).map(|(_, tell)| *tell).collect()
}

/// The plugin says that it was carried out.
fn succeed(relay: &Relay, held: SessionSocket, grant: GrantId) -> Effects {
    relay.store.relay_report(held, grant, Report::Succeeded).unwrap()
}
