//! Calls of the relay's tools as tasks: the task is the invocation or the proposal that the store has, so it is durable
//! before a client hears of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::outcome::{self, About};
use crate::api::relay::{Invocation, RelayRefusal};
use crate::mcp::Caller;
use crate::mcp::relay::{RelayBackend, Waiter};
use crate::mcp::tasks::{Task, TaskFault, TaskStatus, Tasks};

/// How long the value of an invocation is kept after it has ended. A task can be looked up for at least this long after
/// the person's time to decide.
const KEPT: Duration = Duration::from_mins(10);
/// How often a client should ask; a person takes longer to decide.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Longest wait for the end of a task; no proposal takes that long.
const WATCH_MAX: Duration = Duration::from_hours(24);

/// The tasks of a relay.
pub(super) struct RelayTasks(pub(super) Arc<dyn RelayBackend>);

/// Returns the task of a call about these invocations.
pub(super) fn of(about: About, steps: &[Invocation]) -> Option<Task> {
    let first = steps.first()?;
    let deciding = outcome::deciding(steps).unwrap_or(first);
    let status = if !deciding.has_ended() {
        TaskStatus::Working
    } else if steps.iter().all(|step| step.state == "cancelled") {
        TaskStatus::Cancelled
    } else {
        TaskStatus::Completed(outcome::of(about, steps))
    };
    let message = match &status {
        TaskStatus::Completed(_) => None,
        _ => Some(outcome::status_message(deciding)),
    };
    Some(Task {
        id: match about {
            About::Steps => first.proposal.to_string(),
            About::Action | About::Invocation(_) => first.invocation.to_string(),
        },
        status,
        message,
        created_at: first.created_at,
        updated_at: steps.iter().map(|step| step.updated_at).max().unwrap_or(first.updated_at),
        ttl: first.expires_at.since(first.created_at) + KEPT,
        poll_interval: POLL_INTERVAL,
    })
}

impl RelayTasks {
    /// Returns what a task is about: an invocation, or a proposal with all its steps.
    fn find(&self, caller: &Caller, id: &str) -> Result<(About, Vec<Invocation>), TaskFault> {
        let Self(relay) = self;
        // Invocations and proposals both have UUIDs, so the id is looked up as one and then as the other.
        let (Ok(invocation), Ok(proposal)) = (id.parse(), id.parse()) else {
            return Err(TaskFault::Unknown);
        };
        match relay.invocation(caller, invocation).map_err(fault) {
            Ok(found) => Ok((About::Action, vec![found])),
            Err(TaskFault::Unknown) => {
                Ok((About::Steps, relay.steps(caller, proposal).map_err(fault)?))
            }
            Err(fault) => Err(fault),
        }
    }
}

fn fault(refusal: RelayRefusal) -> TaskFault {
    match refusal.code.as_ref() {
        "no_such_invocation" => TaskFault::Unknown,
        _ => TaskFault::Unavailable(refusal.message),
    }
}

impl Tasks for RelayTasks {
    fn get(&self, caller: &Caller, id: &str) -> Result<Task, TaskFault> {
        let (about, steps) = self.find(caller, id)?;
        of(about, &steps).ok_or(TaskFault::Unknown)
    }

    /// Takes no answers: a person decides in the plugin, and a client cannot answer for that.
    fn update(&self, caller: &Caller, id: &str, _: &Map<String, Value>) -> Result<(), TaskFault> {
        self.find(caller, id).map(drop)
    }

    fn cancel(&self, caller: &Caller, id: &str) -> Result<(), TaskFault> {
        let (_, steps) = self.find(caller, id)?;
        match outcome::deciding(&steps).filter(|step| !step.has_ended()) {
            Some(step) => self.0.cancel(caller, step.invocation).map(drop).map_err(fault),
            None => Ok(()),
        }
    }

    fn watch(&self, caller: &Caller, id: &str, waiter: Box<dyn Waiter>) {
        let found = self.find(caller, id).ok();
        if let Some(step) = found.as_ref().and_then(|(_, steps)| steps.first()) {
            self.0.wait(step.proposal, WATCH_MAX, waiter);
        }
    }
}
