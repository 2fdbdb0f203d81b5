//! What happens to steps: each decision is carried out with its grant, its audit event, and what follows for the steps
//! behind.

use std::time::Duration;

use crate::domain::id::ProposalId;

use crate::domain::relay::invocation::{self, ToPlugin};
use crate::domain::relay::proposal;
use crate::domain::relay::{CloseCode, grant};
use crate::store::error::Error;
use crate::store::rows::relay::audit::{self, Account};
use crate::store::rows::relay::sessions::Session;
use crate::store::rows::relay::steps::{self, Step};
use crate::store::rows::relay::{grants, proposals};
use crate::store::sql::{Tx, params};
use crate::store::types::relay::{Changed, Effects, Tell};

/// The session in which something happens, who did it, and how long a grant that is made can be claimed.
#[derive(Clone, Copy)]
pub(in crate::store) struct Scene<'a> {
    pub(in crate::store) session: &'a Session,
    pub(in crate::store) account: Account<'a>,
    pub(in crate::store) grant_time: Duration,
}

impl<'a> Scene<'a> {
    /// Returns the scene of events that approve nothing.
    pub(in crate::store) const fn new(session: &'a Session, account: Account<'a>) -> Self {
        Self { session, account, grant_time: Duration::ZERO }
    }
}

/// A step and what is decided about it.
pub(in crate::store) type Decided = (Step, invocation::Outcome);

/// Decides about each step before any decision is carried out.
pub(in crate::store) fn decide(
    tx: &Tx<'_>,
    session: &Session,
    steps: Vec<Step>,
    event: impl Fn(&Step) -> Option<invocation::Event>,
) -> Vec<Decided> {
    let decided = steps.into_iter().filter_map(|step| {
        let event = event(&step)?;
        let outcome = invocation::decide(&step.facts(session), &event, tx.now);
        Some((step, outcome))
    });
    decided.collect()
}

/// Returns how the socket is closed, if a decision about any step says that its plugin broke the protocol.
pub(in crate::store) fn closes(decided: &[Decided]) -> Option<CloseCode> {
    decided.iter().find_map(|(_, outcome)| match outcome.plugin {
        Some(ToPlugin::Close(code)) => Some(code),
        _ => None,
    })
}

/// Carries decisions out, and what follows for the steps after them.
pub(in crate::store) fn carry_out(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    decided: Vec<Decided>,
    effects: &mut Effects,
) -> Result<(), Error> {
    // Two passes: `follow` may end later steps of this list, whose own decisions must be written first.
    let mut changed = Vec::new();
    for (mut step, outcome) in decided {
        apply(tx, scene, &mut step, &outcome, effects)?;
        if outcome.to.is_some() {
            changed.push((step.proposal, step.position, step.state));
        }
    }
    let mut touched: Vec<ProposalId> = Vec::new();
    for (proposal, position, state) in changed {
        follow(tx, scene.session, (proposal, position), state, effects)?;
        if !touched.contains(&proposal) {
            touched.push(proposal);
        }
    }
    for proposal in touched {
        if proposals::refresh(tx, proposal)? {
            effects.finished.push(proposal);
        }
    }
    Ok(())
}

/// The same for an event of one step.
pub(in crate::store) fn happens(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    step: Step,
    event: invocation::Event,
    effects: &mut Effects,
) -> Result<(), Error> {
    let decided = decide(tx, scene.session, vec![step], |_| Some(event));
    carry_out(tx, scene, decided, effects)
}

/// Carries out what the end of a step means for those after it.
fn follow(
    tx: &mut Tx<'_>,
    session: &Session,
    (proposal, position): (ProposalId, u32),
    state: invocation::State,
    effects: &mut Effects,
) -> Result<(), Error> {
    match proposal::after(state) {
        proposal::Next::Wait => Ok(()),
        proposal::Next::Begin => grants::begin_turn(tx, proposal, position.saturating_add(1)),
        proposal::Next::Cancel => {
            // Read again, because their states may have changed in this transaction.
            let mut behind = steps::of_proposal(tx, proposal)?;
            behind.retain(|step| step.position > position);
            let scene = Scene::new(session, Account::default());
            for (mut step, outcome) in
                decide(tx, session, behind, |_| Some(invocation::Event::StepFailed))
            {
                apply(tx, &scene, &mut step, &outcome, effects)?;
            }
            Ok(())
        }
    }
}

/// Carries one decision out. If it is a claim, the grant was claimed before.
pub(in crate::store) fn apply(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    step: &mut Step,
    outcome: &invocation::Outcome,
    effects: &mut Effects,
) -> Result<(), Error> {
    // The grant first: whatever is told below needs the id of a grant that is minted here.
    change_grant(tx, scene, step, outcome.grant, effects)?;
    if let Some(to) = outcome.to {
        write(tx, step, to, outcome)?;
        match to {
            invocation::State::Shown => {
                proposals::note_preview(tx, step.proposal, scene.account.preview)?;
            }
            invocation::State::Proposed => proposals::note_preview(tx, step.proposal, None)?,
            _ => {}
        }
        let event = outcome.audit.ok_or(Error::Row("relay audit event"))?;
        audit::step(tx, event, (scene.session, step), outcome.reason, &scene.account)?;
        effects.unchanged = None;
        effects.changed.push(Changed {
            invocation: step.id,
            proposal: step.proposal,
            effect: step.effect,
            state: to,
        });
    } else if effects.changed.is_empty() && outcome.reason.is_some() {
        effects.unchanged = outcome.reason;
    }
    tell(scene.session, step, outcome, effects);
    Ok(())
}

fn change_grant(
    tx: &mut Tx<'_>,
    scene: &Scene<'_>,
    step: &mut Step,
    change: Option<grant::Change>,
    effects: &mut Effects,
) -> Result<(), Error> {
    match (change, step.grant.as_mut()) {
        (None | Some(grant::Change::Claim), _) => Ok(()),
        (Some(grant::Change::Mint), None) => {
            step.grant = Some(grants::mint(tx, scene.session, step, scene.grant_time)?);
            Ok(())
        }
        (Some(change @ (grant::Change::Spend | grant::Change::Kill)), Some(grant)) => {
            grants::end(tx, grant, change)?;
            // The state before the end: only a claimed grant kept its lane busy.
            if grant.state == grant::State::Claimed {
                for session in grants::waiting_for(tx, grant.lane)? {
                    if !effects.free_for.contains(&session) {
                        effects.free_for.push(session);
                    }
                }
            }
            Ok(())
        }
        (Some(_), _) => Err(Error::Row("relay grant")),
    }
}

/// Writes the new state, if the old one is still stored. The arguments are deleted when the step ends.
fn write(
    tx: &Tx<'_>,
    step: &mut Step,
    to: invocation::State,
    outcome: &invocation::Outcome,
) -> Result<(), Error> {
    let changed = tx.execute(
        "UPDATE relay_invocations SET state = :to, reason = :reason, is_late = :is_late, \
            arguments = CASE WHEN :is_terminal THEN NULL ELSE arguments END, updated_at = :now \
         WHERE invocation_id = :id AND state = :from",
        params! {
            ":id": step.id,
            ":from": step.state,
            ":to": to,
            ":reason": outcome.reason,
            ":is_late": outcome.is_late,
            ":is_terminal": to.is_terminal(),
            ":now": tx.now,
        },
    )?;
    step.state = to;
    if changed == 1 { Ok(()) } else { Err(Error::Row("relay invocation")) }
}

fn tell(session: &Session, step: &Step, outcome: &invocation::Outcome, effects: &mut Effects) {
    let grant = step.grant.map(|grant| grant.id);
    let tell = match (outcome.plugin, grant) {
        (Some(ToPlugin::Withdraw(why)), _) => Tell::Withdraw(step.proposal, why),
        (Some(ToPlugin::Close(code)), _) => Tell::Close(code),
        (Some(ToPlugin::Settled), Some(grant)) => Tell::Settled(grant),
        (Some(ToPlugin::Execute), Some(grant)) => Tell::Execute {
            grant,
            invocation: step.id,
            arguments_sha256: step.arguments_sha256,
            effect: step.effect,
        },
        (Some(ToPlugin::Settled | ToPlugin::Execute), None) | (None, _) => return,
    };
    let tell = (session.held(), tell);
    // The steps of one proposal share a card, which is withdrawn once.
    if !effects.tell.contains(&tell) {
        effects.tell.push(tell);
    }
}
