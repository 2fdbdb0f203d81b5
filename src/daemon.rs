//! The daemon: build everything, start it, wait for a signal, stop in order.
//!
//! Starting goes from the disk outwards: store, forge, sockets, workers; only then is the supervisor
//! told that we are ready. Stopping goes the other way, within a bound: readiness fails first, then
//! nothing is accepted any more, then workers finish what they hold, then the store is folded up.
//! What is not finished by then is left to its leases: a stop at any instant loses nothing.

pub mod arguments;
mod descriptors;
mod forge;
pub mod mcp;
mod relay;
mod self_check;
mod sockets;
mod workers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::relay::OpenError as OpenRelayError;
use crate::app::{App, CARD_CHECKS_MAX, Refused, WorkerNotify};
use crate::auth::operator::Operators;
use crate::config::{Config, ForgeConfig, ReconciliationConfig, WorkConfig};
use crate::daemon::forge::{client, intake, results};
use crate::daemon::mcp::Mcp;
use crate::daemon::self_check::SelfCheck;
use crate::daemon::sockets::{HandedOver, Listening};
use crate::daemon::workers::{WorkerThread, Workers};
use crate::forge::Forge;
use crate::forge::client::Client;
use crate::forge::settings::ClientError;
use crate::http::mcp::Endpoint;
use crate::http::message::Service;
use crate::http::relay::Relay;
use crate::http::routes::Router;
use crate::http::server::control::{self, ControlServer};
use crate::http::server::limits::{ControlLimits, TcpLimits};
use crate::http::server::tcp::{self, Listener, TcpServer};
use crate::metrics::Metrics;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;
use crate::runtime::watch::Watch;
use crate::store::{self, OpenError, Options, Store};
use crate::workers::slo::Slo;
use crate::workers::sweep::Sweep;

/// How often retention looks.
const SWEEP_POLL: Duration = Duration::from_secs(60);
/// How often the self-check runs, unless the supervisor's watchdog wants it more often.
const SELF_CHECK_POLL: Duration = Duration::from_secs(5);
/// Most threads at once beside the reconcilers: those at rest, with both TCP addresses open, the most
/// senders, and one for each connection of operators.
const THREADS_MAX: usize = 104;
/// Exit status when the disk fails: the supervisor should start us again.
const EXIT_DISK_FAILED: i32 = 74;

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be opened.
    #[error("cannot open the store")]
    Store(#[source] OpenError),
    /// The forge's settings do not work together.
    #[error("the forge settings cannot be used")]
    Forge(#[source] ClientError),
    /// An address cannot be listened on.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// A socket was handed over that no setting names.
    #[error(
        "the service manager passed a socket at {0}, which is neither SVC_PUBLIC_LISTEN nor \
         SVC_OPERATOR_LISTEN; make its unit and the settings agree"
    )]
    StrangeSocket(SocketAddr),
    /// What was handed over is no TCP socket that listens.
    #[error("cannot use a socket that the service manager passed")]
    HandedOver(#[source] io::Error),
    /// The relay's key cannot be had.
    #[error("cannot open the relay")]
    Relay(#[source] OpenRelayError),
    /// The control socket cannot be served.
    #[error("cannot serve the control socket")]
    Control(#[source] io::Error),
    /// The system gave no thread, signal handler or socket.
    #[error("cannot start {0}")]
    Start(&'static str, #[source] io::Error),
}

impl Error {
    /// Says whether starting again without a person would end the same way.
    #[must_use]
    pub const fn needs_a_person(&self) -> bool {
        match self {
            Self::Store(error) => error.needs_a_person(),
            Self::Forge(_) | Self::StrangeSocket(_) | Self::HandedOver(_) => true,
            Self::Listen(..) | Self::Relay(_) | Self::Control(_) | Self::Start(..) => false,
        }
    }
}

/// Runs the daemon until a signal asks it to stop.
///
/// # Errors
/// When it cannot start. What was started by then is stopped.
pub fn run(config: Config) -> Result<(), Error> {
    // Everything the daemon makes is for its own user, unless a mode is set on purpose.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let handed_over = sockets::handed_over()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(|error| Error::Start("the signal handlers", error))?;
    // Before anything is started: a signal that arrives during the start is kept until `wait`.
    let mut signals = {
        let _entered = runtime.enter();
        Signals::install().map_err(|error| Error::Start("the signal handlers", error))?
    };
    let stop_within = config.stop_within;
    let running = Running::start(config, handed_over)?;
    tell_supervisor(&[sd_notify::NotifyState::Ready]);
    log::info!(event = "daemon.ready", version = env!("CARGO_PKG_VERSION"); "the daemon is ready");
    let reason = runtime.block_on(signals.wait());
    log::info!(event = "daemon.stopping", signal = reason; "the daemon stops");
    running.stop(stop_within);
    log::info!(event = "daemon.stopped"; "the daemon stopped");
    Ok(())
}

/// The signals that matter.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// A file that grew too large is an error of that write; the system would end the process.
    _file_size: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
        const SIGXFSZ: i32 = 25;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_size: signal(SignalKind::from_raw(SIGXFSZ))?,
        })
    }

    async fn wait(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// Everything that runs.
struct Running {
    app: Arc<App>,
    tcp: TcpServer,
    control: ControlServer,
    mcp: Option<Arc<Endpoint>>,
    workers: Vec<WorkerThread>,
    clock: Arc<dyn Clock>,
}

impl Running {
    fn start(config: Config, handed_over: Vec<HandedOver>) -> Result<Self, Error> {
        check_threads(&config)?;
        let delay_max = longest_delay(&config);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let metrics = Arc::new(Metrics::default());
        let worker_notify = WorkerNotify::default();
        let store = Store::open(Options {
            path: config.database,
            clock: Arc::clone(&clock),
            ids: Ids::new(Box::new(SystemEntropy::new())),
            on_fatal: Box::new(end_process),
        })
        .map_err(Error::Store)?;
        let forge = config.forge.as_ref().map(|forge| client(forge, &clock)).transpose()?;
        let wanted = Listening {
            public: config.public_listen,
            public_connections_max: config.public_connections_max,
            operator: config.operator_listen,
        };
        let listeners = sockets::listen(handed_over, wanted)?;
        // The sockets know their ports; a configured port of 0 means that the system chose one.
        let tcp_addresses = addresses(&listeners)?;
        let relay = relay::open(config.relay.as_ref(), &store, &clock, &metrics)?;
        let app = Arc::new(App {
            store: store.clone(),
            clock: Arc::clone(&clock),
            operators: config.operator.map(Operators::new),
            intake: config.forge.as_ref().map(intake),
            results: config.forge.as_ref().map_or(Ok(None), |forge| results(forge, &clock))?,
            reconciliation_configuration_valid: config.reconciliation.is_some(),
            relay: relay.clone(),
            worker_notify: worker_notify.clone(),
            metrics: Arc::clone(&metrics),
            card_checks: Semaphore::new(CARD_CHECKS_MAX),
            refused: Refused::default(),
            slo: Watch::default(),
            draining: AtomicBool::new(false),
        });
        let public = tcp_addresses.first().copied().unwrap_or(config.public_listen);
        let mcp = mcp::open(config.mcp.as_ref(), config.protocol, public, &app)?;
        let endpoint = mcp.served.as_ref().map(|(_, endpoint)| Arc::clone(endpoint));
        let public_url = config.mcp.and_then(|mcp| mcp.public_url);
        let served = relay::serve(relay.as_ref(), config.relay, public_url, public.port());
        let router = router(&app, config.operator_hosts, mcp, served);
        let socket = config.control_socket;
        let control = control::start(&socket, Arc::clone(&router), ControlLimits::default())
            .map_err(Error::Control)?;
        let limits = TcpLimits { trusted_proxies: config.trusted_proxies, ..TcpLimits::default() };
        let tcp = tcp::start(listeners, &router, limits)
            .map_err(|error| Error::Start("the HTTP server", error))?;
        let mut workers = Workers { metrics, threads: Vec::new() };
        if let Some(forge) = forge {
            start_forge(
                &mut workers,
                forge,
                &app,
                config.forge.as_ref(),
                config.reconciliation.as_ref(),
                &config.work,
            )?;
        }
        start_upkeep(&mut workers, &app, &config.work, delay_max)?;
        mcp::start_sweep(&mut workers, endpoint.as_ref())?;
        relay::start_tick(&mut workers, relay.as_ref())?;
        let check = SelfCheck { store, socket, tcp_addresses };
        workers.start(Box::new(check), Notify::new(), self_check_poll())?;
        Ok(Self { app, tcp, control, mcp: endpoint, workers: workers.threads, clock })
    }

    /// Stops everything in order, in no more than `within`.
    fn stop(self, within: Duration) {
        let began = self.clock.monotonic();
        let left = || within.saturating_sub(self.clock.monotonic().saturating_sub(began));
        tell_supervisor(&[sd_notify::NotifyState::Stopping]);
        self.app.drain();
        // All are asked before any is waited for: their last calls to the forge overlap with the last exchanges.
        for worker in &self.workers {
            worker.notify.stop();
        }
        // Before the servers, which would otherwise wait for these calls and streams until the bound.
        if let Some(relay) = &self.app.relay {
            relay.stop();
        }
        if let Some(mcp) = &self.mcp {
            mcp.stop();
        }
        // Half of the time is for exchanges, so that workers and the store have theirs.
        self.tcp.stop(left() / 2);
        self.control.stop(left() / 2);
        for worker in &self.workers {
            if worker.ended.recv_timeout(left()) == Err(RecvTimeoutError::Timeout) {
                log::warn!(event = "daemon.worker_left", worker = worker.name; "leaving a worker behind that does not end; its lease will run out");
            }
        }
        if !self.app.store.close(left()) {
            log::warn!(event = "daemon.store_left"; "the store did not finish in time; what was acknowledged is on disk");
        }
    }
}

/// Starts what speaks to the forge.
fn start_forge(
    workers: &mut Workers,
    client: Arc<Client>,
    app: &App,
    settings: Option<&ForgeConfig>,
    reconciliation: Option<&ReconciliationConfig>,
    work: &WorkConfig,
) -> Result<(), Error> {
    let Some(settings) = settings else { return Ok(()) };
    let (store, worker_notify, clock) = (&app.store, &app.worker_notify, &app.clock);
    if settings.webhook_redelivery {
        workers.start_redelivery(store, Arc::<Client>::clone(&client), clock)?;
    }
    let forge: Arc<dyn Forge> = client;
    workers.start_forge_workers(store, worker_notify, &forge, settings, work)?;
    match reconciliation {
        Some(reconciliation) => {
            workers.start_reconcilers(store, worker_notify, &forge, clock, settings, reconciliation)
        }
        None => Ok(()),
    }
}

/// Starts what deletes old rows, and what evaluates the signals.
fn start_upkeep(
    workers: &mut Workers,
    app: &App,
    work: &WorkConfig,
    delay_max: Duration,
) -> Result<(), Error> {
    let (store, metrics) = (app.store.clone(), Arc::clone(&workers.metrics));
    let sweep = Sweep { store, retention: work.retention, delay_max, metrics };
    workers.start(Box::new(sweep), Notify::new(), SWEEP_POLL)?;
    let (clock, metrics) = (Arc::clone(&app.clock), Arc::clone(&workers.metrics));
    let slo = Slo::new(app.store.clone(), clock, metrics, app.slo.clone());
    workers.start(Box::new(slo), Notify::new(), work.slo_poll)
}

// Libraries panic when they cannot start a thread: `docs/decisions/40-thread-reservation.md`.
fn check_threads(config: &Config) -> Result<(), Error> {
    let reconcilers = config.reconciliation.map_or(0, |it| it.concurrency + 1);
    let threads = THREADS_MAX + usize::try_from(reconcilers).unwrap_or(usize::MAX);
    thread::check_supply(threads)
        .map_err(|error| Error::Start("as many threads as it may need", error))
}

/// Returns how often the self-check runs: so that the supervisor's watchdog hears of it in time.
fn self_check_poll() -> Duration {
    sd_notify::watchdog_enabled().map_or(SELF_CHECK_POLL, |every| (every / 3).min(SELF_CHECK_POLL))
}

/// Returns the longest delay anything is ever put off by.
fn longest_delay(config: &Config) -> Duration {
    let next_check = config.reconciliation.map_or(Duration::ZERO, |it| it.rules.next_check);
    config.work.retry.delay_max.max(next_check)
}

fn router(
    app: &Arc<App>,
    operator_hosts: Vec<String>,
    mcp: Mcp,
    relay: Option<Relay>,
) -> Arc<dyn Service> {
    let (gate, endpoint) = mcp.served.unzip();
    // Without one of `/mcp`, the fixture's routes have a gate of their own.
    #[cfg(feature = "fixture")]
    let gate = gate.or_else(|| Some(crate::http::fixture::gate(Arc::clone(&app.clock))));
    let router = Router::new(Arc::clone(app), operator_hosts, gate)
        .with_mcp_status(mcp.status)
        .with_relay(relay);
    let router: Arc<dyn Service> = match endpoint {
        Some(endpoint) => Arc::new(router.with_mcp(endpoint)),
        None => Arc::new(router),
    };
    #[cfg(feature = "fixture")]
    let router = crate::http::fixture::over(router);
    router
}

fn addresses(listeners: &[Listener]) -> Result<Vec<SocketAddr>, Error> {
    listeners
        .iter()
        .map(|listener| {
            listener.socket.local_addr().map_err(|error| Error::Start("the self-check", error))
        })
        .collect()
}

/// Tells the supervisor, if there is one.
fn tell_supervisor(state: &[sd_notify::NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        log::warn!(event = "daemon.notify_failed", error:% = error; "the supervisor could not be told");
    }
}

/// The disk failed: what was written is not known, so nothing may be answered any more.
#[expect(
    clippy::exit,
    reason = "going on would tell peers that something is on disk that may not be"
)]
fn end_process(error: &store::Error) {
    log::error!(event = "store.disk_failed", class = error.class(); "the disk failed; the process ends unanswered and must be started again");
    std::process::exit(EXIT_DISK_FAILED);
}
