//! A plugin that is as light as one can be: it shows nothing, approves everything at once, and has always succeeded.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use svc::domain::digest::Digest;
use svc::domain::id::{PageInstanceId, PairingId, ProposalId, RelaySessionId};
use svc::domain::relay::{ActionEffect, CardDecision, DesignTool};
use svc::relay::action::DesignAction;
use svc::relay::digest;
use svc::relay::frame::{DecidedInPlugin, File, FromPlugin, Hello, Nonce, PROTOCOL};
use svc::relay::proof::{DaemonKey, DecisionText, allowance_text, confirm_text, proof_text};
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::random::{Ids, SystemEntropy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// Digest of what a card showed.
const PREVIEW: [u8; 32] = [7; 32];

/// What outlives a page.
pub(super) struct Device {
    /// Its place among all; also the address it comes from, as a proxy says.
    pub(super) number: usize,
    pub(super) token: String,
    key: DaemonKey,
    instance: PageInstanceId,
    session: Option<RelaySessionId>,
}

impl Device {
    pub(super) fn new(number: usize, token: String) -> Self {
        let key = DaemonKey::read(&DaemonKey::generate().unwrap()).unwrap();
        let mut ids = Ids::new(Box::new(SystemEntropy::new()));
        let instance = ids.uuid(SystemClock::new().now()).into();
        Self { number, token, key, instance, session: None }
    }

    fn hello(&self, nonce: &Nonce) -> String {
        let name = format!("file {}", self.number);
        let hello = Hello {
            nonce: nonce.clone(),
            instance: self.instance,
            tool: DesignTool::Test,
            plugin: "bench".to_owned(),
            key: self.key.public().clone(),
            session: self.session,
            file: File { key: Some(name.clone()), name, page: "Login".to_owned() },
            actions: DesignAction::ALL.iter().map(|action| action.as_str().to_owned()).collect(),
        };
        serde_json::to_string(&FromPlugin::Hello(Box::new(hello))).unwrap()
    }
}

/// An open page.
pub(super) struct Page {
    stream: WebSocketStream<TcpStream>,
    device: Arc<Device>,
    nonce: Nonce,
    session: RelaySessionId,
    epoch: u64,
    reads: bool,
}

/// Opens the page of a device, and pairs it if it has not been. Gives leave to read for an hour.
pub(super) async fn open(address: SocketAddr, device: &mut Arc<Device>) -> Page {
    let mut stream = upgrade(address, device.number).await;
    let mut ids = Ids::new(Box::new(SystemEntropy::new()));
    let hello = device.hello(&Nonce::new(&ids.bytes()));
    send(&mut stream, &hello).await;
    let challenge = hear(&mut stream).await;
    let nonce: Nonce = member(&challenge, "nonce");
    let text = proof_text(&nonce, digest::hello(&hello).unwrap(), digest::journal(&[]));
    let signature = device.key.sign(&text).unwrap();
    let proof = json!({ "type": "proof", "signature": signature, "journal": [] });
    send(&mut stream, &proof.to_string()).await;
    let mut answer = hear(&mut stream).await;
    if let Some(code) = answer.get("code") {
        claim(address, &device.token, code).await;
        let claimed = hear(&mut stream).await;
        let pairing: PairingId = member(&claimed, "pairing");
        let signature = device.key.sign(&confirm_text(&nonce, pairing, true)).unwrap();
        let confirm = json!({ "type": "confirm", "pairing": pairing, "accept": true, "signature": signature });
        send(&mut stream, &confirm.to_string()).await;
        answer = hear(&mut stream).await;
    }
    let (session, epoch) = (member(&answer, "session"), member(&answer, "epoch"));
    Arc::get_mut(device).unwrap().session = Some(session);
    let text = allowance_text(&nonce, session, epoch, 60);
    let signature = device.key.sign(&text).unwrap();
    let allowance = json!({ "type": "allowance", "minutes": 60, "signature": signature });
    send(&mut stream, &allowance.to_string()).await;
    Page { stream, device: Arc::clone(device), nonce, session, epoch, reads: false }
}

/// What is to be decided about.
#[derive(Deserialize)]
struct Propose {
    proposal: ProposalId,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    effect: ActionEffect,
    arguments_sha256: Digest,
}

impl Page {
    /// Answers until its socket closes.
    pub(super) async fn serve(mut self) {
        while let Some(Ok(message)) = self.stream.next().await {
            let Message::Text(text) = message else { continue };
            let frame: Value = serde_json::from_str(&text).unwrap();
            for answer in self.answers(frame) {
                if self.stream.send(Message::text(answer.to_string())).await.is_err() {
                    return;
                }
            }
        }
    }

    fn answers(&mut self, frame: Value) -> VecDeque<Value> {
        match frame.get("type").and_then(Value::as_str).unwrap() {
            "ping" => [json!({ "type": "pong", "n": frame.get("n"), "visible": true })].into(),
            "propose" => self.decide(serde_json::from_value(frame).unwrap()),
            "execute" => {
                let value = if self.reads {
                    json!({ "pages": [{ "id": "1", "name": "Login" }], "truncated": false })
                } else {
                    json!({ "node": "1", "old": "Button" })
                };
                let grant = frame.get("grant");
                [json!({ "type": "result", "grant": grant, "outcome": "succeeded", "value": value })].into()
            }
            "settled" => VecDeque::new(),
            _ => panic!("{frame} for {} with {}", self.session, self.nonce.as_str()),
        }
    }

    fn decide(&mut self, propose: Propose) -> VecDeque<Value> {
        let Propose { proposal, steps } = propose;
        self.reads = steps.iter().all(|step| step.effect == ActionEffect::Read);
        let by = if self.reads { DecidedInPlugin::Allowance } else { DecidedInPlugin::Person };
        let (preview, decision) = (Digest::from(PREVIEW), CardDecision::Approved);
        let arguments: Vec<Digest> = steps.iter().map(|step| step.arguments_sha256).collect();
        let (session, epoch) = (self.session, self.epoch);
        let text =
            DecisionText { session, epoch, proposal, arguments: &arguments, preview, decision, by };
        let signature = self.device.key.sign(&text.text()).unwrap();
        let shown = json!({ "type": "shown", "proposal": proposal, "previewSha256": preview });
        let decision = json!({
            "type": "decision", "proposal": proposal, "previewSha256": preview, "decision": decision,
            "by": by, "signature": signature,
        });
        if self.reads { [decision].into() } else { [shown, decision].into() }
    }
}

/// Types the code of a plugin, as a person who has a token.
async fn claim(address: SocketAddr, token: &str, code: &Value) {
    let body = json!({ "code": code }).to_string();
    let request = format!(
        "POST /relay/v1/pairings/claim HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Opens a WebSocket. A proxy says that it is of a client of its own, because a client is offered few codes.
async fn upgrade(address: SocketAddr, number: usize) -> WebSocketStream<TcpStream> {
    let client = Ipv4Addr::from_bits(0x0a00_0001 + number as u32);
    let request = format!(
        "GET /relay/v1/connect HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
         X-Forwarded-For: {client}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    // The daemon says nothing before `hello`, so nothing is read beyond the head.
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    let config = WebSocketConfig::default().read_buffer_size(4 << 10).write_buffer_size(0);
    WebSocketStream::from_raw_socket(stream, Role::Client, Some(config)).await
}

async fn send(stream: &mut WebSocketStream<TcpStream>, text: &str) {
    stream.send(Message::text(text)).await.unwrap();
}

/// Returns the next frame; answers a ping before it.
async fn hear(stream: &mut WebSocketStream<TcpStream>) -> Value {
    loop {
        let Message::Text(text) = stream.next().await.unwrap().unwrap() else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        match frame.get("type").and_then(Value::as_str).unwrap() {
            "ping" => {
                let pong = json!({ "type": "pong", "n": frame.get("n"), "visible": true });
                send(stream, &pong.to_string()).await;
            }
            "problem" => panic!("{frame}"),
            _ => return frame,
        }
    }
}

fn member<T: DeserializeOwned>(frame: &Value, name: &str) -> T {
    serde_json::from_value(frame.get(name).cloned().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {frame}"))
}
