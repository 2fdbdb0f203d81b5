//! The heart of the relay: every event of an invocation against every state.

use std::fmt::Write as _;

use svc::domain::digest::Digest;
use svc::domain::id::{DeviceId, GrantId, PageInstanceId, RelaySessionId};
use svc::domain::relay::allowance::Allowance;
use svc::domain::relay::grant::{self, GrantClaim};
use svc::domain::relay::invocation::{
    Approval, Entry, Event, Facts, Journal, Outcome, Report, Signed, State, ToPlugin, decide,
};
use svc::domain::relay::{ActionEffect, DecidedBy, RelayReason, session};

use super::super::{NOW, check};
use super::TICK;

fn id<T: From<uuid::Uuid>>(number: u128) -> T {
    uuid::Uuid::from_u128(number).into()
}

/// A write whose decision has a tick left, in a session with an allowance that has a tick left.
fn facts(state: State) -> Facts {
    Facts {
        state,
        effect: ActionEffect::Write,
        expires_at: NOW.plus(TICK),
        preview: (state != State::Proposed).then(|| preview(1)),
        session: id(1),
        device: id(1),
        epoch: 2,
        page: id(1),
        allowance: Some(Allowance { page: id(1), until: NOW.plus(TICK) }),
    }
}

fn preview(byte: u8) -> Digest {
    Digest::from([byte; 32])
}

fn signed() -> Signed {
    Signed { by: Some(id::<DeviceId>(1)), session: id(1), epoch: 2 }
}

fn by(by: DecidedBy) -> Approval {
    Approval { by, signed: signed(), preview: preview(1) }
}

type Row = (String, Event, fn(&mut Facts));

fn rows(state: State) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut row = |name: &str, event, change: fn(&mut Facts)| {
        rows.push((name.to_owned(), event, change));
    };
    let same: fn(&mut Facts) = |_| {};
    row("shown, equal preview", Event::Shown(preview(1)), same);
    row("shown, other preview", Event::Shown(preview(2)), same);
    decisions(&mut row);
    row("caller cancels", Event::CallerCancels, same);
    row("operator denies", Event::OperatorDenies, same);
    row("expires", Event::Expires, same);
    claims(state, &mut row);
    for (name, report) in [
        ("result succeeded", Report::Succeeded),
        ("result failed", Report::Failed(RelayReason::NoSuchNode)),
        ("result stale", Report::Stale),
        ("result unusable, a write", Report::Unusable(RelayReason::BadResult)),
    ] {
        row(name, Event::Result(report), same);
    }
    let large = Event::Result(Report::Unusable(RelayReason::ResultTooLarge));
    row("result unusable, a read", large, |facts| facts.effect = ActionEffect::Read);
    row("result unusable, an export", large, |facts| facts.effect = ActionEffect::Export);
    row("deadline", Event::DeadlinePasses, same);
    row("socket closes", Event::SocketClosed, same);
    for (name, journal) in [
        ("journal succeeded", Journal::Says(Entry::Succeeded)),
        ("journal failed", Journal::Says(Entry::Failed)),
        ("journal stale", Journal::Says(Entry::Stale)),
        ("journal begun", Journal::Says(Entry::Begun)),
        ("journal silent, same page", Journal::SilentSamePage),
        ("journal silent, another page", Journal::SilentOtherPage),
    ] {
        row(name, Event::Returned(journal), same);
    }
    row("another file", Event::FileChanged, same);
    row("revoked", Event::Revoked, same);
    row("an earlier step did not succeed", Event::StepFailed, same);
    rows
}

fn decisions(row: &mut impl FnMut(&str, Event, fn(&mut Facts))) {
    let same: fn(&mut Facts) = |_| {};
    let person = by(DecidedBy::Person);
    let other = Approval { preview: preview(2), ..person };
    row("approve by person", Event::Approve(person), same);
    row("approve by person, other preview", Event::Approve(other), same);
    row("approve by person, time over", Event::Approve(person), |facts| facts.expires_at = NOW);
    let faults = [
        ("unsigned", Signed { by: None, ..signed() }),
        ("by another key", Signed { by: Some(id(2)), ..signed() }),
        ("for another session", Signed { session: id::<RelaySessionId>(2), ..signed() }),
        ("for another epoch", Signed { epoch: 1, ..signed() }),
    ];
    for (fault, signed) in faults {
        let approval = Approval { signed, ..person };
        row(&format!("approve by person, {fault}"), Event::Approve(approval), same);
    }
    let allowance = Event::Approve(by(DecidedBy::Allowance));
    row("approve by allowance, read", allowance, |facts| facts.effect = ActionEffect::Read);
    row("approve by allowance, export", allowance, |facts| facts.effect = ActionEffect::Export);
    row("approve by allowance, write", allowance, same);
    row("approve by allowance, destructive", allowance, |facts| {
        facts.effect = ActionEffect::Destructive;
    });
    row("approve by allowance, read, it has run out", allowance, |facts| {
        facts.effect = ActionEffect::Read;
        facts.allowance = Some(Allowance { page: id::<PageInstanceId>(1), until: NOW });
    });
    row("approve by allowance, read, there is none", allowance, |facts| {
        facts.effect = ActionEffect::Read;
        facts.allowance = None;
    });
    for who in [DecidedBy::Plugin, DecidedBy::Operator, DecidedBy::Caller] {
        row(&format!("approve by {who}"), Event::Approve(by(who)), |facts| {
            facts.effect = ActionEffect::Read;
        });
    }
    row("cannot show", Event::CannotShow(signed(), RelayReason::NoSuchNode), same);
    row("deny", Event::Deny(signed()), same);
    for (fault, signed) in faults {
        let event = Event::CannotShow(signed, RelayReason::NoSuchNode);
        row(&format!("cannot show, {fault}"), event, same);
        row(&format!("deny, {fault}"), Event::Deny(signed), same);
    }
}

fn claims(state: State, row: &mut impl FnMut(&str, Event, fn(&mut Facts))) {
    let claim = GrantClaim {
        grant: match state {
            State::Approved => grant::State::Unused,
            State::Running => grant::State::Claimed,
            _ => grant::State::Spent,
        },
        expires_at: Some(NOW.plus(TICK)),
        session: session::State::Connected,
        epoch: 2,
        held_epoch: 2,
        is_session_free: true,
        is_lane_free: true,
    };
    let mut claims = vec![
        ("claim".to_owned(), claim),
        ("claim, before its turn".to_owned(), GrantClaim { expires_at: None, ..claim }),
        ("claim, as the grant expires".to_owned(), GrantClaim { expires_at: Some(NOW), ..claim }),
        ("claim, by an earlier epoch".to_owned(), GrantClaim { held_epoch: 1, ..claim }),
        ("claim, the session is busy".to_owned(), GrantClaim { is_session_free: false, ..claim }),
        ("claim, the lane is busy".to_owned(), GrantClaim { is_lane_free: false, ..claim }),
    ];
    for session in [session::State::Away, session::State::Suspended, session::State::Ended] {
        claims.push((format!("claim, session {session}"), GrantClaim { session, ..claim }));
    }
    for grant in [grant::State::Claimed, grant::State::Spent, grant::State::Dead] {
        claims.push((format!("claim, grant {grant}"), GrantClaim { grant, ..claim }));
    }
    for (name, claim) in claims {
        row(&name, Event::Claim(claim), |_| {});
    }
}

#[test]
fn relay_invocation() {
    let mut table = String::new();
    for state in State::ALL {
        for (name, event, change) in rows(*state) {
            let mut facts = facts(*state);
            change(&mut facts);
            let outcome = decide(&facts, &event, NOW);
            assert_eq!(outcome.to.is_some(), outcome.audit.is_some(), "{state}; {name}");
            writeln!(table, "{state}; {name} -> {}", told(&outcome)).unwrap();
        }
    }
    check("relay_invocation", &table);
}

fn told(outcome: &Outcome) -> String {
    let mut text = outcome.to.map_or("no change", State::as_str).to_owned();
    if let Some(change) = outcome.grant {
        write!(text, ", grant {change}").unwrap();
    }
    if let Some(reason) = outcome.reason {
        write!(text, ", {reason}").unwrap();
    }
    match outcome.plugin {
        None => {}
        Some(ToPlugin::Withdraw(why)) => write!(text, ", withdraw {why}").unwrap(),
        Some(ToPlugin::Execute) => text.push_str(", execute"),
        Some(ToPlugin::Settled) => text.push_str(", settled"),
        Some(ToPlugin::Close(code)) => write!(text, ", close {}", code.code()).unwrap(),
    }
    if outcome.is_late {
        text.push_str(", late");
    }
    if let Some(audit) = outcome.audit {
        write!(text, "; audit {audit}").unwrap();
    }
    text
}

#[test]
fn a_journal_is_read_for_one_grant() {
    let (grant, other): (GrantId, GrantId) = (id(1), id(2));
    let (page, next): (PageInstanceId, PageInstanceId) = (id(1), id(2));
    let read = |entries: &[(GrantId, Entry)], from| Journal::read(entries, grant, page, from);
    let begun = Journal::Says(Entry::Begun);
    assert_eq!(read(&[(other, Entry::Begun)], page), Journal::SilentSamePage);
    assert_eq!(read(&[(other, Entry::Begun)], next), Journal::SilentOtherPage);
    assert_eq!(read(&[(grant, Entry::Stale)], next), Journal::Says(Entry::Stale));
    assert_eq!(read(&[(grant, Entry::Begun); 2], page), begun);
    assert_eq!(read(&[(grant, Entry::Failed), (grant, Entry::Succeeded)], page), begun);
}

#[test]
fn a_plugin_says_only_its_own_reasons() {
    for (word, reason) in [
        ("no_such_node", RelayReason::NoSuchNode),
        ("page_not_active", RelayReason::PageNotActive),
        ("not_delivered", RelayReason::PluginFailed),
        ("revoked", RelayReason::PluginFailed),
        ("anything", RelayReason::PluginFailed),
        ("", RelayReason::PluginFailed),
    ] {
        assert_eq!(RelayReason::from_plugin(word), reason, "{word}");
    }
}
