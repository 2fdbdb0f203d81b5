//! What calls and sessions cost the daemon in memory.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::service::Service;
use super::{call, initialize, request};
use crate::daemon::ask::Ask;
use crate::daemon::{PATIENCE, say};
use crate::hostile::probes::Held;

/// Calls that are measured, after a burst that is not.
const CALLS: usize = 50_000;
const BURST: usize = 20_000;
const SESSIONS: usize = 4_000;

/// A connection that is used again and again.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn new(service: &Service) -> Self {
        let stream = TcpStream::connect(service.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends requests, one as soon as the one before is written, and reads their answers; each must be good.
    fn ask(&mut self, requests: &[u8], count: usize) {
        self.0.get_mut().write_all(requests).unwrap();
        for _ in 0..count {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert_ne!(self.0.read_line(&mut head).unwrap(), 0, "{head}");
            }
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            let head = head.to_ascii_lowercase();
            let length = head.split_once("content-length: ").unwrap().1;
            let length: usize = length.lines().next().unwrap().parse().unwrap();
            let mut body = vec![0; length];
            self.0.read_exact(&mut body).unwrap();
            assert!(
                !body.windows(7).any(|it| it == b"\"error\""),
                "{}",
                String::from_utf8_lossy(&body)
            );
        }
    }
}

fn bytes(ask: &Ask) -> Vec<u8> {
    let text = String::from_utf8(ask.to_bytes()).unwrap();
    text.replacen("Connection: close\r\n", "", 1).into_bytes()
}

fn start(settings: &[(&str, &str)]) -> Service {
    Service::start(&[&[("SVC_LOG_LEVEL", "info")], settings].concat())
}

#[test]
fn calls_in_one_session_leave_nothing_behind() {
    let service = start(&[]);
    let session = service.begin("2025-11-25");
    let within = |message: &Value| bytes(&service.within(&session, message));
    let text = json!({"name": "test_simple_text"});
    let messages = [
        request(1, "ping", &json!({})),
        request(2, "tools/call", &text),
        call(3, "validate_agent_card", &json!({"card": "{\"name\":1}"})),
        request("four", "tools/call", &text),
        call(5, "service_status", &json!({})),
    ];
    let requests: Vec<u8> = messages.iter().flat_map(within).collect();
    let mut connection = Connection::new(&service);
    let mut run = |calls: usize| {
        for _ in 0..calls / messages.len() {
            connection.ask(&requests, messages.len());
        }
        Held::of(&service.daemon)
    };
    let (before, after) = (run(BURST), run(CALLS));
    say(&format!("{CALLS} calls: {before:?}, then {after:?}"));
    assert!(after.rss_kib <= before.rss_kib + (1 << 10), "{before:?}, then {after:?}");
    assert!(after.threads <= before.threads + 1, "{before:?}, then {after:?}");
}

#[test]
fn a_session_that_is_not_used_takes_less_than_two_kibibytes() {
    let service =
        start(&[("SVC_MCP_SESSIONS_PER_SUBJECT", "100000"), ("SVC_MCP_SESSIONS_MAX", "100000")]);
    let begin = bytes(&service.post(&initialize("2025-11-25")));
    let mut connection = Connection::new(&service);
    let mut run = || {
        for _ in 0..SESSIONS {
            connection.ask(&begin, 1);
        }
        Held::of(&service.daemon)
    };
    let (before, after) = (run(), run());
    let each = (after.rss_kib.saturating_sub(before.rss_kib) << 10) / SESSIONS;
    say(&format!("{SESSIONS} sessions: {before:?}, then {after:?}: {each} bytes each"));
    assert!(each < 2 << 10, "{before:?}, then {after:?}");
}
