//! The rules of the relay: every state against every event, for each of its machines.

mod invocation;

use std::fmt::Write as _;
use std::time::Duration;

use svc::domain::id::{InvocationId, PageInstanceId};
use svc::domain::relay::allowance::{self, Allowance, Cover, Length};
use svc::domain::relay::{ActionEffect, CloseCode, device, grant, pairing, proposal, session};
use svc::domain::relay::{invocation as invocations, proposal::Admission};
use svc::domain::time::Timestamp;

use super::{NOW, check};

const TICK: Duration = Duration::from_micros(1);

fn minutes_ago(minutes: u64) -> Timestamp {
    NOW.minus(Duration::from_mins(minutes))
}

fn close(code: Option<CloseCode>) -> String {
    code.map_or_else(String::new, |code| format!(", close {}", code.code()))
}

#[test]
fn relay_pairing() {
    let mut table = String::new();
    for state in pairing::State::ALL {
        for event in pairing::Event::ALL {
            for (when, expires_at) in [("in time", NOW.plus(TICK)), ("as its time ends", NOW)] {
                let outcome = match pairing::decide(*state, *event, expires_at, NOW) {
                    pairing::Outcome::Claim => "claimed".to_owned(),
                    pairing::Outcome::Pair => "confirmed, ready".to_owned(),
                    pairing::Outcome::End(state, code) => format!("{state}{}", close(code)),
                    pairing::Outcome::NotFound => "not found".to_owned(),
                    pairing::Outcome::Close(code) => format!("no change{}", close(Some(code))),
                    pairing::Outcome::Unchanged => "no change".to_owned(),
                };
                writeln!(table, "{state}; {event}; {when} -> {outcome}").unwrap();
            }
        }
    }
    let known = device::State::ALL.iter().copied().map(Some);
    for device in [None].into_iter().chain(known) {
        let begins = match pairing::begin(device) {
            Ok(state) => format!("begins {state}"),
            Err(code) => format!("no pairing{}", close(Some(code))),
        };
        let device = device.map_or("unknown", device::State::as_str);
        writeln!(table, "device {device} -> {begins}").unwrap();
    }
    for (state, time) in [("offered", pairing::OFFERED), ("claimed", pairing::CLAIMED)] {
        writeln!(table, "{state} lasts -> {} s", time.as_secs()).unwrap();
    }
    check("relay_pairing", &table);
}

#[test]
fn relay_device() {
    let mut table = String::new();
    for state in device::State::ALL {
        let outcome = match device::revoke(*state) {
            device::Revocation::Revoke => "revoked, its sessions too",
            device::Revocation::Unchanged => "no change",
        };
        writeln!(table, "{state}; revoke -> {outcome}").unwrap();
    }
    check("relay_device", &table);
}

#[test]
fn relay_session() {
    let mut table = String::new();
    for state in session::State::ALL {
        for event in session::Event::ALL {
            let outcome = match session::decide(*state, *event) {
                session::Outcome::Change(change) => changed(&change),
                session::Outcome::Close(code) => format!("no change{}", close(Some(code))),
                session::Outcome::Unchanged => "no change".to_owned(),
            };
            writeln!(table, "{state}; {event} -> {outcome}").unwrap();
        }
    }
    check("relay_session", &table);
}

fn changed(change: &session::Change) -> String {
    let mut text = change.to.to_string();
    if change.is_new_epoch {
        text.push_str(", epoch+1");
    }
    if let Some(code) = change.close_old {
        write!(text, ", old socket closes {}", code.code()).unwrap();
    }
    if change.ends_allowance {
        text.push_str(", allowance ends");
    }
    for toward in change.invocations {
        write!(text, ", invocations: {toward}").unwrap();
    }
    if let Some(audit) = change.audit {
        write!(text, "; audit {audit}").unwrap();
    }
    text
}

#[test]
fn relay_grant() {
    let mut table = String::new();
    let states = grant::State::ALL.iter().copied().map(Some);
    for state in [None].into_iter().chain(states) {
        for change in grant::Change::ALL {
            let to = grant::apply(state, *change).map_or("impossible", grant::State::as_str);
            let state = state.map_or("none", grant::State::as_str);
            writeln!(table, "{state}; {change} -> {to}").unwrap();
        }
    }
    for position in 0..2 {
        let expires_at = grant::expires_at(position, NOW, Duration::from_secs(60));
        let lasts = expires_at
            .map_or("its turn comes".to_owned(), |at| format!("{} s", at.since(NOW).as_secs()));
        writeln!(table, "step {position} approved; 60 s a grant -> {lasts}").unwrap();
    }
    for effect in ActionEffect::ALL {
        writeln!(table, "{effect} claimed; deadline -> {} s", effect.deadline().as_secs()).unwrap();
    }
    check("relay_grant", &table);
}

#[test]
fn relay_allowance() {
    let mut table = String::new();
    let page = PageInstanceId::from(uuid::Uuid::from_u128(1));
    let other = PageInstanceId::from(uuid::Uuid::from_u128(2));
    let allowances = [
        ("none", None),
        ("for a tick more", Some(Allowance { page, until: NOW.plus(TICK) })),
        ("until now", Some(Allowance { page, until: NOW })),
        ("of another page", Some(Allowance { page: other, until: NOW.plus(TICK) })),
    ];
    for effect in ActionEffect::ALL.iter().copied() {
        for (name, allowance) in allowances {
            let cover = match allowance::covers(allowance, effect, page, NOW) {
                Cover::Yes => "covered",
                Cover::Ended => "allowance_ended",
                Cover::No => "not covered",
            };
            writeln!(table, "{effect}; allowance {name} -> {cover}").unwrap();
        }
    }
    for (had, has_one) in [("none", false), ("one", true)] {
        for minutes in [0, 1, 14, 15, 16, 59, 60, 61, u64::MAX] {
            let outcome = match Length::from_minutes(minutes) {
                None => "not an allowance".to_owned(),
                Some(length) => {
                    let outcome = allowance::decide(has_one, length, NOW);
                    let told = match outcome {
                        allowance::Outcome::Give(until) => {
                            format!("given for {} s", until.since(NOW).as_secs())
                        }
                        allowance::Outcome::End => "ended".to_owned(),
                        allowance::Outcome::Unchanged => "no change".to_owned(),
                    };
                    let audit = outcome.audit().map(|event| format!("; audit {event}"));
                    format!("{told}{}", audit.unwrap_or_default())
                }
            };
            writeln!(table, "had {had}; asks for {minutes} min -> {outcome}").unwrap();
        }
    }
    check("relay_allowance", &table);
}

#[test]
fn relay_proposal() {
    let mut table = String::new();
    for step in invocations::State::ALL {
        let next = match proposal::after(*step) {
            proposal::Next::Wait => "waits",
            proposal::Next::Begin => "its turn begins",
            proposal::Next::Cancel => "cancelled, step_failed",
        };
        writeln!(table, "a step is {step}; the next -> {next}").unwrap();
    }
    admissions(&mut table);
    for others in 0..3 {
        let left = match proposal::leave(others) {
            proposal::Left::GoesOn => "goes on",
            proposal::Left::TakenBack => "taken back",
        };
        writeln!(table, "the client of a call goes, {others} other calls stand -> {left}").unwrap();
    }
    let patterns: [(&str, &[u64]); 8] = [
        ("none", &[]),
        ("two at once", &[0, 0]),
        ("three in 10 min", &[10, 5, 0]),
        ("three in 11 min", &[11, 5, 0]),
        ("three, the last 9 min ago", &[12, 10, 9]),
        ("three, the last 10 min ago", &[12, 11, 10]),
        ("three, then one more 9 min after", &[11, 10, 9, 0]),
        ("three long ago, then one", &[19, 18, 17, 0]),
    ];
    for (name, minutes) in patterns {
        let denials: Vec<Timestamp> = minutes.iter().copied().map(minutes_ago).collect();
        let rests = proposal::rests_until(&denials, NOW);
        let rests = rests.map_or("goes on".to_owned(), |until| {
            format!("rests {} min", until.since(NOW).as_secs() / 60)
        });
        writeln!(table, "denials: {name} -> {rests}").unwrap();
    }
    let ahead = [NOW.plus(TICK); 3];
    assert_eq!(proposal::rests_until(&ahead, NOW), None, "noted by a clock that was ahead");
    check("relay_proposal", &table);
}

fn admissions(table: &mut String) {
    let invocation = InvocationId::from(uuid::Uuid::nil());
    let known = invocations::State::ALL.iter().copied().map(Some);
    let calls: Vec<Option<invocations::State>> = [None].into_iter().chain(known).collect();
    let sessions = session::State::ALL.iter().copied().map(Some);
    let sessions: Vec<Option<session::State>> = [None].into_iter().chain(sessions).collect();
    let waits = [("few", 7, 15), ("8 of the session", 8, 8), ("16 of the subject", 0, 16)];
    for same in calls {
        for session in &sessions {
            for (rest, rests_until) in [("rested", Some(NOW)), ("rests", Some(NOW.plus(TICK)))] {
                for (waiting, waiting_of_session, waiting_of_subject) in waits {
                    let facts = proposal::Facts {
                        same_call: same.map(|state| (invocation, state)),
                        session: *session,
                        rests_until,
                        waiting_of_session,
                        waiting_of_subject,
                        ..NOTHING_KNOWN
                    };
                    let outcome = admitted(&facts);
                    let same = same.map_or("new", invocations::State::as_str);
                    let session = session.map_or("foreign", session::State::as_str);
                    writeln!(
                        table,
                        "same call {same}; session {session}; client {rest}; waiting {waiting} -> {outcome}"
                    )
                    .unwrap();
                }
            }
        }
    }
    for session in sessions {
        let name = session.map_or("foreign", session::State::as_str);
        let moving =
            proposal::Facts { session, is_moving: true, is_covered: true, ..NOTHING_KNOWN };
        writeln!(table, "session {name}, another file is open -> {}", admitted(&moving)).unwrap();
        for covered_of_session in [0, 19, 20] {
            let covered = proposal::Facts {
                session,
                is_covered: true,
                rests_until: Some(NOW.plus(TICK)),
                waiting_of_session: 8,
                waiting_of_subject: 16,
                covered_of_session,
                ..NOTHING_KNOWN
            };
            let outcome = admitted(&covered);
            writeln!(
                table,
                "covered by an allowance; session {name}; client rests; 8 and 16 wait, and \
                 {covered_of_session} that are covered -> {outcome}"
            )
            .unwrap();
        }
    }
}

/// Nothing is known.
const NOTHING_KNOWN: proposal::Facts = proposal::Facts {
    same_call: None,
    session: None,
    is_moving: false,
    is_covered: false,
    rests_until: None,
    waiting_of_session: 0,
    waiting_of_subject: 0,
    covered_of_session: 0,
};

fn admitted(facts: &proposal::Facts) -> String {
    match proposal::admit(facts, NOW) {
        Admission::Propose => "proposed".to_owned(),
        Admission::Join(_) => "the same invocation".to_owned(),
        Admission::Refuse(refusal) => refusal.to_string(),
    }
}
