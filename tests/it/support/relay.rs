//! People, plugins and callers of the relay at the verbs of a store, without sockets. What a person confirms and approves
//! is signed, so that it can be verified in the audit log.

use std::cell::Cell;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use svc::demo::plugin::device::BrowserProfile;
use svc::domain::digest::Digest;
use svc::domain::id::{
    DeviceId, GrantId, InvocationId, PageInstanceId, PairingId, ProposalId, RelayProcessId,
};
use svc::domain::relay::invocation::{Approval, Entry, Signed};
use svc::domain::relay::{ActionEffect, CardDecision, DecidedBy, DesignTool, RelayReason};
use svc::domain::time::Timestamp;
use svc::relay::frame::{self, Nonce};
use svc::relay::proof::{DecisionText, confirm_text};
use svc::runtime::clock::Clock;
use svc::store::Store;
use svc::store::relay::{
    Arrival, Arrived, Begins, Effects, KeyPoint, NewInvocation, NewPairing, NewProposal,
    OpenSession, Paired, PairingAnswer, Proof, Proposed, SessionSocket, SignedVerdict, Tell,
    Verdict,
};
use uuid::Uuid;

use crate::support::ManualClock;

/// A person, as tokens name them.
pub(crate) const SUBJECT: &str = "https://issuer.example mallory";
/// Through which client everything is proposed.
pub(crate) const CLIENT: &str = "agent";
/// How long a grant can be claimed.
pub(crate) const GRANT: Duration = Duration::from_secs(60);
/// How long a proposal can be decided about.
pub(crate) const APPROVAL: Duration = Duration::from_secs(300);
/// How long sessions are kept.
pub(crate) const KEPT: Duration = Duration::from_secs(30 * 86_400);

/// A store, and ids for those who use it.
pub(crate) struct Relay {
    pub(crate) store: Store,
    clock: Arc<dyn Clock>,
    pub(crate) process: RelayProcessId,
    ids: Cell<u128>,
}

/// A plugin that a person has paired, and its session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plugin {
    pub(crate) held: SessionSocket,
    pub(crate) device: DeviceId,
    pub(crate) page: PageInstanceId,
    pub(crate) subject: &'static str,
    pub(crate) key: u8,
    pub(crate) file: u8,
}

/// The plugin installation of a number, of which there is one in this process.
fn device(number: u8) -> &'static BrowserProfile {
    static DEVICES: [OnceLock<BrowserProfile>; 256] = [const { OnceLock::new() }; 256];
    DEVICES[usize::from(number)].get_or_init(|| BrowserProfile::new().unwrap())
}

/// The public key of a number.
pub(crate) fn key(number: u8) -> KeyPoint {
    device(number).key().point().unwrap()
}

/// The nonce of every socket.
fn nonce() -> Nonce {
    Nonce::new(&[7; 16])
}

/// Signs a text with the key of a number.
fn sign(number: u8, text: &str) -> [u8; 64] {
    device(number).sign(text).unwrap().bytes().unwrap().try_into().unwrap()
}

/// The lane of a subject and a file.
pub(crate) fn lane(subject: &str, file: u8) -> Digest {
    let mut bytes = [file; 32];
    for (place, byte) in subject.bytes().take(31).enumerate() {
        bytes[place + 1] = byte;
    }
    bytes.into()
}

/// The digest of a preview, or of anything else that has a number.
pub(crate) fn digest(number: u8) -> Digest {
    [number; 32].into()
}

/// What a device that signs nothing sends instead of a proof.
pub(crate) fn proof(byte: u8) -> Proof {
    Proof { nonce: nonce().as_str().to_owned(), signature: [byte; 64] }
}

impl Relay {
    pub(crate) fn new<C: Clock + 'static>(store: &Store, clock: &Arc<C>) -> Self {
        let (process, ids) = (Uuid::from_u128(1).into(), Cell::new(0x0100_0000));
        Self { store: store.clone(), clock: Arc::<C>::clone(clock), process, ids }
    }

    /// The same world seen from another process.
    pub(crate) fn beside(
        &self,
        open: fn(&Path, &Arc<ManualClock>, u64) -> Store,
        at: &Path,
        clock: &Arc<ManualClock>,
    ) -> Self {
        let (process, ids) = (self.id(), Cell::new(self.ids.get() << 32));
        Self { store: open(at, clock, 99), clock: Arc::<ManualClock>::clone(clock), process, ids }
    }

    pub(crate) fn id<T: From<Uuid>>(&self) -> T {
        self.ids.set(self.ids.get() + 1);
        Uuid::from_u128(self.ids.get()).into()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn offer(&self, number: u8, code: u8) -> NewPairing {
        NewPairing {
            id: self.id(),
            key: key(number),
            tool: DesignTool::Penpot,
            begins: Begins::Offered(digest(code)),
            expires_at: self.now().plus(Duration::from_secs(300)),
        }
    }

    /// Begins to offer a code.
    pub(crate) fn begin(&self, code: Digest) -> PairingId {
        let offer = NewPairing { begins: Begins::Offered(code), ..self.offer(1, 0) };
        self.store.relay_begin_pairing(offer.clone()).unwrap().unwrap();
        offer.id
    }

    /// A known device asks whether it may work on another file.
    pub(crate) fn ask(&self, plugin: &Plugin, of_session: bool) -> NewPairing {
        let session = of_session.then_some(plugin.held);
        NewPairing { begins: Begins::Claimed(plugin.device, session), ..self.offer(plugin.key, 0) }
    }

    pub(crate) fn answer(&self, pairing: &NewPairing, lane: Digest, accept: bool) -> PairingAnswer {
        PairingAnswer {
            id: pairing.id,
            accept,
            device: self.id(),
            session: self.id(),
            lane,
            page: self.id(),
            process: self.process,
            proof: proof(9),
        }
    }

    /// Pairs a key with a subject and opens a session for a file.
    pub(crate) fn pair(&self, number: u8, subject: &'static str, file: u8) -> Plugin {
        let offer = self.offer(number, number);
        self.store.relay_begin_pairing(offer.clone()).unwrap().unwrap();
        let claimed = self.store.relay_claim_pairing(digest(number), subject, CLIENT).unwrap();
        assert_eq!(claimed.unwrap().id, offer.id);
        let mut answer = self.answer(&offer, lane(subject, file), true);
        answer.proof.signature = sign(number, &confirm_text(&nonce(), offer.id, true));
        let (device, page) = (answer.device, answer.page);
        let opened = ready(self.store.relay_answer_pairing(answer).unwrap());
        let held = SessionSocket { session: opened.session, epoch: opened.epoch };
        Plugin { held, device, page, subject, key: number, file }
    }

    /// The page of a plugin comes again, with a journal.
    pub(crate) fn arrival(&self, plugin: &Plugin, journal: &[(GrantId, Entry)]) -> Arrival {
        Arrival {
            device: plugin.device,
            session: Some(plugin.held.session),
            lane: Some(lane(plugin.subject, plugin.file)),
            page: plugin.page,
            process: self.process,
            journal: journal.to_vec(),
        }
    }

    pub(crate) fn returns(&self, plugin: &mut Plugin, journal: &[(GrantId, Entry)]) -> Effects {
        let arrival = self.arrival(plugin, journal);
        match self.store.relay_arrive(arrival).unwrap() {
            Arrived::Ready(opened) => {
                plugin.held = SessionSocket { session: opened.session, epoch: opened.epoch };
                opened.effects
            }
            other => panic!("{other:?}"),
        }
    }

    /// Another page of the same plugin.
    pub(crate) fn reloaded(&self, plugin: &Plugin) -> Plugin {
        Plugin { page: self.id(), ..*plugin }
    }

    /// A proposal with a step for each effect; calls with another `call` are other calls.
    pub(crate) fn proposal(
        &self,
        plugin: &Plugin,
        effects: &[ActionEffect],
        call: u8,
    ) -> NewProposal {
        let step = |(place, effect): (u8, &ActionEffect)| NewInvocation {
            id: self.id(),
            action: "set_text",
            effect: *effect,
            arguments: format!("{{\"secret\":\"canary-{call}-{place}\"}}"),
            arguments_sha256: digest(place),
        };
        NewProposal {
            id: self.id(),
            subject: plugin.subject.to_owned(),
            client: CLIENT.to_owned(),
            session: plugin.held.session,
            steps: (0..).zip(effects).map(step).collect(),
            digest: digest(call),
            expires_at: self.now().plus(APPROVAL),
        }
    }

    /// Proposes; returns the proposal and its steps.
    pub(crate) fn propose(
        &self,
        plugin: &Plugin,
        effects: &[ActionEffect],
        call: u8,
    ) -> (ProposalId, Vec<InvocationId>) {
        let proposal = self.proposal(plugin, effects, call);
        let ids = (proposal.id, proposal.steps.iter().map(|step| step.id).collect());
        assert_eq!(self.store.relay_propose(proposal).unwrap(), Proposed::Made);
        ids
    }

    pub(crate) fn signed(plugin: &Plugin) -> Signed {
        let SessionSocket { session, epoch } = plugin.held;
        Signed { by: Some(plugin.device), session, epoch }
    }

    pub(crate) fn verdict(proposal: ProposalId, verdict: Verdict) -> SignedVerdict {
        SignedVerdict {
            proposal,
            shown: None,
            verdict,
            arguments: vec![digest(0)],
            preview: digest(7),
            signature: [9; 64],
        }
    }

    pub(crate) fn approval(plugin: &Plugin, proposal: ProposalId, by: DecidedBy) -> SignedVerdict {
        let approval = Approval { by, signed: Self::signed(plugin), preview: digest(7) };
        Self::verdict(proposal, Verdict::Approve(approval))
    }

    pub(crate) fn show(&self, plugin: &Plugin, proposal: ProposalId) -> Effects {
        self.store.relay_shown(plugin.held, proposal, digest(7)).unwrap()
    }

    pub(crate) fn decide(&self, plugin: &Plugin, verdict: SignedVerdict) -> Effects {
        self.store.relay_decide(plugin.held, verdict, GRANT).unwrap()
    }

    /// Shows and approves by the person, who signs what the card says.
    pub(crate) fn approve(&self, plugin: &Plugin, proposal: ProposalId) -> Effects {
        self.show(plugin, proposal);
        let mut approval = Self::approval(plugin, proposal, DecidedBy::Person);
        let waiting = self.store.relay_waiting(plugin.held).unwrap();
        if let Some(card) = waiting.iter().find(|card| card.id == proposal) {
            approval.arguments = card.steps.iter().map(|step| step.arguments_sha256).collect();
            let text = DecisionText {
                session: plugin.held.session,
                epoch: plugin.held.epoch.into(),
                proposal,
                arguments: &approval.arguments,
                preview: approval.preview,
                decision: CardDecision::Approved,
                by: frame::DecidedInPlugin::Person,
            };
            approval.signature = sign(plugin.key, &text.text());
        }
        self.decide(plugin, approval)
    }

    pub(crate) fn deny(&self, plugin: &Plugin, proposal: ProposalId) -> Effects {
        self.decide(plugin, Self::verdict(proposal, Verdict::Deny(Self::signed(plugin))))
    }

    pub(crate) fn cannot_show(&self, plugin: &Plugin, proposal: ProposalId) -> Effects {
        let verdict = Verdict::CannotShow(Self::signed(plugin), RelayReason::NoSuchNode);
        self.decide(plugin, Self::verdict(proposal, verdict))
    }

    /// Proposes one step, shows and approves it; returns the invocation and its grant, which is claimed.
    pub(crate) fn run(
        &self,
        plugin: &Plugin,
        effect: ActionEffect,
        call: u8,
    ) -> (InvocationId, GrantId) {
        let (proposal, steps) = self.propose(plugin, &[effect], call);
        (steps[0], executed(&self.approve(plugin, proposal)).expect("it is claimed"))
    }

    /// The state and reason of an invocation, as its subject sees it.
    pub(crate) fn state(&self, plugin: &Plugin, id: InvocationId) -> String {
        let found = self.store.relay_invocation_of(plugin.subject, id).unwrap().unwrap();
        let late = if found.is_late { " late" } else { "" };
        match found.reason {
            Some(reason) => format!("{} {reason}{late}", found.state),
            None => format!("{}{late}", found.state),
        }
    }
}

/// The session that was opened.
pub(crate) fn ready(paired: Paired) -> OpenSession {
    match paired {
        Paired::Ready(opened) => opened,
        Paired::Close(code) => panic!("closed: {code}"),
    }
}

/// The grant that is to be carried out, if one is.
pub(crate) fn executed(effects: &Effects) -> Option<GrantId> {
    let mut grants = effects.tell.iter().filter_map(|(_, tell)| match tell {
        Tell::Execute { grant, .. } => Some(*grant),
        _ => None,
    });
    let first = grants.next();
    assert_eq!(grants.next(), None, "two at once");
    first
}
