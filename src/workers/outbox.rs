//! Sends side effects: claim, open a session, mark, call, settle, with a commit between any two, so
//! that the next holder after a crash knows how far it got.
//!
//! A dispatch that was marked is never sent again. A check run whose creation is in doubt is looked
//! for first. The forge is never called while a transaction is open.
//!
//! Why three commits: `docs/decisions/07-effect-three-commits.md`.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::dead_letter::{DeadLetterReason, ErrorClass, FailureCause};
use crate::domain::lease::Claim;
use crate::domain::outbox::{self, EffectKind, OutboxMessage, SendResult, Settlement};
use crate::domain::pace::Pace;
use crate::domain::retry::RetryPolicy;
use crate::forge::{self, CheckRunUpdate, Forge, NewCheckRun, Permission, TokenUse};
use crate::metrics::{EffectOutcome, Metrics};
use crate::runtime::notify::Notify;
use crate::store::{self, LeasePolicy, Store};
use crate::workers::driver::{Next, Worker};
use crate::workers::gate::Gate;
use crate::workers::shares::Shares;

/// Longer than every call of one message together: a token, a lookup and the effect, each once more at
/// most (30 s), with room for a clock that steps.
const LEASE: Duration = Duration::from_secs(240);
/// What must be left of the lease when the effect leaves: one call with its redirect (30 s), and room.
const CALL_MAX: Duration = Duration::from_secs(120);
/// Pause between tries to record an outcome while the store is unavailable.
const SETTLE_PAUSE: Duration = Duration::from_millis(500);

/// The worker.
pub struct Outbox {
    pub store: Store,
    pub forge: Arc<dyn Forge>,
    /// Random per process start; names the holder of a lease.
    pub owner: String,
    /// Tries and delays.
    pub retry: RetryPolicy,
    /// How fast writes of one installation leave.
    pub pace: Pace,
    /// How many threads work for one installation.
    pub shares: Shares,
    /// Its own wake: news, and the end.
    pub notify: Notify,
    /// Counters.
    pub metrics: Arc<Metrics>,
}

/// What sending came to, and whether an effect may have happened that nothing has disproved.
struct Sent {
    result: SendResult,
    uncertain: bool,
}

impl Worker for Outbox {
    fn name(&self) -> &'static str {
        "outbox"
    }

    fn step(&mut self) -> Next {
        // Before the claim: during a pause, claiming and putting off each message again would be most of the work.
        let Some(clearance) = self.forge.clearance() else { return Next::Wait };
        let policy = LeasePolicy { lease: LEASE, retry: self.retry };
        let claimed = self.shares.claim(|full| {
            let claim = self.store.claim_message(&self.owner, policy, self.pace, full)?;
            Ok((claim.as_ref().map(|claim| claim.item.installation), claim))
        });
        // `_share` lives to the end of the step: the thread counts as busy for the installation until it has settled.
        let (_share, claim) = match claimed {
            Ok((share, Some(claim))) => (share, claim),
            Ok((_, None)) => {
                // If the store cannot tell, the pause lasts.
                clearance.end_unless(|| !matches!(self.store.is_outbox_idle(), Ok(true)));
                return Next::Wait;
            }
            Err(error) => {
                self.store_failed("claim", &error);
                return Next::Wait;
            }
        };
        // A session outlives a pause that begins meanwhile, so each exchange asks the store.
        let gate = Gate::new(&self.store, claim.item.installation, &self.notify);
        match self.send(&claim, &gate) {
            Ok(sent) => self.settle(&claim, &sent, gate.cause()),
            // Another holder has the message, so there is nothing left to settle.
            Err(error @ store::Error::LeaseLost) => self.store_failed("begin_send", &error),
            Err(error) => {
                self.store_failed("begin_send", &error);
                let uncertain = claim.item.sent_before;
                self.settle(&claim, &Sent { result: SendResult::Postponed, uncertain }, None);
            }
        }
        Next::Now
    }
}

impl Outbox {
    fn send(&self, claim: &Claim<OutboxMessage>, gate: &Gate<'_>) -> Result<Sent, store::Error> {
        let message = &claim.item;
        let unsent = |result| Ok(Sent { result, uncertain: message.sent_before });
        let Some(effect) = &message.effect else {
            return unsent(SendResult::Impossible(DeadLetterReason::ActionsUnreadable));
        };
        let Some(repository) = &message.repository else {
            return unsent(SendResult::Impossible(DeadLetterReason::RepositoryUnknown));
        };
        // Not expected, since such a dispatch is given up when its lease is taken back; this does not rely on that.
        if message.kind == EffectKind::WorkflowDispatch && message.sent_before {
            return unsent(SendResult::Uncertain(ErrorClass::Crash, None));
        }
        let permission = match message.kind {
            EffectKind::WorkflowDispatch => Permission::ActionsWrite,
            EffectKind::CheckRunCreate | EffectKind::CheckRunUpdate => Permission::ChecksWrite,
        };
        let installation = message.installation;
        let opened = self.forge.open(installation, repository, permission, TokenUse::Shared, gate);
        let mut session = match opened {
            Ok(session) => session,
            Err(refused) => return unsent(refused),
        };
        // After the token, the slow call without effect: a stop during it costs nothing, a stop after the mark would.
        if self.notify.is_stopped() {
            return unsent(SendResult::Postponed);
        }
        match effect {
            outbox::Effect::WorkflowDispatch { workflow, tag, nonce } => {
                let (release_run, attempt) = (message.release_run, message.attempt);
                let dispatch = forge::Dispatch { workflow, tag, release_run, attempt, nonce };
                self.write(claim, || session.dispatch_workflow(&dispatch))
            }
            outbox::Effect::CheckRunCreate { name, head_sha } => {
                let wanted = NewCheckRun { name, head_sha, attempt: message.attempt };
                // Only after a lookup: the forge creates a second check run for the same external id without complaint.
                if message.sent_before
                    && let Some(sent) = self.find(session.as_mut(), &wanted, gate)
                {
                    return Ok(sent);
                }
                self.write(claim, || session.create_check_run(&wanted))
            }
            outbox::Effect::CheckRunUpdate { status } => {
                let Some(check_run) = message.check_run else {
                    return unsent(SendResult::Impossible(DeadLetterReason::CheckRunUnknown));
                };
                let Some(head_sha) = &message.head_sha else {
                    return unsent(SendResult::Impossible(DeadLetterReason::ActionsUnreadable));
                };
                // Found out after the update was queued, for example by a reconciler.
                if !message.check_run_is_ours {
                    let reason = DeadLetterReason::ForgeCheckRunBindingMismatch;
                    return unsent(SendResult::Impossible(reason));
                }
                let update = CheckRunUpdate {
                    check_run,
                    attempt: message.attempt,
                    head_sha: head_sha.as_str(),
                    name: message.check_run_name.as_deref(),
                    status: *status,
                };
                self.write(claim, || session.update_check_run(&update))
            }
        }
    }

    /// Lets an effect leave, once it is noted that it is about to, and the installation may write.
    fn write(
        &self,
        claim: &Claim<OutboxMessage>,
        effect: impl FnOnce() -> SendResult,
    ) -> Result<Sent, store::Error> {
        // The commit of the mark is on disk before the request leaves; the reverse could dispatch twice after a crash.
        Ok(match self.store.begin_send(claim, CALL_MAX, self.pace)? {
            None => Sent::of(effect()),
            Some(until) => {
                let uncertain = claim.item.sent_before;
                Sent { result: SendResult::Deferred(until), uncertain }
            }
        })
    }

    /// Looks for a check run that an earlier try may have created. Returns `None` if there is none.
    fn find(
        &self,
        session: &mut dyn forge::Session,
        wanted: &NewCheckRun<'_>,
        gate: &Gate<'_>,
    ) -> Option<Sent> {
        match (session.find_check_run(wanted), gate.stopped()) {
            (Ok(None), _) => None,
            (Ok(Some(id)), _) => Some(Sent::of(SendResult::CheckRunExists(id))),
            (Err(_), Some(stopped)) => Some(Sent { result: stopped, uncertain: true }),
            // A look that was cut short because we stop tells nothing, and costs no try.
            (Err(_), None) if self.notify.is_stopped() => {
                Some(Sent { result: SendResult::Postponed, uncertain: true })
            }
            (Err(why), None) => Some(Sent::of(SendResult::Uncertain(why.class, why.wait_until))),
        }
    }

    /// Records what came of it. While the store is unavailable it is tried again, as long as the
    /// lease may hold: an outcome that is lost turns a dispatch into an uncertain one.
    fn settle(&self, claim: &Claim<OutboxMessage>, sent: &Sent, cause: Option<FailureCause>) {
        // A count of pauses, not a time: waiting for the store makes it longer, and the fence decides in the end.
        for _ in 0..LEASE.as_millis() / SETTLE_PAUSE.as_millis() {
            let Sent { result, uncertain } = *sent;
            match self.store.settle_message(claim, result, uncertain, cause, self.retry) {
                Ok(settlement) => return self.settled(claim, settlement, cause),
                Err(error @ store::Error::Unavailable(_)) => self.store_failed("settle", &error),
                // Repeating would not help: the lease is lost, or a row cannot be read.
                Err(error) => return self.store_failed("settle", &error),
            }
            // On a stop the lease is left to run out; the next holder sees the mark.
            if !self.notify.pause(SETTLE_PAUSE) {
                return;
            }
        }
    }

    fn settled(
        &self,
        claim: &Claim<OutboxMessage>,
        settlement: Settlement,
        cause: Option<FailureCause>,
    ) {
        let kind = claim.item.kind.as_str();
        let id = claim.item.id;
        let outcome = match settlement {
            Settlement::Complete(_) => {
                log::info!(event = "outbox.completed", outbox_id:% = id, kind = kind, attempt = claim.item.try_count; "an effect was carried out");
                EffectOutcome::Completed
            }
            Settlement::RetryAt(instant) => {
                log::warn!(event = "outbox.retry", outbox_id:% = id, kind = kind, attempt = claim.item.try_count, retry_at:% = instant; "an effect failed and will be retried");
                EffectOutcome::Retry
            }
            Settlement::WaitForLag(instant) => {
                log::info!(event = "outbox.lag", outbox_id:% = id, kind = kind, retry_at:% = instant; "an effect was refused, perhaps because the forge does not accept its token everywhere yet, and will be retried");
                EffectOutcome::Lag
            }
            Settlement::WaitUntil(instant) => {
                log::warn!(event = "outbox.paused", outbox_id:% = id, kind = kind, until:% = instant; "an effect is waiting");
                EffectOutcome::Paused
            }
            Settlement::DeadLetter(reason, class, replay) => {
                log::warn!(event = "outbox.dead_letter", outbox_id:% = id, kind = kind, reason_code = reason.as_str(), error_class = class.as_str(), cause = cause.map_or("none", FailureCause::as_str), replay_class = replay.as_str(); "an effect became a dead letter");
                EffectOutcome::DeadLetter
            }
            Settlement::Superseded => {
                log::info!(event = "outbox.superseded", outbox_id:% = id, kind = kind; "an effect is no longer needed");
                EffectOutcome::Superseded
            }
        };
        self.metrics.effects.count((claim.item.kind, outcome));
    }

    fn store_failed(&self, verb: &'static str, error: &store::Error) {
        self.metrics.store_failures.count([("class", error.class())]);
        log::warn!(event = "worker.store_failed", worker = "outbox", verb = verb, class = error.class(); "a store operation failed");
    }
}

impl Sent {
    /// Only an uncertain answer leaves a doubt behind a call that was made.
    const fn of(result: SendResult) -> Self {
        Self { result, uncertain: matches!(result, SendResult::Uncertain(..)) }
    }
}
