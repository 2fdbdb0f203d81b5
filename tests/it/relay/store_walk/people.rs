//! What pages and the people in front of them do.

use svc::domain::relay::allowance::Length;
use svc::domain::relay::invocation::{Entry, Report, Signed};
use svc::domain::relay::session::Event;
use svc::domain::relay::{ActionEffect, DecidedBy, RelayReason};
use svc::store::relay::{
    Arrival, Arrived, Effects, NewAllowance, Paired, PendingProposal, SessionSocket, SignedVerdict,
    Tell, Verdict,
};

use super::page::{Acting, Page};
use super::world::{Site, World};
use crate::support::relay::{GRANT, Plugin, Relay, digest, lane, proof};

impl World {
    /// A new plugin of a person, paired with a code.
    pub(super) fn pair(&mut self, subject: &'static str, file: u8) -> Site {
        self.keys += 1;
        let process = self.below(2);
        let plugin = self.processes[process].pair(self.keys, subject, file);
        let storage = Default::default();
        let mut page = Page::load(plugin.page, &storage);
        page.socket = Some((process, plugin.held));
        Site { plugin, storage, pages: vec![page], proposals: Vec::new() }
    }

    /// The socket of a page, if what it sends arrives.
    fn heard(&self, s: usize, p: usize) -> Option<(usize, SessionSocket)> {
        let page = &self.sites[s].pages[p];
        page.socket.filter(|_| !page.is_frozen)
    }

    /// The plugin as this page is it.
    fn as_page(&self, s: usize, p: usize, held: SessionSocket) -> Plugin {
        Plugin { held, page: self.sites[s].pages[p].instance, ..self.sites[s].plugin }
    }

    pub(super) fn read(&mut self, s: usize, p: usize) {
        let defect = self.defect;
        let site = &mut self.sites[s];
        let page = &mut site.pages[p];
        if page.is_frozen {
            return;
        }
        let Some(card) = page.read(&mut site.storage, defect) else { return };
        let Some((process, held)) = self.heard(s, p) else { return };
        let plugin = self.as_page(s, p, held);
        let reads = card.steps.iter().all(|step| step.effect == ActionEffect::Read);
        if reads && self.has_leave(&plugin) {
            self.approve(s, p, &card, DecidedBy::Allowance);
        } else {
            // Recorded a second later, or with the decision if that comes first.
            if self.below(2) == 0 {
                let effects = self.processes[process].show(&plugin, card.id);
                self.carry_out(process, effects);
            }
            self.sites[s].pages[p].cards.push(card);
        }
    }

    fn has_leave(&self, plugin: &Plugin) -> bool {
        let own = self.processes[0].store.relay_sessions_of(plugin.subject).unwrap();
        let own = own.iter().find(|own| own.id == plugin.held.session);
        own.is_some_and(|own| own.allowance_until.is_some())
    }

    fn approve(&mut self, s: usize, p: usize, card: &PendingProposal, by: DecidedBy) {
        let Some((_, held)) = self.heard(s, p) else { return };
        let plugin = self.as_page(s, p, held);
        let approved = card.steps.iter().map(|step| (step.id, step.arguments_sha256));
        self.sites[s].pages[p].approved.extend(approved);
        let shown = (by == DecidedBy::Person).then(|| digest(7));
        self.decide(s, p, SignedVerdict { shown, ..Relay::approval(&plugin, card.id, by) });
    }

    fn decide(&mut self, s: usize, p: usize, verdict: SignedVerdict) {
        let Some((process, held)) = self.heard(s, p) else { return };
        let store = &self.processes[process].store;
        let effects = store.relay_decide(held, verdict, GRANT).unwrap();
        self.carry_out(process, effects);
    }

    pub(super) fn decide_card(&mut self, s: usize, p: usize) {
        let Some(card) = self.sites[s].pages[p].cards.pop() else { return };
        let Some((_, held)) = self.heard(s, p) else { return };
        let plugin = self.as_page(s, p, held);
        let signed = Relay::signed(&plugin);
        match self.below(24) {
            0 => self.decide(s, p, Relay::verdict(card.id, Verdict::Deny(signed))),
            1 => {
                let verdict = Verdict::CannotShow(signed, RelayReason::NoSuchNode);
                self.decide(s, p, Relay::verdict(card.id, verdict));
            }
            2 => self.lie(s, p, &card, &plugin),
            choice => {
                self.approve(s, p, &card, DecidedBy::Person);
                if choice == 3 {
                    self.decide(s, p, Relay::approval(&plugin, card.id, DecidedBy::Person));
                }
                // They change their mind.
                if choice == 4 {
                    self.decide(s, p, Relay::verdict(card.id, Verdict::Deny(signed)));
                }
            }
        }
    }

    /// A page says what it may not. Nothing must come of it but the end of its socket.
    fn lie(&mut self, s: usize, p: usize, card: &PendingProposal, plugin: &Plugin) {
        let by = DecidedBy::Person;
        let mut verdict = Relay::approval(plugin, card.id, by);
        let Verdict::Approve(approval) = &mut verdict.verdict else { return };
        let of_others = self.processes[0].id();
        match self.below(5) {
            0 => approval.preview = digest(8),
            1 => approval.signed = Signed { by: Some(of_others), ..approval.signed },
            2 => approval.signed = Signed { by: None, ..approval.signed },
            3 => approval.signed = Signed { epoch: plugin.held.epoch + 1, ..approval.signed },
            _ => approval.by = DecidedBy::Operator,
        }
        let Some((process, held)) = self.heard(s, p) else { return };
        let store = &self.processes[process].store;
        let effects = store.relay_decide(held, verdict, GRANT).unwrap();
        if !effects.changed.is_empty() {
            self.wrong(format!("a lie was believed: {effects:?}"));
        }
        self.carry_out(process, effects);
    }

    /// A page goes one step on with what it was told to do.
    pub(super) fn act(&mut self, s: usize, p: usize) {
        let goes_on = self.chance(70);
        let page = &mut self.sites[s].pages[p];
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
            self.sites[s].pages[p].acting[0].outcome = Some(outcome);
            if outcome == Entry::Succeeded {
                self.carry_out_in_the_file(s, p, acting);
            }
            return;
        };
        if !goes_on {
            return;
        }
        let site = &mut self.sites[s];
        let page = &mut site.pages[p];
        page.acting.remove(0);
        page.write(&mut site.storage, acting.grant, outcome);
        let report = match outcome {
            Entry::Stale => Report::Stale,
            Entry::Failed => Report::Failed(RelayReason::PluginFailed),
            Entry::Begun | Entry::Succeeded => Report::Succeeded,
        };
        // A page whose socket is gone keeps it in its journal.
        for _ in 0..=usize::from(self.chance(10)) {
            if let Some((process, held)) = self.heard(s, p) {
                let store = &self.processes[process].store;
                let effects = store.relay_report(held, acting.grant, report).unwrap();
                self.carry_out(process, effects);
            }
        }
    }

    fn carry_out_in_the_file(&mut self, s: usize, p: usize, acting: Acting) {
        let count = self.carried_out.entry(acting.invocation).or_default();
        *count += 1;
        if *count > 1 {
            let what = format!("{count} effects of one approval");
            self.wrong(what);
        }
        let approved = self.sites[s].pages[p].approved.get(&acting.invocation).copied();
        let device = self.sites[s].plugin.device;
        self.check_effect(acting, device, approved);
    }

    /// A page opens a socket to one of the processes, having dropped what an earlier one still held.
    pub(super) fn connect(&mut self, s: usize, p: usize) {
        if self.sites[s].pages[p].is_frozen {
            return;
        }
        let process = self.below(2);
        let site = &mut self.sites[s];
        let page = &mut site.pages[p];
        page.socket = None;
        page.forget();
        let arrival = Arrival {
            device: site.plugin.device,
            session: Some(site.plugin.held.session),
            lane: Some(lane(site.plugin.subject, site.plugin.file)),
            page: page.instance,
            process: self.processes[process].process,
            journal: page.entries.iter().map(|(grant, entry)| (*grant, *entry)).collect(),
        };
        match self.processes[process].store.relay_arrive(arrival).unwrap() {
            Arrived::Ready(opened) => {
                let held = SessionSocket { session: opened.session, epoch: opened.epoch };
                self.hold(s, p, process, held, opened.effects);
            }
            Arrived::Ask => self.confirm(s, p, process, None),
            // The person opens it anew.
            Arrived::Close(_) => {
                let (subject, file) = (self.sites[s].plugin.subject, self.sites[s].plugin.file);
                if self.keys < 250 {
                    self.sites[s] = self.pair(subject, file);
                }
            }
        }
    }

    fn hold(&mut self, s: usize, p: usize, process: usize, held: SessionSocket, effects: Effects) {
        self.sites[s].plugin.held = held;
        self.sites[s].pages[p].socket = Some((process, held));
        self.carry_out(process, effects);
    }

    /// The person says that the device may work on the open file, in its session or in one of its own.
    fn confirm(&mut self, s: usize, p: usize, process: usize, of_session: Option<SessionSocket>) {
        let mut plugin = self.sites[s].plugin;
        plugin.held = of_session.unwrap_or(plugin.held);
        let relay = &self.processes[process];
        let pairing = relay.ask(&plugin, of_session.is_some());
        if relay.store.relay_begin_pairing(pairing.clone()).unwrap().is_err() {
            return;
        }
        let mut answer = relay.answer(&pairing, lane(plugin.subject, plugin.file), true);
        answer.page = self.sites[s].pages[p].instance;
        match relay.store.relay_answer_pairing(answer).unwrap() {
            Paired::Ready(opened) => {
                let held = SessionSocket { session: opened.session, epoch: opened.epoch };
                self.hold(s, p, process, held, opened.effects);
            }
            Paired::Close(_) => self.sites[s].pages[p].disconnect(),
        }
    }

    pub(super) fn open_another_file(&mut self, s: usize, p: usize) {
        let file = u8::try_from(1 + self.below(3)).unwrap();
        let Some((process, held)) = self.heard(s, p) else { return };
        self.happens(s, p, Event::FileChanged);
        self.sites[s].plugin.file = file;
        if self.heard(s, p) == Some((process, held)) {
            self.confirm(s, p, process, Some(held));
        }
    }

    pub(super) fn happens(&mut self, s: usize, p: usize, event: Event) {
        let Some((process, held)) = self.sites[s].pages[p].socket else { return };
        let effects = self.processes[process].store.relay_session_event(held, event).unwrap();
        self.carry_out(process, effects);
    }

    /// The socket closes, and its process notices.
    pub(super) fn socket_drops(&mut self, s: usize, p: usize) {
        self.happens(s, p, Event::SocketClosed);
        self.sites[s].pages[p].disconnect();
    }

    pub(super) fn reload(&mut self, s: usize, p: usize) {
        // The old one may stand still with what it has not read, or be gone.
        let stays = self.chance(60);
        let instance = self.processes[0].id();
        let site = &mut self.sites[s];
        let page = Page::load(instance, &site.storage);
        if stays && site.pages.len() < 3 {
            site.pages[p].is_frozen = true;
        } else {
            site.pages.remove(p);
        }
        site.pages.push(page);
        let newest = site.pages.len() - 1;
        if self.chance(80) {
            self.connect(s, newest);
        }
    }

    /// The host's storage is emptied. Pages that run are loaded anew; one that stands still knows what it did itself.
    pub(super) fn lose_the_journal(&mut self, s: usize) {
        self.sites[s].storage.clear();
        for p in 0..self.sites[s].pages.len() {
            if !self.sites[s].pages[p].is_frozen {
                let instance = self.processes[0].id();
                let empty = Default::default();
                self.sites[s].pages[p] = Page::load(instance, &empty);
            }
        }
    }

    pub(super) fn allow(&mut self, s: usize, p: usize) {
        let length = Length::ALL[self.below(3)];
        let Some((process, held)) = self.heard(s, p) else { return };
        let page = self.sites[s].pages[p].instance;
        let allowance = NewAllowance { page, length, proof: proof(1) };
        let effects = self.processes[process].store.relay_allow(held, allowance).unwrap();
        self.carry_out(process, effects);
    }

    pub(super) fn end_session(&mut self, s: usize, p: usize) {
        if self.chance(50) {
            return self.happens(s, p, Event::Bye);
        }
        let process = self.below(2);
        let session = self.sites[s].plugin.held.session;
        let ended = self.processes[process].store.relay_end_session(session, "ops").unwrap();
        self.carry_out(process, ended.unwrap());
    }

    pub(super) fn revoke(&mut self, s: usize) {
        let process = self.below(2);
        let device = self.sites[s].plugin.device;
        let revoked = self.processes[process].store.relay_revoke_device(device, "ops").unwrap();
        let revoked = revoked.unwrap();
        let told = revoked.tell.iter().all(|(_, tell)| matches!(tell, Tell::Close(_)));
        if !told {
            self.wrong(format!("a revoked device is told more: {revoked:?}"));
        }
        self.carry_out(process, revoked);
    }
}
