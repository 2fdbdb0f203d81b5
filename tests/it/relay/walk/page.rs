//! The pages of a session: they read, act, freeze, and share one journal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use svc::domain::id::PageInstanceId;
use svc::domain::relay::invocation::Entry;

use super::Defect;

/// What the daemon sends. Invocations and grants are named by their places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Propose { first: usize, steps: usize },
    Execute { grant: usize, invocation: usize },
    Settled { grant: usize },
}

/// What a page does with a frame it has read.
pub(super) enum Read {
    Show { first: usize, steps: usize },
    Nothing,
}

/// How far a page is with a grant.
#[derive(Clone, Copy)]
pub(super) struct Acting {
    pub(super) grant: usize,
    pub(super) invocation: usize,
    /// What came of it; `None` while it has not acted.
    pub(super) outcome: Option<Entry>,
}

/// The journal in the host's storage, which every page of the device reads and writes.
pub(super) type Entries = BTreeMap<usize, Entry>;

pub(super) struct Page {
    pub(super) instance: PageInstanceId,
    /// The epoch of its socket, as far as it knows.
    pub(super) epoch: Option<u32>,
    pub(super) is_frozen: bool,
    /// Frames that wait, also while it is frozen and after its socket has closed.
    pub(super) inbox: VecDeque<Frame>,
    pub(super) acting: Vec<Acting>,
    /// Proposals on the screen.
    pub(super) cards: Vec<(usize, usize)>,
    pub(super) approved: BTreeSet<usize>,
    known: BTreeSet<usize>,
}

impl Page {
    pub(super) fn load(instance: PageInstanceId) -> Self {
        Self {
            instance,
            epoch: None,
            is_frozen: false,
            inbox: VecDeque::new(),
            acting: Vec::new(),
            cards: Vec::new(),
            approved: BTreeSet::new(),
            known: BTreeSet::new(),
        }
    }

    /// Reads the next frame.
    pub(super) fn read(&mut self, journal: &mut Entries, defect: Option<Defect>) -> Read {
        match self.inbox.pop_front() {
            Some(Frame::Propose { first, steps }) => return Read::Show { first, steps },
            Some(Frame::Settled { grant }) => {
                journal.remove(&grant);
            }
            Some(Frame::Execute { grant, invocation }) => {
                let is_new = self.known.insert(grant) && !journal.contains_key(&grant);
                let is_new = is_new || defect == Some(Defect::ExecuteIsAcceptedTwice);
                if is_new && self.approved.contains(&invocation) {
                    if defect != Some(Defect::JournalAfterTheEffect) {
                        journal.insert(grant, Entry::Begun);
                    }
                    self.acting.push(Acting { grant, invocation, outcome: None });
                }
            }
            None => {}
        }
        Read::Nothing
    }

    /// What a page forgets with its old socket, before it says hello on a new one.
    pub(super) fn disconnect(&mut self) {
        self.epoch = None;
        self.inbox.clear();
        self.cards.clear();
    }
}
