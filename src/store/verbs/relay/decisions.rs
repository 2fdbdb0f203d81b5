//! Decisions: a plugin's answers to proposals. Each covers all steps of its proposal.

use std::time::Duration;

use crate::domain::digest::Digest;
use crate::domain::id::ProposalId;
use crate::domain::relay::invocation;
use crate::domain::relay::{CloseCode, DecidedBy};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{Account, Signed};
use crate::store::rows::relay::invocations::{self, Decided, Scene};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::{sessions, steps};
use crate::store::sql::{Tx, params};
use crate::store::types::relay::{Effects, SessionSocket, SignedVerdict, Tell, Verdict};

impl Store {
    /// Notes that the card of a proposal was shown, with the digest of what it showed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_shown(
        &self,
        held: SessionSocket,
        proposal: ProposalId,
        preview: Digest,
    ) -> Result<Effects, Error> {
        self.write(move |tx| {
            let mut effects = Effects::default();
            if let Some(session) = sessions::held(tx, held)? {
                was_shown(tx, &session, (proposal, preview), &mut effects)?;
            }
            Ok(effects)
        })
    }

    /// Records the decision about a proposal: that its card was shown, the approval with its signature, the grants, and
    /// the claim of the first step if nothing else is in flight. A grant can be claimed for `grant_time` once its turn has come.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_decide(
        &self,
        held: SessionSocket,
        verdict: SignedVerdict,
        grant_time: Duration,
    ) -> Result<Effects, Error> {
        let claims = self.relay_claims.clone();
        self.write(move |tx| {
            let mut effects = Effects::default();
            let Some(session) = sessions::held(tx, held)? else { return Ok(effects) };
            if let Some(preview) = verdict.shown {
                was_shown(tx, &session, (verdict.proposal, preview), &mut effects)?;
                // The plugin broke the protocol with what it showed, so its decision about that does not count.
                if !effects.tell.is_empty() {
                    return Ok(effects);
                }
            }
            // `was_shown` may have changed steps already; only a decision leads to a claim.
            let before = effects.changed.len();
            take_in(tx, &session, &verdict, grant_time, &mut effects)?;
            if effects.changed.len() > before {
                // In the same transaction, so that the first step does not wait for another commit.
                claims.claim_due(tx, &session, held, &mut effects)?;
            }
            Ok(effects)
        })
    }
}

fn was_shown(
    tx: &mut Tx<'_>,
    session: &Session,
    (proposal, preview): (ProposalId, Digest),
    effects: &mut Effects,
) -> Result<(), Error> {
    let Some(decided) = decide(tx, session, proposal, invocation::Event::Shown(preview), effects)?
    else {
        return Ok(());
    };
    let account = Account { preview: Some(preview), ..Account::default() };
    invocations::carry_out(tx, &Scene::new(session, account), decided, effects)
}

/// Decides about every step of a proposal of the session; `None` if the plugin broke the protocol, which the effects
/// tell it.
fn decide(
    tx: &Tx<'_>,
    session: &Session,
    proposal: ProposalId,
    event: invocation::Event,
    effects: &mut Effects,
) -> Result<Option<Vec<Decided>>, Error> {
    let mut found = steps::of_proposal(tx, proposal)?;
    // A proposal of another session is treated as one that does not exist.
    found.retain(|step| step.session == session.id);
    let is_known = !found.is_empty();
    let decided = invocations::decide(tx, session, found, |_| Some(event));
    let closes = invocations::closes(&decided).or((!is_known).then_some(CloseCode::BadFrame));
    Ok(match closes {
        None => Some(decided),
        Some(code) => {
            effects.tell.push((session.held(), Tell::Close(code)));
            None
        }
    })
}

fn take_in(
    tx: &mut Tx<'_>,
    session: &Session,
    signed: &SignedVerdict,
    grant_time: Duration,
    effects: &mut Effects,
) -> Result<(), Error> {
    let (event, by) = match signed.verdict {
        Verdict::Approve(approval) => (invocation::Event::Approve(approval), approval.by),
        Verdict::Deny(signed) => (invocation::Event::Deny(signed), DecidedBy::Person),
        Verdict::CannotShow(signed, reason) => {
            (invocation::Event::CannotShow(signed, reason), DecidedBy::Plugin)
        }
    };
    let Some(decided) = decide(tx, session, signed.proposal, event, effects)? else {
        return Ok(());
    };
    let is_decision = |(_, outcome): &Decided| {
        matches!(
            outcome.to,
            Some(
                invocation::State::Approved | invocation::State::Denied | invocation::State::Failed
            )
        )
    };
    if let Some((step, _)) = decided.iter().find(|decided| is_decision(decided)) {
        // Before the steps change: a second decision fails at the unique key and rolls all of it back.
        keep(tx, session, (&step.subject, &step.client), signed, by)?;
        sessions::note_used(tx, session.id)?;
    }
    let account = Account {
        preview: Some(signed.preview),
        signed: Some(Signed::Decision(&signed.arguments, signed.signature)),
        ..Account::of(by)
    };
    let scene = Scene { session, account, grant_time };
    invocations::carry_out(tx, &scene, decided, effects)
}

/// Stores a decision. The table has one row for each proposal, so there is no second decision.
fn keep(
    tx: &Tx<'_>,
    session: &Session,
    (subject, client): (&str, &str),
    signed: &SignedVerdict,
    by: DecidedBy,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO relay_approvals (proposal_id, subject, client, decision, decided_by, \
            preview_sha256, epoch, signature, created_at) \
         VALUES (:proposal, :subject, :client, :decision, :by, :preview, :epoch, :signature, :now)",
        params! {
            ":proposal": signed.proposal,
            ":subject": subject,
            ":client": client,
            ":decision": signed.decision(),
            ":by": by,
            ":preview": signed.preview,
            ":epoch": session.epoch,
            ":signature": signed.signature,
            ":now": tx.now,
        },
    )?;
    Ok(())
}
