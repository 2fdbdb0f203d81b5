//! The world of a walk: what the store holds, who acts, and what must hold after each step.

mod apply;
mod daemon;

use std::collections::BTreeMap;
use std::time::Duration;

use svc::domain::id::{DeviceId, PageInstanceId, RelaySessionId};
use svc::domain::relay::allowance::{Allowance, Length};
use svc::domain::relay::invocation::{Entry, Event, Report, Signed, State};
use svc::domain::relay::{ActionEffect, DecidedBy, RelayReason, grant, session};
use svc::domain::time::Timestamp;

use super::Defect;
use super::page::{Acting, Entries, Frame, Page, Read};

/// A session, its pages, and the journal that they share.
pub(super) struct Session {
    id: RelaySessionId,
    device: DeviceId,
    lane: usize,
    state: session::State,
    epoch: u32,
    page: PageInstanceId,
    allowance: Option<Allowance>,
    pages: Vec<Page>,
    journal: Entries,
}

pub(super) struct Invocation {
    session: usize,
    /// The places of the steps of its proposal.
    first: usize,
    steps: usize,
    effect: ActionEffect,
    state: State,
    expires_at: Timestamp,
    is_previewed: bool,
    grant: Option<usize>,
    effects: u32,
}

pub(super) struct Grant {
    invocation: usize,
    state: grant::State,
    expires_at: Option<Timestamp>,
    claimed_at: Option<Timestamp>,
    claimed_for: Option<PageInstanceId>,
}

pub(super) struct World {
    random: u64,
    defect: Option<Defect>,
    now: Timestamp,
    sessions: Vec<Session>,
    invocations: Vec<Invocation>,
    grants: Vec<Grant>,
    ids: u128,
    /// The first thing that must not be.
    pub(super) violation: Option<String>,
    pub(super) reached: BTreeMap<State, usize>,
    pub(super) effects: usize,
    pub(super) late: usize,
}

impl World {
    pub(super) fn begin(seed: u64, defect: Option<Defect>) -> Self {
        let mut world = Self {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
            defect,
            now: Timestamp::from_micros(1_795_251_600_000_000),
            sessions: Vec::new(),
            invocations: Vec::new(),
            grants: Vec::new(),
            ids: 0,
            violation: None,
            reached: BTreeMap::new(),
            effects: 0,
            late: 0,
        };
        // Two devices of one person have the same file open.
        for lane in [0, 0, 1] {
            world.open(lane);
        }
        world
    }

    fn open(&mut self, lane: usize) {
        let page = Page::load(self.id());
        let session = Session {
            id: self.id(),
            device: self.id(),
            lane,
            state: session::State::Away,
            epoch: 0,
            page: page.instance,
            allowance: None,
            pages: vec![page],
            journal: Entries::new(),
        };
        self.sessions.push(session);
    }

    fn id<T: From<uuid::Uuid>>(&mut self) -> T {
        self.ids += 1;
        uuid::Uuid::from_u128(self.ids).into()
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 16).unwrap() % end.max(1)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn wrong(&mut self, what: String) {
        self.violation.get_or_insert(what);
    }

    /// One of the newest invocations in that state.
    fn pick(&mut self, state: State) -> Option<usize> {
        let from = self.invocations.len().saturating_sub(60);
        let all: Vec<usize> = (from..self.invocations.len())
            .filter(|at| self.invocations[*at].state == state)
            .collect();
        let place = self.below(all.len());
        all.get(place).copied()
    }

    /// One of the pages where something can be done, if there is any; those of revoked sessions too.
    fn page_where(&mut self, can: impl Fn(&Session, &Page) -> bool) -> Option<(usize, usize)> {
        let mut all = Vec::new();
        for (s, session) in self.sessions.iter().enumerate() {
            all.extend(
                (0..session.pages.len())
                    .filter(|p| can(session, &session.pages[*p]))
                    .map(|p| (s, p)),
            );
        }
        let place = self.below(all.len());
        all.get(place).copied()
    }

    /// One step. The weights are such that most proposals are decided, and most grants claimed.
    pub(super) fn step(&mut self) {
        let choice = self.below(1_000);
        let runs = |page: &Page| !page.is_frozen;
        let page = match choice {
            0..250 => self.page_where(|_, page| runs(page) && !page.inbox.is_empty()),
            250..400 => self.page_where(|_, page| runs(page) && !page.cards.is_empty()),
            400..600 => self.page_where(|_, page| runs(page) && !page.acting.is_empty()),
            600..700 => self.page_where(|it, page| runs(page) && page.epoch != Some(it.epoch)),
            _ => self.page_where(|session, _| session.state != session::State::Ended),
        };
        let Some((s, p)) = page else { return };
        match choice {
            0..250 => self.read(s, p),
            250..400 => self.decide_card(s, p),
            400..600 => self.act(s, p),
            600..710 => self.connect(s, p),
            710..775 => self.propose(s),
            775..885 => self.claim(),
            885..895 => self.take_back(),
            895..935 => self.pass_time(),
            935..942 => self.socket_drops(s, p),
            942..950 => self.reload(s, p),
            950..956 => self.sessions[s].pages[p].is_frozen = true,
            956..972 => self.sessions[s].pages[p].is_frozen = false,
            972..976 => self.happens_to_session(s, session::Event::PongsMissed),
            976..986 => self.happens_to_session(s, session::Event::PongAgain),
            986..992 => self.allow(s, p),
            992..995 => self.happens_to_session(s, session::Event::FileChanged),
            995 => self.revoke(s),
            _ => self.crash(),
        }
    }

    /// Lets everything that waits run out; nothing may be left open.
    pub(super) fn end(&mut self) {
        for _ in 0..40 {
            self.now = self.now.plus(Duration::from_mins(10));
            self.sweep();
        }
        if let Some(open) = self.invocations.iter().find(|it| !it.state.is_terminal()) {
            self.wrong(format!("a call never ends: it is {}", open.state));
        }
    }

    fn read(&mut self, s: usize, p: usize) {
        let (defect, session) = (self.defect, &mut self.sessions[s]);
        let page = &mut session.pages[p];
        if page.is_frozen {
            return;
        }
        if let Read::Show { first, steps } = page.read(&mut session.journal, defect) {
            let leave = session.allowance.is_some_and(|leave| leave.page == page.instance);
            let reads =
                (first..first + steps).all(|at| self.invocations[at].effect == ActionEffect::Read);
            if leave && reads {
                page.approved.extend(first..first + steps);
                self.decision(s, p, first, self.approval(s, DecidedBy::Allowance));
            } else {
                page.cards.push((first, steps));
                self.decision(s, p, first, Event::Shown(daemon::preview()));
            }
        }
    }

    fn decide_card(&mut self, s: usize, p: usize) {
        let page = &mut self.sessions[s].pages[p];
        if page.is_frozen {
            return;
        }
        let Some((first, steps)) = page.cards.pop() else { return };
        let signed = self.signed(s);
        match self.below(20) {
            0 => self.decision(s, p, first, Event::Deny(signed)),
            1 => self.decision(s, p, first, Event::CannotShow(signed, RelayReason::NoSuchNode)),
            choice => {
                self.sessions[s].pages[p].approved.extend(first..first + steps);
                self.decision(s, p, first, self.approval(s, DecidedBy::Person));
                if choice == 2 {
                    self.decision(s, p, first, self.approval(s, DecidedBy::Person));
                }
                // They change their mind.
                if choice == 3 {
                    self.decision(s, p, first, Event::Deny(signed));
                }
            }
        }
    }

    /// A page goes one step on with what it was told to do.
    fn act(&mut self, s: usize, p: usize) {
        let is_begun = self.chance(70);
        let page = &mut self.sessions[s].pages[p];
        if page.is_frozen {
            return;
        }
        let Some(acting) = page.acting.first().copied() else { return };
        let Some(outcome) = acting.outcome else {
            let outcome = match self.below(10) {
                0 => Entry::Stale,
                1 => Entry::Failed,
                _ => Entry::Succeeded,
            };
            self.sessions[s].pages[p].acting[0].outcome = Some(outcome);
            if outcome == Entry::Succeeded {
                self.effect(acting);
            }
            return;
        };
        if !is_begun {
            return;
        }
        self.sessions[s].pages[p].acting.remove(0);
        self.sessions[s].journal.insert(acting.grant, outcome);
        let report = match outcome {
            Entry::Stale => Report::Stale,
            Entry::Failed => Report::Failed(RelayReason::PluginFailed),
            Entry::Begun | Entry::Succeeded => Report::Succeeded,
        };
        // A page whose socket is gone keeps it in its journal.
        for _ in 0..=usize::from(self.chance(10)) {
            if self.is_heard(s, p) {
                self.happens(acting.invocation, Event::Result(report));
            }
        }
    }

    fn effect(&mut self, acting: Acting) {
        self.effects += 1;
        let invocation = &mut self.invocations[acting.invocation];
        invocation.effects += 1;
        let (count, state) = (invocation.effects, invocation.state);
        if count > 1 {
            self.wrong(format!("{count} effects of one approval"));
        }
        if !matches!(state, State::Running | State::Unknown) {
            self.wrong(format!("an effect of one that is {state}"));
        }
    }

    fn reload(&mut self, s: usize, p: usize) {
        // The old one may stand still with what it has not read, or be gone.
        let stays = self.chance(60);
        let page = Page::load(self.id());
        let pages = &mut self.sessions[s].pages;
        if stays && pages.len() < 3 {
            pages[p].is_frozen = true;
        } else {
            pages.remove(p);
        }
        pages.push(page);
        let newest = self.sessions[s].pages.len() - 1;
        if self.chance(80) {
            self.connect(s, newest);
        }
    }

    fn allow(&mut self, s: usize, p: usize) {
        if self.is_heard(s, p) {
            let length = Length::ALL[self.below(3)];
            self.allowance(s, length);
        }
    }

    /// The person pairs again. Pages of the old session may still act.
    fn revoke(&mut self, s: usize) {
        let lane = self.sessions[s].lane;
        self.happens_to_session(s, session::Event::Revoked);
        self.open(lane);
    }

    fn signed(&self, s: usize) -> Signed {
        let session = &self.sessions[s];
        Signed { by: Some(session.device), session: session.id, epoch: session.epoch }
    }

    /// Says whether what a page sends arrives: its socket is the one of this epoch, and it runs.
    fn is_heard(&self, s: usize, p: usize) -> bool {
        let session = &self.sessions[s];
        let is_open =
            matches!(session.state, session::State::Connected | session::State::Suspended);
        let page = &session.pages[p];
        is_open && !page.is_frozen && page.epoch == Some(session.epoch)
    }
}
