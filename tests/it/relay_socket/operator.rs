//! What an operator sees of the relay, and ends.

use serde_json::{Value, json};
use svc::domain::id::InvocationId;

use super::world::World;
use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::wait_for;

/// An operator, over the control socket.
pub(super) struct Operator(Endpoint);

impl World {
    pub(super) fn operator(&self) -> Operator {
        Operator(self.service.daemon.control.clone())
    }
}

impl Operator {
    fn ask(&self, method: &str, path: &str) -> Answer {
        let target = format!("/api/v1/operator/relay/{path}");
        self.0.ask(&Ask::new(method, &target).bearer())
    }

    /// Returns a document.
    pub(super) fn get(&self, path: &str) -> Value {
        let answer = self.ask("GET", path);
        assert_eq!(answer.status, 200, "{path}: {answer:?} {}", answer.text());
        answer.json()
    }

    /// Returns the items of a list.
    pub(super) fn list(&self, path: &str) -> Vec<Value> {
        self.get(path)["items"].as_array().unwrap().clone()
    }

    /// Ends something; returns the status.
    pub(super) fn delete(&self, path: &str) -> u16 {
        self.ask("DELETE", path).status
    }

    /// Denies an invocation; returns the status.
    pub(super) fn deny(&self, invocation: InvocationId) -> u16 {
        self.ask("POST", &format!("invocations/{invocation}/deny")).status
    }

    /// Checks the hashes and signatures of the audit log, and returns its events, the oldest first: of a moment at which
    /// it did not grow, for the list and the check are two requests, and the daemon writes events by itself.
    pub(super) fn audit(&self) -> Vec<Value> {
        let (events, verified) = wait_for("an audit log that does not grow", || {
            let (events, verified) = (self.events(), self.verified());
            (verified["rows"] == events.len()).then_some((events, verified))
        });
        let signed = events.iter().filter(|event| event["signature"].is_string()).count();
        let signatures =
            json!({"valid": signed, "invalid": 0, "notCheckable": 0, "firstInvalid": null});
        assert_eq!(verified["signatures"], signatures);
        events
    }

    fn verified(&self) -> Value {
        let verified = self.get("audit-events/verify");
        assert_eq!(verified["intact"], true, "{verified}");
        verified
    }

    fn events(&self) -> Vec<Value> {
        let mut events = Vec::new();
        let mut path = "audit-events?limit=100".to_owned();
        loop {
            let page = self.get(&path);
            events.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(before) = page["nextBefore"].as_str() else { break };
            path = format!("audit-events?limit=100&before={before}");
        }
        events.reverse();
        events
    }
}
