//! The forge of the simulation. Each call meets a fault, or none; while it lasts, others go on.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use svc::domain::dead_letter::{ErrorClass, FailureCause};
use svc::domain::id::{AttemptId, CheckRunId, InstallationId, WorkflowRunId};
use svc::domain::outbox::{CheckRunStatus, EffectKind, SendResult};
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{Unavailable, task, uncertain};
use svc::domain::repository::RepositoryRef;
use svc::forge::{
    CheckRunLookup, CheckRunUpdate, Clearance, Dispatch, Forge, Gate, NewCheckRun, Permission,
    Session, TokenUse, unavailable,
};
use svc::runtime::clock::Clock as _;
use svc::runtime::notify::Notify;

use super::actions;
use super::world::World;

/// What is thrown when a process dies in the middle of a call.
pub(super) struct Died;

/// The client ends every call by then.
const CALL_MAX: Duration = Duration::from_secs(120);

/// Where a call can fail.
pub(super) const CUTS: &[&str] = &[
    "open",
    "dispatch",
    "create",
    "find",
    "update",
    "look at run",
    "find run",
    "look at check run",
];

/// How a call can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Slow,
    Refused,
    RateLimited,
    NotSent,
    LostBefore,
    LostAfter,
    DiedBefore,
    DiedAfter,
    WrongNumber,
    Unnamed,
    NotFound,
    Mismatch,
    Lag,
}

impl Fault {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Slow => "slow",
            Self::Refused => "refused",
            Self::RateLimited => "rate limited",
            Self::NotSent => "not sent",
            Self::LostBefore => "lost before",
            Self::LostAfter => "lost after",
            Self::DiedBefore => "died before",
            Self::DiedAfter => "died after",
            Self::WrongNumber => "wrong number",
            Self::Unnamed => "unnamed",
            Self::NotFound => "not found",
            Self::Mismatch => "mismatch",
            Self::Lag => "lag",
        }
    }
}

/// The faults that make sense at a cut.
pub(super) fn faults_at(cut: &str) -> &'static [Fault] {
    use Fault::*;
    match cut {
        "open" => &[None, Slow, Refused, RateLimited, NotSent, DiedBefore],
        "find" | "find run" => &[None, Slow, RateLimited, LostBefore, DiedBefore],
        "look at run" => &[None, Slow, RateLimited, LostBefore, DiedBefore, NotFound],
        "look at check run" => {
            &[None, Slow, RateLimited, LostBefore, DiedBefore, NotFound, Mismatch]
        }
        "update" => &[
            None,
            Slow,
            Refused,
            RateLimited,
            NotSent,
            LostBefore,
            LostAfter,
            DiedBefore,
            DiedAfter,
            Lag,
            Mismatch,
        ],
        "dispatch" => &[
            None,
            Slow,
            Refused,
            RateLimited,
            NotSent,
            LostBefore,
            LostAfter,
            DiedBefore,
            DiedAfter,
            WrongNumber,
            Unnamed,
            Lag,
        ],
        _ => &[
            None,
            Slow,
            Refused,
            RateLimited,
            NotSent,
            LostBefore,
            LostAfter,
            DiedBefore,
            DiedAfter,
            WrongNumber,
            Lag,
        ],
    }
}

/// What the forge knows.
#[derive(Default)]
pub(super) struct ForgeState {
    next_number: i64,
    /// How often each effect happened.
    pub(super) effects: BTreeMap<(&'static str, AttemptId), u32>,
    pub(super) check_runs: Vec<(AttemptId, CheckRunId)>,
    /// Check runs that were removed.
    pub(super) removed: BTreeSet<CheckRunId>,
    /// What check runs show.
    pub(super) shown: BTreeMap<CheckRunId, CheckRunStatus>,
    /// Runs that were dispatched.
    pub(super) runs: Vec<Run>,
    /// Attempts one of whose calls took longer, by the clock, than any call may: the clock stepped
    /// forward meanwhile, the lease was over, and another holder looked before the effect was there.
    pub(super) outlasted: BTreeSet<AttemptId>,
}

/// A workflow run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) attempt: AttemptId,
    pub(super) id: WorkflowRunId,
    /// How it ended; nothing while it runs.
    pub(super) ended: Option<RunConclusion>,
    /// It was deleted.
    pub(super) deleted: bool,
}

/// The forge, as one step of a worker sees it.
pub(super) struct SimulatedForge {
    pub(super) world: Arc<World>,
    pub(super) depth: u32,
    /// The worker's own.
    pub(super) notify: Notify,
    /// The installation of the session that was opened last.
    pub(super) installation: AtomicI64,
}

/// How every call of a sick installation fails, where it can fail so.
pub(super) const SICKNESSES: [Fault; 6] = [
    Fault::Slow,
    Fault::Refused,
    Fault::RateLimited,
    Fault::NotSent,
    Fault::LostBefore,
    Fault::Lag,
];

impl SimulatedForge {
    /// Draws what happens to a call, and lets time and others go on meanwhile.
    fn draw_fault(&self, cut: &'static str) -> Fault {
        let world = &self.world;
        let call = world.reach.call();
        let faults = faults_at(cut);
        let sick = world.sickness_of(self.installation.load(Ordering::Relaxed));
        let fault = match sick.filter(|sickness| faults.contains(sickness)) {
            _ if !world.are_faults_on() => Fault::None,
            Some(sickness) => sickness,
            None if world.chance.one_in(3) => *world.chance.pick(faults).unwrap(),
            None => Fault::None,
        };
        world.count(cut, fault.name());
        world.note(self.depth, &format!("forge {cut}: {}", fault.name()));
        let pause = match fault {
            Fault::Slow => 60 + world.chance.below(50),
            _ => world.chance.below(3),
        };
        world.clock.advance(Duration::from_secs(pause));
        if world.are_faults_on() && self.depth < 3 {
            for _ in 0..world.chance.below(3) {
                actions::step(world, self.depth + 1);
            }
        }
        match fault {
            // Of a sick tenant it is not the whole forge that cannot be reached.
            Fault::NotSent if sick.is_some() => {}
            Fault::NotSent => world.reach.failed(call, FailureCause::Refused),
            _ => world.reach.succeeded(),
        }
        if fault == Fault::DiedBefore {
            resume_unwind(Box::new(Died));
        }
        if world.is_shut() || world.does_disk_fail() {
            // The worker would wait for the store, in real time; its process ends instead.
            self.notify.stop();
        }
        fault
    }

    /// Carries out an effect as the fault lets it, and answers.
    fn carry_out(
        &self,
        cut: &'static str,
        attempt: AttemptId,
        gate: &dyn Gate,
        effect: impl FnOnce(&mut ForgeState, i64) -> SendResult,
    ) -> SendResult {
        if let Err(stopped) = gate.check() {
            return stopped;
        }
        let began = self.world.clock.monotonic();
        let fault = self.draw_fault(cut);
        let now = self.world.clock.now();
        let wait = Duration::from_secs(30 + self.world.chance.below(600));
        let lost = SendResult::Uncertain(ErrorClass::Unavailable, None);
        match fault {
            Fault::Refused => return SendResult::Refused(ErrorClass::Validation),
            Fault::RateLimited => return SendResult::RateLimited(now.plus(wait)),
            Fault::NotSent => return SendResult::NotSent(ErrorClass::Unavailable, None),
            Fault::LostBefore => return lost,
            Fault::Lag => return SendResult::Refused(ErrorClass::NotFound),
            Fault::Mismatch => return SendResult::CheckRunMismatch,
            _ => {}
        }
        let answer = {
            let mut state = self.world.forge.lock().unwrap();
            if fault != Fault::WrongNumber || state.next_number == 0 {
                state.next_number += 1;
            }
            let number = state.next_number;
            *state.effects.entry((cut, attempt)).or_default() += 1;
            // By the clock that never steps back: wall time may have jumped over the lease and come back.
            if self.world.clock.monotonic().saturating_sub(began) > CALL_MAX {
                state.outlasted.insert(attempt);
            }
            effect(&mut state, number)
        };
        match fault {
            Fault::LostAfter => lost,
            Fault::Unnamed => SendResult::Dispatched(None),
            Fault::DiedAfter => resume_unwind(Box::new(Died)),
            _ => answer,
        }
    }
}

impl Forge for SimulatedForge {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        _: &RepositoryRef,
        _: Permission,
        _: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        gate.check()?;
        self.installation.store(installation.get(), Ordering::Relaxed);
        let now = self.world.clock.now();
        match self.draw_fault("open") {
            Fault::Refused => Err(SendResult::TokenRefused(ErrorClass::Authentication)),
            Fault::RateLimited => Err(SendResult::RateLimited(now.plus(Duration::from_secs(90)))),
            Fault::NotSent => Err(SendResult::NotSent(ErrorClass::Unavailable, None)),
            _ => Ok(Box::new(SimulatedSession(self, gate))),
        }
    }

    fn clearance(&self) -> Option<Clearance<'_>> {
        self.world.reach.clearance()
    }
}

impl SimulatedForge {
    /// Draws what happens to a look: what is told instead of the truth, or why nothing is told.
    fn look_up(&self, cut: &'static str) -> Result<Fault, Unavailable> {
        let why = |class, wait_until| Err(Unavailable { class, wait_until });
        match self.draw_fault(cut) {
            Fault::RateLimited => {
                let wait = Duration::from_secs(30 + self.world.chance.below(600));
                why(ErrorClass::RateLimited, Some(self.world.clock.now().plus(wait)))
            }
            Fault::LostBefore => why(ErrorClass::Unavailable, None),
            fault => Ok(fault),
        }
    }
}

struct SimulatedSession<'a>(&'a SimulatedForge, &'a dyn Gate);

impl SimulatedSession<'_> {
    /// Draws what happens to a look that the gate lets pass.
    fn look_up(&self, cut: &'static str) -> Result<Fault, Unavailable> {
        self.1.check().map_err(unavailable)?;
        self.0.look_up(cut)
    }
}

impl Session for SimulatedSession<'_> {
    fn dispatch_workflow(&mut self, dispatch: &Dispatch<'_>) -> SendResult {
        let attempt = dispatch.attempt;
        let cut = cut_of(EffectKind::WorkflowDispatch);
        self.0.carry_out(cut, attempt, self.1, |state, number| {
            let id = WorkflowRunId::try_from(number).unwrap();
            state.runs.push(Run { attempt, id, ended: None, deleted: false });
            SendResult::Dispatched(Some(id))
        })
    }

    fn find_check_run(
        &mut self,
        wanted: &NewCheckRun<'_>,
    ) -> Result<Option<CheckRunId>, Unavailable> {
        self.1.check().map_err(unavailable)?;
        let now = self.0.world.clock.now();
        match self.0.draw_fault("find") {
            Fault::RateLimited => {
                let until = now.plus(Duration::from_secs(45));
                return Err(Unavailable {
                    class: ErrorClass::RateLimited,
                    wait_until: Some(until),
                });
            }
            Fault::LostBefore => {
                return Err(Unavailable { class: ErrorClass::Unavailable, wait_until: None });
            }
            _ => {}
        }
        let state = self.0.world.forge.lock().unwrap();
        let found = state.check_runs.iter().find(|(attempt, _)| *attempt == wanted.attempt);
        Ok(found.map(|(_, id)| *id))
    }

    fn create_check_run(&mut self, check_run: &NewCheckRun<'_>) -> SendResult {
        let attempt = check_run.attempt;
        let cut = cut_of(EffectKind::CheckRunCreate);
        self.0.carry_out(cut, attempt, self.1, |state, number| {
            let id = CheckRunId::try_from(number).unwrap();
            state.check_runs.push((attempt, id));
            SendResult::CheckRunExists(id)
        })
    }

    fn workflow_run(&mut self, wanted: &task::WorkflowRun) -> Lookup {
        match self.look_up("look at run") {
            Ok(Fault::NotFound) => return Lookup::NotFound,
            Ok(_) => {}
            Err(why) => return Lookup::Unavailable(why),
        }
        let state = self.0.world.forge.lock().unwrap();
        let run = state.runs.iter().find(|run| run.id == wanted.run && !run.deleted);
        run.map_or(Lookup::NotFound, |run| run.ended.map_or(Lookup::Pending, Lookup::Completed))
    }

    fn find_workflow_run(&mut self, wanted: &task::Dispatch) -> uncertain::Observation {
        if let Err(why) = self.look_up("find run") {
            return uncertain::Observation::Unavailable(why);
        }
        let state = self.0.world.forge.lock().unwrap();
        let run = state.runs.iter().find(|run| run.attempt == wanted.attempt && !run.deleted);
        run.map_or(uncertain::Observation::NoProof, |run| {
            uncertain::Observation::WorkflowRun(run.id)
        })
    }

    fn check_run(&mut self, wanted: &task::CheckRun) -> CheckRunLookup {
        match self.look_up("look at check run") {
            Ok(Fault::NotFound) => return CheckRunLookup::NotFound,
            Ok(Fault::Mismatch) => return CheckRunLookup::BindingMismatch,
            Ok(_) => {}
            Err(why) => return CheckRunLookup::Unavailable(why),
        }
        let state = self.0.world.forge.lock().unwrap();
        if state.removed.contains(&wanted.check_run) {
            return CheckRunLookup::NotFound;
        }
        if !state.check_runs.contains(&(wanted.attempt, wanted.check_run)) {
            return CheckRunLookup::BindingMismatch;
        }
        match state.shown.get(&wanted.check_run) {
            Some(CheckRunStatus::Completed { conclusion, .. })
                if *conclusion == wanted.conclusion =>
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
        let cut = cut_of(EffectKind::CheckRunUpdate);
        self.0.carry_out(cut, update.attempt, self.1, |state, _| {
            if state.removed.contains(&check_run) {
                return SendResult::Refused(ErrorClass::NotFound);
            }
            state.shown.insert(check_run, status);
            SendResult::CheckRunUpdated
        })
    }
}

const fn cut_of(kind: EffectKind) -> &'static str {
    match kind {
        EffectKind::WorkflowDispatch => "dispatch",
        EffectKind::CheckRunCreate => "create",
        EffectKind::CheckRunUpdate => "update",
    }
}
