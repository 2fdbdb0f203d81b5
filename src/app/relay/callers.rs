//! What callers ask for: their sessions, codes, proposals, and the states of those. Items of another subject are
//! answered as if they did not exist.

use std::borrow::Cow;
use std::net::IpAddr;
use std::time::Duration;

use super::Relay;
use super::refusal::{no_such_invocation, refusal, refused};
use crate::api::relay::{DesignSession, Invocation, PairingClaim, RelayRefusal};
use crate::crypto::sha256;
use crate::domain::digest::Digest;
use crate::domain::id::{InvocationId, ProposalId, RelaySessionId};
use crate::domain::relay::invocation;
use crate::domain::relay::proposal;
use crate::domain::relay::{ActionEffect, RelayReason, session};
use crate::relay::action::{CheckedAction, highest_effect};
use crate::relay::code::PairingCode;
use crate::runtime::mutex::lock;
use crate::store::relay::{
    ClaimedPairing, NewInvocation, NewProposal, OwnInvocation, OwnSession, Proposed,
};

#[derive(Clone, Copy)]
pub struct Who<'a> {
    /// The subject: the issuer, a space, and the subject there; `local` where no tokens are required.
    pub subject: &'a str,
    /// The client that the caller uses.
    pub client: &'a str,
}

impl Relay {
    /// Lists the sessions of a subject.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn sessions(&self, who: Who<'_>) -> Result<Vec<DesignSession>, RelayRefusal> {
        let sessions = self.store.relay_sessions_of(who.subject)?;
        Ok(sessions.iter().map(|session| self.describe(session)).collect())
    }

    /// Claims the pairing of a code for a subject. `peer` is the address of the request, if it is known.
    ///
    /// # Errors
    /// `not_found` for any code that cannot be claimed; `too_many_codes` after wrong ones; `unavailable`.
    pub fn claim_pairing(
        &self,
        who: Who<'_>,
        peer: Option<IpAddr>,
        code: &str,
    ) -> Result<PairingClaim, RelayRefusal> {
        // Counted before it is checked, so that concurrent guesses are limited like sequential ones.
        let at = self.note_guess(who.subject, peer)?;
        let looked_up = match code.parse::<PairingCode>() {
            Ok(code) => self.store.relay_claim_pairing(code.digest(), who.subject, who.client),
            Err(_) => Ok(None),
        };
        if !matches!(looked_up, Ok(None)) {
            self.take_guess_back(who.subject, peer, at);
        }
        let Some(claimed) = looked_up? else {
            self.metrics.relay_pairings.count([("outcome", "wrong_code")]);
            let message = "no plugin shows that code now: it is wrong, was used, or has expired; \
                           read it again from the plugin";
            return Err(refusal("not_found", message));
        };
        let plugin = self.tell_claimed(&claimed);
        let file = plugin.and_then(|plugin| plugin.file()).map(|(file, _)| file);
        let ClaimedPairing { id, tool, expires_at, .. } = claimed;
        Ok(PairingClaim { pairing: id, tool: Cow::Borrowed(tool.as_str()), file, expires_at })
    }

    /// Counts a code as wrong, if the limit allows another wrong one. Returns the instant.
    fn note_guess(&self, subject: &str, peer: Option<IpAddr>) -> Result<Duration, RelayRefusal> {
        let (mut limits, now) = (lock(&self.limits), self.clock.monotonic());
        let of_peer = peer.map_or(Ok(()), |peer| limits.wrong_of_peer.check(&peer, now));
        let of_subject = limits.wrong_of_subject.check(&subject.to_owned(), now);
        let checked = of_subject.and(of_peer).and(limits.wrong_in_all.check(&(), now));
        if checked.is_ok() {
            limits.wrong_of_subject.note(subject.to_owned(), now);
            if let Some(peer) = peer {
                limits.wrong_of_peer.note(peer, now);
            }
            limits.wrong_in_all.note((), now);
        }
        drop(limits);
        checked.map(|()| now).map_err(|wait| {
            self.refused("too_many_codes");
            let message = "too many wrong codes; wait before the next one";
            RelayRefusal {
                retry_after_seconds: Some(wait.as_secs() + 1),
                ..refusal("too_many_codes", message)
            }
        })
    }

    /// Takes back the count of an instant: the code was right, or was not checked.
    fn take_guess_back(&self, subject: &str, peer: Option<IpAddr>, at: Duration) {
        let mut limits = lock(&self.limits);
        limits.wrong_of_subject.take_back(&subject.to_owned(), at);
        if let Some(peer) = peer {
            limits.wrong_of_peer.take_back(&peer, at);
        }
        limits.wrong_in_all.take_back(&(), at);
    }

    /// Proposes steps, which are shown and decided together. Without a session, the only connected one is used.
    /// Repeating the call returns the same proposal until that has ended.
    ///
    /// # Errors
    /// The reason why nothing was proposed.
    pub fn propose(
        &self,
        who: Who<'_>,
        session: Option<RelaySessionId>,
        steps: &[CheckedAction],
    ) -> Result<ProposalId, RelayRefusal> {
        if self.is_stopping() {
            return Err(refusal("unavailable", "the service is stopping; try again in a moment"));
        }
        let session = self.choose(who, session)?;
        self.check_actions(session.id, steps)?;
        self.check_rate(who, &session, steps)?;
        let new = |step: &CheckedAction| NewInvocation {
            id: self.ids().id(self.clock.now()),
            action: step.action().as_str(),
            effect: step.action().effect(),
            arguments: serde_json::Value::Object(step.arguments().clone()).to_string(),
            arguments_sha256: step.sha256(),
        };
        let id: ProposalId = self.ids().id(self.clock.now());
        let proposal = NewProposal {
            id,
            subject: who.subject.to_owned(),
            client: who.client.to_owned(),
            session: session.id,
            steps: steps.iter().map(new).collect(),
            digest: same_call(session.id, steps),
            expires_at: self.clock.now().plus(self.settings.approval),
        };
        match self.store.relay_propose(proposal.clone())? {
            Proposed::Made => {
                // A card that has ended since is withdrawn within a second, as the worker finds it.
                if let Some((_, plugin)) = self.plugin_of(session.id) {
                    self.show(&plugin, proposal.into());
                }
                Ok(id)
            }
            Proposed::Same(id) => {
                self.give_back(who, &session, steps);
                Ok(id)
            }
            Proposed::Refused { why, waiting, rests_until } => {
                self.give_back(who, &session, steps);
                self.refused(why.as_str());
                let rests = rests_until.map(|until| until.since(self.clock.now()).as_secs() + 1);
                Err(RelayRefusal { retry_after_seconds: rests, ..refused(why, waiting) })
            }
        }
    }

    /// Returns the session that a call is for.
    fn choose(
        &self,
        who: Who<'_>,
        session: Option<RelaySessionId>,
    ) -> Result<OwnSession, RelayRefusal> {
        let own = self.store.relay_sessions_of(who.subject)?;
        if let Some(id) = session {
            let found = own.into_iter().find(|session| session.id == id);
            return found.ok_or_else(|| refused(proposal::Refusal::NoSuchSession, 0));
        }
        let connected = own.iter().filter(|it| it.state == session::State::Connected);
        let candidates: Vec<OwnSession> = match connected.count() {
            0 => own,
            _ => own.into_iter().filter(|it| it.state == session::State::Connected).collect(),
        };
        match candidates.as_slice() {
            [] => {
                let message = "no design file is paired with this account: ask the person to open the svc plugin \
                               in the design tool, and pair it with the code that it shows";
                Err(refusal("no_such_session", message))
            }
            [only] => Ok(*only),
            several => {
                let message = "several design files are paired: name one by its session";
                let sessions = several.iter().map(|session| self.describe(session)).collect();
                Err(RelayRefusal { sessions, ..refusal("session_needed", message) })
            }
        }
    }

    /// Refuses actions that the plugin of a session does not know, if its socket is here.
    fn check_actions(
        &self,
        session: RelaySessionId,
        steps: &[CheckedAction],
    ) -> Result<(), RelayRefusal> {
        let Some((_, plugin)) = self.plugin_of(session) else { return Ok(()) };
        let known = plugin.with(|state| state.hello.as_ref().map(|(it, _)| it.known_actions()));
        let known = known.unwrap_or_default();
        match steps.iter().find(|step| !known.contains(&step.action())) {
            None => Ok(()),
            Some(step) => {
                let action = step.action().as_str();
                let message =
                    format!("the plugin of this session does not know {action}; update it");
                Err(refusal("action_not_supported", &message))
            }
        }
    }

    fn check_rate(
        &self,
        who: Who<'_>,
        session: &OwnSession,
        steps: &[CheckedAction],
    ) -> Result<(), RelayRefusal> {
        let is_allowed = self.is_allowed(session, steps);
        let (mut limits, now) = (lock(&self.limits), self.clock.monotonic());
        let taken = if is_allowed {
            limits.allowed_reads.take(session.id, now)
        } else {
            limits.proposals.take((session.id, who.client.to_owned()), now)
        };
        drop(limits);
        taken.map_err(|wait| {
            self.refused("too_many_proposals");
            let message =
                "too many proposals; put several steps into one (propose_design_steps), or wait";
            let retry_after_seconds = Some(wait.as_secs() + 1);
            RelayRefusal { retry_after_seconds, ..refusal("too_many_proposals", message) }
        })
    }

    /// Says whether an allowance covers all steps.
    fn is_allowed(&self, session: &OwnSession, steps: &[CheckedAction]) -> bool {
        highest_effect(steps) == Some(ActionEffect::Read)
            && session.allowance_until.is_some_and(|until| self.clock.now() < until)
    }

    /// Takes back that something was proposed: it was the same call again, or nothing was kept.
    fn give_back(&self, who: Who<'_>, session: &OwnSession, steps: &[CheckedAction]) {
        let is_allowed = self.is_allowed(session, steps);
        let mut limits = lock(&self.limits);
        if is_allowed {
            limits.allowed_reads.give_back(&session.id);
        } else {
            limits.proposals.give_back(&(session.id, who.client.to_owned()));
        }
    }

    /// Returns the steps of a proposal, in order.
    ///
    /// # Errors
    /// `no_such_invocation` or `unavailable`.
    pub fn steps(
        &self,
        who: Who<'_>,
        proposal: ProposalId,
    ) -> Result<Vec<Invocation>, RelayRefusal> {
        let steps = self.store.relay_steps_of(who.subject, proposal)?;
        if steps.is_empty() {
            return Err(no_such_invocation());
        }
        Ok(steps.into_iter().map(|step| self.view(step)).collect())
    }

    /// Returns one invocation.
    ///
    /// # Errors
    /// `no_such_invocation` or `unavailable`.
    pub fn invocation(
        &self,
        who: Who<'_>,
        invocation: InvocationId,
    ) -> Result<Invocation, RelayRefusal> {
        let found = self.store.relay_invocation_of(who.subject, invocation)?;
        found.map(|it| self.view(it)).ok_or_else(no_such_invocation)
    }

    /// Takes an invocation back, with all steps of its proposal that have not begun.
    ///
    /// # Errors
    /// `no_such_invocation`; `too_late` when it has begun; `unavailable`.
    pub fn cancel(
        &self,
        who: Who<'_>,
        invocation: InvocationId,
    ) -> Result<Invocation, RelayRefusal> {
        let effects = self.store.relay_cancel(who.subject, invocation)?;
        let effects = effects.ok_or_else(no_such_invocation)?;
        let is_late = effects.changed.is_empty() && effects.unchanged == Some(RelayReason::TooLate);
        self.carry_out(effects);
        if is_late {
            let message = "the invocation has begun and cannot be cancelled; get_invocation returns its outcome";
            return Err(refusal("too_late", message));
        }
        self.invocation(who, invocation)
    }

    /// The client of a call has gone: takes its proposal back, as far as it has not begun, unless another call stands for it.
    ///
    /// # Errors
    /// `unavailable`.
    pub fn leave(&self, who: Who<'_>, proposal: ProposalId) -> Result<(), RelayRefusal> {
        self.carry_out(self.store.relay_leave(who.subject, proposal)?);
        Ok(())
    }

    fn describe(&self, session: &OwnSession) -> DesignSession {
        let file = self.plugin_of(session.id).and_then(|(_, plugin)| plugin.file());
        let (file, page) = file.unzip();
        let now = self.clock.now();
        DesignSession {
            session: session.id,
            tool: Cow::Borrowed(session.tool.as_str()),
            state: Cow::Borrowed(session.state.as_str()),
            file,
            page,
            allowance_until: session.allowance_until.filter(|until| now < *until),
        }
    }

    fn view(&self, found: OwnInvocation) -> Invocation {
        let kept = lock(&self.results)
            .get(found.id)
            .filter(|_| found.state == invocation::State::Succeeded);
        let value = kept.as_ref().and_then(|kept| kept.value());
        // Once it has ended, only a kept value says which file it was about: another one may be open by now.
        let is_open = !found.state.is_terminal();
        let open = || self.plugin_of(found.session).filter(|_| is_open)?.1.file();
        let file = kept.map_or_else(|| open().map(|(file, _)| file), |kept| Some(kept.file()));
        Invocation {
            invocation: found.id,
            proposal: found.proposal,
            step: found.position,
            session: found.session,
            file,
            action: Cow::Owned(found.action),
            state: Cow::Borrowed(found.state.as_str()),
            reason: found.reason.map(|reason| Cow::Borrowed(reason.as_str())),
            settled_late: found.is_late,
            expires_at: found.expires_at,
            created_at: found.created_at,
            updated_at: found.updated_at,
            value_gone: found.state == invocation::State::Succeeded && value.is_none(),
            value,
        }
    }
}

/// Returns the digest by which a repeated call is recognized.
fn same_call(session: RelaySessionId, steps: &[CheckedAction]) -> Digest {
    let steps: String = steps.iter().map(|step| format!("\n{}", step.sha256())).collect();
    sha256::of(format!("svc.relay.v1 call\n{session}{steps}").as_bytes())
}
