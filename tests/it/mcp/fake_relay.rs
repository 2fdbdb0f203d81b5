//! A relay that does as the test says.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value};
use svc::api::relay::{DesignSession, Invocation, PairingClaim, RelayRefusal};
use svc::domain::id::{InvocationId, ProposalId, RelaySessionId};
use svc::domain::time::Timestamp;
use svc::mcp::Caller;
use svc::mcp::relay::{Ended, RelayBackend, Waiter};
use svc::relay::action::CheckedAction;

/// The session that the relay has.
pub(super) const SESSION: &str = "0199f3a0-0000-7000-8000-0000000000aa";

/// What the relay was asked to propose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proposed {
    pub(super) subject: String,
    pub(super) session: Option<String>,
    /// Actions and their arguments.
    pub(super) steps: Vec<(&'static str, Map<String, Value>)>,
}

/// A call that waits.
struct Waiting {
    within: Duration,
    waiter: Box<dyn Waiter>,
}

#[derive(Default)]
pub(super) struct FakeRelay {
    next: AtomicU64,
    /// The answer to whatever it is asked, if set.
    refusal: Mutex<Option<RelayRefusal>>,
    proposed: Mutex<Vec<Proposed>>,
    /// The steps of each proposal, and whose they are.
    steps: Mutex<HashMap<ProposalId, (String, Vec<Invocation>)>>,
    waiting: Mutex<Vec<Waiting>>,
    cancelled: Mutex<Vec<InvocationId>>,
    /// How often it was asked for anything.
    asked: AtomicU64,
}

impl FakeRelay {
    fn uuid(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        format!("0199f3a0-0000-7000-8000-{number:012x}")
    }

    /// Refuses whatever it is asked from now on.
    pub(super) fn refuse(&self, refusal: RelayRefusal) {
        *self.refusal.lock().unwrap() = Some(refusal);
    }

    pub(super) fn proposed(&self) -> Vec<Proposed> {
        self.proposed.lock().unwrap().clone()
    }

    pub(super) fn cancelled(&self) -> Vec<InvocationId> {
        self.cancelled.lock().unwrap().clone()
    }

    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Returns how long the waiting calls may wait.
    pub(super) fn waits(&self) -> Vec<Duration> {
        self.waiting.lock().unwrap().iter().map(|it| it.within).collect()
    }

    /// Returns the id of the last invocation that was proposed.
    pub(super) fn last(&self) -> String {
        let steps = self.steps.lock().unwrap();
        let all = steps.values().flat_map(|(_, steps)| steps);
        all.map(|step| step.invocation.to_string()).max().unwrap()
    }

    /// Changes the steps of all proposals.
    pub(super) fn change(&self, change: impl Fn(&mut Invocation)) {
        let mut steps = self.steps.lock().unwrap();
        steps.values_mut().flat_map(|(_, steps)| steps).for_each(change);
    }

    /// Brings all steps to a state.
    pub(super) fn set(&self, state: &'static str) {
        self.change(|step| step.state = Cow::Borrowed(state));
    }

    /// Brings all steps to their end.
    pub(super) fn succeed(&self, value: &Value) {
        self.change(|step| {
            step.state = Cow::Borrowed("succeeded");
            step.value = Some(value.clone());
        });
    }

    /// Looks after all waiting calls once, and ends those whose callers have gone.
    pub(super) fn look(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
        for mut one in waiting {
            match one.waiter.look() {
                true => self.waiting.lock().unwrap().push(one),
                false => one.waiter.end(Ended::CallerGone),
            }
        }
    }

    /// Ends all waiting calls.
    pub(super) fn end(&self, how: Ended) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
        waiting.into_iter().for_each(|one| one.waiter.end(how));
    }

    fn ask(&self) -> Result<(), RelayRefusal> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.refusal.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn own<T>(
        &self,
        caller: &Caller,
        find: impl Fn(&ProposalId, &mut Vec<Invocation>) -> Option<T>,
    ) -> Result<T, RelayRefusal> {
        let mut all = self.steps.lock().unwrap();
        let mut own = all.iter_mut().filter(|(_, (subject, _))| *subject == caller.subject);
        own.find_map(|(id, (_, steps))| find(id, steps))
            .ok_or_else(|| refusal("no_such_invocation"))
    }
}

pub(super) fn refusal(code: &'static str) -> RelayRefusal {
    RelayRefusal {
        code: Cow::Borrowed(code),
        message: format!("It is {code}. Do what follows from that."),
        sessions: Vec::new(),
        retry_after_seconds: None,
    }
}

pub(super) fn session(id: &str, file: &str) -> DesignSession {
    DesignSession {
        session: id.parse().unwrap(),
        tool: Cow::Borrowed("penpot"),
        state: Cow::Borrowed("connected"),
        file: Some(file.to_owned()),
        page: Some("Page 1".to_owned()),
        allowance_until: None,
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000 + seconds * 1_000_000)
}

impl RelayBackend for FakeRelay {
    fn sessions(&self, _caller: &Caller) -> Result<Vec<DesignSession>, RelayRefusal> {
        self.ask()?;
        Ok(vec![session(SESSION, "Login")])
    }

    fn claim_pairing(&self, _caller: &Caller, code: &str) -> Result<PairingClaim, RelayRefusal> {
        self.ask()?;
        if code != "7K2M-9QXV" {
            return Err(refusal("not_found"));
        }
        let pairing = self.uuid().parse().unwrap();
        let file = Some("Login".to_owned());
        Ok(PairingClaim { pairing, tool: Cow::Borrowed("penpot"), file, expires_at: at(60) })
    }

    fn propose(
        &self,
        caller: &Caller,
        session: Option<RelaySessionId>,
        steps: Vec<CheckedAction>,
    ) -> Result<ProposalId, RelayRefusal> {
        self.ask()?;
        let proposal = self.uuid().parse().unwrap();
        let invocation = |(place, step): (usize, &CheckedAction)| Invocation {
            invocation: self.uuid().parse().unwrap(),
            proposal,
            step: place.try_into().unwrap(),
            session: session.unwrap_or_else(|| SESSION.parse().unwrap()),
            file: Some("Login".to_owned()),
            action: Cow::Borrowed(step.action().as_str()),
            state: Cow::Borrowed("proposed"),
            reason: None,
            settled_late: false,
            expires_at: at(300),
            created_at: at(0),
            updated_at: at(1),
            value: None,
            value_gone: false,
        };
        let invocations = steps.iter().enumerate().map(invocation).collect();
        let steps = steps.iter().map(|it| (it.action().as_str(), it.arguments().clone())).collect();
        let (subject, session) = (caller.subject.clone(), session.map(|it| it.to_string()));
        self.steps.lock().unwrap().insert(proposal, (subject.clone(), invocations));
        self.proposed.lock().unwrap().push(Proposed { subject, session, steps });
        Ok(proposal)
    }

    fn steps(
        &self,
        caller: &Caller,
        proposal: ProposalId,
    ) -> Result<Vec<Invocation>, RelayRefusal> {
        self.ask()?;
        self.own(caller, |id, steps| (*id == proposal).then(|| steps.clone()))
    }

    fn invocation(&self, caller: &Caller, id: InvocationId) -> Result<Invocation, RelayRefusal> {
        self.ask()?;
        self.own(caller, |_, steps| steps.iter().find(|step| step.invocation == id).cloned())
    }

    fn cancel(&self, caller: &Caller, id: InvocationId) -> Result<Invocation, RelayRefusal> {
        self.ask()?;
        let cancelled = self.own(caller, |_, steps| {
            let found = steps.iter().position(|step| step.invocation == id)?;
            for step in steps.iter_mut().filter(|it| ["proposed", "shown"].contains(&&*it.state)) {
                step.state = Cow::Borrowed("cancelled");
            }
            Some(steps[found].clone())
        })?;
        self.cancelled.lock().unwrap().push(id);
        Ok(cancelled)
    }

    fn leave(&self, caller: &Caller, proposal: ProposalId) -> Result<(), RelayRefusal> {
        let steps = self.steps(caller, proposal)?;
        self.cancel(caller, steps[0].invocation).map(drop)
    }

    fn wait(&self, _proposal: ProposalId, within: Duration, waiter: Box<dyn Waiter>) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.waiting.lock().unwrap().push(Waiting { within, waiter });
    }
}
