//! A forge whose every call takes time, and fails for one installation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use svc::domain::dead_letter::ErrorClass;
use svc::domain::id::{CheckRunId, InstallationId, WorkflowRunId};
use svc::domain::outbox::SendResult;
use svc::domain::reconcile::workflow::{Lookup, RunConclusion};
use svc::domain::reconcile::{Unavailable, task, uncertain};
use svc::domain::repository::RepositoryRef;
use svc::forge::{
    CheckRunLookup, CheckRunUpdate, Dispatch, Forge as AnyForge, Gate, NewCheckRun, Permission,
    Session, TokenUse, unavailable,
};
use svc::runtime::clock::Clock as _;

use super::virtual_time::VirtualTime;

/// How long a call takes that does not fail.
pub(super) const CALL: Duration = Duration::from_millis(200);
/// How long a slow one takes.
const SLOW: Duration = Duration::from_secs(14);
/// How long the forge asks to wait.
const LIMITED: Duration = Duration::from_secs(60);

/// How calls fail: what the forge answers, and whether the call for the token fails so already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    answer: Answer,
    of_tokens: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Status(u16),
    /// A 429 that bears the marks of the limiter.
    Limited,
    Slow,
    Cut,
    Garbage,
}

const fn way(answer: Answer, of_tokens: bool) -> Failure {
    Failure { answer, of_tokens }
}

/// Every way to fail.
pub(super) const WAYS: &[Failure] = &[
    way(Answer::Status(401), false),
    way(Answer::Status(403), false),
    way(Answer::Status(404), false),
    way(Answer::Status(422), false),
    way(Answer::Status(429), false),
    way(Answer::Limited, false),
    way(Answer::Status(500), false),
    way(Answer::Slow, false),
    way(Answer::Cut, false),
    way(Answer::Garbage, false),
    way(Answer::Status(401), true),
    way(Answer::Status(404), true),
    way(Answer::Status(500), true),
    way(Answer::Limited, true),
    way(Answer::Slow, true),
];

impl Failure {
    pub(super) const fn name(self) -> &'static str {
        match (self.answer, self.of_tokens) {
            (Answer::Status(401), false) => "401",
            (Answer::Status(403), false) => "403",
            (Answer::Status(404), false) => "404",
            (Answer::Status(422), false) => "422",
            (Answer::Status(429), false) => "429, nothing stated",
            (Answer::Limited, false) => "429, with its marks",
            (Answer::Status(_), false) => "500",
            (Answer::Slow, false) => "slow by 14 s",
            (Answer::Cut, _) => "cut off",
            (Answer::Garbage, _) => "garbage",
            (Answer::Status(401), true) => "401 for the token",
            (Answer::Status(404), true) => "404 for the token",
            (Answer::Status(_), true) => "500 for the token",
            (Answer::Limited, true) => "429 for the token",
            (Answer::Slow, true) => "slow by 14 s, token too",
        }
    }

    /// How long one call of it takes.
    pub(super) fn call(self) -> Duration {
        if self.answer == Answer::Slow { SLOW } else { CALL }
    }
}

pub(super) struct Forge {
    time: Arc<VirtualTime>,
    clock: Arc<crate::support::ManualClock>,
    sick: InstallationId,
    failure: Option<Failure>,
    numbers: Mutex<i64>,
    /// Which check run belongs to whom is known by its external id.
    check_runs: Mutex<BTreeMap<String, CheckRunId>>,
}

impl Forge {
    pub(super) fn new(
        time: Arc<VirtualTime>,
        clock: Arc<crate::support::ManualClock>,
        sick: InstallationId,
        failure: Option<Failure>,
    ) -> Self {
        let (numbers, check_runs) = (Mutex::new(1_000_000), Mutex::default());
        Self { time, clock, sick, failure, numbers, check_runs }
    }

    fn number(&self) -> i64 {
        let mut numbers = self.numbers.lock().unwrap();
        *numbers += 1;
        *numbers
    }

    /// Takes the time of a call; returns what it comes to when it fails.
    fn call(&self, gate: &dyn Gate, failure: Option<Failure>) -> Result<(), SendResult> {
        gate.check()?;
        let Some(failure) = failure else {
            self.time.pass(CALL);
            return Ok(());
        };
        self.time.pass(failure.call());
        let until = self.clock.now().plus(LIMITED);
        Err(match failure.answer {
            Answer::Slow => return Ok(()),
            Answer::Status(401) => SendResult::Refused(ErrorClass::Authentication),
            Answer::Status(403) => SendResult::Refused(ErrorClass::Permission),
            Answer::Status(404) => SendResult::Refused(ErrorClass::NotFound),
            Answer::Status(422) => SendResult::Refused(ErrorClass::Validation),
            Answer::Status(429) => SendResult::Uncertain(ErrorClass::RateLimited, Some(until)),
            Answer::Limited => SendResult::RateLimited(until),
            Answer::Status(_) | Answer::Cut => SendResult::Uncertain(ErrorClass::Unavailable, None),
            Answer::Garbage => SendResult::Uncertain(ErrorClass::Protocol, None),
        })
    }
}

impl AnyForge for Forge {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        _: &RepositoryRef,
        _: Permission,
        _: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        let failure = self.failure.filter(|_| installation == self.sick);
        self.call(gate, failure.filter(|failure| failure.of_tokens)).map_err(
            |told| match told {
                SendResult::Refused(class) => SendResult::TokenRefused(class),
                SendResult::Uncertain(class, until) => SendResult::NotSent(class, until),
                other => other,
            },
        )?;
        Ok(Box::new(FailingSession { forge: self, failure, gate }))
    }
}

struct FailingSession<'a> {
    forge: &'a Forge,
    failure: Option<Failure>,
    gate: &'a dyn Gate,
}

impl FailingSession<'_> {
    fn call(&self) -> Result<(), SendResult> {
        self.forge.call(self.gate, self.failure)
    }

    fn look_up(&self) -> Result<(), Unavailable> {
        self.call().map_err(unavailable)
    }
}

impl Session for FailingSession<'_> {
    fn dispatch_workflow(&mut self, _: &Dispatch<'_>) -> SendResult {
        match self.call() {
            Ok(()) => SendResult::Dispatched(WorkflowRunId::try_from(self.forge.number()).ok()),
            Err(told) => told,
        }
    }

    fn find_check_run(
        &mut self,
        wanted: &NewCheckRun<'_>,
    ) -> Result<Option<CheckRunId>, Unavailable> {
        self.look_up()?;
        Ok(self.forge.check_runs.lock().unwrap().get(&wanted.attempt.to_string()).copied())
    }

    fn create_check_run(&mut self, check_run: &NewCheckRun<'_>) -> SendResult {
        if let Err(told) = self.call() {
            return told;
        }
        let id = CheckRunId::try_from(self.forge.number()).unwrap();
        self.forge.check_runs.lock().unwrap().insert(check_run.attempt.to_string(), id);
        SendResult::CheckRunExists(id)
    }

    fn workflow_run(&mut self, _: &task::WorkflowRun) -> Lookup {
        match self.look_up() {
            Ok(()) => Lookup::Completed(RunConclusion::Failure),
            Err(why) if why.class == ErrorClass::NotFound => Lookup::NotFound,
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn find_workflow_run(&mut self, _: &task::Dispatch) -> uncertain::Observation {
        match self.look_up() {
            Ok(()) => uncertain::Observation::NoProof,
            Err(why) => uncertain::Observation::Unavailable(why),
        }
    }

    fn check_run(&mut self, _: &task::CheckRun) -> CheckRunLookup {
        match self.look_up() {
            Ok(()) => CheckRunLookup::Different([1; 32].into()),
            Err(why) if why.class == ErrorClass::NotFound => CheckRunLookup::NotFound,
            Err(why) => CheckRunLookup::Unavailable(why),
        }
    }

    fn update_check_run(&mut self, _: &CheckRunUpdate<'_>) -> SendResult {
        match self.call() {
            Ok(()) => SendResult::CheckRunUpdated,
            Err(told) => told,
        }
    }
}
