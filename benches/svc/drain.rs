//! Draining the outbox: senders against a forge that answers at once, beside as many raw requests to the same forge; and
//! what the release binary costs while the forge cannot be reached.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use svc::domain::id::InstallationId;
use svc::domain::outbox::SendResult;
use svc::domain::repository::RepositoryRef;
use svc::forge::client::ForgeClient;
use svc::forge::{Forge, Gate, Permission, Session, TokenUse};
use svc::metrics::Metrics;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;
use svc::store::Store;
use svc::workers::driver::{Next, Worker as _};
use svc::workers::outbox::Outbox;
use svc::workers::shares::Shares;

use crate::prompt_forge::PromptForge;
use crate::support::{Folder, callers, drive, heading, line, median, open_raw, open_store, ratio};
use crate::svcd::Site;
use crate::verbs::CALLERS;
use crate::{settle, work};

const RELEASES: usize = 3_000;
/// More than one, because an installation has half of the senders at most.
const INSTALLATIONS: usize = 16;
const SENDERS: [usize; 2] = [2, 8];
const ROUNDS: usize = 3;
/// What is due while the forge cannot be reached.
const DUE: usize = 6_000;
/// How long it is watched, after the senders have noticed.
const WATCHED: Duration = Duration::from_secs(30);

pub(crate) fn run() {
    heading(
        &format!(
            "drain: {RELEASES} releases with three effects each, of {INSTALLATIONS} installations; \
             the pacing of writes is raised beyond any rate; releases a second, median"
        ),
        ["svc", "raw requests", "ratio", "aim"],
    );
    for senders in SENDERS {
        let aim = |token| if senders == 8 && token == TokenUse::Shared { ">= 600/s" } else { "" };
        let tokens = [TokenUse::Shared, TokenUse::Own];
        let mut rates = tokens.map(|_| (Vec::new(), Vec::new()));
        for _ in 0..ROUNDS {
            for (token, (ours, limits)) in tokens.iter().zip(&mut rates) {
                let (own, limit) = drain(senders, *token);
                ours.push(own);
                limits.push(limit);
            }
        }
        for (token, (ours, limits)) in tokens.iter().zip(rates) {
            let name = match token {
                TokenUse::Shared => format!("{senders} senders"),
                TokenUse::Own => format!("{senders} senders, a token for each effect"),
            };
            let ratio = format!("{:.2}", ratio(&ours, &limits));
            let [own, limit] = [ours, limits].map(|rates| format!("{:.0}/s", median(rates)));
            line(&name, [own.as_str(), limit.as_str(), ratio.as_str(), aim(*token)]);
        }
    }
    unreachable();
}

/// Drains a full outbox; returns releases a second, ours and those of raw requests.
fn drain(senders: usize, token: TokenUse) -> (f64, f64) {
    let folder = Folder::new();
    let path = folder.path("drain.db");
    let store = open_store(&path);
    callers(CALLERS, RELEASES, |number| fill(&store, work::release_of(number, INSTALLATIONS)));
    let forge = PromptForge::start();
    let client = settle::client(forge.base_url());
    let client: Arc<dyn Forge> = Arc::new(WithTokens { client, token });
    let shares = Shares::of_pool(senders as u64);
    let clock = SystemClock::new();
    std::thread::scope(|scope| {
        for number in 0..senders {
            let mut outbox = Outbox {
                store: store.clone(),
                forge: Arc::clone(&client),
                owner: format!("bench-{number}"),
                retry: work::RETRY,
                pace: work::pace(),
                shares: shares.clone(),
                notify: Notify::new(),
                metrics: Arc::new(Metrics::default()),
            };
            scope.spawn(move || while outbox.step() == Next::Now {});
        }
    });
    let rate = RELEASES as f64 / clock.monotonic().as_secs_f64();
    let sql = "SELECT count(*) FROM outbox WHERE status = 'completed'";
    let sent: i64 = open_raw(&path).query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(usize::try_from(sent).unwrap(), 3 * RELEASES, "every effect was carried out");
    let calls = if token == TokenUse::Own { 6 } else { 3 };
    (rate, raw_requests(forge.address(), senders, calls))
}

fn fill(store: &Store, delivery: svc::domain::delivery::NewDelivery) {
    store.record_delivery(delivery).unwrap();
    crate::verbs::claim_and_run(store);
}

/// As many requests, by as many callers, each of which writes bytes and reads bytes.
fn raw_requests(address: SocketAddr, callers: usize, calls: usize) -> f64 {
    let body = r#"{"repository_ids":[1],"permissions":{"actions":"read"}}"#;
    let request = format!(
        "POST /app/installations/1/access_tokens HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let ask = |_: &mut (), _| {
        for _ in 0..calls {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.contains("\"token\""), "{answer}");
        }
    };
    drive(callers, RELEASES, || (), ask).per_second()
}

/// The client, with one way to use tokens whatever is asked for.
struct WithTokens {
    client: ForgeClient,
    token: TokenUse,
}

impl Forge for WithTokens {
    fn open<'s>(
        &'s self,
        installation: InstallationId,
        repository: &RepositoryRef,
        permission: Permission,
        _: TokenUse,
        gate: &'s dyn Gate,
    ) -> Result<Box<dyn Session + 's>, SendResult> {
        self.client.open(installation, repository, permission, self.token, gate)
    }
}

/// What the daemon costs while nothing listens where the forge should be.
fn unreachable() {
    let site = Site::new();
    let store = open_store(&site.database());
    callers(CALLERS, DUE, |number| fill(&store, work::release(number)));
    drop(store);
    let svcd = site.start_with(&[
        ("SVC_FORGE_API_URL", "http://127.0.0.1:1"),
        ("SVC_OUTBOX_CONCURRENCY", "8"),
    ]);
    assert!(Notify::new().pause(Duration::from_secs(5)));
    let before = svcd.ran();
    assert!(Notify::new().pause(WATCHED));
    let share = (svcd.ran() - before).as_secs_f64() / WATCHED.as_secs_f64() * 100.0;
    let name = format!("of one core, {DUE} messages due, no forge");
    line(&name, [format!("{share:.2} %").as_str(), "", "", "< 3 %"]);
}
