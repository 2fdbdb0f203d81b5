//! Webhooks over HTTP: signed, parsed, on disk, then answered; each becomes a job.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, getrlimit, setrlimit};
use svc::app::{App, CARD_CHECKS_MAX, IntakeRules, Refused, Reload, WorkerNotify};
use svc::config::SecretDigests;
use svc::domain::reconcile::Rules;
use svc::domain::time::Timestamp;
use svc::forge::{payload, signature};
use svc::http::fixture;
use svc::http::message::{Service, Surface};
use svc::http::routes::Router;
use svc::http::server::limits::TcpLimits;
use svc::http::server::tcp::{self, Listener, TcpServer};
use svc::metrics::Metrics;
use svc::runtime::clock::SystemClock;
use svc::runtime::semaphore::Semaphore;
use svc::runtime::watch::Watch;
use svc::simulator::{Webhook, sign};
use svc::store::Store;

use crate::support::{Folder, Run, callers, drive, heading, line, median, open_store, ratio};
use crate::svcd::{SECRET, Site};
use crate::{verbs, work};

/// Clients at once, and what they send together in a round.
const LOADS: [(usize, usize); 3] = [(1, 1_000), (16, 5_000), (64, 8_000)];
const ROUNDS: usize = 3;
/// Streams that are open meanwhile, in so many pairs of rounds.
const STREAMS: usize = 2_000;
const STREAM_ROUNDS: usize = 10;

pub(crate) fn run() {
    heading(
        "intake: signed push webhooks over kept connections, accepted a second, median",
        ["svc", "record_delivery", "ratio", "aim"],
    );
    let folder = Folder::new();
    let limit = open_store(&folder.path("limit.db"));
    let (server, address) = serve(open_store(&folder.path("store.db")));
    let mut sent = 0;
    for (clients, operations) in LOADS {
        let (mut ours, mut limits, mut waits) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let first = sent;
            sent += operations;
            let run = callers(clients, operations, |number| verbs::record(&limit, first + number));
            limits.push(run.per_second());
            let run = send(address, clients, first, operations);
            ours.push(run.per_second());
            waits.push((run.percentile(50), run.percentile(99)));
        }
        show(&format!("{clients} clients, intake alone"), &ours, &limits, waits);
    }
    beside_streams(address, sent);
    server.stop(std::time::Duration::from_secs(1));
    with_workers(&limit, sent);
}

/// The same with streams of events open meanwhile, which are silent but for a comment each 15 s.
fn beside_streams(address: SocketAddr, mut sent: usize) {
    let (clients, operations) = LOADS[1];
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let (mut alone, mut beside, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..STREAM_ROUNDS {
        // One after the other in turns, because the file grows.
        for with_streams in [round % 2 == 0, round % 2 == 1] {
            let streams = if with_streams { STREAMS } else { 0 };
            let streams: Vec<TcpStream> = (0..streams).map(|_| open_stream(address)).collect();
            let run = send(address, clients, sent, operations);
            drop(streams);
            sent += operations;
            if with_streams {
                beside.push(run.per_second());
                waits.push((run.percentile(50), run.percentile(99)));
            } else {
                alone.push(run.per_second());
            }
        }
    }
    let name = format!("{clients} clients, {STREAMS} streams open");
    let slower = format!("{:.2}x", ratio(&alone, &beside));
    let shown = |values: Vec<f64>| format!("{:.0}", median(values));
    line(&name, [shown(beside), shown(alone), slower, "<= 1.1x without".to_owned()]);
    let (half, most): (Vec<f64>, Vec<f64>) = waits.into_iter().unzip();
    let wait = format!("{:.1} / {:.1} ms", median(half), median(most));
    line("  acknowledged, p50 / p99", [wait.as_str(), "-", "-", ""]);
}

fn open_stream(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /fixture/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut status = [0; 15];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200 OK");
    stream
}

/// The whole daemon: its workers run the jobs and send to a forge meanwhile, all on the same cores.
fn with_workers(limit: &Store, first: usize) {
    let (clients, operations) = (16, 2_000);
    let site = Site::new();
    let svcd = site.start();
    let limits = callers(clients, operations, |number| verbs::record(limit, first + number));
    let run = send(svcd.public, clients, first, operations);
    let waits = vec![(run.percentile(50), run.percentile(99))];
    let name = format!("{clients} clients, svcd and a forge at work");
    show(&name, &[run.per_second()], &[limits.per_second()], waits);
}

fn show(name: &str, ours: &[f64], limits: &[f64], waits: Vec<(f64, f64)>) {
    let ratio = format!("{:.2}", ratio(ours, limits));
    let shown = |values: &[f64]| format!("{:.0}", median(values.to_vec()));
    line(name, [shown(ours), shown(limits), ratio, ">= 0.5".to_owned()]);
    let (half, most): (Vec<f64>, Vec<f64>) = waits.into_iter().unzip();
    let wait = format!("{:.1} / {:.1} ms", median(half), median(most));
    line("  acknowledged, p50 / p99", [wait.as_str(), "-", "-", "p99 < 10 ms at 16"]);
}

/// Serves webhooks as the daemon does, with no worker for what they ask.
pub(crate) fn serve(store: Store) -> (TcpServer, SocketAddr) {
    let app = App {
        store,
        clock: Arc::new(SystemClock::new()),
        operators: None,
        results: None,
        intake: Some(IntakeRules {
            secrets: signature::Secrets::new(vec![SECRET.into()]).unwrap(),
            payload: payload::PayloadRules {
                release_tag_pattern: glob::Pattern::new("v*").unwrap(),
            },
            body_bytes_max: 1 << 20,
        }),
        forge: None,
        started_at: Timestamp::MIN,
        reconciliation: Some(Rules::INITIAL),
        relay: None,
        reload: Reload::new(Box::new(|| Err(Vec::new())), None, SecretDigests::default()),
        worker_notify: WorkerNotify::default(),
        metrics: Arc::new(Metrics::default()),
        card_checks: Semaphore::new(CARD_CHECKS_MAX),
        refused: Refused::default(),
        slo: Watch::default(),
        draining: AtomicBool::new(false),
    };
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let router: Arc<dyn Service> = Arc::new(Router::new(Arc::new(app), Vec::new(), None));
    let listener = Listener { surface: Surface::Public, socket, connections_max: 4_096 };
    // All clients are at one address, as behind a proxy.
    let trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    let limits = TcpLimits { trusted_proxies, ..TcpLimits::default() };
    let server = tcp::start(vec![listener], &fixture::over(router), limits);
    (server.unwrap(), address)
}

/// Sends webhooks that were signed beforehand, each client on one connection.
pub(crate) fn send(address: SocketAddr, clients: usize, first: usize, operations: usize) -> Run {
    let requests: Vec<Vec<u8>> = (first..first + operations).map(request).collect();
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        BufReader::new(stream)
    };
    drive(clients, operations, connect, |stream, number| {
        stream.get_mut().write_all(requests.get(number).unwrap()).unwrap();
        let status = answer(stream);
        assert!(status.starts_with("HTTP/1.1 202"), "{status}");
    })
}

fn request(number: usize) -> Vec<u8> {
    signed(&work::id(number), work::push(number))
}

/// Returns the request that delivers a webhook.
pub(crate) fn signed(id: &str, webhook: Webhook) -> Vec<u8> {
    let mut request = format!(
        "POST /webhooks/forge HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nX-GitHub-Event: {}\r\nX-GitHub-Delivery: {}\r\n\
         X-Hub-Signature-256: {}\r\n\r\n",
        webhook.body.len(),
        webhook.event,
        id,
        sign(SECRET, &webhook.body),
    )
    .into_bytes();
    request.extend(webhook.body);
    request
}

/// Reads one answer to its end; returns its first line.
fn answer(stream: &mut BufReader<TcpStream>) -> String {
    let (mut status, mut length) = (String::new(), 0);
    stream.read_line(&mut status).unwrap();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    status
}
