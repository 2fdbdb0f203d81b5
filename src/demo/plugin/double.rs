//! A daemon that sends what a test has it send.

use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Message, WebSocket};

use super::Plugin;
use super::device::{BrowserProfile, Host};
use super::document::Document;
use super::event::Event;
use super::socket::Opening;
use crate::crypto::sha1::web_socket_accept;
use crate::domain::id::{GrantId, ProposalId, RelaySessionId};
use crate::relay::action::DesignAction;
use crate::relay::digest;
use crate::relay::frame::{self, ActionResult, FromDaemon, FromPlugin, Hello, Line, Nonce, Ready};
use crate::relay::proof::{self, DaemonKey};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};
use crate::runtime::thread;

/// The longest wait for anything; what takes longer counts as not happening.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
const FILE: &str = "a file";

/// The other end of the socket.
pub(super) struct Daemon {
    pub(super) listener: TcpListener,
    pub(super) socket: Option<WebSocket<TcpStream>>,
    pub(super) key: DaemonKey,
    pub(super) ids: Ids,
    pub(super) session: RelaySessionId,
    epoch: u64,
    pub(super) nonce: Option<Nonce>,
    pub(super) hello: Option<(Hello, String)>,
}

impl Daemon {
    pub(super) fn new() -> Self {
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let session = ids.uuid(SystemClock::new().now()).into();
        Self {
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            socket: None,
            key: DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap(),
            ids,
            session,
            epoch: 0,
            nonce: None,
            hello: None,
        }
    }

    pub(super) fn id<T: From<uuid::Uuid>>(&mut self) -> T {
        self.ids.uuid(SystemClock::new().now()).into()
    }

    pub(super) fn plugin(&self) -> Plugin {
        let opening = Opening::local(self.listener.local_addr().unwrap());
        Plugin::new(opening, BrowserProfile::new().unwrap(), Host::new(Document::sample()), FILE)
    }

    /// Takes the connection of a plugin, up to its `hello`.
    pub(super) fn accept(&mut self, plugin: &mut Plugin) {
        let listener = self.listener.try_clone().unwrap();
        let accepting = thread::spawn("accepting", move || {
            let (stream, _) = listener.accept().unwrap();
            answer(&stream, "svc.relay.v1");
            stream
        });
        plugin.connect().unwrap();
        let stream = accepting.unwrap().join().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        self.socket = Some(WebSocket::from_raw_socket(stream, Role::Server, None));
        let text = self.text();
        let FromPlugin::Hello(hello) = frame::read(&text).unwrap() else { panic!("{text}") };
        self.hello = Some((*hello, text));
    }

    /// Proves itself, and takes the plugin's proof.
    pub(super) fn challenge(&mut self, plugin: &mut Plugin) {
        let nonce = Nonce::new(&self.ids.bytes());
        self.nonce = Some(nonce.clone());
        let (hello, text) = self.hello.as_ref().unwrap();
        let hello_digest = digest::hello(text).unwrap();
        let signed = proof::challenge_text(&hello.nonce, &nonce, hello_digest);
        let (key, signature) = (self.key.public().clone(), self.key.sign(&signed).unwrap());
        let device = hello.key.clone();
        self.send(&FromDaemon::Challenge(frame::Challenge {
            nonce: nonce.clone(),
            key,
            signature,
        }));
        assert_eq!(plugin.pump(PATIENCE), Event::Nothing);
        let FromPlugin::Proof(answer) = self.frame() else { panic!("no proof") };
        let journal = digest::journal(&answer.journal);
        let signed = proof::proof_text(&nonce, hello_digest, journal);
        assert!(proof::is_signed(&device, &signed, &answer.signature));
    }

    /// Connects a plugin, as far as a session that works.
    pub(super) fn ready(&mut self, plugin: &mut Plugin) {
        self.accept(plugin);
        self.challenge(plugin);
        self.epoch += 1;
        let (session, epoch, account) = (self.session, self.epoch, Line::new("Ada"));
        self.send(&FromDaemon::Ready(Ready { session, epoch, account }));
        assert_eq!(plugin.pump(PATIENCE), Event::Ready { session, epoch });
    }

    pub(super) fn step(&mut self, action: DesignAction, arguments: Value) -> frame::Step {
        let Value::Object(arguments) = arguments else { panic!() };
        let arguments: Map<String, Value> = arguments;
        let arguments_sha256 = digest::arguments(action.as_str(), &arguments);
        let (invocation, effect) = (self.id(), action.effect());
        frame::Step { invocation, action, effect, arguments, arguments_sha256 }
    }

    /// Proposes steps, which the plugin shows.
    pub(super) fn propose(&mut self, plugin: &mut Plugin, steps: Vec<frame::Step>) -> ProposalId {
        let (proposal, client) = (self.id(), Line::new("an agent"));
        let expires_at = SystemClock::new().now().plus(PATIENCE);
        self.send(&FromDaemon::Propose(frame::Propose { proposal, client, expires_at, steps }));
        assert_eq!(plugin.pump(PATIENCE), Event::Card(proposal));
        let FromPlugin::Shown(shown) = self.frame() else { panic!("not shown") };
        assert_eq!(shown.preview_sha256, plugin.card(proposal).unwrap().preview);
        proposal
    }

    /// Has a plugin carry an invocation out.
    pub(super) fn execute(
        &mut self,
        plugin: &mut Plugin,
        grant: GrantId,
        step: &frame::Step,
    ) -> Event {
        let (invocation, arguments_sha256) = (step.invocation, step.arguments_sha256);
        let execute = frame::Execute { grant, invocation, arguments_sha256, deadline_ms: 30_000 };
        self.send(&FromDaemon::Execute(execute));
        plugin.pump(PATIENCE)
    }

    pub(super) fn result(&mut self) -> ActionResult {
        let FromPlugin::Result(result) = self.frame() else { panic!("no result") };
        result
    }

    pub(super) fn send(&mut self, frame: &FromDaemon) {
        self.socket.as_mut().unwrap().send(Message::text(frame::write(frame))).unwrap();
    }

    pub(super) fn frame(&mut self) -> FromPlugin {
        frame::read(&self.text()).unwrap()
    }

    pub(super) fn text(&mut self) -> String {
        match self.socket.as_mut().unwrap().read().unwrap() {
            Message::Text(text) => text.as_str().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn close_code(&mut self) -> Option<u16> {
        match self.socket.as_mut().unwrap().read() {
            Ok(Message::Close(frame)) => frame.map(|frame| frame.code.into()),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        }
    }
}

/// Answers the request for a socket.
pub(super) fn answer(mut stream: &TcpStream, protocol: &str) {
    use std::io::{Read as _, Write as _};
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        request.push(char::from(byte[0]));
    }
    let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
    assert_eq!(key.len(), 24);
    let accept = web_socket_accept(key);
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-accept: {accept}\r\nsec-websocket-protocol: {protocol}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes()).unwrap();
}
