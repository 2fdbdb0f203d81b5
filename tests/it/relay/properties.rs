//! What holds of every decision about an invocation, whatever the facts and the event.

use proptest::prelude::*;
use proptest::sample::select;
use svc::domain::digest::Digest;
use svc::domain::relay::allowance::Allowance;
use svc::domain::relay::grant::{self, Change, GrantClaim};
use svc::domain::relay::invocation::{
    Approval, Entry, Event, Facts, Journal, Report, Signed, State, decide,
};
use svc::domain::relay::{ActionEffect, DecidedBy, RelayReason, session};
use svc::domain::time::Timestamp;

fn id<T: From<uuid::Uuid>>(number: u8) -> T {
    uuid::Uuid::from_u128(number.into()).into()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_micros(1_795_251_600_000_000 + second)
}

prop_compose! {
    fn facts()(
        state in select(State::ALL),
        effect in select(ActionEffect::ALL),
        preview in prop::option::of(0..2_u8),
        (session, device, page, epoch) in (0..2_u8, 0..2_u8, 0..2_u8, 0..2_u32),
        allowance in prop::option::of((0..2_u8, 0..3_i64)),
        expires in 0..3_i64,
    ) -> Facts {
        let allowance = allowance.map(|(page, until)| Allowance { page: id(page), until: at(until) });
        Facts {
            state, effect, expires_at: at(expires), preview: preview.map(|byte| Digest::from([byte; 32])),
            session: id(session), device: id(device), epoch, page: id(page), allowance,
        }
    }
}

prop_compose! {
    fn signed()(by in prop::option::of(0..2_u8), session in 0..2_u8, epoch in 0..2_u32) -> Signed {
        Signed { by: by.map(id), session: id(session), epoch }
    }
}

prop_compose! {
    fn claim()(
        grant in select(grant::State::ALL),
        expires in prop::option::of(0..3_i64),
        session in select(session::State::ALL),
        (epoch, held_epoch) in (0..2_u32, 0..2_u32),
        (is_session_free, is_lane_free) in (any::<bool>(), any::<bool>()),
    ) -> GrantClaim {
        GrantClaim {
            grant, expires_at: expires.map(at), session, epoch, held_epoch, is_session_free, is_lane_free,
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let preview = || (0..2_u8).prop_map(|byte| Digest::from([byte; 32]));
    let approval = (select(DecidedBy::ALL), signed(), preview())
        .prop_map(|(by, signed, preview)| Event::Approve(Approval { by, signed, preview }));
    let reason = || select(RelayReason::ALL);
    prop_oneof![
        preview().prop_map(Event::Shown),
        approval,
        (signed(), reason()).prop_map(|(signed, reason)| Event::CannotShow(signed, reason)),
        signed().prop_map(Event::Deny),
        Just(Event::CallerCancels),
        Just(Event::OperatorDenies),
        Just(Event::Expires),
        claim().prop_map(Event::Claim),
        Just(Event::Result(Report::Succeeded)),
        reason().prop_map(|reason| Event::Result(Report::Failed(reason))),
        Just(Event::Result(Report::Stale)),
        reason().prop_map(|reason| Event::Result(Report::Unusable(reason))),
        Just(Event::DeadlinePasses),
        Just(Event::SocketClosed),
        select(Entry::ALL).prop_map(|entry| Event::Returned(Journal::Says(entry))),
        Just(Event::Returned(Journal::SilentSamePage)),
        Just(Event::Returned(Journal::SilentOtherPage)),
        Just(Event::FileChanged),
        Just(Event::Revoked),
        Just(Event::StepFailed),
    ]
}

/// One where the rules have most to decide: half of the cases are an approval with at most one fault, or a
/// claim of what is approved.
fn case() -> impl Strategy<Value = (Facts, Event)> {
    let any_case = (facts(), event());
    let approval = (facts(), select(DecidedBy::ALL), 0..8_u8).prop_map(|(facts, by, fault)| {
        let state = if facts.preview.is_some() { State::Shown } else { State::Proposed };
        let other = Digest::from([9; 32]);
        let preview = facts.preview.filter(|_| fault != 1).unwrap_or(other);
        let mut signed =
            Signed { by: Some(facts.device), session: facts.session, epoch: facts.epoch };
        match fault {
            2 => signed.by = None,
            3 => signed.by = Some(id(9)),
            4 => signed.session = id(9),
            5 => signed.epoch += 1,
            _ => {}
        }
        (Facts { state, ..facts }, Event::Approve(Approval { by, signed, preview }))
    });
    let claims = (facts(), claim()).prop_map(|(facts, claim)| {
        (Facts { state: State::Approved, ..facts }, Event::Claim(claim))
    });
    prop_oneof![2 => any_case, 1 => approval, 1 => claims]
}

/// The grant that an invocation in that state has; what has ended may have had any.
fn grants(state: State) -> Vec<Option<grant::State>> {
    match state {
        State::Proposed | State::Shown => vec![None],
        State::Approved => vec![Some(grant::State::Unused)],
        State::Running => vec![Some(grant::State::Claimed)],
        State::Unknown => vec![Some(grant::State::Spent)],
        _ => vec![None, Some(grant::State::Spent), Some(grant::State::Dead)],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn what_has_ended_never_changes_but_by_a_late_proof((facts, event) in case()) {
        let outcome = decide(&facts, &event, at(1));
        prop_assert_eq!(outcome.is_late, facts.state == State::Unknown && outcome.to.is_some());
        if facts.state.is_terminal() && let Some(to) = outcome.to {
            prop_assert_eq!(facts.state, State::Unknown);
            prop_assert!(matches!(to, State::Succeeded | State::Failed | State::Stale), "{}", to);
            prop_assert!(matches!(event, Event::Result(_) | Event::Returned(_)));
        }
    }

    #[test]
    fn a_grant_follows_its_invocation((facts, event) in case()) {
        let outcome = decide(&facts, &event, at(1));
        for grant in grants(facts.state) {
            let after = match outcome.grant {
                Some(change) => grant::apply(grant, change),
                None => grant,
            };
            let state = outcome.to.unwrap_or(facts.state);
            prop_assert!(grants(state).contains(&after), "{} {:?} {:?}", state, grant, outcome.grant);
        }
    }

    #[test]
    fn an_approval_is_that_of_this_device_session_epoch_and_preview((facts, event) in case()) {
        if decide(&facts, &event, at(1)).to == Some(State::Approved) {
            let Event::Approve(approval) = event else { panic!("{event:?} approves") };
            prop_assert_eq!(approval.signed.by, Some(facts.device));
            prop_assert_eq!(approval.signed.session, facts.session);
            prop_assert_eq!(approval.signed.epoch, facts.epoch);
            prop_assert!(at(1) < facts.expires_at);
            if facts.state == State::Shown || approval.by == DecidedBy::Person {
                prop_assert_eq!(facts.preview, Some(approval.preview));
            }
            if approval.by != DecidedBy::Person {
                prop_assert_eq!((approval.by, facts.effect), (DecidedBy::Allowance, ActionEffect::Read));
            }
        }
    }

    #[test]
    fn a_claim_needs_an_approval_and_the_socket_of_now((facts, event) in case()) {
        let outcome = decide(&facts, &event, at(1));
        if outcome.to == Some(State::Running) || outcome.grant == Some(Change::Claim) {
            let Event::Claim(claim) = event else { panic!("{event:?} claims") };
            prop_assert_eq!(facts.state, State::Approved);
            prop_assert_eq!((claim.grant, claim.session), (grant::State::Unused, session::State::Connected));
            prop_assert_eq!(claim.epoch, claim.held_epoch);
            prop_assert!(claim.is_lane_free && claim.is_session_free);
            prop_assert!(claim.expires_at.is_some_and(|end| at(1) < end));
        }
    }

    /// From its claim on, only the page itself can say that nothing happened.
    #[test]
    fn failed_is_said_only_of_what_did_not_happen((facts, event) in case()) {
        let outcome = decide(&facts, &event, at(1));
        if outcome.to == Some(State::Failed) {
            let before_its_claim = matches!(facts.state, State::Proposed | State::Shown);
            let is_proof = match event {
                Event::CannotShow(..) => before_its_claim,
                Event::Result(Report::Failed(_)) | Event::Returned(Journal::Says(Entry::Failed))
                | Event::Returned(Journal::SilentSamePage) => !before_its_claim,
                Event::Result(Report::Unusable(_)) => matches!(facts.effect, ActionEffect::Read | ActionEffect::Export),
                _ => false,
            };
            prop_assert!(is_proof, "{:?}", event);
        }
    }

    #[test]
    fn every_change_is_audited_and_nothing_else_is((facts, event) in case()) {
        let outcome = decide(&facts, &event, at(1));
        prop_assert_eq!(outcome.to.is_some(), outcome.audit.is_some());
        prop_assert!(outcome.to.is_some() || outcome.grant.is_none());
    }
}

proptest! {
    /// Whatever happens to one invocation in a row, its grant is claimed at most once.
    #[test]
    fn a_grant_is_claimed_at_most_once(
        mut facts in facts(),
        cases in prop::collection::vec(case(), 1..60),
    ) {
        let (mut grant, mut claims) = (None, 0);
        facts.state = State::Proposed;
        for (other, event) in cases {
            facts = Facts { state: facts.state, ..other };
            let event = match event {
                Event::Claim(claim) => Event::Claim(GrantClaim { grant: grant.unwrap_or(claim.grant), ..claim }),
                event => event,
            };
            let outcome = decide(&facts, &event, at(1));
            claims += u32::from(outcome.grant == Some(Change::Claim));
            if let Some(change) = outcome.grant {
                grant = grant::apply(grant, change);
                prop_assert!(grant.is_some());
            }
            facts.state = outcome.to.unwrap_or(facts.state);
        }
        prop_assert!(claims <= 1);
    }
}
