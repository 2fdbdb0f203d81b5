//! A forge in memory: it keeps what calls brought about, and answers as it was told to. What it did
//! stands in its ledger, whatever it answered: that is where a doubled effect shows.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use svc::domain::dead_letter::ErrorClass;
use svc::domain::id::{AttemptId, CheckRunId, InstallationId, WorkflowRunId};
use svc::domain::outbox::{CheckRunStatus, EffectKind, SendResult};
use svc::domain::reconcile::{Unavailable, task, uncertain, workflow};
use svc::domain::repository::RepositoryRef;
use svc::domain::time::Timestamp;
use svc::forge::{
    CheckRunLookup, CheckRunUpdate, Dispatch, Forge, Gate, NewCheckRun, Permission, Session,
    TokenUse, unavailable,
};
use svc::runtime::notify::Notify;

/// What happens to one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// No token.
    TokenRefused,
    /// Nothing arrives.
    NotSent,
    /// The forge refuses.
    Refused,
    /// The forge refuses, with an answer of this class.
    RefusedAs(ErrorClass),
    /// The forge answers with another check run.
    Mismatch,
    /// The forge asks to wait, and does nothing.
    RateLimited(Timestamp),
    /// It happens, and the answer does not say which run was started.
    Unnamed,
    /// Nothing happens, which is not known, and the forge asks to wait.
    LostAndAskedToWait(Timestamp),
    /// Nothing happens, which is not known.
    LostBefore,
    /// It happens, which is not known.
    LostAfter,
}

#[derive(Default)]
struct State {
    /// What a look at any workflow run tells; nothing means that it has not ended.
    workflow_run: Option<workflow::Lookup>,
    /// What a look for a dispatched run tells.
    dispatched_run: Option<uncertain::Observation>,
    /// What looks at check runs tell, before what stands there is told.
    check_run_lookups: VecDeque<CheckRunLookup>,
    /// What check runs show.
    shown: Vec<(CheckRunId, CheckRunStatus)>,
    /// Looks so far.
    lookups: usize,
    /// Stopped by the next look for a check run, which then tells nothing.
    stopped_by_find: Option<Notify>,
    /// Runs during the next look, before it is answered.
    during_lookup: Option<Box<dyn FnOnce() + Send>>,
    plans: VecDeque<(EffectKind, Plan)>,
    next_number: i64,
    ledger: Vec<(EffectKind, AttemptId)>,
    /// Calls that asked for an effect, whatever came of them.
    asked: Vec<EffectKind>,
    check_runs: Vec<(AttemptId, CheckRunId)>,
    updates: Vec<CheckRunId>,
}

/// The forge.
#[derive(Default)]
pub(crate) struct FakeForge(Mutex<State>);

impl FakeForge {
    /// The next call of this kind goes this way.
    pub(crate) fn plan(&self, kind: EffectKind, plan: Plan) {
        self.0.lock().unwrap().plans.push_back((kind, plan));
    }

    /// How often an effect of this kind happened for an attempt, or for all.
    pub(crate) fn count(&self, kind: EffectKind, attempt: Option<AttemptId>) -> usize {
        let state = self.0.lock().unwrap();
        let is_it = |entry: &&(EffectKind, AttemptId)| {
            entry.0 == kind && attempt.is_none_or(|attempt| attempt == entry.1)
        };
        state.ledger.iter().filter(is_it).count()
    }

    /// How often an effect of this kind was asked for.
    pub(crate) fn asked(&self, kind: EffectKind) -> usize {
        self.0.lock().unwrap().asked.iter().filter(|asked| **asked == kind).count()
    }

    /// The most often any attempt had an effect of this kind.
    pub(crate) fn most(&self, kind: EffectKind) -> usize {
        let attempts: Vec<_> = self.0.lock().unwrap().ledger.iter().map(|entry| entry.1).collect();
        attempts.iter().map(|attempt| self.count(kind, Some(*attempt))).max().unwrap_or(0)
    }

    /// What every look at a workflow run tells from now on.
    pub(crate) fn workflow_run_is(&self, lookup: workflow::Lookup) {
        self.0.lock().unwrap().workflow_run = Some(lookup);
    }

    /// What a look for a dispatched run tells from now on.
    pub(crate) fn dispatched_run_is(&self, found: uncertain::Observation) {
        self.0.lock().unwrap().dispatched_run = Some(found);
    }

    /// What the next look at a check run tells, whatever stands there.
    pub(crate) fn next_check_run_lookup(&self, lookup: CheckRunLookup) {
        self.0.lock().unwrap().check_run_lookups.push_back(lookup);
    }

    /// What a check run shows; nothing when it was never updated.
    pub(crate) fn shows(&self, check_run: CheckRunId) -> Option<CheckRunStatus> {
        let state = self.0.lock().unwrap();
        state.shown.iter().rfind(|(id, _)| *id == check_run).map(|(_, status)| *status)
    }

    /// The next look for a check run is cut short by the end of its worker.
    pub(crate) fn next_find_is_cut_short(&self, worker: Notify) {
        self.0.lock().unwrap().stopped_by_find = Some(worker);
    }

    /// Runs `event` during the next look at anything, before it is answered.
    pub(crate) fn during_next_lookup(&self, event: impl FnOnce() + Send + 'static) {
        self.0.lock().unwrap().during_lookup = Some(Box::new(event));
    }

    /// How often anything was looked at.
    pub(crate) fn lookups(&self) -> usize {
        self.0.lock().unwrap().lookups
    }

    /// How often check runs were updated.
    pub(crate) fn updates(&self) -> usize {
        self.0.lock().unwrap().updates.len()
    }

    /// The newest check run, as a webhook about it would name it.
    pub(crate) fn last_check_run(&self) -> CheckRunId {
        self.0.lock().unwrap().check_runs.last().unwrap().1
    }

    /// Counts a look, and runs what was planned for it. The state is not locked meanwhile.
    fn begin_lookup(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().unwrap();
        state.lookups += 1;
        let Some(event) = state.during_lookup.take() else { return state };
        drop(state);
        event();
        self.0.lock().unwrap()
    }

    fn take_plan(&self, kind: EffectKind, token: bool) -> Option<Plan> {
        let mut state = self.0.lock().unwrap();
        let fits = |plan: Plan| matches!(plan, Plan::TokenRefused) == token;
        let place = state.plans.iter().position(|(of, plan)| *of == kind && fits(*plan))?;
        state.plans.remove(place).map(|(_, plan)| plan)
    }
}

impl Forge for FakeForge {
    fn open<'s>(
        &'s self,
        _: InstallationId,
        _: &RepositoryRef,
        permission: Permission,
        _: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        gate.check()?;
        let kinds = match permission {
            Permission::ActionsRead => Vec::new(),
            Permission::ActionsWrite => vec![EffectKind::WorkflowDispatch],
            Permission::ChecksWrite => vec![EffectKind::CheckRunCreate, EffectKind::CheckRunUpdate],
        };
        if kinds.into_iter().any(|kind| self.take_plan(kind, true).is_some()) {
            return Err(SendResult::TokenRefused(ErrorClass::Authentication));
        }
        Ok(Box::new(FakeSession(self, gate)))
    }
}

struct FakeSession<'a>(&'a FakeForge, &'a dyn Gate);

impl FakeSession<'_> {
    /// Carries out an effect, or not, and answers as planned.
    fn carry_out(
        &self,
        kind: EffectKind,
        effect: impl FnOnce(&mut State, i64) -> SendResult,
    ) -> SendResult {
        if let Err(stopped) = self.1.check() {
            return stopped;
        }
        self.0.0.lock().unwrap().asked.push(kind);
        let plan = self.0.take_plan(kind, false);
        let mut state = self.0.0.lock().unwrap();
        let lost = SendResult::Uncertain(ErrorClass::Unavailable, None);
        match plan {
            Some(Plan::Refused) => return SendResult::Refused(ErrorClass::Validation),
            Some(Plan::RefusedAs(class)) => return SendResult::Refused(class),
            Some(Plan::Mismatch) => return SendResult::CheckRunMismatch,
            Some(Plan::RateLimited(until)) => return SendResult::RateLimited(until),
            Some(Plan::NotSent) => return SendResult::NotSent(ErrorClass::Unavailable, None),
            Some(Plan::LostBefore) => return lost,
            Some(Plan::LostAndAskedToWait(until)) => {
                return SendResult::Uncertain(ErrorClass::Unavailable, Some(until));
            }
            Some(Plan::TokenRefused | Plan::LostAfter | Plan::Unnamed) | None => {}
        }
        state.next_number += 1;
        let number = state.next_number;
        let answer = effect(&mut state, number);
        match plan {
            Some(Plan::LostAfter) => lost,
            Some(Plan::Unnamed) => SendResult::Dispatched(None),
            _ => answer,
        }
    }
}

impl Session for FakeSession<'_> {
    fn dispatch_workflow(&mut self, dispatch: &Dispatch<'_>) -> SendResult {
        let attempt = dispatch.attempt;
        self.carry_out(EffectKind::WorkflowDispatch, |state, number| {
            state.ledger.push((EffectKind::WorkflowDispatch, attempt));
            SendResult::Dispatched(WorkflowRunId::try_from(number).ok())
        })
    }

    fn find_check_run(
        &mut self,
        wanted: &NewCheckRun<'_>,
    ) -> Result<Option<CheckRunId>, Unavailable> {
        self.1.check().map_err(unavailable)?;
        let mut state = self.0.begin_lookup();
        if let Some(worker) = state.stopped_by_find.take() {
            worker.stop();
            return Err(Unavailable { class: ErrorClass::Unavailable, wait_until: None });
        }
        let found = state.check_runs.iter().find(|(attempt, _)| *attempt == wanted.attempt);
        Ok(found.map(|(_, id)| *id))
    }

    fn create_check_run(&mut self, check_run: &NewCheckRun<'_>) -> SendResult {
        let attempt = check_run.attempt;
        self.carry_out(EffectKind::CheckRunCreate, |state, number| {
            let id = CheckRunId::try_from(number).unwrap();
            state.ledger.push((EffectKind::CheckRunCreate, attempt));
            state.check_runs.push((attempt, id));
            SendResult::CheckRunExists(id)
        })
    }

    fn workflow_run(&mut self, _: &task::WorkflowRun) -> workflow::Lookup {
        if let Err(stopped) = self.1.check() {
            return workflow::Lookup::Unavailable(unavailable(stopped));
        }
        let state = self.0.begin_lookup();
        state.workflow_run.unwrap_or(workflow::Lookup::Pending)
    }

    fn find_workflow_run(&mut self, _: &task::Dispatch) -> uncertain::Observation {
        if let Err(stopped) = self.1.check() {
            return uncertain::Observation::Unavailable(unavailable(stopped));
        }
        let state = self.0.begin_lookup();
        state.dispatched_run.unwrap_or(uncertain::Observation::NoProof)
    }

    fn check_run(&mut self, wanted: &task::CheckRun) -> CheckRunLookup {
        if let Err(stopped) = self.1.check() {
            return CheckRunLookup::Unavailable(unavailable(stopped));
        }
        let mut state = self.0.begin_lookup();
        if let Some(told) = state.check_run_lookups.pop_front() {
            return told;
        }
        let shown = state.shown.iter().rfind(|(id, _)| *id == wanted.check_run);
        match shown.map(|(_, status)| *status) {
            Some(CheckRunStatus::Completed { conclusion, .. })
                if conclusion == wanted.conclusion =>
            {
                CheckRunLookup::Expected
            }
            other => {
                CheckRunLookup::Different(svc::crypto::sha256::of(format!("{other:?}").as_bytes()))
            }
        }
    }

    fn update_check_run(&mut self, update: &CheckRunUpdate<'_>) -> SendResult {
        let (check_run, status) = (update.check_run, update.status);
        self.carry_out(EffectKind::CheckRunUpdate, |state, _| {
            state.updates.push(check_run);
            state.shown.push((check_run, status));
            SendResult::CheckRunUpdated
        })
    }
}
