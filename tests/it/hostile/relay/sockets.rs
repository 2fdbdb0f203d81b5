//! Real sockets to the real daemon, its people counted as one: pages and processes that may not connect, frames that are
//! none, floods, and what of all that reaches the log.

use std::net::SocketAddr;
use std::thread::scope;
use std::time::Duration;

use serde_json::{Value, json};
use svc::demo::plugin::Plugin;
use svc::demo::plugin::device::{BrowserProfile, Host};
use svc::demo::plugin::document::Document;
use svc::demo::plugin::event::Event;
use svc::demo::plugin::socket::{Heard, OpenError, Opening, Socket};
use svc::domain::relay::CardDecision;
use svc::mcp::revision::MODERN;
use svc::runtime::clock::{Clock as _, SystemClock};
use tokio_tungstenite::tungstenite::Message;

use crate::daemon::ask::{Answer, Ask, Endpoint};
use crate::daemon::process::Daemon;
use crate::daemon::site::Site;
use crate::daemon::wait_for;
use crate::hostile::PATIENCE;
use crate::hostile::probes::{Held, Probes, assert_sound};
use crate::mcp::{enveloped, request};

/// In everything that a person, a caller or a plugin says.
const CANARY: &str = "canarytenant";
/// Sockets of one person: as many as may be.
const SOCKETS: usize = 8;
/// A result that is as large as it may be.
const RESULT_BYTES: usize = 8 << 20;

struct Place {
    site: Site,
    daemon: Daemon,
    address: SocketAddr,
}

impl Place {
    fn new(settings: &[(&str, &str)]) -> Self {
        let mut site = Site::new();
        let own = [
            ("SVC_MCP", "true"),
            ("MCP_V2_EXPERIMENTAL", "true"),
            ("SVC_RELAY", "true"),
            ("SVC_RELAY_LOCAL", "true"),
            ("SVC_RELAY_WAIT_SECONDS", "1"),
        ];
        for (name, value) in own.iter().chain(settings) {
            site.set(name, value);
        }
        let daemon = site.start();
        let Endpoint::Tcp(address) = daemon.public else { panic!("no TCP") };
        Self { site, daemon, address }
    }

    fn opening(&self) -> Opening {
        Opening::local(self.address)
    }

    /// Opens a socket, as soon as there is room: the place of one that was closed is given back a little later.
    fn socket(&self) -> Socket {
        wait_for("a place", || match Socket::open(&self.opening()) {
            Ok(socket) => Some(socket),
            Err(OpenError::Refused(503)) => None,
            Err(error) => panic!("{error}"),
        })
    }

    fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let ask = Ask::post(path)
            .header("Host", self.address.to_string())
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        let ask = headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value));
        self.daemon.public.try_ask(&ask.body(body.to_string())).unwrap()
    }

    /// Calls a tool; returns its structured content.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = enveloped(json!({"name": tool, "arguments": arguments}), &json!({}));
        let headers =
            [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        let answer = self.post("/mcp", &headers, &request(1, "tools/call", &params));
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        answer["result"]["structuredContent"].clone()
    }

    /// A plugin with its session.
    fn plugin(&self, device: &BrowserProfile, file: &str) -> Plugin {
        let host = Host::new(Document::sample());
        let mut plugin = Plugin::new(self.opening(), device.clone(), host, file);
        plugin.connect().unwrap();
        let is_ready = plugin.until(PATIENCE, |plugin, event| match event {
            Event::Code(code) => {
                let claim = self.post("/relay/v1/pairings/claim", &[], &json!({"code": code}));
                assert_eq!(claim.status, 200, "{claim:?}");
                None
            }
            Event::Claimed { .. } => {
                plugin.confirm(true);
                None
            }
            Event::Ready { .. } => Some(()),
            _ => None,
        });
        is_ready.expect("a session");
        plugin
    }
}

/// Reads until the end; returns the code that the daemon closed with.
fn close_code(socket: &mut Socket) -> Option<u16> {
    loop {
        match socket.read(PATIENCE) {
            Heard::Closed(code) => return code,
            Heard::Nothing => panic!("the socket stays open"),
            Heard::Text(_) | Heard::Strange => {}
        }
    }
}

#[test]
fn pages_and_processes_that_may_not_connect_get_no_socket() {
    let place = Place::new(&[]);
    let opening = place.opening();
    let evil = || Some("https://evil.example".to_owned());
    let cases = [
        (403, Opening { origin: None, ..opening.clone() }),
        (403, Opening { origin: evil(), ..opening.clone() }),
        (403, Opening { origin: Some("null".to_owned()), ..opening.clone() }),
        (421, Opening { host: "evil.example".to_owned(), ..opening.clone() }),
        (400, Opening { protocol: None, ..opening.clone() }),
        (400, Opening { protocol: Some("svc.other.v1".to_owned()), ..opening.clone() }),
    ];
    // More of them than sockets of a peer that proved nothing: none took a place.
    for (wanted, opening) in &cases {
        match Socket::open(opening) {
            Err(OpenError::Refused(status)) => assert_eq!(status, *wanted, "{opening:?}"),
            Err(error) => panic!("{opening:?}: {error}"),
            Ok(_) => panic!("{opening:?}: it is open"),
        }
    }
    // Nor do those of another version, which are closed although they stay silent.
    let other = Opening { protocol: Some("svc.relay.v2".to_owned()), ..opening.clone() };
    let others: Vec<Socket> = (0..6).map(|_| Socket::open(&other).unwrap()).collect();
    for mut socket in others {
        assert_eq!(close_code(&mut socket), Some(4426));
    }
    let silent: Vec<Socket> = (0..4).map(|_| place.socket()).collect();
    assert!(matches!(Socket::open(&opening), Err(OpenError::Refused(503))));
    for mut socket in silent {
        assert_eq!(close_code(&mut socket), Some(4408));
    }
    place.socket();
}

#[test]
fn what_is_no_frame_closes_its_socket_and_no_other() {
    let mut place = Place::new(&[]);
    let device = BrowserProfile::new().unwrap();
    let mut good = place.plugin(&device, "a file");
    let long = format!(r#"{{"type":"hello","plugin":"{}"}}"#, "x".repeat(16 << 10));
    let deep = format!(r#"{{"type":"hello","file":{}{}}}"#, "[".repeat(4_000), "]".repeat(4_000));
    let text = |text: &str| Message::text(text.to_owned());
    let cases = [
        (4400, text("x")),
        (4400, text("[]")),
        (4400, text(r#"{"type":"nothing"}"#)),
        (4400, text(r#"{"type":"hello","type":"hello"}"#)),
        (4400, text(r#"{"type":"proof","signature":"A","journal":[]}"#)),
        (4400, text(r#"{"type":"hello","canarytenant":1}"#)),
        (4400, text(&deep)),
        (4413, text(&long)),
        (1003, Message::binary(vec![0; 4])),
    ];
    for (wanted, message) in cases {
        let mut socket = place.socket();
        socket.send_message(message.clone());
        assert_eq!(close_code(&mut socket), Some(wanted), "{message:?}");
    }
    // A part of a frame, and nothing after it; then a fragment without its end.
    for bytes in [&[0x81, 0x85, 0, 0, 0, 0, b'{'][..], &[0x01, 0x81, 0, 0, 0, 0, b'{']] {
        let mut socket = place.socket();
        socket.send_bytes(bytes);
        assert_eq!(close_code(&mut socket), Some(4408), "{bytes:?}");
    }
    assert!(good.is_ready());
    assert!(!matches!(good.pump(Duration::from_millis(1)), Event::Closed(_)));
    assert_sound(&mut place.daemon, "frames that are none");
    assert!(!place.daemon.log().contains(CANARY));
}

#[test]
fn more_frames_than_may_come_close_the_socket() {
    let place = Place::new(&[("SVC_RELAY_FRAMES_PER_SECOND", "10")]);
    let mut plugin = place.plugin(&BrowserProfile::new().unwrap(), "a file");
    let socket = plugin.socket().unwrap();
    for number in 0..200 {
        socket.send(&json!({"type": "pong", "n": number, "visible": true}).to_string());
    }
    assert_eq!(close_code(socket), Some(4429));
}

#[test]
fn the_largest_results_of_many_plugins_at_once_are_bounded_and_others_are_served() {
    let mut place = Place::new(&[("SVC_LOG_LEVEL", "info")]);
    let device = BrowserProfile::new().unwrap();
    let files: Vec<String> = (0..SOCKETS).map(|number| format!("file {number}")).collect();
    let mut plugins: Vec<Plugin> = files.iter().map(|file| place.plugin(&device, file)).collect();
    let (before, mut probes) = (Held::of(&place.daemon), Probes::new());
    let mut most = before;
    let value = "x".repeat(RESULT_BYTES - 200);
    let grant = "0199f3a0-0000-7000-8000-00000000000a";
    let frame = json!({"type": "result", "grant": grant, "outcome": "succeeded", "value": value});
    let frame = frame.to_string();
    for round in 0..3 {
        scope(|threads| {
            let senders: Vec<_> = plugins
                .iter_mut()
                .map(|plugin| {
                    let frame = &frame;
                    threads.spawn(move || {
                        let socket = plugin.socket().unwrap();
                        socket.send(frame);
                        close_code(socket)
                    })
                })
                .collect();
            let mut number = 0;
            while senders.iter().any(|sender| !sender.is_finished()) {
                let id = round * 10_000 + number;
                probes.push(&place.daemon, &place.site.webhooks, id);
                probes.ask(&place.daemon.public, "results at once");
                let held = Held::of(&place.daemon);
                most.rss_kib = most.rss_kib.max(held.rss_kib);
                most.threads = most.threads.max(held.threads);
                number += 1;
            }
            for sender in senders {
                // Read and not taken, or cut when there was no room to read it.
                let code = sender.join().unwrap();
                assert!([Some(4400), Some(1013), None].contains(&code), "{code:?}");
            }
        });
        for plugin in &mut plugins {
            // The places of the sockets that have just ended are given back soon.
            wait_for("a place", || {
                plugin.connect().unwrap();
                plugin.until(PATIENCE, |plugin, _| plugin.is_ready().then_some(()))
            });
        }
    }
    println!("8 MiB results of {SOCKETS} at once: {}; {before:?} to {most:?}", probes.verdict());
    // The budget of what lasts twice, as bytes and as text, and what the handlers at work make of it.
    assert!(most.rss_kib <= before.rss_kib + (256 << 10), "{most:?}, before {before:?}");
    assert!(most.threads <= 200, "{most:?}");
    assert_sound(&mut place.daemon, "results at once");
}

#[test]
fn after_a_crash_no_session_is_said_to_be_connected_that_has_no_socket() {
    let mut place = Place::new(&[]);
    let device = BrowserProfile::new().unwrap();
    let mut plugin = place.plugin(&device, "a file");
    let session = plugin.session().unwrap().to_string();
    let change = json!({"node": Document::TITLE, "text": "Sign in"});
    let waiting = place.call("set_text", &change);
    assert_eq!(waiting["status"], "approval_pending", "{waiting}");
    place.daemon.kill();
    place.daemon = place.site.start();
    let Endpoint::Tcp(address) = place.daemon.public else { panic!("no TCP") };
    place.address = address;
    let listed = place.call("list_design_sessions", &json!({}));
    assert_eq!(listed["sessions"][0]["session"], session.as_str(), "{listed}");
    assert_eq!(listed["sessions"][0]["state"], "away", "{listed}");
    let refused = place.call("set_text", &json!({"node": Document::TITLE, "text": "Log on"}));
    assert_eq!(refused["code"], "session_away", "{refused}");
    // The page comes back to its session, and what waited is shown again.
    plugin.opening = place.opening();
    plugin.connect().unwrap();
    let card = |event: &Event| matches!(event, Event::Card(_)).then_some(());
    plugin.until(PATIENCE, |_, event| card(event)).expect("the card again");
    assert_eq!(plugin.session().unwrap().to_string(), session);
}

#[test]
fn many_calls_that_wait_hold_no_thread_and_end_together() {
    let mut place = Place::new(&[("SVC_LOG_LEVEL", "info"), ("SVC_RELAY_WAIT_SECONDS", "20")]);
    let mut plugin = place.plugin(&BrowserProfile::new().unwrap(), "a file");
    let before = Held::of(&place.daemon);
    let mut probes = Probes::new();
    let arguments = json!({"node": Document::TITLE, "text": "Sign in"});
    scope(|threads| {
        // The same call: one card.
        let calls: Vec<_> = (0..60)
            .map(|_| {
                let (place, arguments) = (&place, &arguments);
                threads.spawn(move || place.call("set_text", arguments))
            })
            .collect();
        let proposal = plugin.until(PATIENCE, |_, event| match event {
            Event::Card(proposal) => Some(*proposal),
            _ => None,
        });
        let clock = SystemClock::new();
        // All while the calls wait, which they do for 20 s.
        for number in (0..30).take_while(|_| clock.monotonic() < Duration::from_secs(5)) {
            probes.push(&place.daemon, &place.site.webhooks, number);
            probes.ask(&place.daemon.public, "calls that wait");
        }
        assert!(Held::of(&place.daemon).threads <= before.threads + 40);
        plugin.decide(proposal.unwrap(), CardDecision::Approved);
        plugin
            .until(PATIENCE, |_, event| matches!(event, Event::Settled(_)).then_some(()))
            .unwrap();
        let states: Vec<Value> =
            calls.into_iter().map(|call| call.join().unwrap()["state"].clone()).collect();
        let succeeded = states.iter().filter(|state| *state == "succeeded").count();
        // Others were refused, because a client has so many streams.
        assert!(succeeded >= 4, "{states:?}");
        assert!(states.iter().all(|state| *state == "succeeded" || state.is_null()), "{states:?}");
    });
    println!("60 calls that wait: {}", probes.verdict());
    assert_sound(&mut place.daemon, "calls that wait");
}

#[test]
fn neither_log_nor_audit_nor_metrics_hold_what_people_say() {
    let mut place = Place::new(&[("SVC_LOG_LEVEL", "trace")]);
    let device = BrowserProfile::new().unwrap();
    let mut plugin = place.plugin(&device, &format!("{CANARY} file"));
    plugin.host().open().document.type_text(Document::TITLE, &format!("{CANARY} old"));
    for (number, decision) in [CardDecision::Approved, CardDecision::Denied].into_iter().enumerate()
    {
        let text = format!("{CANARY} new {number}");
        let pending = place.call("set_text", &json!({"node": Document::TITLE, "text": text}));
        assert_eq!(pending["status"], "approval_pending", "{pending}");
        let card = |event: &Event| match event {
            Event::Card(proposal) => Some(*proposal),
            _ => None,
        };
        let proposal = plugin.until(PATIENCE, |_, event| card(event)).unwrap();
        plugin.decide(proposal, decision);
        if decision == CardDecision::Approved {
            let settled = |event: &Event| matches!(event, Event::Settled(_)).then_some(());
            plugin.until(PATIENCE, |_, event| settled(event)).unwrap();
            let found = place.call("get_invocation", &json!({"invocation": pending["invocation"]}));
            assert_eq!(found["value"]["old"], format!("{CANARY} old"), "{found}");
        }
    }
    place.call("pair_design_session", &json!({"code": CANARY}));
    place.call("set_text", &json!({"node": CANARY, "text": 7, (CANARY): CANARY}));
    place.call("find_nodes", &json!({"session": CANARY, "name": CANARY}));
    plugin.socket().unwrap().send(&json!({"type": "result", "grant": CANARY}).to_string());
    assert_eq!(close_code(plugin.socket().unwrap()), Some(4400));
    let asked = |path: &str| {
        let answer = place.daemon.control.try_ask(&Ask::get(path).bearer()).unwrap();
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8(answer.body).unwrap()
    };
    let key = json!(device.key());
    let mut hidden = vec![CANARY.to_owned()];
    hidden.extend(["x", "y"].map(|part| key[part].as_str().unwrap().to_owned()));
    let relay = "/api/v1/operator/relay";
    let mut places = vec![("log", place.daemon.log()), ("metrics", asked("/metrics"))];
    for list in ["sessions", "devices", "invocations", "audit-events"] {
        places.push((list, asked(&format!("{relay}/{list}?limit=100"))));
    }
    for (name, text) in &places {
        assert!(text.len() > 100, "{name}: {text}");
        for word in &hidden {
            assert!(!text.contains(word.as_str()), "{name} holds {word}");
        }
    }
    let verified: Value =
        serde_json::from_str(&asked(&format!("{relay}/audit-events/verify"))).unwrap();
    assert_eq!(verified["intact"], true);
    assert_sound(&mut place.daemon, "words of people");
}
