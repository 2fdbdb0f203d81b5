//! What plugins and callers do with the relay, as verbs of the store: enough to give operators something to look at.

use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

use svc::crypto::sha256;
use svc::domain::digest::Digest;
use svc::domain::id::{DeviceId, InvocationId};
use svc::domain::relay::invocation::{Approval, Signed};
use svc::domain::relay::{DecidedBy, Effect, Tool};
use svc::domain::time::Timestamp;
use svc::store::Store;
use svc::store::relay::{
    Begins, Effects, Held, NewInvocation, NewPairing, NewProposal, Paired, PairingAnswer, Proposed,
    SignedVerdict, Verdict,
};

/// Arguments of every proposal, which no operator must see.
pub(crate) const ARGUMENTS: &str = r#"{"node":"canary-node","text":"canary-text"}"#;
pub(crate) const SUBJECT: &str = "https://issuer.example mallory";
pub(crate) const CLIENT: &str = "agent";
const GRANT_TIME: Duration = Duration::from_secs(60);

/// A device with a session that is connected.
#[derive(Clone, Copy)]
pub(crate) struct Plugin {
    pub(crate) device: DeviceId,
    pub(crate) held: Held,
}

/// Returns the id of this kind and number.
pub(crate) fn id<T: FromStr<Err: Debug>>(kind: u8, number: u32) -> T {
    format!("0199f3a0-0000-7000-80{kind:02x}-{number:012x}").parse().unwrap()
}

fn digest(what: &str, number: u32) -> Digest {
    sha256::of(format!("{what} {number}").as_bytes())
}

/// Offers a code, as a plugin of this number does.
pub(crate) fn offer(store: &Store, number: u32, code: Digest, now: Timestamp) {
    let mut key = [4; 65];
    key[1..5].copy_from_slice(&number.to_be_bytes());
    let (begins, expires_at) = (Begins::Offered(code), now.plus(Duration::from_secs(300)));
    let new = NewPairing { id: id(1, number), key, tool: Tool::Penpot, begins, expires_at };
    store.relay_begin_pairing(new).unwrap().unwrap();
}

/// Pairs a plugin of this number, as a person does it.
pub(crate) fn pair(store: &Store, number: u32, now: Timestamp) -> Plugin {
    let (pairing, device, session) = (id(1, number), id(2, number), id(3, number));
    let code = digest("code", number);
    offer(store, number, code, now);
    store.relay_claim_pairing(code, SUBJECT, CLIENT).unwrap().unwrap();
    let lane = digest("lane", number);
    let page = id(4, number);
    let answer = PairingAnswer { id: pairing, accept: true, device, session, lane, page };
    let Paired::Ready(opened) = store.relay_answer_pairing(answer).unwrap() else {
        panic!("the pairing holds")
    };
    Plugin { device, held: Held { session: opened.session, epoch: opened.epoch } }
}

/// Proposes one step; returns its invocation, of the same number.
pub(crate) fn propose(store: &Store, plugin: Plugin, number: u32, now: Timestamp) -> InvocationId {
    let invocation = id(5, number);
    let step = NewInvocation {
        id: invocation,
        action: "set_text",
        effect: Effect::Write,
        arguments: ARGUMENTS.to_owned(),
        arguments_sha256: digest("arguments", number),
    };
    let proposal = NewProposal {
        id: id(6, number),
        subject: SUBJECT.to_owned(),
        client: CLIENT.to_owned(),
        session: plugin.held.session,
        steps: vec![step],
        digest: digest("proposal", number),
        expires_at: now.plus(Duration::from_secs(300)),
    };
    assert_eq!(store.relay_propose(proposal).unwrap(), Proposed::Made);
    invocation
}

/// Shows the proposal of this number and approves it, so that its step runs.
pub(crate) fn approve(store: &Store, plugin: Plugin, number: u32) -> Effects {
    let preview = digest("preview", number);
    let Held { session, epoch } = plugin.held;
    store.relay_shown(plugin.held, id(6, number), preview).unwrap();
    let signed = Signed { by: Some(plugin.device), session, epoch };
    let verdict = Verdict::Approve(Approval { by: DecidedBy::Person, signed, preview });
    let verdict = SignedVerdict {
        proposal: id(6, number),
        shown: None,
        verdict,
        preview,
        signature: [7; 64],
    };
    store.relay_decide(plugin.held, verdict, GRANT_TIME).unwrap()
}
