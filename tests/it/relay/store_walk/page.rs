//! The pages of a plugin: each reads what it is told, acts, freezes, and keeps a journal in the storage that all pages of
//! the device share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use svc::domain::digest::Digest;
use svc::domain::id::{GrantId, InvocationId, PageInstanceId, ProposalId};
use svc::domain::relay::invocation::Entry;
use svc::store::relay::{PendingProposal, SessionSocket};

use super::Defect;

/// What a page is told.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    Propose(PendingProposal),
    Withdraw(ProposalId),
    Execute { grant: GrantId, invocation: InvocationId, arguments_sha256: Digest },
    Settled(GrantId),
}

/// How far a page is with an order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acting {
    pub(super) grant: GrantId,
    pub(super) invocation: InvocationId,
    /// What came of it; `None` while it has not acted.
    pub(super) outcome: Option<Entry>,
}

/// A journal.
pub(super) type Entries = BTreeMap<GrantId, Entry>;

/// A page of a plugin.
pub(super) struct Page {
    pub(super) instance: PageInstanceId,
    /// The process that has the other end of its socket, and what the socket holds.
    pub(super) socket: Option<(usize, SessionSocket)>,
    pub(super) is_frozen: bool,
    /// What waits to be read, also while it is frozen and after its socket has closed.
    pub(super) inbox: VecDeque<Frame>,
    pub(super) acting: Vec<Acting>,
    /// Proposals on the screen.
    pub(super) cards: Vec<PendingProposal>,
    /// What was told already on this socket.
    pub(super) told: BTreeSet<ProposalId>,
    /// Of which a person, or an allowance, has approved exactly these arguments here.
    pub(super) approved: BTreeMap<InvocationId, Digest>,
    known: BTreeSet<GrantId>,
    /// What it read from the storage when it was loaded, and what it wrote itself.
    pub(super) entries: Entries,
}

impl Page {
    pub(super) fn load(instance: PageInstanceId, storage: &Entries) -> Self {
        Self {
            instance,
            socket: None,
            is_frozen: false,
            inbox: VecDeque::new(),
            acting: Vec::new(),
            cards: Vec::new(),
            told: BTreeSet::new(),
            approved: BTreeMap::new(),
            known: BTreeSet::new(),
            entries: storage.clone(),
        }
    }

    /// Reads the next frame. A proposal is returned, for its card to be shown.
    pub(super) fn read(
        &mut self,
        storage: &mut Entries,
        defect: Option<Defect>,
    ) -> Option<PendingProposal> {
        match self.inbox.pop_front()? {
            Frame::Propose(proposal) => return Some(proposal),
            Frame::Withdraw(proposal) => self.cards.retain(|card| card.id != proposal),
            Frame::Settled(grant) => {
                self.entries.remove(&grant);
                storage.remove(&grant);
            }
            Frame::Execute { grant, invocation, arguments_sha256 } => {
                let is_new = self.known.insert(grant) && !self.entries.contains_key(&grant);
                let is_new = is_new || defect == Some(Defect::ExecuteIsAcceptedTwice);
                if is_new && self.approved.get(&invocation) == Some(&arguments_sha256) {
                    if defect != Some(Defect::JournalAfterTheEffect) {
                        self.write(storage, grant, Entry::Begun);
                    }
                    self.acting.push(Acting { grant, invocation, outcome: None });
                }
            }
        }
        None
    }

    pub(super) fn write(&mut self, storage: &mut Entries, grant: GrantId, entry: Entry) {
        self.entries.insert(grant, entry);
        storage.insert(grant, entry);
    }

    /// What a page forgets with its socket. One that stands still keeps what it has not read.
    pub(super) fn disconnect(&mut self) {
        self.socket = None;
        if !self.is_frozen {
            self.forget();
        }
    }

    /// What a page drops before it says hello.
    pub(super) fn forget(&mut self) {
        self.inbox.clear();
        self.cards.clear();
        self.told.clear();
    }
}
