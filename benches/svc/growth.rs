//! Intake over HTTP while the file grows: the same webhooks on few and on many deliveries.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc::http::server::tcp::TcpServer;
use svc::metrics::Metrics;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::store::Store;
use svc::workers::driver;
use svc::workers::sweep::Sweep;

use crate::raw::Raw;
use crate::support::{Folder, Run, callers, heading, line, median, open_raw, open_store, ratio};
use crate::verbs::{CALLERS, record_raw};
use crate::{history, intake};

const ROWS: [u32; 3] = [10_000, 1_000_000, 3_000_000];
const ROUNDS: usize = 5;
/// Webhooks of a round. One stall of the writer meets 16 of them, which the wait of 999 in 1,000 shows.
const OPERATIONS: usize = 10_000;
/// Deliveries that are as old are deleted.
const RETENTION: Duration = Duration::from_secs(86_400);
/// Between two sweeps that found nothing.
const POLL: Duration = Duration::from_secs(60);

/// A file that is filled, its server, and a copy of it for the raw limit.
struct Past {
    store: Store,
    address: SocketAddr,
    _server: TcpServer,
    raw: Raw,
    /// Beyond the numbers of the past.
    sent: usize,
    _folder: Folder,
}

impl Past {
    fn new(rows: u32) -> Self {
        let folder = Folder::new();
        let (path, limit) = (folder.path("store.db"), folder.path("raw.db"));
        fill(&path, rows);
        fs::copy(&path, &limit).unwrap();
        File::open(&limit).unwrap().sync_all().unwrap();
        let store = open_store(&path);
        let (server, address) = intake::serve(store.clone());
        Self {
            store,
            address,
            _server: server,
            raw: Raw::open(&limit),
            sent: OPERATIONS,
            _folder: folder,
        }
    }

    /// Sends a round of webhooks.
    fn send(&mut self) -> Run {
        let first = self.sent;
        self.sent += OPERATIONS;
        intake::send(self.address, CALLERS, first, OPERATIONS)
    }

    /// Lets the raw limit record as many, as often as the other did.
    fn record_raw(&self) -> Run {
        let first = self.sent;
        callers(CALLERS, OPERATIONS, |number| record_raw(&self.raw, first + number))
    }

    /// Sends a round while the daemon's worker deletes finished rows. Returns how many deliveries were.
    fn send_and_sweep(&mut self) -> (Run, u64) {
        let (notify, metrics) = (Notify::new(), Arc::new(Metrics::default()));
        let sweep = Sweep {
            store: self.store.clone(),
            retention: RETENTION,
            release_retention: RETENTION,
            releases_swept: None,
            delay_max: RETENTION,
            metrics: Arc::clone(&metrics),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| driver::run(Box::new(sweep), &notify, POLL, &metrics));
            let run = self.send();
            notify.stop();
            let swept = metrics.swept.sum(|[(_, kind)]| kind == "delivery");
            (run, swept)
        })
    }
}

/// What the rounds on one file came to.
#[derive(Default)]
struct Figures {
    rates: Vec<f64>,
    limits: Vec<f64>,
    waits: [Vec<f64>; 3],
}

impl Figures {
    fn add(&mut self, run: &Run, limit: &Run) {
        self.rates.push(run.per_second());
        self.limits.push(limit.per_second());
        for (waits, part) in self.waits.iter_mut().zip([500, 990, 999]) {
            waits.push(run.per_mille(part));
        }
    }

    fn show(&self, name: &str, first: &Self, aim: &str) {
        let shown = |values: &Vec<f64>| format!("{:.0}", median(values.clone()));
        let to_limit = format!("{:.2}", ratio(&self.rates, &self.limits));
        line(name, [shown(&self.rates), shown(&self.limits), to_limit, String::new()]);
        let to_first = format!("{:.2}", ratio(&self.rates, &first.rates));
        line("  to the first row", ["-", "-", to_first.as_str(), aim]);
        let [half, most, nearly_all] = self.waits.clone().map(median);
        let waits = format!("{half:.1} / {most:.1} / {nearly_all:.1} ms");
        let aims = "p99 < 10 ms, p99.9 < 30 ms";
        line("  acknowledged, p50 / p99 / p99.9", [waits.as_str(), "-", "-", aims]);
    }
}

pub(crate) fn run() {
    heading(
        &format!("growth: webhooks of {CALLERS} clients, accepted a second, median of {ROUNDS}"),
        ["svc", "raw limit", "ratio", "aim"],
    );
    let clock = SystemClock::new();
    let mut pasts = ROWS.map(Past::new);
    println!("  filled in {:.0} s", clock.monotonic().as_secs_f64());
    let mut figures: [Figures; ROWS.len()] = Default::default();
    let (mut sweeping, mut swept, mut took) = (Figures::default(), 0, Duration::ZERO);
    for _ in 0..ROUNDS {
        for (past, figures) in pasts.iter_mut().zip(&mut figures) {
            let limit = past.record_raw();
            figures.add(&past.send(), &limit);
        }
        let [.., largest] = &mut pasts;
        let limit = largest.record_raw();
        let (run, rows) = largest.send_and_sweep();
        sweeping.add(&run, &limit);
        swept += rows;
        took += run.took();
    }
    let [first, ..] = &figures;
    for (rows, own) in ROWS.iter().zip(&figures) {
        own.show(&format!("{rows} deliveries behind"), first, ">= 0.8");
    }
    sweeping.show("the last, while the sweep deletes", first, "");
    let rate = format!("{:.0}", swept as f64 / took.as_secs_f64());
    line("  deliveries deleted a second", [rate.as_str(), "-", "-", ""]);
    println!("  in all {:.0} s", clock.monotonic().as_secs_f64());
}

/// Makes a store and fills it with finished deliveries whose ids are as scattered as the forge's, all of it on disk.
fn fill(path: &Path, rows: u32) {
    drop(open_store(path));
    let connection = open_raw(path);
    connection
        .execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576",
        )
        .unwrap();
    let key =
        "printf('forge:%08x-%04x-4000-9000-%012x', (n * 2654435769) & 4294967295, n & 65535, n)";
    history::seed(&connection, rows, key, 0);
    drop(connection);
    File::open(path).unwrap().sync_all().unwrap();
}
