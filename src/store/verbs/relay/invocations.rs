//! Invocations: carrying them out, taking them back, and looking them up for the subjects who proposed them.

use crate::domain::id::{GrantId, InvocationId, ProposalId};
use crate::domain::relay::invocation;
use crate::domain::relay::proposal::{self, Left};
use crate::domain::relay::{CloseCode, DecidedBy, grant};
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::Account;
use crate::store::rows::relay::invocations::{self, Scene};
use crate::store::rows::relay::steps::Step;
use crate::store::rows::relay::{proposals, sessions, steps};
use crate::store::sql::{Row, Tx, params};
use crate::store::types::relay::{Effects, GrantFor, OwnInvocation, SessionSocket, Tell};

/// The columns and tables of the invocations that a subject sees.
const OWN: &str = "i.invocation_id, i.proposal_id, i.position, i.session_id, i.action, i.state, \
        i.reason, i.is_late, i.created_at, i.updated_at, p.expires_at \
    FROM relay_invocations i JOIN relay_proposals p ON p.proposal_id = i.proposal_id";

impl Store {
    /// Returns what a claimed grant of this session is for; `None` for any other grant.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_grant(
        &self,
        held: SessionSocket,
        grant: GrantId,
    ) -> Result<Option<GrantFor>, Error> {
        let is_claimed = |step: &Step| {
            let state = step.grant.map(|grant| grant.state);
            // `Spent` as well: a page that did not get its `settled` frame reports again.
            let was_claimed = matches!(state, Some(grant::State::Claimed | grant::State::Spent));
            step.session == held.session && was_claimed
        };
        self.read(|db| {
            let step = steps::of_grant(db, grant)?.filter(is_claimed);
            Ok(step.map(|step| GrantFor { invocation: step.id, action: step.action }))
        })
    }

    /// Records how a step ended, as the plugin reports it. The time of the next step begins, or the steps after it end;
    /// then the next waiting grant of the session is claimed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_report(
        &self,
        held: SessionSocket,
        grant: GrantId,
        report: invocation::Report,
    ) -> Result<Effects, Error> {
        let claims = self.relay_claims.clone();
        self.write(move |tx| {
            let mut effects = Effects::default();
            let Some(session) = sessions::held(tx, held)? else { return Ok(effects) };
            match steps::of_grant(tx, grant)?.filter(|step| step.session == session.id) {
                // A grant of another session gets the same answer as one that does not exist.
                None => effects.tell.push((held, Tell::Close(CloseCode::BadFrame))),
                Some(step) => {
                    let scene = Scene::new(&session, Account::default());
                    invocations::happens(
                        tx,
                        &scene,
                        step,
                        invocation::Event::Result(report),
                        &mut effects,
                    )?;
                    // A repeated report frees nothing, so there is nothing to claim.
                    if !effects.changed.is_empty() {
                        claims.claim_due(tx, &session, held, &mut effects)?;
                    }
                }
            }
            Ok(effects)
        })
    }

    /// Stops claiming, in every verb: the process stops and could no longer send what it claimed. What runs is still
    /// settled.
    pub fn relay_stop_claims(&self) {
        self.relay_claims.stop();
    }

    /// Claims the next waiting grant of a session, if its turn has come and nothing else is in flight.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_claim_due(&self, held: SessionSocket) -> Result<Effects, Error> {
        let claims = self.relay_claims.clone();
        self.write(move |tx| {
            let mut effects = Effects::default();
            if let Some(session) = sessions::held(tx, held)? {
                effects.unchanged = claims.claim_due(tx, &session, held, &mut effects)?;
            }
            Ok(effects)
        })
    }

    /// Takes an invocation back for the subject who proposed it, with all steps of its proposal that have not begun.
    /// Returns `None` if the subject has no such invocation. A step that already runs goes on: if nothing else was left
    /// to take back, the effects say `too_late`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_cancel(
        &self,
        subject: &str,
        invocation: InvocationId,
    ) -> Result<Option<Effects>, Error> {
        let subject = subject.to_owned();
        self.write(move |tx| {
            let found = steps::find(tx, invocation)?.filter(|step| step.subject == subject);
            let account = Account::of(DecidedBy::Caller);
            found
                .map(|step| take_back(tx, &step, invocation::Event::CallerCancels, account))
                .transpose()
        })
    }

    /// Notes that the client of a subject's call has gone. Takes its proposal back when no other call stands for it;
    /// otherwise, and if the subject has no such proposal, the effects are none.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_leave(&self, subject: &str, proposal: ProposalId) -> Result<Effects, Error> {
        let subject = subject.to_owned();
        self.write(move |tx| {
            let others = proposals::leave(tx, &subject, proposal)?;
            // Counted and decided in one transaction: two clients that go at once must not both find another one left.
            if others.is_none_or(|others| proposal::leave(others) == Left::GoesOn) {
                return Ok(Effects::default());
            }
            let steps = steps::of_proposal(tx, proposal)?;
            let step = steps.first().ok_or(Error::Row("relay proposal"))?;
            take_back(tx, step, invocation::Event::CallerCancels, Account::of(DecidedBy::Caller))
        })
    }

    /// Denies an invocation at the request of the operator `by`, with all steps of its proposal that have not begun.
    /// Returns `None` if there is no such invocation; otherwise as [`Store::relay_cancel`].
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_deny(&self, invocation: InvocationId, by: &str) -> Result<Option<Effects>, Error> {
        let by = by.to_owned();
        self.write(move |tx| {
            let found = steps::find(tx, invocation)?;
            let account = Account::operator(&by);
            found
                .map(|step| take_back(tx, &step, invocation::Event::OperatorDenies, account))
                .transpose()
        })
    }

    /// Returns the steps of a subject's proposal, in order; none if the subject has no such proposal.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_steps_of(
        &self,
        subject: &str,
        proposal: ProposalId,
    ) -> Result<Vec<OwnInvocation>, Error> {
        let sql = format!(
            "SELECT {OWN} WHERE i.proposal_id = :proposal AND p.subject = :subject ORDER BY i.position"
        );
        let params = params! { ":proposal": proposal, ":subject": subject };
        self.read(|db| db.query(&sql, params, own))
    }

    /// Returns a subject's invocation; `None` if the subject has none of this id.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_invocation_of(
        &self,
        subject: &str,
        invocation: InvocationId,
    ) -> Result<Option<OwnInvocation>, Error> {
        let sql =
            format!("SELECT {OWN} WHERE i.invocation_id = :invocation AND p.subject = :subject");
        let params = params! { ":invocation": invocation, ":subject": subject };
        self.read(|db| db.query_one(&sql, params, own))
    }
}

fn take_back(
    tx: &mut Tx<'_>,
    step: &Step,
    event: invocation::Event,
    account: Account<'_>,
) -> Result<Effects, Error> {
    let session = sessions::find(tx, step.session)?.ok_or(Error::Row("relay session"))?;
    let mut effects = Effects::default();
    let steps = steps::of_proposal(tx, step.proposal)?;
    let decided = invocations::decide(tx, &session, steps, |_| Some(event));
    invocations::carry_out(tx, &Scene::new(&session, account), decided, &mut effects)?;
    Ok(effects)
}

fn own(row: &Row<'_>) -> Result<OwnInvocation, Error> {
    Ok(OwnInvocation {
        id: row.get("invocation_id")?,
        proposal: row.get("proposal_id")?,
        position: row.get("position")?,
        session: row.get("session_id")?,
        action: row.get("action")?,
        state: row.get("state")?,
        reason: row.get("reason")?,
        is_late: row.get("is_late")?,
        expires_at: row.get("expires_at")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
