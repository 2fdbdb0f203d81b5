//! `svcctl cards validate` against a real daemon: what the service says is what the validator of
//! `svcctl` says, byte for byte, in every format; and what happens when there is no service.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use svc::api::CardReport;
use svc::card;

use super::command::FILES;
use super::hand_written;
use crate::daemon::ask::Ask;
use crate::daemon::process::Daemon;
use crate::daemon::site::Site;

const PATH: &str = "/api/v1/agent-cards/validate";
const FORMATS: [&str; 6] = ["text", "json", "ndjson", "sarif", "junit", "github"];

fn started() -> (Site, Daemon, String) {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    let daemon = site.start();
    let url = format!("unix:{}", site.socket().display());
    (site, daemon, url)
}

fn validate(url: &str, words: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_svcctl"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .env("SVC_URL", url)
        .args(["cards", "validate"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A run that ends early does not read it all.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

fn assert_same(url: &str, words: &[&str], input: &[u8], code: i32) {
    let service = validate(url, words, input);
    let offline = validate("unix:/nowhere", &[words, &["--offline"]].concat(), input);
    assert_eq!(service.status.code(), Some(code), "{words:?}: {service:?}");
    assert_eq!(offline.status.code(), Some(code), "{words:?}: {offline:?}");
    assert!(service.stdout == offline.stdout, "{words:?}: {service:?}\n{offline:?}");
    assert!(service.stderr == offline.stderr, "{words:?}: {service:?}\n{offline:?}");
}

/// Writes every hand-written card into a file of its own.
fn unfold(folder: &Path) {
    for (number, case) in hand_written::cases().iter().enumerate() {
        std::fs::write(folder.join(format!("{number:03}.json")), &case.text).unwrap();
    }
}

#[test]
fn the_service_and_svcctl_say_the_same_in_every_format() {
    let (_site, _daemon, url) = started();
    let folder = tempfile::tempdir().unwrap();
    unfold(folder.path());
    let mut lines = Vec::new();
    for case in hand_written::cases() {
        lines.extend_from_slice(&case.text);
        lines.extend_from_slice(if lines.len() % 2 == 0 { b"\n" } else { b"\r\n\n" });
    }
    let stream = folder.path().join("stream.ndjson");
    std::fs::write(&stream, &lines).unwrap();
    let (folder, stream) = (folder.path().to_str().unwrap(), stream.to_str().unwrap());
    for format in FORMATS {
        assert_same(&url, &[FILES, folder, "missing.json", "-o", format], b"", 74);
        assert_same(&url, &["--max-bytes", "300", stream, "-o", format], b"", 1);
    }
    assert_same(&url, &["--ndjson", "-o", "ndjson"], b"\r\r\n{}\n\r\n[]\n\r\r", 1);
    assert_same(&url, &["--ndjson"], b"\n\n", 74);
    assert_same(&url, &[], b"", 1);
}

#[test]
fn a_stream_of_any_length_keeps_its_order_and_numbers() {
    let (_site, _daemon, url) = started();
    let good =
        r#"{"protocolVersion":"1.0","name":"n","description":"d","url":"a:b","version":"1"}"#;
    let stream: Vec<&str> =
        (1..=30_000).map(|line| if line % 97 == 0 { "{}" } else { good }).collect();
    assert_same(&url, &["--ndjson", "-o", "github"], stream.join("\n").as_bytes(), 1);
    // More cards than one request may have in a piece, and more findings than one answer may hold.
    assert_same(&url, &["--ndjson", "-o", "github"], "{}\n".repeat(25_000).as_bytes(), 1);
    let talkative =
        format!("{{{}\"z\":0}}\n", (0..100).map(|n| format!("\"{n}\":0,")).collect::<String>());
    assert_same(&url, &["--ndjson", "-o", "junit"], talkative.repeat(1_200).as_bytes(), 1);
}

#[test]
fn without_the_service_nothing_steps_in() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("unix:{}", folder.path().join("none.sock").display());
    for format in FORMATS {
        let ended = validate(&url, &[FILES, "-o", format], b"");
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(69), "{said}");
        assert!(said.contains("cannot reach") && said.contains("add --offline"), "{said}");
        assert!(ended.stdout.is_empty(), "nothing is said of any card");
    }
    let ended = validate(&url, &[FILES, "--max-bytes", "16777217"], b"");
    assert_eq!(ended.status.code(), Some(64));
}

#[test]
fn every_card_gets_a_verdict_on_both_surfaces() {
    let (_site, daemon, _) = started();
    for endpoint in daemon.operator_endpoints() {
        for case in hand_written::cases() {
            let ask = Ask::post(PATH).header("Content-Type", "application/json").body(&case.text);
            let answer = endpoint.ask(&ask);
            let report = card::check(&case.text);
            let status = if report.is_json() { 200 } else { 400 };
            let expected = serde_json::to_value(CardReport::new(report, None)).unwrap();
            assert_eq!(answer.status, status, "{}: {answer:?}", case.name);
            let told = answer.json();
            let told = if status == 200 { &told } else { &told["report"] };
            assert_eq!(*told, expected, "{}", case.name);
        }
    }
}

#[test]
fn what_is_no_request_about_cards_is_refused() {
    let (_site, daemon, _) = started();
    let typed = |media_type: &str| Ask::post(PATH).header("Content-Type", media_type).body("{}");
    let lines = "{}\n".repeat(card::BATCH_MAX + 1);
    let large = vec![b' '; card::BYTES_MAX + 1];
    // Long names, because many cards would take a debug build longer than a handler may on a busy machine.
    let unknown: Vec<String> =
        (0..100).map(|number| format!("\"{}{number}\":0", "n".repeat(180))).collect();
    let long = format!("{{{}}}\n", unknown.join(","));
    let ndjson =
        |body: &[u8]| Ask::post(PATH).header("Content-Type", "application/x-ndjson").body(body);
    for endpoint in daemon.operator_endpoints() {
        for (status, outcome, ask) in [
            (415, "unsupported_media_type", Ask::post(PATH).body("{}")),
            (415, "unsupported_media_type", typed("text/plain")),
            (
                415,
                "unsupported_media_type",
                typed("application/json").header("Content-Encoding", "gzip"),
            ),
            (
                400,
                "invalid_request",
                Ask::post(&format!("{PATH}?strict=1")).header("Content-Type", "application/json"),
            ),
            (413, "payload_too_large", ndjson(lines.as_bytes())),
            (413, "payload_too_large", ndjson(&large)),
            (413, "payload_too_large", ndjson(long.repeat(250).as_bytes())),
            (405, "method_not_allowed", Ask::new("PATCH", PATH)),
        ] {
            endpoint.ask(&ask).assert_problem(status, outcome, "");
        }
        for media_type in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(endpoint.ask(&typed(media_type)).status, 200);
        }
        let answer = endpoint.ask(&ndjson(b"\n{}\r\n\r\nnull"));
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/x-ndjson"));
        let told: Vec<Value> =
            answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines: Vec<&Value> = told.iter().map(|report| &report["line"]).collect();
        assert_eq!(lines, [2, 4]);
        assert_eq!(told[1]["findings"][0]["line"], 4);
        assert!(endpoint.ask(&ndjson(b"\n\n")).body.is_empty());
    }
    daemon.public.ask(&typed("application/json")).assert_problem(404, "not_found", "");
}
