//! The world of a walk: who there is, what happens next, and how what a process does reaches its pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use svc::domain::id::{InvocationId, ProposalId};
use svc::domain::relay::invocation::State;
use svc::domain::relay::session;
use svc::store::relay::{Effects, SessionSocket, Tell};

use super::Defect;
use super::invariants::Seen;
use super::page::{Entries, Frame, Page};
use crate::simulation::world::memory;
use crate::support::ManualClock;
use crate::support::relay::{GRANT, KEPT, Plugin, Relay};
use crate::support::world::{open_raw, open_store};

/// A person's plugin with one file: its session, its storage and its pages.
pub(super) struct Site {
    pub(super) plugin: Plugin,
    pub(super) storage: Entries,
    pub(super) pages: Vec<Page>,
    /// What it is said to wait for, so that a caller can take it back.
    pub(super) proposals: Vec<(ProposalId, Vec<InvocationId>)>,
}

/// Everything, decided by one seed.
pub(super) struct World {
    random: u64,
    pub(super) defect: Option<Defect>,
    pub(super) clock: Arc<ManualClock>,
    /// Two processes at one file.
    pub(super) processes: [Relay; 2],
    pub(super) sites: Vec<Site>,
    /// Keys of plugins so far.
    pub(super) keys: u8,
    /// Calls so far, so that a new one is another one.
    pub(super) calls: u8,
    pub(super) file: Connection,
    pub(super) seen: Seen,
    /// How often each was carried out.
    pub(super) carried_out: BTreeMap<InvocationId, u32>,
    /// The first thing that must not be.
    pub(super) violation: Option<String>,
    pub(super) reached: BTreeMap<State, usize>,
    pub(super) late: usize,
    /// How often a process ended.
    pub(super) lost: usize,
    _folder: tempfile::TempDir,
}

impl World {
    pub(super) fn begin(seed: u64, defect: Option<Defect>) -> Self {
        let folder = tempfile::tempdir_in(memory()).unwrap();
        let (clock, path) = (Arc::new(ManualClock::new()), folder.path().join("svc.db"));
        let first = Relay::new(&open_store(&path, &clock, seed), &clock);
        let second = first.beside(open_store, &path, &clock);
        let mut world = Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
            defect,
            clock,
            processes: [first, second],
            sites: Vec::new(),
            keys: 0,
            calls: 0,
            file: open_raw(&path),
            seen: Seen::default(),
            carried_out: BTreeMap::new(),
            violation: None,
            reached: BTreeMap::new(),
            late: 0,
            lost: 0,
            _folder: folder,
        };
        // Two plugins of one person have the same file open, a third one another; and there is another person.
        for (subject, file) in [("ann", 1), ("ann", 1), ("ann", 2), ("bob", 1)] {
            let site = world.pair(subject, file);
            world.sites.push(site);
        }
        world
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 16).unwrap() % end.max(1)
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn wrong(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    pub(super) fn effects(&self) -> u32 {
        self.carried_out.values().sum()
    }

    /// One of the pages where something can be done, if there is any.
    fn page_where(&mut self, can: impl Fn(&Page) -> bool) -> Option<(usize, usize)> {
        let mut all = Vec::new();
        for (s, site) in self.sites.iter().enumerate() {
            all.extend((0..site.pages.len()).filter(|p| can(&site.pages[*p])).map(|p| (s, p)));
        }
        let place = self.below(all.len());
        all.get(place).copied()
    }

    /// One step. The weights are such that most proposals are decided, and most grants claimed.
    pub(super) fn step(&mut self) {
        let choice = self.below(1_000);
        let runs = |page: &Page| !page.is_frozen;
        let page = match choice {
            0..250 => self.page_where(|page| runs(page) && !page.inbox.is_empty()),
            250..390 => self.page_where(|page| runs(page) && !page.cards.is_empty()),
            390..580 => self.page_where(|page| runs(page) && !page.acting.is_empty()),
            580..680 => self.page_where(|page| runs(page) && page.socket.is_none()),
            _ => self.page_where(|_| true),
        };
        let Some((s, p)) = page else { return };
        match choice {
            0..250 => self.read(s, p),
            250..390 => self.decide_card(s, p),
            390..580 => self.act(s, p),
            580..690 => self.connect(s, p),
            690..760 => self.propose(s),
            760..860 => self.poll(),
            860..872 => self.take_back(s),
            872..878 => self.try_as_a_stranger(s),
            878..925 => self.pass_time(),
            925..932 => self.socket_drops(s, p),
            932..940 => self.reload(s, p),
            940..948 => self.sites[s].pages[p].is_frozen = true,
            948..966 => self.sites[s].pages[p].is_frozen = false,
            966..969 => self.happens(s, p, session::Event::PongsMissed),
            969..977 => self.happens(s, p, session::Event::PongAgain),
            977..983 => self.allow(s, p),
            983..986 => self.open_another_file(s, p),
            986..988 => self.lose_the_journal(s),
            988..991 => self.end_session(s, p),
            991 => self.revoke(s),
            992 => self.jump(),
            _ => {
                let process = self.below(2);
                self.crash(process);
            }
        }
    }

    /// Lets everything that waits run out; nothing may be left open.
    pub(super) fn end(&mut self) {
        self.processes[0].store.clamp_future_times(Duration::ZERO).unwrap();
        for _ in 0..80 {
            self.clock.advance(GRANT + GRANT);
            self.sweep(0);
            self.look();
        }
        let verified = self.processes[1].store.relay_verify_audit(|_, _| ()).unwrap();
        if verified.broken.is_some() || verified.rows != self.seen.rows() {
            self.wrong(format!("the audit log: {verified:?}"));
        }
        let open: u32 = self
            .file
            .query_row(
                "SELECT (SELECT count(*) FROM relay_proposals WHERE finished_at IS NULL) \
                    + (SELECT count(*) FROM relay_grants WHERE state IN ('unused', 'claimed'))",
                [],
                |row| row.get(0),
            )
            .unwrap();
        if open > 0 {
            self.wrong(format!("{open} calls never end"));
        }
    }

    /// A process looks what is over. The last of several batches says so.
    pub(super) fn sweep(&mut self, process: usize) {
        for _ in 0..20 {
            let (effects, more) = self.processes[process].store.relay_expire(KEPT).unwrap();
            self.carry_out(process, effects);
            if !more {
                return;
            }
        }
        self.wrong("the sweep never ends".to_owned());
    }

    /// What a process does after a commit, unless it ends in between. It tells only pages whose sockets it has.
    pub(super) fn carry_out(&mut self, process: usize, effects: Effects) {
        for changed in &effects.changed {
            *self.reached.entry(changed.state).or_default() += 1;
        }
        for (held, tell) in effects.tell {
            if self.chance(1) {
                return self.crash(process);
            }
            let is_twice = self.chance(10);
            self.tell(process, held, tell);
            if is_twice && matches!(tell, Tell::Execute { .. } | Tell::Settled(_)) {
                self.tell(process, held, tell);
            }
        }
        let waiting: BTreeSet<_> = effects.free_for.into_iter().collect();
        for held in self.sockets(process).into_iter().filter(|held| waiting.contains(&held.session))
        {
            let effects = self.processes[process].store.relay_claim_due(held).unwrap();
            self.carry_out(process, effects);
        }
    }

    /// The sockets of a process.
    pub(super) fn sockets(&self, process: usize) -> Vec<SessionSocket> {
        let pages = self.sites.iter().flat_map(|site| &site.pages);
        let sockets = pages.filter_map(|page| page.socket);
        sockets.filter(|(at, _)| *at == process).map(|(_, held)| held).collect()
    }

    fn tell(&mut self, process: usize, held: SessionSocket, tell: Tell) {
        let pages = self.sites.iter_mut().flat_map(|site| &mut site.pages);
        for page in pages.filter(|page| page.socket == Some((process, held))) {
            page.inbox.push_back(match tell {
                Tell::Withdraw(proposal, _) => Frame::Withdraw(proposal),
                Tell::Settled(grant) => Frame::Settled(grant),
                Tell::Execute { grant, invocation, arguments_sha256, .. } => {
                    Frame::Execute { grant, invocation, arguments_sha256 }
                }
                Tell::Close(_) => {
                    page.disconnect();
                    continue;
                }
            });
        }
    }

    /// A process ends: none of its sockets is left, and the store does not say so.
    pub(super) fn crash(&mut self, process: usize) {
        self.lost += 1;
        let pages = self.sites.iter_mut().flat_map(|site| &mut site.pages);
        for page in pages.filter(|page| page.socket.is_some_and(|(at, _)| at == process)) {
            page.disconnect();
        }
    }
}
