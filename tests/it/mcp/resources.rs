//! What calls, sessions and streams cost the daemon, and that nothing of them is left behind. A campaign of a million
//! calls: `SVC_MCP_CALLS=1000000 cargo test --test it mcp::resources::calls -- --nocapture`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};

use serde_json::{Value, json};
use svc::runtime::notify::Notify;

use super::service::Service;
use super::wire::EventStream;
use super::{call, initialize, request};
use crate::daemon::ask::Ask;
use crate::daemon::{PATIENCE, letters, say, wait_for};
use crate::hostile::probes::{Held, Probes};
use crate::http_server::events::wait_for_open;
use crate::support::campaign::number_or;

/// Calls that are measured, after two fifths as many that are not: caches and pools fill with time. A campaign has more:
/// `SVC_MCP_CALLS`.
const CALLS: usize = 50_000;
const SESSIONS: usize = 4_000;
/// Crowds, one after another. A campaign has more: `SVC_MCP_CROWDS`.
const CROWDS: usize = 6;
/// Streams that are open at once, as many as there may be of answers that last.
const STREAMS: usize = 2_000;
/// Sessions that begin in each round and are abandoned.
const ABANDONED: usize = 10_000;
/// Messages to each stream that is not read, more than wait for one.
const UNREAD: usize = 20;

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
    let calls = number_or("SVC_MCP_CALLS", CALLS);
    let (before, after) = (run(calls * 2 / 5), run(calls));
    say(&format!("{calls} calls: {before:?}, then {after:?}"));
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

#[test]
fn crowds_that_vanish_leave_nothing_behind_and_webhooks_alone() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let service = start(&[
        ("SVC_MCP_SESSIONS_MAX", "20000"),
        ("SVC_MCP_SESSIONS_PER_SUBJECT", "20000"),
        ("SVC_MCP_SESSION_IDLE_SECONDS", "5"),
        ("SVC_MCP_STREAMS_MAX", "2000"),
    ]);
    let (mut webhooks, mut probes) = (0, Probes::new());
    // The first one makes the threads that the others find.
    letters::push(&service.daemon, &service.site.webhooks, webhooks);
    let stream_of = |session: &str| service.to_mcp("GET").header("Mcp-Session-Id", session);
    let (before, mut after) = (Held::of(&service.daemon), Vec::new());
    for round in 0..number_or("SVC_MCP_CROWDS", CROWDS) {
        let mut connection = Connection::new(&service);
        let begin = bytes(&service.post(&initialize("2025-11-25")));
        for _ in 0..ABANDONED / 100 {
            connection.ask(&begin.repeat(100), 100);
        }
        let streams: Vec<EventStream> =
            (0..STREAMS).map(|_| service.open(&stream_of(&service.begin("2025-11-25")))).collect();
        let mut session = service.begin("2025-11-25");
        assert_eq!(EventStream::open(service.address(), &stream_of(&session)).status, 503);
        let announce = call(1, "test_trigger_tool_change", &json!({}));
        for _ in 0..UNREAD {
            // On a busy machine it may be over between two of these.
            wait_for("a session that is not over", || {
                let status = service.ask(&service.within(&session, &announce)).status;
                if status == 404 {
                    session = service.begin("2025-11-25");
                }
                (status == 200).then_some(())
            });
            webhooks += 1;
            probes.push(&service.daemon, &service.site.webhooks, webhooks);
        }
        assert_eq!(service.gauge("svc_mcp_streams "), STREAMS);
        assert!(service.gauge("svc_mcp_sessions ") > STREAMS);
        let during = Held::of(&service.daemon);
        // A call to the forge may have one, for as long as it takes.
        assert!(during.threads < before.threads + 20, "{during:?}, before {before:?}");
        assert!(during.descriptors >= STREAMS, "{during:?}");
        drop(streams);
        drop(connection);
        wait_for_open(service.address(), 0);
        assert!(Notify::new().pause(Duration::from_secs(6)));
        // A caller that finds no room has those looked for that have gone.
        wait_for("room", || {
            let stream =
                EventStream::open(service.address(), &stream_of(&service.begin("2025-11-25")));
            (stream.status == 200).then_some(())
        });
        wait_for_open(service.address(), 0);
        let left = ["svc_mcp_sessions ", "svc_mcp_streams "].map(|name| service.gauge(name));
        assert!(left[0] <= 2 && left[1] <= 1, "{left:?} sessions and streams of those that looked");
        let held = Held::of(&service.daemon);
        say(&format!("crowd {round}: {before:?}, then {during:?}, then {held:?}"));
        assert!(held.descriptors < before.descriptors + 20, "{held:?}, before {before:?}");
        after.push(held.rss_kib);
    }
    say(&format!("webhooks beside crowds: {}", probes.verdict()));
    // What the allocator keeps of the first ones is nearly enough for those that follow: the last two may leave a sixth of
    // a KiB of each session and stream, which are some 500 bytes.
    let [.., third_last, _, last] = after[..] else { panic!("{after:?}") };
    assert!(last < third_last + (4 << 10), "{after:?}");
}
