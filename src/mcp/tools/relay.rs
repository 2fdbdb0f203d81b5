//! The tools of the relay: an agent works on the design file that a person has open, and the person decides in the
//! design tool about each thing it asks for.
//!
//! See `docs/decisions/75-relay-tools.md`.

mod action;
mod held;
mod invocation;
mod outcome;
mod propose;
mod schema;
mod session;
mod task;

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::Tool;
use crate::mcp::relay::RelayBackend;
use crate::mcp::tasks::Tasks;
use crate::relay::action::DesignAction;

/// The relay, and how long a call may wait for a person.
#[derive(Clone)]
struct Host {
    relay: Arc<dyn RelayBackend>,
    wait: Duration,
}

/// Returns the tools. A call waits at most `wait` for a person.
#[must_use]
pub fn tools(relay: &Arc<dyn RelayBackend>, wait: Duration) -> Vec<Tool> {
    let host = Host { relay: Arc::clone(relay), wait };
    let actions = DesignAction::ALL.iter().map(|action| action::tool(&host, *action));
    let others = [
        session::list(Arc::clone(relay)),
        session::pair(Arc::clone(relay)),
        invocation::get(&host),
        invocation::cancel(Arc::clone(relay)),
        propose::tool(&host),
    ];
    actions.chain(others).collect()
}

/// Returns the provider of the tasks that calls of these tools become.
#[must_use]
pub fn tasks(relay: &Arc<dyn RelayBackend>) -> Arc<dyn Tasks> {
    Arc::new(task::RelayTasks(Arc::clone(relay)))
}

/// Returns an argument that is an identifier.
fn id<T: FromStr>(arguments: &Map<String, Value>, name: &str) -> Option<T> {
    arguments.get(name)?.as_str()?.parse().ok()
}
