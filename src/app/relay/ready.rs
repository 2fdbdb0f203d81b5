//! A socket from `ready` on: cards, decisions, results.

use std::sync::Arc;

use serde_json::Value;

use super::Relay;
use super::connection::{Connection, Step, not_done, signature, signed};
use super::pairing::account;
use super::plugin::{Closing, PluginSocket};
use super::results::Kept;
use crate::domain::digest::Digest;
use crate::domain::id::{DeviceId, GrantId, InvocationId, ProposalId};
use crate::domain::relay::allowance::Length;
use crate::domain::relay::device;
use crate::domain::relay::invocation::{self, Approval};
use crate::domain::relay::{self as rules, CloseCode, RelayReason, session};
use crate::relay::action::{DesignAction, ResultFault};
use crate::relay::frame::{
    self, ActionResult, ByeReason, DecidedInPlugin, File, FromDaemon, Line, Ready, Shown,
    Step as Proposed,
};
use crate::relay::proof::{DecisionText, allowance_text, is_signed};
use crate::runtime::mutex::lock;
use crate::store;
use crate::store::relay::{
    Device, Effects, NewAllowance, OpenSession, PendingProposal, SessionSocket, SignedVerdict,
    Tell, Verdict,
};

/// Most cards that are sent at once: fewer than the messages that may wait for a slow page.
const CARDS_AT_ONCE: usize = 8;

impl Relay {
    /// A socket holds a session from now on.
    pub(super) fn make_ready(&self, plugin: &Arc<PluginSocket>, opened: OpenSession) {
        let OpenSession { session, device, epoch, subject, effects } = opened;
        let held = SessionSocket { session, epoch };
        // The store says that the session is connected, so from here on the end of the socket must end that.
        plugin.with(|state| {
            state.held = Some(held);
            state.device = Some(device);
            state.subject = Some(subject.clone());
            state.pairing = None;
            state.file = state.hello.as_ref().map(|(hello, _)| hello.file.clone());
        });
        // Before the waiting cards are read: what is proposed from now on finds the socket.
        lock(&self.ready).insert(held, Arc::clone(plugin));
        let (epoch, account) = (u64::from(epoch), account(&subject));
        self.send(plugin, FromDaemon::Ready(Ready { session, epoch, account }));
        self.carry_out(effects);
        self.show_waiting(held, plugin);
    }

    /// Sends the cards that wait for a person and were not sent on this socket, and withdraws those that no longer
    /// wait.
    pub(super) fn show_waiting(&self, held: SessionSocket, plugin: &PluginSocket) {
        // Before the store is asked: what is proposed in the meantime is not missed.
        let open = plugin.with(|state| state.cards.open());
        let shown = self.store.relay_waiting(held).and_then(|waiting| {
            let is_waiting = |proposal: &ProposalId| waiting.iter().any(|it| it.id == *proposal);
            self.withdraw_ended(plugin, open.into_iter().filter(|it| !is_waiting(it)))?;
            // Lazy: `show` runs only until so many cards were sent.
            // The worker sends the rest.
            let sent =
                waiting.into_iter().map(|it| self.show(plugin, it)).filter(|is_sent| *is_sent);
            sent.take(CARDS_AT_ONCE).for_each(drop);
            Ok(())
        });
        if let Err(error) = shown {
            // The worker looks for them again each second.
            not_done(&error);
        }
    }

    /// Records which cards a plugin has shown.
    pub(super) fn record_shown(
        &self,
        held: SessionSocket,
        plugin: &PluginSocket,
    ) -> Result<(), store::Error> {
        while let Some((proposal, preview)) = plugin.with(|state| state.cards.unrecorded()) {
            let mut effects = self.store.relay_shown(held, proposal, preview)?;
            // If a decision was recorded in the meantime, the card was recorded with it. To the rules, this is then a
            // plugin that shows a card after its decision.
            effects.tell.clear();
            self.carry_out(effects);
            plugin.with(|state| state.cards.recorded(proposal));
        }
        Ok(())
    }

    /// Withdraws those cards that another process has ended, with the reason.
    pub(super) fn withdraw_ended(
        &self,
        plugin: &PluginSocket,
        cards: impl IntoIterator<Item = ProposalId>,
    ) -> Result<(), store::Error> {
        let subject = plugin.with(|state| state.subject.clone()).unwrap_or_default();
        for proposal in cards {
            let steps = self.store.relay_steps_of(&subject, proposal)?;
            if let Some(why) = steps.iter().find_map(|step| step.reason?.withdrawal()) {
                self.tell(plugin, Tell::Withdraw(proposal, why));
            } else if steps.iter().all(|step| step.state.is_terminal()) {
                plugin.with(|state| state.cards.forget(proposal));
            }
        }
        Ok(())
    }

    /// Sends a card, unless it was sent before; returns whether it was sent now.
    pub(super) fn show(&self, plugin: &PluginSocket, waiting: PendingProposal) -> bool {
        let digests = waiting.steps.iter().map(|step| step.arguments_sha256).collect();
        let steps = waiting.steps.into_iter().filter_map(|step| {
            let (action, arguments) = (
                DesignAction::from_word(&step.action)?,
                serde_json::from_str(&step.arguments).ok()?,
            );
            let store::relay::WaitingStep { id, effect, arguments_sha256, .. } = step;
            Some(Proposed { invocation: id, action, effect, arguments, arguments_sha256 })
        });
        let (proposal, expires_at) = (waiting.id, waiting.expires_at);
        let (client, steps) = (Line::new(&waiting.client), steps.collect());
        let card = FromDaemon::Propose(frame::Propose { proposal, client, expires_at, steps });
        // Before it is sent, so that a decision that comes at once finds the card.
        if !plugin.with(|state| state.cards.sent(proposal, digests)) {
            return false;
        }
        let is_sent = self.send(plugin, card);
        if !is_sent {
            // It is sent after the next `ready`, or by the worker a second later.
            plugin.with(|state| state.cards.forget(proposal));
        }
        is_sent
    }
}

impl Connection {
    /// Returns the session that the socket holds.
    fn held(&self) -> Result<SessionSocket, Closing> {
        self.plugin.with(|state| state.held).ok_or_else(|| Closing::of(frame::Close::BadFrame))
    }

    /// Carries out the effects of a verb; returns the closing of this very socket as an error.
    pub(super) fn carry_out(&self, mut effects: Effects) -> Step {
        let held = self.plugin.with(|state| state.held);
        let close = effects
            .tell
            .iter()
            .position(|(to, tell)| Some(*to) == held && matches!(tell, Tell::Close(_)));
        let close = close.map(|place| effects.tell.remove(place).1);
        self.plugin.with(|state| state.cards.ended(&effects.changed));
        self.relay.carry_out(effects);
        match close {
            Some(Tell::Close(code @ CloseCode::BadFrame)) => {
                self.relay.refused("against_the_rules");
                Err(Closing::rule(code))
            }
            Some(Tell::Close(code)) => Err(Closing::rule(code)),
            _ => Ok(()),
        }
    }

    /// The open file or page has changed.
    pub(super) fn context(&self, file: File) -> Step {
        let held = self.held()?;
        let (hello, is_moving) = self.plugin.with(|state| {
            let hello = state.hello.as_mut().map(|(hello, _)| {
                let before = std::mem::replace(&mut hello.file, file.clone());
                (before, hello.tool, hello.key.point())
            });
            (hello, state.is_asking())
        });
        let (before, tool, key) = hello.ok_or(frame::Close::BadFrame)?;
        // A tool that has no key for a file knows it by its name alone.
        let is_other = before.key != file.key || (file.key.is_none() && before.name != file.name);
        if !is_other {
            self.plugin.with(|state| {
                if !state.is_asking() {
                    state.file = Some(file);
                }
            });
            return Ok(());
        }
        // A person is being asked about another file, and the answer could not be told from one about this file.
        if is_moving {
            return Err(Closing::of(frame::Close::BadFrame));
        }
        let key = key.ok_or(frame::Close::Refused)?;
        let known = self.plugin.with(|state| state.device.zip(state.subject.clone()));
        let (id, subject) = known.ok_or(frame::Close::BadFrame)?;
        let device = Device { id, subject, state: device::State::Active };
        self.ask_for_file(tool, key, device, Some(held))
    }

    pub(super) fn shown(&self, shown: &Shown) -> Step {
        let (held, relay) = (self.held()?, &self.relay);
        // Recorded with the decision if that comes within a second, which saves a commit.
        if self.plugin.with(|state| state.cards.shown(shown.proposal, shown.preview_sha256)) {
            return Ok(());
        }
        relay.record_shown(held, &self.plugin)?;
        self.carry_out(relay.store.relay_shown(held, shown.proposal, shown.preview_sha256)?)
    }

    pub(super) fn decision(&self, decision: &frame::Decision) -> Step {
        let held = self.held()?;
        // Of what was sent: a frame must not choose what its signature covers (docs/decisions/73-relay-schemas.md).
        let arguments = self.plugin.with(|state| state.cards.digests(decision.proposal));
        let by = self.signer(held, decision, &arguments);
        let signed = invocation::Signed { by, session: held.session, epoch: held.epoch };
        let by = match decision.by {
            DecidedInPlugin::Person => rules::DecidedBy::Person,
            DecidedInPlugin::Allowance => rules::DecidedBy::Allowance,
            DecidedInPlugin::Plugin => rules::DecidedBy::Plugin,
        };
        let preview = decision.preview_sha256;
        let verdict = match (decision.decision, by) {
            (rules::CardDecision::Approved, by) => {
                Verdict::Approve(Approval { by, signed, preview })
            }
            (rules::CardDecision::Denied, rules::DecidedBy::Person) => Verdict::Deny(signed),
            (rules::CardDecision::Denied, rules::DecidedBy::Plugin) => {
                let reason =
                    RelayReason::from_plugin(decision.reason.as_deref().unwrap_or_default());
                Verdict::CannotShow(signed, reason)
            }
            _ => return Err(Closing::of(frame::Close::BadFrame)),
        };
        let signature = signature(&decision.signature)?;
        let proposal = decision.proposal;
        let shown = self.plugin.with(|state| state.cards.decided(proposal));
        let verdict = SignedVerdict { proposal, shown, verdict, arguments, preview, signature };
        let grant = self.relay.settings.grant;
        let effects = self.relay.store.relay_decide(held, verdict, grant)?;
        // One that is not signed, breaks the rules or came late decides nothing.
        if effects.changed.iter().any(|step| step.state != invocation::State::Shown) {
            let labels = [("by", decision.by.as_str()), ("decision", decision.decision.as_str())];
            self.relay.metrics.relay_decisions.count(labels);
        }
        self.carry_out(effects)
    }

    /// Returns the device, if its key signed the decision on the steps that its card was sent with; none where no card
    /// was.
    fn signer(
        &self,
        held: SessionSocket,
        decision: &frame::Decision,
        arguments: &[Digest],
    ) -> Option<DeviceId> {
        if arguments.is_empty() {
            return None;
        }
        let text = DecisionText {
            session: held.session,
            epoch: u64::from(held.epoch),
            proposal: decision.proposal,
            arguments,
            preview: decision.preview_sha256,
            decision: decision.decision,
            by: decision.by,
        };
        let key = self.greeting().ok()?.hello.key;
        let device = self.plugin.with(|state| state.device)?;
        is_signed(&key, &text.text(), &decision.signature).then_some(device)
    }

    pub(super) fn allowance(&self, allowance: &frame::Allowance) -> Step {
        let held = self.held()?;
        let greeting = self.greeting()?;
        let minutes = allowance.minutes;
        let length = Length::from_minutes(minutes).ok_or(frame::Close::BadFrame)?;
        let text = allowance_text(&greeting.nonce, held.session, u64::from(held.epoch), minutes);
        if !is_signed(&greeting.hello.key, &text, &allowance.signature) {
            let message = "the allowance is not signed by this device";
            return Err(self.problem(frame::Close::BadFrame, "bad_proof", message));
        }
        let proof = signed(&greeting.nonce, &allowance.signature)?;
        let given = NewAllowance { page: greeting.hello.instance, length, proof };
        self.carry_out(self.relay.store.relay_allow(held, given)?)
    }

    /// A step has ended, as a frame of so many bytes says.
    pub(super) fn result(&self, result: ActionResult, bytes: usize) -> Step {
        let held = self.held()?;
        let Some(grant) = self.relay.store.relay_grant(held, result.grant)? else {
            let message = "this session was not told to carry out this grant";
            return Err(self.problem(frame::Close::BadFrame, "no_such_grant", message));
        };
        let value = result.value.unwrap_or_default();
        let code = result.error.map(|error| error.code);
        let report = match report(&grant.action, result.outcome, &value, code) {
            // The whole frame is measured, because that is what `SVC_RELAY_RESULT_BYTES` limits.
            invocation::Report::Succeeded if bytes > self.relay.settings.result_bytes_max => {
                invocation::Report::Unusable(RelayReason::ResultTooLarge)
            }
            report => report,
        };
        // Before the commit, so that a value is there as soon as its invocation has succeeded.
        let is_kept = report == invocation::Report::Succeeded
            && self.keep(result.grant, grant.invocation, &value);
        let reported = self.relay.store.relay_report(held, result.grant, report);
        let has_succeeded = |effects: &Effects| {
            let mut changed = effects.changed.iter();
            changed.any(|it| {
                it.invocation == grant.invocation && it.state == invocation::State::Succeeded
            })
        };
        // A result that came late or twice has changed nothing, so its value belongs to no success.
        if is_kept && !reported.as_ref().is_ok_and(has_succeeded) {
            lock(&self.relay.results).forget(grant.invocation);
        }
        self.carry_out(reported?)
    }

    /// Keeps the value of an invocation, unless one is kept already. Returns whether this call kept it.
    fn keep(&self, grant: GrantId, invocation: InvocationId, value: &Value) -> bool {
        let subject = self.plugin.with(|state| state.subject.clone()).unwrap_or_default();
        let file = self.plugin.file_of(grant);
        let (kept, now) = (Kept::new(subject, value, file), self.relay.clock.monotonic());
        lock(&self.relay.results).keep(invocation, kept, now)
    }

    pub(super) fn pong(&self) -> Step {
        // Noted before the store is told: `suspend` looks for it after its own commit.
        let was_suspended = self.plugin.pong();
        match self.plugin.with(|state| state.held) {
            Some(held) if was_suspended => {
                let event = session::Event::PongAgain;
                self.carry_out(self.relay.store.relay_session_event(held, event)?)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn bye(&self, reason: ByeReason) -> Step {
        let store = &self.relay.store;
        if let Some(held) = self.plugin.with(|state| state.held) {
            self.carry_out(match reason {
                ByeReason::Person => store.relay_session_event(held, session::Event::Bye)?,
                // docs/decisions/80-relay-forget.md
                ByeReason::Forget => store.relay_forget_device(held)?,
                // The page may only be loading again; the drop of the connection records that the socket has closed.
                ByeReason::Closing => Effects::default(),
            })?;
        }
        Err(Closing::NORMAL)
    }
}

/// Returns how an action ended, from what the plugin reports and from its value.
fn report(
    action: &str,
    outcome: frame::Outcome,
    value: &Value,
    code: Option<String>,
) -> invocation::Report {
    match outcome {
        frame::Outcome::Failed => {
            invocation::Report::Failed(RelayReason::from_plugin(&code.unwrap_or_default()))
        }
        frame::Outcome::Stale => invocation::Report::Stale,
        frame::Outcome::Succeeded => {
            match DesignAction::from_word(action).map(|it| it.check_result(value)) {
                Some(Ok(())) => invocation::Report::Succeeded,
                Some(Err(ResultFault::TooLarge)) => {
                    invocation::Report::Unusable(RelayReason::ResultTooLarge)
                }
                Some(Err(ResultFault::Bad)) | None => {
                    invocation::Report::Unusable(RelayReason::BadResult)
                }
            }
        }
    }
}
