//! Grants: an approved step is carried out once, and nothing that was not approved here is ever carried out.

use serde_json::{Map, Value};

use super::event::{Cut, Event, Point};
use super::heard::Execute;
use super::{Phase, Plugin};
use crate::domain::id::{GrantId, InvocationId, ProposalId, RelaySessionId};
use crate::domain::relay::invocation;
use crate::relay::action::DesignAction;
use crate::relay::frame::{self, ActionResult, FromPlugin};
use crate::runtime::clock::Clock as _;

/// A step that is being carried out.
#[derive(Clone, Copy)]
struct Running {
    grant: GrantId,
    invocation: InvocationId,
    session: RelaySessionId,
    proposal: ProposalId,
    position: usize,
    deadline_ms: u64,
}

impl Plugin {
    pub(super) fn execute(&mut self, execute: &Execute) {
        let Execute { grant, invocation, arguments_sha256, deadline_ms } = *execute;
        let is_known = self.device.has_entry(grant);
        if self.stopped.contains(&invocation) && !is_known {
            // Too late for the daemon to know. It was never begun here, and now it never can be.
            let result = failed(grant, "stopped");
            return self.send(&FromPlugin::Result(result));
        }
        let approved = self.approved.get(&invocation).copied();
        let is_its_turn = |(proposal, position): &(ProposalId, usize)| {
            self.card(*proposal).is_some_and(|card| {
                let step = card.steps.get(*position);
                card.made.len() == *position
                    && step.is_some_and(|step| step.arguments_sha256 == arguments_sha256)
            })
        };
        let is_ready = self.line.as_ref().is_some_and(|line| line.phase == Phase::Ready);
        // An entry means that the grant was begun, by this page or by another one.
        let approved = approved.filter(is_its_turn).filter(|_| is_ready && !is_known);
        let Some(((proposal, position), session)) = approved.zip(self.session) else {
            return self.refuse(frame::Close::Refused, "not_approved");
        };
        // Before anything happens, so that an order that is repeated finds no approval.
        self.approved.remove(&invocation);
        self.run(Running { grant, invocation, session, proposal, position, deadline_ms });
    }

    fn run(&mut self, running: Running) {
        let Running { grant, session, .. } = running;
        let began = self.clock.monotonic();
        if !self.goes_on(Point::Told, grant) {
            return;
        }
        // Before the act: a page that dies in the act must come back knowing that it may have happened.
        self.device.write(grant, session, invocation::Entry::Begun);
        if !self.goes_on(Point::Begun, grant) {
            return;
        }
        let took = self.clock.monotonic().saturating_sub(began).as_millis();
        // A page that was frozen must not act when the daemon has stopped waiting.
        let result = if took > u128::from(running.deadline_ms) {
            failed(grant, "too_late")
        } else {
            self.act(running)
        };
        if result.outcome == frame::Outcome::Succeeded && !self.goes_on(Point::Done, grant) {
            return;
        }
        let entry = match result.outcome {
            frame::Outcome::Succeeded => invocation::Entry::Succeeded,
            frame::Outcome::Failed => invocation::Entry::Failed,
            frame::Outcome::Stale => invocation::Entry::Stale,
        };
        // Before the report: if the result is lost, the next proof tells how it ended.
        self.device.write(grant, session, entry);
        if !self.goes_on(Point::Noted, grant) {
            return;
        }
        let outcome = result.outcome;
        if self.session == Some(session) && self.is_ready() {
            self.send(&FromPlugin::Result(result));
        } else {
            self.untold.push((session, result));
        }
        self.events.push_back(Event::Ended(grant, running.invocation, outcome));
        let is_last =
            self.card(running.proposal).is_some_and(|card| card.made.len() == card.steps.len());
        // After a step that failed, the later ones are no longer what the person approved.
        if outcome != frame::Outcome::Succeeded || is_last {
            self.take_away(running.proposal);
        }
        self.goes_on(Point::Reported, grant);
    }

    /// Asks whether something happens at a point. Returns whether the page is still there.
    fn goes_on(&mut self, point: Point, grant: GrantId) -> bool {
        let cut = self.at.as_mut().map_or(Cut::Nothing, |at| at(point, grant));
        match cut {
            Cut::Nothing => return true,
            // The cards stay until this action has ended: the page does not know of the loss before that.
            Cut::Connection => drop(self.line.take()),
            Cut::Page => self.reload(),
        }
        self.events.push_back(Event::Cut);
        cut == Cut::Connection
    }

    /// Compares the nodes with those that were shown, and acts.
    fn act(&mut self, running: Running) -> ActionResult {
        let Running { grant, invocation, proposal, position, .. } = running;
        let failure = |outcome, code| ActionResult { outcome, ..failed(grant, code) };
        let Some(card) = self.cards.iter_mut().find(|card| card.proposal == proposal) else {
            return failure(frame::Outcome::Failed, "disconnected");
        };
        let arguments: Map<String, Value> = card.resolved(position);
        let action =
            card.steps.get(position).and_then(|step| DesignAction::from_word(&step.action));
        let Some(action) = action else { return failure(frame::Outcome::Failed, "unknown_action") };
        // Locked to the end, so that nothing changes between the comparison and the act.
        let mut open = self.host.open();
        // The card was made with these targets, so the file has changed since.
        let Ok(targets) = open.document.targets(action, &arguments) else {
            return failure(frame::Outcome::Stale, "target_changed");
        };
        let is_as_shown =
            |id: &String| open.document.fingerprint(id).as_ref() == card.prints.get(id);
        if !targets.iter().all(is_as_shown) {
            return failure(frame::Outcome::Stale, "target_changed");
        }
        let value = match open.document.act(action, &arguments) {
            Ok(value) => value,
            Err(code) => return failure(frame::Outcome::Failed, code),
        };
        let (_, times) = open.effects.entry(grant).or_insert((invocation, 0));
        *times += 1;
        let made = value.get("node").and_then(Value::as_str).filter(|_| action.makes_node());
        card.made.push(made.map(ToOwned::to_owned));
        // What this step changed in the nodes of later ones is no surprise to the person who approved them together.
        let seen: Vec<String> =
            card.prints.keys().cloned().chain(made.map(ToOwned::to_owned)).collect();
        card.prints = seen
            .into_iter()
            .filter_map(|id| open.document.fingerprint(&id).map(|print| (id, print)))
            .collect();
        ActionResult { grant, outcome: frame::Outcome::Succeeded, value: Some(value), error: None }
    }
}

fn failed(grant: GrantId, code: &str) -> ActionResult {
    let error = Some(frame::Failure { code: code.to_owned(), message: None });
    ActionResult { grant, outcome: frame::Outcome::Failed, value: None, error }
}
