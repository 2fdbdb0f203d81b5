//! Plugins at the sockets of a relay in this process, which say what a test has them say.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use svc::app::relay::{Closing, Connection, NoRoom, Relay, Socket};
use svc::domain::digest::Digest;
use svc::domain::id::{ProposalId, RelaySessionId};
use svc::domain::relay::CardDecision;
use svc::relay::digest;
use svc::relay::frame::{DecidedInPlugin, Nonce};
use svc::relay::proof::{DaemonKey, DecisionText, allowance_text, confirm_text, proof_text};
use svc::store::relay::KeyPoint;
use uuid::Uuid;

use super::hub::who;

/// Reads and writes that plugins here know.
const ACTIONS: [&str; 2] = ["get_selection", "set_text"];
const PREVIEW: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";

/// What came to a plugin.
#[derive(Default)]
struct Wire {
    frames: VecDeque<Value>,
    closed: Option<u16>,
    pinged: Option<Sender<()>>,
}

struct ToPeer(Arc<Mutex<Wire>>);

impl Socket for ToPeer {
    fn send(&self, text: String) -> bool {
        let mut wire = self.0.lock().unwrap();
        let frame: Value = serde_json::from_str(&text).unwrap();
        if frame["type"] == "ping" {
            let _heard = wire.pinged.as_ref().map(|pinged| pinged.send(()));
        }
        wire.frames.push_back(frame);
        true
    }

    fn close(&self, closing: Closing) {
        self.0.lock().unwrap().closed.get_or_insert(closing.code);
    }
}

/// A plugin and the page it runs in.
pub(super) struct Peer {
    key: DaemonKey,
    pub(super) address: IpAddr,
    pub(super) file: String,
    page: Uuid,
    pub(super) session: Option<RelaySessionId>,
    epoch: u64,
    nonce: Option<Nonce>,
    claimed_key: Option<Value>,
    pub(super) last_proof: Value,
    pub(super) connection: Option<Connection>,
    wire: Arc<Mutex<Wire>>,
}

impl Peer {
    pub(super) fn new(number: u8) -> Self {
        Self {
            key: DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap(),
            address: IpAddr::from([192, 0, 2, number]),
            file: format!("file-{number}"),
            page: Uuid::from_u128(u128::from(number) << 64),
            session: None,
            epoch: 0,
            nonce: None,
            claimed_key: None,
            last_proof: Value::Null,
            connection: None,
            wire: Arc::default(),
        }
    }

    /// Opens another tab, without a socket yet; returns the one that stays open.
    pub(super) fn other_tab(&mut self) -> Tab {
        self.page = Uuid::from_u128(self.page.as_u128() + 1);
        Tab { _connection: self.connection.take(), wire: std::mem::take(&mut self.wire) }
    }

    /// Opens a socket.
    pub(super) fn open_socket(&mut self, relay: &Arc<Relay>) -> Result<Connection, NoRoom> {
        self.wire = Arc::default();
        let socket = Box::new(ToPeer(Arc::clone(&self.wire)));
        Connection::open(relay, Some(self.address), socket)
    }

    /// Opens a socket and proves the key.
    pub(super) fn connect(&mut self, relay: &Arc<Relay>) -> Result<(), Closing> {
        self.connect_with(relay, None)
    }

    /// Opens a socket, with a proof that it may have heard elsewhere.
    pub(super) fn connect_with(
        &mut self,
        relay: &Arc<Relay>,
        heard: Option<Value>,
    ) -> Result<(), Closing> {
        let connection = self.open_socket(relay).unwrap_or_else(|_| panic!("no room"));
        self.connection = Some(connection);
        let key = self.claimed_key.clone().unwrap_or_else(|| json!(self.key.public()));
        let hello = json!({
            "type": "hello", "nonce": "AAAAAAAAAAAAAAAAAAAAAA", "instance": self.page.to_string(),
            "tool": "test", "plugin": "a test", "key": key, "session": self.session,
            "file": self.open_file(), "actions": ACTIONS,
        });
        let text = hello.to_string();
        self.connection.as_mut().unwrap().receive(&text)?;
        let challenge = self.next("challenge");
        let nonce: Nonce = serde_json::from_value(challenge["nonce"].clone()).unwrap();
        let signed = proof_text(&nonce, digest::hello(&text).unwrap(), digest::journal(&[]));
        self.nonce = Some(nonce);
        let signature = self.key.sign(&signed).unwrap();
        let own = json!({"type": "proof", "signature": signature, "journal": []});
        self.last_proof = heard.unwrap_or(own);
        self.say(&self.last_proof.clone())?;
        self.note_ready();
        Ok(())
    }

    /// Says from now on that it has the key and the session of another.
    pub(super) fn claim_to_be(&mut self, other: &Self) {
        self.claimed_key = Some(json!(other.key.public()));
        self.file.clone_from(&other.file);
        self.session = other.session;
    }

    /// Signs from now on for the session of another, with its own key.
    pub(super) fn claim_session(&mut self, other: &Self) {
        (self.session, self.epoch) = (other.session, other.epoch);
    }

    fn open_file(&self) -> Value {
        json!({"key": self.file, "name": self.file, "page": "Page 1"})
    }

    /// The code is typed, and the person confirms.
    pub(super) fn pair(&mut self, relay: &Relay, subject: &str) {
        let asked = self.typed(relay, subject);
        self.answer(&asked).unwrap();
    }

    /// The code is typed; returns what the person is asked.
    pub(super) fn typed(&self, relay: &Relay, subject: &str) -> Value {
        let code = self.next("pairing")["code"].as_str().unwrap().to_owned();
        relay.claim_pairing(who(subject), None, &code).unwrap();
        self.next("claimed")
    }

    /// The person says yes to what they are asked.
    pub(super) fn confirm(&mut self) {
        let asked = self.next("claimed");
        self.answer(&asked).unwrap();
    }

    /// The person says yes.
    pub(super) fn answer(&mut self, asked: &Value) -> Result<(), Closing> {
        let pairing = &asked["pairing"];
        let id = serde_json::from_value(pairing.clone()).unwrap();
        let text = confirm_text(self.nonce.as_ref().unwrap(), id, true);
        let signature = self.key.sign(&text).unwrap();
        let frame =
            json!({"type": "confirm", "pairing": pairing, "accept": true, "signature": signature});
        self.say(&frame)?;
        self.note_ready();
        Ok(())
    }

    fn note_ready(&mut self) {
        if let Some(ready) = self.find("ready") {
            self.session = serde_json::from_value(ready["session"].clone()).unwrap();
            self.epoch = ready["epoch"].as_u64().unwrap();
        }
    }

    /// Another file is open now.
    pub(super) fn open(&mut self, file: &str) {
        file.clone_into(&mut self.file);
        let frame = json!({"type": "context", "file": self.open_file()});
        self.say(&frame).unwrap();
    }

    pub(super) fn say(&mut self, frame: &Value) -> Result<(), Closing> {
        self.connection.as_mut().unwrap().receive(&frame.to_string())
    }

    /// Takes the first frame of a type.
    pub(super) fn find(&self, kind: &str) -> Option<Value> {
        let frames = &mut self.wire.lock().unwrap().frames;
        let place = frames.iter().position(|frame| frame["type"] == kind)?;
        frames.remove(place)
    }

    pub(super) fn next(&self, kind: &str) -> Value {
        self.find(kind).unwrap_or_else(|| panic!("no {kind}; closed {:?}", self.closed()))
    }

    /// Takes all frames that came; returns their types.
    pub(super) fn kinds(&self) -> Vec<String> {
        let frames = std::mem::take(&mut self.wire.lock().unwrap().frames);
        frames.iter().map(|frame| frame["type"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn closed(&self) -> Option<u16> {
        self.wire.lock().unwrap().closed
    }

    /// Says from now on when a ping comes, while it is being sent.
    pub(super) fn tell_pings(&self, pinged: Sender<()>) {
        self.wire.lock().unwrap().pinged = Some(pinged);
    }

    /// Returns its public key, as the store has it.
    pub(super) fn point(&self) -> KeyPoint {
        self.key.public().point().unwrap()
    }

    /// Answers the pings that came.
    pub(super) fn pong_if_asked(&mut self) {
        while self.find("ping").is_some() {
            self.pong();
        }
    }

    pub(super) fn pong(&mut self) {
        self.say(&json!({"type": "pong", "n": 0, "visible": true})).unwrap();
    }

    /// Shows a card, and says what was decided.
    pub(super) fn decide(
        &mut self,
        card: &Value,
        decision: CardDecision,
        by: DecidedInPlugin,
    ) -> Result<(), Closing> {
        if by == DecidedInPlugin::Person {
            self.show(card);
        }
        let frame = self.decision(card, decision, by);
        self.say(&frame)
    }

    /// Shows a card.
    pub(super) fn show(&mut self, card: &Value) {
        let proposal = &card["proposal"];
        self.say(&json!({"type": "shown", "proposal": proposal, "previewSha256": PREVIEW}))
            .unwrap();
    }

    /// Signs what was decided.
    pub(super) fn decision(
        &self,
        card: &Value,
        decision: CardDecision,
        by: DecidedInPlugin,
    ) -> Value {
        let proposal: ProposalId = serde_json::from_value(card["proposal"].clone()).unwrap();
        let digest = |step: &Value| serde_json::from_value(step["argumentsSha256"].clone());
        let arguments: Vec<Digest> =
            card["steps"].as_array().unwrap().iter().map(|step| digest(step).unwrap()).collect();
        let text = DecisionText {
            session: self.session.unwrap(),
            epoch: self.epoch,
            proposal,
            arguments: &arguments,
            preview: serde_json::from_value(json!(PREVIEW)).unwrap(),
            decision,
            by,
        };
        let signature = self.key.sign(&text.text()).unwrap();
        json!({
            "type": "decision", "proposal": proposal, "previewSha256": PREVIEW,
            "decision": decision.as_str(), "by": by.as_str(), "signature": signature,
        })
    }

    /// The person approves a card.
    pub(super) fn approve(&mut self, card: &Value) {
        self.decide(card, CardDecision::Approved, DecidedInPlugin::Person).unwrap();
    }

    /// The person lets the file be read for an hour.
    pub(super) fn allow(&mut self) {
        let frame = self.allowance();
        self.say(&frame).unwrap();
    }

    /// Signs leave to read.
    pub(super) fn allowance(&self) -> Value {
        let nonce = self.nonce.as_ref().unwrap();
        let text = allowance_text(nonce, self.session.unwrap(), self.epoch, 60);
        let signature = self.key.sign(&text).unwrap();
        json!({"type": "allowance", "minutes": 60, "signature": signature})
    }

    /// Does what was asked for, with success.
    pub(super) fn succeed(&mut self, execute: &Value, value: &Value) -> Result<(), Closing> {
        let grant = &execute["grant"];
        self.say(&json!({"type": "result", "grant": grant, "outcome": "succeeded", "value": value}))
    }
}

/// A tab that only stays open.
pub(super) struct Tab {
    _connection: Option<Connection>,
    wire: Arc<Mutex<Wire>>,
}

impl Tab {
    pub(super) fn closed(&self) -> Option<u16> {
        self.wire.lock().unwrap().closed
    }
}
