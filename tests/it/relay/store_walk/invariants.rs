//! What must hold after every step, in the rows and in the audit log.

use std::collections::BTreeMap;

use svc::domain::digest::Digest;
use svc::domain::id::{DeviceId, InvocationId};
use svc::domain::relay::RelayEventName;
use svc::domain::relay::invocation::State;

use super::page::Acting;
use super::world::World;

/// What of the audit log was looked at.
#[derive(Default)]
pub(super) struct Seen {
    rows: i64,
    /// The last event of each invocation.
    last: BTreeMap<InvocationId, RelayEventName>,
}

impl Seen {
    pub(super) fn rows(&self) -> u64 {
        u64::try_from(self.rows).unwrap()
    }
}

/// The states in which an invocation can be after an event.
fn states_after(event: RelayEventName) -> &'static [State] {
    match event {
        RelayEventName::Proposed => &[State::Proposed],
        RelayEventName::Shown => &[State::Shown],
        RelayEventName::Approved => &[State::Approved],
        RelayEventName::Claimed => &[State::Running],
        // The plugin could not show it.
        RelayEventName::Denied => &[State::Denied, State::Failed],
        RelayEventName::Cancelled => &[State::Cancelled],
        RelayEventName::Expired => &[State::Expired],
        RelayEventName::Settled => &[State::Succeeded, State::Failed, State::Stale, State::Unknown],
        RelayEventName::SettledLate => &[State::Succeeded, State::Failed, State::Stale],
        _ => &[],
    }
}

/// Says whether the rules let one event follow another of the same invocation.
fn may_follow(before: Option<RelayEventName>, event: RelayEventName) -> bool {
    use RelayEventName::{
        Approved, Cancelled, Claimed, Denied, Expired, Proposed, Settled, SettledLate, Shown,
    };
    let Some(before) = before else { return event == Proposed };
    let may: &[RelayEventName] = match before {
        Proposed => &[Shown, Approved, Denied, Cancelled, Expired],
        Shown => &[Proposed, Approved, Denied, Cancelled, Expired],
        Approved => &[Claimed, Cancelled, Expired],
        Claimed => &[Settled],
        Settled => &[SettledLate],
        _ => &[],
    };
    may.contains(&event)
}

impl World {
    /// Looks at everything.
    pub(super) fn look(&mut self) {
        self.look_at_the_audit_log();
        self.look_at_what_is_in_flight();
        self.look_at_invocations();
    }

    fn look_at_the_audit_log(&mut self) {
        let sql = "SELECT seq, event, invocation_id FROM relay_audit_events WHERE seq > ?1";
        let new: Vec<(i64, String, Option<String>)> = {
            let mut statement = self.file.prepare_cached(sql).unwrap();
            let rows = statement
                .query_map([self.seen.rows], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap();
            rows.map(Result::unwrap).collect()
        };
        for (seq, event, invocation) in new {
            self.seen.rows = seq;
            let Some(invocation) = invocation else { continue };
            let id: InvocationId = invocation.parse().unwrap();
            let event = RelayEventName::from_word(&event).unwrap();
            let before = self.seen.last.insert(id, event);
            if !may_follow(before, event) {
                self.wrong(format!("{event} after {before:?}"));
            }
        }
    }

    fn look_at_what_is_in_flight(&mut self) {
        let most = |what: &str| -> u32 {
            let sql = format!(
                "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM relay_grants \
                 WHERE state = 'claimed' GROUP BY {what})"
            );
            self.file.prepare_cached(&sql).unwrap().query_row([], |row| row.get(0)).unwrap()
        };
        let (of_session, of_lane) = (most("session_id"), most("lane"));
        if of_session > 1 || of_lane > 1 {
            self.wrong(format!("{of_session} in flight in a session, {of_lane} in a lane"));
        }
    }

    /// States, audit events and effects say the same.
    fn look_at_invocations(&mut self) {
        let sql = "SELECT invocation_id, state, is_late FROM relay_invocations";
        let rows: Vec<(String, String, bool)> = {
            let mut statement = self.file.prepare_cached(sql).unwrap();
            let rows =
                statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
            rows.map(Result::unwrap).collect()
        };
        let mut late = 0;
        for (id, state, is_late) in rows {
            let id: InvocationId = id.parse().unwrap();
            let state = State::from_word(&state).unwrap();
            late += usize::from(is_late);
            let event = self.seen.last.get(&id).copied();
            if !event.is_some_and(|event| states_after(event).contains(&state)) {
                self.wrong(format!("{state}, and the audit log says {event:?}"));
            }
            if is_late != (event == Some(RelayEventName::SettledLate)) {
                self.wrong(format!("{state} is late: {is_late}, and the log says {event:?}"));
            }
            let effects = self.carried_out.get(&id).copied().unwrap_or(0);
            if state == State::Succeeded && effects != 1 {
                self.wrong(format!("succeeded with {effects} effects"));
            }
            let is_unchanged =
                state.is_terminal() && !matches!(state, State::Succeeded | State::Unknown);
            if is_unchanged && effects > 0 {
                self.wrong(format!("{state}, and it has happened"));
            }
        }
        self.late = late;
    }

    /// An effect happens now: of what was approved by this device, with these arguments, and claimed in time.
    pub(super) fn check_effect(
        &mut self,
        acting: Acting,
        device: DeviceId,
        arguments: Option<Digest>,
    ) {
        let sql = "SELECT i.state IN ('running', 'unknown') \
                AND g.state IN ('claimed', 'spent') AND g.claimed_at < g.expires_at \
                AND d.decision = 'approved' AND d.created_at < p.expires_at \
                AND i.arguments_sha256 = ?3 \
                AND EXISTS (SELECT 1 FROM relay_audit_events a JOIN relay_audit_events c \
                    ON c.invocation_id = a.invocation_id AND c.event = 'relay.claimed' \
                    WHERE a.invocation_id = i.invocation_id AND a.event = 'relay.approved' \
                        AND a.device_id = ?2 AND a.arguments_sha256 = ?3 AND a.seq < c.seq \
                        AND NOT EXISTS (SELECT 1 FROM relay_audit_events e \
                            WHERE e.seq < c.seq AND (e.session_id = i.session_id \
                                AND e.event = 'relay.session_ended' \
                                OR e.device_id = ?2 AND e.event = 'relay.device_revoked'))) \
            FROM relay_grants g JOIN relay_invocations i ON i.invocation_id = g.invocation_id \
                JOIN relay_proposals p ON p.proposal_id = i.proposal_id \
                JOIN relay_approvals d ON d.proposal_id = i.proposal_id \
            WHERE g.grant_id = ?1";
        let arguments = arguments.map(|digest| digest.as_bytes().to_vec());
        let params = (acting.grant.to_string(), device.to_string(), arguments);
        let holds = self.file.query_row(sql, params, |row| row.get(0)).unwrap_or(Some(false));
        if holds != Some(true) {
            let state: Option<String> = self
                .file
                .query_row(
                    "SELECT state FROM relay_invocations WHERE invocation_id = ?1",
                    [acting.invocation.to_string()],
                    |row| row.get(0),
                )
                .ok();
            self.wrong(format!("an effect that was not approved, of one that is {state:?}"));
        }
    }
}
