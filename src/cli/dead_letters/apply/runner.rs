//! Applies a plan, one item after the other: sends each request once under its key, looks at what dies again, and stops
//! where it must.

mod waiting;

use std::collections::HashMap;
use std::time::Duration;

use super::deaths::Deaths;
use super::decision::{ApplyCounts, ApplyEnding, ItemOutcome};
use super::interrupt::Interrupt;
use super::report::Report;
use crate::api::{AppliedBody, CloseBody, DeadLetter, DeadLetterFilter};
use crate::cli::client::{Client, Failure};
use crate::cli::dead_letters;
use crate::cli::dead_letters::plan::document::{Plan, PlannedAction, PlannedItem};
use crate::cli::error::Error;
use crate::cli::pages::{self, Paging, Wanted};
use crate::cli::retry;
use crate::domain::dead_letter::{ItemId, ItemType};
use crate::domain::id::AuditEventId;
use crate::domain::page::PAGE_MAX;
use crate::runtime::clock::{Clock as _, SystemClock};

/// Most pages of new dead letters that are read at one look.
const PAGES_MAX: u32 = 1_000;

/// How a plan is applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplyOptions {
    /// So many items are to succeed before the others are tried.
    pub(super) canary: usize,
    /// The longest wait for that.
    pub(super) canary_timeout: Duration,
    /// The longest wait at the end, for all of them.
    pub(super) settle_timeout: Duration,
    /// From one item to the next.
    pub(super) interval: Option<Duration>,
    /// So many items that die again end it; 0 means that none do.
    pub(super) failures_max: usize,
    /// How often one request is sent again.
    pub(super) retries: u32,
}

/// Why it does not go on.
enum Halt {
    Interrupted,
    Failed(Failure),
    /// The report cannot be printed.
    Unreported(Error),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Unreported(error)
    }
}

/// What is known of an item of the plan.
#[derive(Clone, Copy, Debug, Default)]
struct ItemState {
    is_tried: bool,
    /// The audit event of its replay by this plan, in this run or an earlier one.
    replay: Option<AuditEventId>,
    /// It died after the instant that the plan has.
    is_dead: bool,
    /// It was done when it was last looked at.
    is_done: bool,
}

impl ItemState {
    /// Returns the audit event of a replay of which the end is not known.
    fn under_way(self) -> Option<AuditEventId> {
        self.replay.filter(|_| !self.is_dead && !self.is_done)
    }
}

/// A plan that is being applied.
pub(super) struct Runner<'a> {
    client: &'a Client,
    plan: &'a Plan,
    options: ApplyOptions,
    interrupt: &'a Interrupt,
    report: Report,
    pub(super) counts: ApplyCounts,
    states: Vec<ItemState>,
    places: HashMap<ItemId, usize>,
    deaths: Deaths,
    clock: SystemClock,
    /// When the next item may be sent.
    next: Duration,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        client: &'a Client,
        plan: &'a Plan,
        options: ApplyOptions,
        interrupt: &'a Interrupt,
        report: Report,
    ) -> Self {
        let clock = SystemClock::new();
        let now = clock.monotonic();
        let places = plan.items.iter().enumerate().map(|(place, item)| (item.item, place));
        Self {
            client,
            plan,
            options,
            interrupt,
            report,
            counts: ApplyCounts::default(),
            states: vec![ItemState::default(); plan.items.len()],
            places: places.collect(),
            deaths: Deaths::after(&plan.items, now),
            clock,
            next: now,
        }
    }

    /// Applies the plan as far as it goes. `counts` says how far.
    ///
    /// # Errors
    /// The service cannot be reached or refuses everything, or the report cannot be printed.
    pub(super) fn run(&mut self) -> Result<ApplyEnding, Error> {
        match self.all() {
            Ok(ending) => Ok(ending),
            Err(Halt::Interrupted) => Ok(ApplyEnding::Interrupted),
            Err(Halt::Failed(failure)) => Err(failure.into()),
            Err(Halt::Unreported(error)) => Err(error),
        }
    }

    /// Returns what told how it went.
    pub(super) fn into_report(self) -> (Report, ApplyCounts) {
        (self.report, self.counts)
    }

    fn all(&mut self) -> Result<ApplyEnding, Halt> {
        let replays = self.plan.action == PlannedAction::Replay;
        if replays && let Some(ending) = self.canary()? {
            return Ok(ending);
        }
        for place in 0..self.plan.items.len() {
            if self.states.get(place).is_none_or(|state| state.is_tried) {
                continue;
            }
            self.apply(place)?;
            if replays && self.deaths.is_due(self.clock.monotonic()) {
                self.look_at_installation_of(place)?;
            }
            if self.counts.must_stop(self.options.failures_max) {
                return Ok(ApplyEnding::DiedAgain);
            }
        }
        if replays {
            self.settle()?;
        }
        let stop = self.counts.must_stop(self.options.failures_max);
        Ok(if stop { ApplyEnding::DiedAgain } else { ApplyEnding::Complete })
    }

    /// Sends the request for one item.
    fn apply(&mut self, place: usize) -> Result<(), Halt> {
        self.keep_to_the_rate();
        let Some(item) = self.plan.items.get(place).copied() else { return Ok(()) };
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("failedAt", &item.failed_at.to_string());
        let key = self.plan.key(item.item);
        let (verb, body) = match &self.plan.action {
            PlannedAction::Replay => ("replay", None),
            PlannedAction::Close(reason) => {
                ("close", Some(CloseBody { reason: reason.as_str().to_owned() }))
            }
        };
        let body = body.map(|body| serde_json::to_vec(&body)).transpose();
        let body = body.expect("text always serializes");
        let path = format!("{}/{verb}?{}", path(&item), query.finish());
        let answer = self.retrying(|client| {
            let answer = client.post::<AppliedBody>(&path, key.as_str(), body.as_deref());
            match ItemOutcome::of(&answer) {
                Some(outcome) => Ok((outcome, answer)),
                None => Err(answer.err().unwrap_or_else(|| {
                    Failure::malformed("the response from svcd", "its outcome is not known")
                })),
            }
        });
        let (outcome, answer) = answer?;
        self.counts.count(outcome);
        self.deaths.sent();
        let why = answer.as_ref().err().and_then(reason);
        let event = answer.as_ref().ok().map(|applied| applied.audit_event_id);
        let mut died_before = false;
        if let Some(state) = self.states.get_mut(place) {
            state.is_tried = true;
            state.replay = event.filter(|_| self.plan.action == PlannedAction::Replay);
            died_before = state.replay.is_some() && state.is_dead;
            self.counts.under_way += usize::from(state.replay.is_some());
        }
        self.report.item(&item, outcome, why, event, self.counts)?;
        if died_before {
            self.count_death(&item, None)?;
        }
        Ok(())
    }

    /// Asks the installation of this item what died since it was last asked.
    fn look_at_installation_of(&mut self, place: usize) -> Result<(), Halt> {
        if let Some(item) = self.plan.items.get(place) {
            self.deaths.turn_to(item.installation);
        }
        self.look_at_next()
    }

    /// Asks one installation what died since it was last asked.
    fn look_at_next(&mut self) -> Result<(), Halt> {
        let Some((installation, since)) = self.deaths.next() else { return Ok(()) };
        let filter = DeadLetterFilter { since: Some(since), ..DeadLetterFilter::default() };
        let wanted = Wanted { paging: Paging::pages_of(PAGE_MAX), before: None, filter };
        let list = dead_letters::path(installation);
        let (mut before, mut newest) = (None, None);
        for _ in 0..PAGES_MAX {
            let page = self.retrying(|client| {
                pages::page::<DeadLetter>(client, &list, &wanted, before.as_deref())
            })?;
            for letter in &page.items {
                newest = newest.max(Some(letter.failed_at));
                let id = ItemType::from_word(&letter.item_type)
                    .and_then(|item_type| ItemId::parse(item_type, &letter.item_id));
                if let Some(id) = id {
                    self.died(id, &letter.reason_code)?;
                }
            }
            before = page.next_before;
            if before.is_none() {
                break;
            }
        }
        self.deaths.seen(newest, self.clock.monotonic());
        Ok(())
    }

    /// Notes that an item died after the instant that the plan has. That counts if this plan replayed it.
    fn died(&mut self, id: ItemId, reason: &str) -> Result<(), Halt> {
        let place = self.places.get(&id).copied();
        let Some((place, item)) =
            place.and_then(|place| Some((place, *self.plan.items.get(place)?)))
        else {
            return Ok(());
        };
        let Some(state) = self.states.get_mut(place) else { return Ok(()) };
        let counts = state.under_way().is_some();
        state.is_dead = true;
        if counts {
            self.count_death(&item, Some(reason))?;
        }
        Ok(())
    }

    fn count_death(&mut self, item: &PlannedItem, reason: Option<&str>) -> Result<(), Error> {
        self.counts.under_way -= 1;
        self.counts.count(ItemOutcome::DiedAgain);
        self.report.item(item, ItemOutcome::DiedAgain, reason, None, self.counts)
    }

    /// Makes a request unless it was interrupted, and makes it again while that may help. The service answered before, so if
    /// it cannot be reached, it restarts.
    fn retrying<T>(&self, ask: impl Fn(&Client) -> Result<T, Failure>) -> Result<T, Halt> {
        let mut failures = 0;
        loop {
            if self.interrupt.is_set() {
                return Err(Halt::Interrupted);
            }
            let failure = match ask(self.client) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failures += 1;
            let wait = failure
                .setback()
                .and_then(|setback| retry::wait(setback, failures + 1, self.options.retries + 1));
            match wait {
                Some(wait) => self.interrupt.pause(wait),
                None => return Err(failure.into()),
            }
        }
    }

    fn keep_to_the_rate(&mut self) {
        if let Some(interval) = self.options.interval {
            let now = self.clock.monotonic();
            self.interrupt.pause(self.next.saturating_sub(now));
            self.next = self.next.max(now) + interval;
        }
    }
}

/// Returns the path of an item.
fn path(item: &PlannedItem) -> String {
    format!("{}/{}/{}", dead_letters::path(item.installation), item.item.item_type(), item.item)
}

/// Returns why an item was refused, by its stable word.
fn reason(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::Refused { problem, .. } => {
            Some(problem.replay_class.as_deref().unwrap_or(&problem.outcome))
        }
        _ => None,
    }
}
