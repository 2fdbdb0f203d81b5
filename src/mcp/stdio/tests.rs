//! What a client of either era reads, line by line, whatever it writes.

use std::io::Cursor;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::api::{CardReport, Readiness};
use crate::card;
use crate::domain::time::Timestamp;
use crate::mcp::ServerSettings;
use crate::mcp::backend::{Backend, BackendUnavailable};
use crate::mcp::revision::{self, MODERN};
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::random::{Ids, SystemEntropy};

/// Checks cards, and knows nothing of a service.
struct Cards;

impl Backend for Cards {
    fn validate_agent_card(&self, card: &str) -> Result<CardReport, BackendUnavailable> {
        Ok(CardReport::new(card::check(card.as_bytes()), None))
    }

    fn service_status(&self) -> Result<Readiness, BackendUnavailable> {
        Err(BackendUnavailable("start the service".to_owned()))
    }

    fn request_state_key(&self) -> Result<[u8; 32], BackendUnavailable> {
        Ok([7; 32])
    }

    fn nonce(&self) -> [u8; 12] {
        [9; 12]
    }

    fn use_request_state(&self, _: [u8; 12], _: Timestamp) -> Result<bool, BackendUnavailable> {
        Ok(true)
    }
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes nothing.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A clock that is a year further each time it is read.
#[derive(Default)]
struct Years(AtomicU64);

impl Clock for Years {
    fn now(&self) -> Timestamp {
        Timestamp::MIN.plus(self.monotonic())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_hours(8_760 * self.0.fetch_add(1, Ordering::Relaxed))
    }
}

fn server(modern: bool) -> Server {
    server_at(Arc::new(SystemClock::new()), modern)
}

fn server_at(clock: Arc<dyn Clock>, modern: bool) -> Server {
    let settings = ServerSettings {
        modern,
        offered: revision::Legacy::DEFAULT,
        limits: LIMITS,
        relay_wait: Duration::ZERO,
    };
    let backend: Arc<dyn Backend> = Arc::new(Cards);
    let ids = Ids::new(Box::new(SystemEntropy::new()));
    Server::new(&settings, &backend, None, clock, ids, Arc::default())
}

/// Returns what a client reads that writes these bytes and then ends its side.
fn read(modern: bool, input: &[u8]) -> Vec<Value> {
    read_from(&server(modern), input)
}

fn read_from(server: &Server, input: &[u8]) -> Vec<Value> {
    let written = Written::default();
    let output: Output = Arc::new(Mutex::new(written.clone()));
    serve(server, Cursor::new(input), output).unwrap();
    let bytes = lock(&written.0).clone();
    assert!(bytes.is_empty() || bytes.ends_with(b"\n"));
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn exchange_messages(modern: bool, messages: &[Value]) -> Vec<Value> {
    let lines: Vec<String> = messages.iter().map(|message| format!("{message}\n")).collect();
    read(modern, lines.concat().as_bytes())
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn initialize(id: u32, version: &str) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
    request(id, "initialize", params)
}

/// Returns a request of the modern era.
fn modern(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, params)
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_default()
}

#[test]
fn a_session_begins_with_initialize_and_is_named_by_nothing() {
    let call = json!({ "name": "validate_agent_card", "arguments": { "card": "{}" } });
    let answers = exchange_messages(
        false,
        &[
            initialize(1, "2025-06-18"),
            notification("notifications/initialized", json!({})),
            request(2, "tools/list", json!({})),
            request(3, "tools/call", call),
            request(4, "tools/call", json!({ "name": "service_status" })),
            initialize(5, "2025-06-18"),
        ],
    );
    assert_eq!(answers.iter().map(|it| &it["id"]).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert!(answers[1]["result"]["tools"].is_array());
    assert_eq!(answers[2]["result"]["structuredContent"]["valid"], false);
    assert_eq!(answers[3]["result"]["isError"], true);
    assert_eq!(answers[3]["result"]["content"][0]["text"], "start the service");
    assert_eq!(code(&answers[4]), -32_600, "it comes once");
}

#[test]
fn the_session_lasts_as_long_as_the_process() {
    let server = server_at(Arc::new(Years::default()), false);
    let lines = [initialize(1, "2025-11-25"), request(2, "ping", json!({}))];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    let answers = read_from(&server, lines.as_bytes());
    assert_eq!(answers[1]["result"], json!({}), "also after years");
}

#[test]
fn the_first_message_decides_the_era_and_discover_never_does() {
    let discover = |id| modern(id, "server/discover", json!({}));
    let answers = exchange_messages(
        true,
        &[
            discover(1),
            discover(2),
            initialize(3, "2025-11-25"),
            discover(4),
            modern(5, "tools/list", json!({})),
            request(6, "ping", json!({})),
        ],
    );
    assert_eq!(answers[0]["result"]["supportedVersions"], json!([MODERN]));
    assert_eq!(answers[1]["id"], 2);
    assert_eq!(answers[2]["result"]["protocolVersion"], "2025-11-25");
    assert!(answers[3]["result"].is_object());
    assert_eq!(code(&answers[4]), -32_602, "{}", answers[4]);
    assert_eq!(answers[4]["error"]["data"]["requested"], MODERN);
    assert_eq!(answers[4]["error"]["data"]["supported"][0], "2025-11-25");
    assert_eq!(answers[5]["result"], json!({}));
    let answers = exchange_messages(
        true,
        &[
            discover(1),
            modern(2, "tools/list", json!({})),
            initialize(3, "2025-11-25"),
            request(4, "tools/list", json!({})),
            modern(5, "tools/call", json!({ "name": "service_status" })),
        ],
    );
    assert_eq!(answers[1]["result"]["resultType"], "complete");
    assert_eq!(code(&answers[2]), -32_022);
    let data = json!({
        "supported": [MODERN],
        "requested": "2025-11-25",
        "eras": era::eras(true),
    });
    assert_eq!(answers[2]["error"]["data"], data);
    assert_eq!(code(&answers[3]), -32_022);
    assert_eq!(answers[4]["result"]["isError"], true);
}

#[test]
fn without_the_modern_era_a_probe_is_refused_and_a_session_begins_all_the_same() {
    let probe = modern(1, "server/discover", json!({}));
    let answers = exchange_messages(false, &[probe, initialize(2, "2025-11-25")]);
    assert_eq!((code(&answers[0]), &answers[0]["id"]), (-32_602, &json!(1)));
    assert_eq!(answers[0]["error"]["data"]["supported"][0], "2025-11-25");
    assert_eq!(answers[1]["result"]["protocolVersion"], "2025-11-25");
    let pinned =
        exchange_messages(false, &[modern(1, "tools/list", json!({})), initialize(2, MODERN)]);
    assert_eq!(pinned.iter().map(code).collect::<Vec<_>>(), [-32_602, -32_602]);
}

#[test]
fn what_is_no_request_is_never_answered() {
    let silent = [
        notification("notifications/initialized", json!({})),
        notification("notifications/cancelled", json!({ "requestId": 1 })),
        json!({ "jsonrpc": "2.0", "id": 7, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": 1, "message": "no" } }),
    ];
    for is_modern in [false, true] {
        assert_eq!(exchange_messages(is_modern, &silent), [Value::Null; 0], "before a session");
        let mut messages = vec![initialize(1, "2025-03-26")];
        messages.extend(silent.iter().cloned());
        messages.push(Value::from(silent.to_vec()));
        messages.push(modern(0, "notifications/cancelled", json!({ "requestId": 1 })));
        messages.last_mut().unwrap().as_object_mut().unwrap().remove("id");
        assert_eq!(exchange_messages(is_modern, &messages).len(), 1);
    }
    assert_eq!(exchange_messages(false, &[Value::from(silent.to_vec())]), [Value::Null; 0]);
}

#[test]
fn a_batch_is_taken_only_where_it_was_negotiated() {
    let batch = json!([request(2, "ping", json!({})), request(3, "tools/list", json!({}))]);
    for (version, is_taken) in [("2025-03-26", true), ("2025-06-18", false), ("2024-11-05", false)]
    {
        let answers = exchange_messages(false, &[initialize(1, version), batch.clone()]);
        assert_eq!(answers[1].as_array().is_some_and(|it| it.len() == 2), is_taken, "{version}");
        assert!(is_taken || code(&answers[1]) == -32_600, "{version}");
    }
    let answers = exchange_messages(true, &[modern(1, "tools/list", json!({})), batch.clone()]);
    assert_eq!(code(&answers[1]), -32_022);
    assert_eq!(code(&exchange_messages(false, &[batch])[0]), -32_600, "there is no session");
}

#[test]
fn bad_lines_are_answered_and_end_nothing() {
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(2_000));
    let lines: &[(&[u8], i64)] = &[
        (b"{", -32_700),
        (b"nonsense", -32_700),
        (b"\xff\xfe\x00", -32_700),
        (b"\xef\xbb\xbf{}", -32_700),
        (b"{}", -32_600),
        (b"[]", -32_600),
        (b"1", -32_600),
        (b"null", -32_600),
        (deep.as_bytes(), -32_600),
        (long_id.as_bytes(), -32_600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
        (br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32_600),
        (br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32_600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32_602),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32_600),
    ];
    for is_modern in [false, true] {
        let input: Vec<u8> =
            lines.iter().flat_map(|(line, _)| [*line, b"\r\n\r\n"].concat()).collect();
        let last = format!("{}", initialize(99, "2025-11-25"));
        let answers = read(is_modern, &[&input, last.as_bytes()].concat());
        assert_eq!(answers.len(), lines.len() + 1);
        for ((line, expected), answer) in lines.iter().zip(&answers) {
            let line = String::from_utf8_lossy(line).chars().take(80).collect::<String>();
            assert_eq!(code(answer), *expected, "{line}: {answer}");
            assert_ne!(answer.get("id"), Some(&Value::Null), "{line}: {answer}");
        }
        assert_eq!(answers.last().unwrap()["id"], 99, "also without an end of its line");
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_and_skipped() {
    let line = |bytes: usize| {
        let shell = initialize(1, "2025-11-25").to_string();
        let mut line = shell.into_bytes();
        line.resize(bytes, b' ');
        line.push(b'\n');
        line
    };
    let ping = format!("{}\n", request(2, "ping", json!({})));
    let answers = read(false, &[&line(LINE_BYTES_MAX), ping.as_bytes()].concat());
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[1]["id"], 2);
    for bytes in [LINE_BYTES_MAX + 1, 3 * LINE_BYTES_MAX] {
        let answers = read(false, &[&line(bytes), ping.as_bytes()].concat());
        assert_eq!(code(&answers[0]), -32_600);
        assert_eq!(answers[0]["error"]["message"], "the line is too long; 4 MiB are allowed");
        assert_eq!((answers.len(), &answers[1]["id"]), (2, &json!(2)));
    }
}

#[test]
fn nothing_follows_a_subscription_that_its_client_has_cancelled() {
    let listen =
        modern(1, "subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let cancel = |id: u32| notification("notifications/cancelled", json!({ "requestId": id }));
    let mut with_envelope = modern(0, "notifications/cancelled", json!({ "requestId": 1 }));
    with_envelope.as_object_mut().unwrap().remove("id");
    let count = |cancel: Value| {
        let answers = exchange_messages(true, &[listen.clone(), cancel]);
        assert_eq!(answers[0]["method"], "notifications/subscriptions/acknowledged");
        answers.len()
    };
    assert_eq!([count(cancel(1)), count(with_envelope)], [1, 1]);
    assert_eq!(count(cancel(2)), 2, "another one ends with the input");
}

#[test]
fn an_output_that_takes_nothing_is_the_end() {
    let input = format!("{}\n{{\n", initialize(1, "2025-11-25"));
    let ended = serve(&server(false), Cursor::new(input), Arc::new(Mutex::new(Closed)));
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
