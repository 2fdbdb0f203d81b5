//! A call that waits for a person without holding a thread: the relay checks it once a second and ends it.

use std::sync::Arc;
use std::time::Duration;

use super::outcome::{self, About};
use super::{Host, task};
use crate::api::relay::{Invocation, RelayRefusal};
use crate::domain::id::ProposalId;
use crate::domain::relay::DesignTool;
use crate::mcp::call::Call;
use crate::mcp::relay::{Ended, RelayBackend, Waiter};
use crate::mcp::tasks::{Task, TaskStatus};

/// A client that asked for progress is told after this many checks, which are about seconds.
const LOOKS_PER_MESSAGE: u32 = 5;

/// A call that waits.
pub(super) struct PendingCall {
    relay: Arc<dyn RelayBackend>,
    call: Call,
    proposal: ProposalId,
    about: About,
    /// The progress that the client is told while it waits.
    message: String,
    looks: u32,
}

impl PendingCall {
    /// Waits for the end of a proposal, but not longer than `within`, and then answers the call.
    pub(super) fn begin(
        host: &Host,
        call: Call,
        proposal: ProposalId,
        about: About,
        within: Duration,
    ) {
        let relay = Arc::clone(&host.relay);
        let mut held = Self { relay, call, proposal, about, message: String::new(), looks: 0 };
        if within.is_zero() {
            return held.answer();
        }
        if held.call.wants_progress() {
            held.message = held.describe();
            // At once, so that the client knows that a person is asked.
            held.call.progress(0, None, &held.message);
        }
        host.relay.wait(proposal, within, Box::new(held));
    }

    /// Says what the call waits for.
    fn describe(&self) -> String {
        let steps = self.relay.steps(self.call.caller(), self.proposal).unwrap_or_default();
        let Some(step) = steps.first() else { return "waiting for a person".to_owned() };
        let sessions = self.relay.sessions(self.call.caller()).unwrap_or_default();
        let session = sessions.iter().find(|session| session.session == step.session);
        let tool = match session.and_then(|session| DesignTool::from_word(&session.tool)) {
            Some(DesignTool::Penpot) => "Penpot",
            Some(DesignTool::Figma) => "Figma",
            Some(DesignTool::Test) | None => "the design tool",
        };
        match &step.file {
            Some(file) => format!("waiting for a person in {tool}: {file}"),
            None => format!("waiting for a person in {tool}"),
        }
    }

    fn answer(self) {
        match self.invocations() {
            Err(refusal) => self.call.finish(outcome::refused(&refusal)),
            Ok(steps) => match self.task(&steps) {
                Some(task) => self.call.hand_over(&task),
                None => self.call.finish(outcome::of(self.about, &steps)),
            },
        }
    }

    /// Returns the task that the call becomes, if its client accepts tasks and the call has not ended.
    fn task(&self, steps: &[Invocation]) -> Option<Task> {
        // A call that only looks at an invocation has made no task.
        let is_own = !matches!(self.about, About::Invocation(_));
        let task = task::of(self.about, steps).filter(|_| is_own && self.call.takes_task());
        // What has ended is answered with its result: a task would cost the client one more request.
        task.filter(|task| task.status == TaskStatus::Working)
    }

    /// Returns what the call is about.
    fn invocations(&self) -> Result<Vec<Invocation>, RelayRefusal> {
        let caller = self.call.caller();
        match self.about {
            About::Action | About::Steps => self.relay.steps(caller, self.proposal),
            About::Invocation(invocation) => Ok(vec![self.relay.invocation(caller, invocation)?]),
        }
    }

    /// Gives up what the call has proposed.
    fn leave(&self) {
        if !matches!(self.about, About::Invocation(_)) {
            // There is no client any more to tell that it cannot be done.
            drop(self.relay.leave(self.call.caller(), self.proposal));
        }
    }
}

impl Waiter for PendingCall {
    fn look(&mut self) -> bool {
        if self.call.is_cancelled() {
            return false;
        }
        self.looks = self.looks.saturating_add(1);
        if self.looks.is_multiple_of(LOOKS_PER_MESSAGE) {
            self.call.progress(self.looks, None, &self.message);
        }
        true
    }

    fn end(self: Box<Self>, how: Ended) {
        // A service that stops closes streams too, and that is not the client's wish.
        if how != Ended::Stopping && self.call.is_taken_back() {
            return self.leave();
        }
        match how {
            // A client of the legacy era: what it has proposed goes on.
            Ended::CallerGone => {}
            Ended::Settled | Ended::TimeOver | Ended::Stopping => self.answer(),
        }
    }
}
