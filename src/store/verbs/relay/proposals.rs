//! Proposals: what callers ask for, and what waits for a person.

use crate::domain::id::{InvocationId, ProposalId};
use crate::domain::relay::RelayEventName;
use crate::domain::relay::allowance::{self, Cover};
use crate::domain::relay::invocation;
use crate::domain::relay::proposal::{
    self, Admission, COOLING_OFF, COVERED_OF_SESSION_MAX, WAITING_OF_SESSION_MAX,
};
use crate::domain::time::Timestamp;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::{pairings, proposals, sessions, steps};
use crate::store::sql::{Db, Row, Tx, params};
use crate::store::types::relay::{
    NewProposal, PendingProposal, Proposed, SessionSocket, WaitingStep,
};

/// Most denials of a client that are considered, the newest first.
const DENIALS_READ_MAX: u32 = 100;

/// Most proposals that wait for a page: those that a person decides, and those that an allowance covered.
const CARDS_MAX: u32 = WAITING_OF_SESSION_MAX + COVERED_OF_SESSION_MAX;

impl Store {
    /// Stores a caller's proposal, for a person to decide about. Repeating the call while the first has not ended
    /// returns the first.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when nothing was changed.
    pub fn relay_propose(&self, proposal: NewProposal) -> Result<Proposed, Error> {
        self.write(move |tx| propose(tx, &proposal))
    }

    /// Returns the proposals of a session that wait for a decision and whose time is not over, the oldest first, at most
    /// 28; returns none once another socket was accepted.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_waiting(&self, held: SessionSocket) -> Result<Vec<PendingProposal>, Error> {
        let now = self.clock.now();
        self.read(|db| db.snapshot(|db| waiting(db, held, now)))
    }

    /// Says whether all steps of a proposal have ended; a proposal that does not exist counts as ended.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn relay_has_ended(&self, proposal: ProposalId) -> Result<bool, Error> {
        self.read(|db| {
            db.value(
                "SELECT NOT EXISTS (SELECT 1 FROM relay_proposals \
                 WHERE proposal_id = :proposal AND finished_at IS NULL)",
                params! { ":proposal": proposal },
            )
        })
    }
}

fn propose(tx: &Tx<'_>, proposal: &NewProposal) -> Result<Proposed, Error> {
    let found = sessions::find(tx, proposal.session)?;
    // Another subject's session is treated as one that does not exist.
    let session = found.filter(|session| session.subject == proposal.subject);
    let same = same_call(tx, proposal)?;
    let waiting = waiting_now(tx, proposal)?;
    let facts = proposal::Facts {
        same_call: same.map(|(_, invocation, state)| (invocation, state)),
        session: session.as_ref().map(|session| session.state),
        is_moving: session
            .as_ref()
            .map_or(Ok(false), |it| pairings::is_asked_about(tx, it.held()))?,
        is_covered: session.as_ref().is_some_and(|session| is_covered(proposal, session, tx.now)),
        rests_until: rests_until(tx, proposal)?,
        waiting_of_session: waiting.of_session,
        waiting_of_subject: waiting.of_subject,
        covered_of_session: waiting.covered,
    };
    match (proposal::admit(&facts, tx.now), same, session) {
        (Admission::Propose, _, Some(session)) => {
            insert(tx, proposal, &session).map(|()| Proposed::Made)
        }
        (Admission::Join(_), Some((same, ..)), _) => {
            proposals::join(tx, same).map(|()| Proposed::Same(same))
        }
        (Admission::Refuse(why), ..) => Ok(Proposed::Refused {
            why,
            waiting: if facts.is_covered {
                facts.covered_of_session
            } else {
                facts.waiting_of_session.max(facts.waiting_of_subject)
            },
            rests_until: facts.rests_until.filter(|_| why == proposal::Refusal::CoolingOff),
        }),
        (Admission::Propose | Admission::Join(_), ..) => Err(Error::Row("relay session")),
    }
}

/// Says whether the session's allowance covers all steps.
fn is_covered(proposal: &NewProposal, session: &Session, now: Timestamp) -> bool {
    let highest = proposal.steps.iter().map(|step| step.effect).max();
    highest.is_some_and(|effect| {
        allowance::covers(session.allowance, effect, session.page, now) == Cover::Yes
    })
}

/// How many proposals wait for a decision.
struct WaitingNow {
    of_session: u32,
    of_subject: u32,
    /// Of the session, those that its allowance covers, which are in no other number.
    covered: u32,
}

/// Counts the proposals of a subject that wait. What an allowance covers is counted as if it were proposed now: once the
/// allowance has ended, a person decides about it.
fn waiting_now(tx: &Tx<'_>, proposal: &NewProposal) -> Result<WaitingNow, Error> {
    let found = tx.query_one(
        "SELECT count(*) FILTER (WHERE w.session_id = :session AND NOT w.is_covered) AS of_session, \
            count(*) FILTER (WHERE NOT w.is_covered) AS of_subject, \
            count(*) FILTER (WHERE w.session_id = :session AND w.is_covered) AS covered \
         FROM (SELECT p.session_id, \
                EXISTS (SELECT 1 FROM relay_sessions s JOIN relay_allowances a \
                        ON a.session_id = s.session_id AND a.page = s.page AND a.expires_at > :now \
                    WHERE s.session_id = p.session_id) \
                AND NOT EXISTS (SELECT 1 FROM relay_invocations i \
                    WHERE i.proposal_id = p.proposal_id AND i.effect <> 'read') AS is_covered \
            FROM relay_proposals p INDEXED BY relay_proposals_waiting_of_subject \
            WHERE p.subject = :subject AND p.is_waiting = 1) w",
        params! { ":session": proposal.session, ":subject": proposal.subject, ":now": tx.now },
        |row| {
            let (of_session, of_subject) = (row.get("of_session")?, row.get("of_subject")?);
            Ok(WaitingNow { of_session, of_subject, covered: row.get("covered")? })
        },
    )?;
    found.ok_or(Error::Row("relay proposal"))
}

/// Returns the proposal of the same call that has not ended, and one of its steps that has not.
fn same_call(
    tx: &Tx<'_>,
    proposal: &NewProposal,
) -> Result<Option<(ProposalId, InvocationId, invocation::State)>, Error> {
    tx.query_one(
        "SELECT p.proposal_id, i.invocation_id, i.state \
         FROM relay_proposals p JOIN relay_invocations i ON i.proposal_id = p.proposal_id \
         WHERE p.subject = :subject AND p.client = :client AND p.session_id = :session \
            AND p.digest = :digest AND p.finished_at IS NULL \
            AND i.state IN ('proposed', 'shown', 'approved', 'running') \
         LIMIT 1",
        params! {
            ":subject": proposal.subject,
            ":client": proposal.client,
            ":session": proposal.session,
            ":digest": proposal.digest,
        },
        |row| Ok((row.get("proposal_id")?, row.get("invocation_id")?, row.get("state")?)),
    )
}

fn rests_until(tx: &Tx<'_>, proposal: &NewProposal) -> Result<Option<Timestamp>, Error> {
    let mut denials: Vec<Timestamp> = tx.query(
        "SELECT created_at FROM relay_approvals \
         WHERE subject = :subject AND client = :client AND created_at > :since \
            AND decision = 'denied' AND decided_by = 'person' \
         ORDER BY created_at DESC LIMIT +:limit",
        params! {
            ":subject": proposal.subject,
            ":client": proposal.client,
            // Twice the rest, which lasts ten minutes from the last of denials that lie up to ten minutes apart.
            ":since": tx.now.minus(COOLING_OFF.saturating_mul(2)),
            ":limit": DENIALS_READ_MAX,
        },
        |row| row.get("created_at"),
    )?;
    // Read from the newest so that the limit cuts the oldest; the rule goes through them from the oldest.
    denials.reverse();
    Ok(proposal::rests_until(&denials, tx.now))
}

fn insert(tx: &Tx<'_>, proposal: &NewProposal, session: &Session) -> Result<(), Error> {
    proposals::insert(tx, proposal)?;
    sessions::note_used(tx, session.id)?;
    for step in steps::of_proposal(tx, proposal.id)? {
        let account = Account::default();
        audit::step(tx, RelayEventName::Proposed, (session, &step), None, &account)?;
    }
    Ok(())
}

/// Reads what waits by an index of that alone: the planner prefers the one of all that the session ever had.
fn waiting(
    db: &Db<'_>,
    held: SessionSocket,
    now: Timestamp,
) -> Result<Vec<PendingProposal>, Error> {
    if sessions::held(db, held)?.is_none() {
        return Ok(Vec::new());
    }
    let mut waiting = db.query(
        "SELECT proposal_id, client, expires_at \
         FROM relay_proposals INDEXED BY relay_proposals_waiting_of_session \
         WHERE session_id = :session AND is_waiting = 1 AND expires_at > :now \
         ORDER BY id LIMIT +:limit",
        params! { ":session": held.session, ":now": now, ":limit": CARDS_MAX },
        |row| {
            Ok(PendingProposal {
                id: row.get("proposal_id")?,
                client: row.get("client")?,
                expires_at: row.get("expires_at")?,
                steps: Vec::new(),
            })
        },
    )?;
    for proposal in &mut waiting {
        proposal.steps = db.query(
            "SELECT invocation_id, action, effect, arguments, arguments_sha256 \
             FROM relay_invocations \
             WHERE proposal_id = :proposal AND state IN ('proposed', 'shown') ORDER BY position",
            params! { ":proposal": proposal.id },
            waiting_step,
        )?;
    }
    Ok(waiting)
}

fn waiting_step(row: &Row<'_>) -> Result<WaitingStep, Error> {
    Ok(WaitingStep {
        id: row.get("invocation_id")?,
        action: row.get("action")?,
        effect: row.get("effect")?,
        arguments: row.get("arguments")?,
        arguments_sha256: row.get("arguments_sha256")?,
    })
}
