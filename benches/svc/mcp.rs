//! MCP over HTTP: requests a second of both eras, with and without a token, beside a bare server that gives the same
//! bytes.

use std::io::Write as _;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::http::{ISSUER, Rival, answer, connect, free_address, issuer};
use crate::support::{Run, drive, heading, line, median, ratio};
use crate::svcd::{Site, Svcd};

const CLIENTS: usize = 16;
const REQUESTS: usize = 40_000;
const ROUNDS: usize = 5;

pub(crate) fn run() {
    heading(
        "mcp: requests a second over 16 kept connections, median of five rounds in turns",
        ["svcd", "bare hyper", "ratio", "aim"],
    );
    // Each daemon has a site of its own, because both run at once.
    let sites = [Site::new(), Site::new()];
    let [site, guarded] = &sites;
    let open = site.start_with(&settings(&[]));
    let list = &cases(&open, None)[1];
    let rival = Rival::sdk(&answer_to(&open, list));
    for case in cases(&open, None) {
        compare(&case, &open, None);
        if case.is_modern
            && let Some(rival) = &rival
        {
            outrun(&case, &open, rival);
        }
    }
    drop(rival);
    let (keys, token) = issuer();
    let public = free_address();
    let (url, keys) = (format!("http://{public}"), format!("http://{keys}/"));
    let guarded = guarded.start_with(&settings(&[
        ("SVC_PUBLIC_LISTEN", &public.to_string()),
        ("SVC_PUBLIC_URL", &url),
        ("SVC_MCP_ISSUER", ISSUER),
        ("SVC_MCP_JWKS_URL", &keys),
    ]));
    let authorization = format!("Authorization: Bearer {}\r\n", token(&url, "someone", "mcp:read"));
    let [open_case, ..] = cases(&open, None);
    let [case, ..] = cases(&guarded, Some(&authorization));
    compare(&case, &guarded, Some((&open_case, &open)));
    let resident = format!("{:.1} MiB", open.resident());
    line("resident memory after the run", [resident.as_str(), "-", "-", "< 12 MiB"]);
}

fn settings<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let common = [
        ("SVC_MCP", "true"),
        ("MCP_V2_EXPERIMENTAL", "true"),
        ("SVC_MCP_PEER_RATE", "1000000"),
        ("SVC_MCP_SUBJECT_RATE", "1000000"),
    ];
    common.into_iter().chain(more.iter().copied()).collect()
}

/// A request that is sent again and again.
struct Case {
    name: &'static str,
    request: Vec<u8>,
    is_modern: bool,
}

fn cases(svcd: &Svcd, authorization: Option<&str>) -> [Case; 4] {
    let authorization = authorization.unwrap_or_default();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = |name, method: &str, mut params: Value, headers: &str| {
        params.as_object_mut().unwrap().insert("_meta".to_owned(), meta.clone());
        let headers = format!(
            "{authorization}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{headers}"
        );
        Case { name, request: request(svcd, &headers, method, &params), is_modern: true }
    };
    let session = initialize(svcd, authorization);
    let legacy = |name, method: &str, params: Value| {
        let headers = format!("{authorization}Mcp-Session-Id: {session}\r\n");
        Case { name, request: request(svcd, &headers, method, &params), is_modern: false }
    };
    let call = json!({ "name": "test_simple_text", "arguments": {} });
    let name = "Mcp-Name: test_simple_text\r\n";
    [
        modern("tools/call, modern", "tools/call", call.clone(), name),
        modern("tools/list, modern", "tools/list", json!({}), ""),
        legacy("tools/call, in a session", "tools/call", call),
        legacy("tools/list, in a session", "tools/list", json!({})),
    ]
}

fn request(svcd: &Svcd, headers: &str, method: &str, params: &Value) -> Vec<u8> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let (host, length) = (svcd.public, body.len());
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn initialize(svcd: &Svcd, authorization: &str) -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" },
    });
    let mut stream = connect(svcd.public);
    stream.get_mut().write_all(&request(svcd, authorization, "initialize", &params)).unwrap();
    let (head, _) = answer(&mut stream);
    let session =
        head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ").map(str::to_owned));
    session.unwrap_or_else(|| panic!("no session: {head}"))
}

/// Compares a request with the bare server, or with the same request at another daemon.
fn compare(case: &Case, svcd: &Svcd, beside: Option<(&Case, &Svcd)>) {
    let echo = Rival::bare("echo", &answer_to(svcd, case));
    let (mut ours, mut limits) = (Vec::new(), Vec::new());
    let before = svcd.ran();
    for _ in 0..ROUNDS {
        let run = send(svcd.public, &case.request);
        ours.push(run);
        let (address, request) = beside
            .map_or((echo.address, &case.request), |(case, svcd)| (svcd.public, &case.request));
        let run = send(address, request);
        limits.push(run);
    }
    let micros = (svcd.ran() - before).as_secs_f64() * 1e6 / (ROUNDS * REQUESTS) as f64;
    let shown = |values: &[f64]| format!("{:.0}", median(values.to_vec()));
    let (name, aim) = match beside {
        None => (case.name.to_owned(), ">= 0.6"),
        Some(_) => (format!("{}, ES256; limit: no token", case.name), ">= 0.85"),
    };
    let rates = |runs: &[Run]| runs.iter().map(Run::per_second).collect::<Vec<_>>();
    let (our_rates, limit_rates) = (rates(&ours), rates(&limits));
    let ratio = format!("{:.2}", ratio(&our_rates, &limit_rates));
    line(&name, [shown(&our_rates), shown(&limit_rates), ratio, aim.to_owned()]);
    for (name, percent, aim) in [("  p50", 50, "-"), ("  p99", 99, "<= 2x")] {
        let wait = |runs: &[Run]| median(runs.iter().map(|run| run.percentile(percent)).collect());
        let (wait, limit) = (wait(&ours), wait(&limits));
        let times = format!("{:.1}x", wait / limit);
        line(name, [format!("{wait:.2} ms"), format!("{limit:.2} ms"), times, aim.to_owned()]);
    }
    line("  CPU of a request", [format!("{micros:.0} us").as_str(), "-", "-", "<= 35 us"]);
}

/// Compares a request with the same one at a server of the Rust SDK.
fn outrun(case: &Case, svcd: &Svcd, rival: &Rival) {
    // It checks the host, and no other server's is its own.
    let text = str::from_utf8(&case.request).unwrap();
    let host = |address: SocketAddr| format!("Host: {address}\r\n");
    let request = text.replacen(&host(svcd.public), &host(rival.address), 1).into_bytes();
    let (mut ours, mut theirs) = (vec![], vec![]);
    for _ in 0..ROUNDS {
        ours.push(send(svcd.public, &case.request).per_second());
        theirs.push(send(rival.address, &request).per_second());
    }
    let shown = |values: &[f64]| format!("{:.0}", median(values.to_vec()));
    let ratio = format!("{:.2}", ratio(&ours, &theirs));
    let name = "  limit: the Rust SDK's JSON mode";
    line(name, [shown(&ours), shown(&theirs), ratio, ">= 1.2".to_owned()]);
}

/// Returns the body that answers a request.
fn answer_to(svcd: &Svcd, case: &Case) -> Vec<u8> {
    let mut stream = connect(svcd.public);
    stream.get_mut().write_all(&case.request).unwrap();
    let (head, body) = answer(&mut stream);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    body
}

fn send(address: SocketAddr, request: &[u8]) -> Run {
    drive(
        CLIENTS,
        REQUESTS,
        || connect(address),
        |stream, _| {
            stream.get_mut().write_all(request).unwrap();
            let (head, _) = answer(stream);
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        },
    )
}

/// Serves the bytes of a file to every request, on one thread: hyper, and nothing else.
pub(crate) fn echo(file: &str) {
    use http_body_util::{BodyExt as _, Full};
    use hyper::body::{Bytes, Incoming};
    let answer = Bytes::from(std::fs::read(file).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let answer = answer.clone();
            let service = hyper::service::service_fn(move |request: http::Request<Incoming>| {
                let answer = answer.clone();
                async move {
                    request.into_body().collect().await?;
                    let answer = http::Response::new(Full::new(answer));
                    Ok::<_, hyper::Error>(answer)
                }
            });
            let stream = hyper_util::rt::TokioIo::new(stream);
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(stream, service);
            drop(tokio::spawn(connection));
        }
    });
}
