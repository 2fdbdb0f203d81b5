//! The daemon: build everything, start it, wait for a signal, stop in order.
//!
//! Starting goes from the disk outwards: store, forge, sockets, workers; only then is the supervisor
//! told that we are ready. Stopping goes the other way, within a bound: readiness fails first, then
//! nothing is accepted any more, then workers finish what they hold, then the store is folded up.
//! What is not finished by then is left to its leases: a stop at any instant loses nothing.

pub mod allocator;
pub mod arguments;
pub mod check_config;
pub mod check_forge;
mod descriptors;
mod disk;
mod forge;
pub mod mcp;
mod relay;
mod self_check;
mod signals;
pub mod sockets;
mod starting;
mod stop;
mod workers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::app::relay::OpenRelayError;
use crate::app::{self, App, CARD_CHECKS_MAX, Reload, WorkerNotify};
use crate::auth::operator::Operators;
use crate::config::{
    Config, ForgeConfig, ReconciliationConfig, SettingProblem, Source, WorkConfig,
};
use crate::daemon::forge::{client, intake, results};
use crate::daemon::mcp::Mcp;
use crate::daemon::self_check::SelfCheck;
use crate::daemon::signals::Signals;
use crate::daemon::sockets::{HandedOver, Listening};
use crate::daemon::workers::{WorkerThread, Workers};
use crate::forge::Forge;
use crate::forge::client::ForgeClient;
use crate::forge::settings::ClientError;
use crate::http::mcp::McpEndpoint;
use crate::http::message::Service;
use crate::http::relay::RelayRoutes;
use crate::http::routes::Router;
use crate::http::server::control::{self, ControlServer};
use crate::http::server::limits::{ControlLimits, TcpLimits};
use crate::http::server::tcp::{self, Listener, TcpServer};
use crate::metrics::Metrics;
use crate::runtime::clock::{Clock, SystemClock};
use crate::runtime::notify::Notify;
use crate::runtime::semaphore::Semaphore;
use crate::runtime::thread;
use crate::runtime::watch::Watch;
use crate::store;
use crate::workers::slo::SloWorker;
use crate::workers::sweep::Sweep;

/// How often retention looks.
const SWEEP_POLL: Duration = Duration::from_secs(60);
/// How often the self-check runs, unless the supervisor's watchdog wants it more often.
const SELF_CHECK_POLL: Duration = Duration::from_secs(5);
/// Most threads at once beside the reconcilers: those at rest, with both TCP addresses open, the most
/// senders, and one for each connection of operators.
const THREADS_MAX: usize = 105;
/// Exit status for a configuration that is wrong, or a database that must not be used: starting again
/// ends the same way. As sysexits(3) has it.
pub const EXIT_CONFIG: u8 = 78;

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store cannot be opened.
    #[error("cannot open the store")]
    Store(#[source] store::OpenError),
    /// The forge's settings do not work together.
    #[error("the forge settings cannot be used")]
    Forge(#[source] ClientError),
    /// An address cannot be listened on.
    #[error("cannot listen on {0}")]
    Listen(SocketAddr, #[source] io::Error),
    /// A socket was handed over that no setting names.
    #[error(
        "the service manager passed a socket at {0}, which is neither SVC_PUBLIC_LISTEN nor \
         SVC_OPERATOR_LISTEN; correct its unit or the settings"
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
    /// Returns the exit status: 78 if starting again without a person would end the same way.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Store(error) if error.needs_a_person() => EXIT_CONFIG,
            Self::Forge(_) | Self::StrangeSocket(_) | Self::HandedOver(_) => EXIT_CONFIG,
            _ if disk::refuses(self) => disk::EXIT_DISK_FAILED,
            _ => 1,
        }
    }
}

/// Runs the daemon until a signal asks it to stop.
///
/// # Errors
/// When it cannot start. What was started by then is stopped.
pub fn run(config: Config, handed_over: Vec<HandedOver>) -> Result<(), Error> {
    // Everything the daemon makes is for its own user, unless a mode is set on purpose.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Error::Start("the signal handlers", error))?;
    // Before anything is started: a signal that arrives during the start ends it.
    let mut signals = {
        let _entered = runtime.enter();
        Signals::install().map_err(|error| Error::Start("the signal handlers", error))?
    };
    disk::end_on_bus_error().map_err(|error| Error::Start("the signal handlers", error))?;
    let stop_within = config.stop_within;
    let start = || Running::start(config, handed_over);
    let (running, signal) = starting::start(&runtime, &mut signals, start)?;
    if let Some(running) = running {
        if signal.is_none() {
            tell_supervisor(&[sd_notify::NotifyState::Ready]);
            log::info!(event = "daemon.ready", version = env!("CARGO_PKG_VERSION"); "svcd has started");
            let reason = runtime.block_on(signals.until_stop(&running.app));
            log::info!(event = "daemon.stopping", signal = reason; "svcd is stopping");
        }
        running.stop(stop_within);
    }
    log::info!(event = "daemon.stopped"; "svcd has stopped");
    Ok(())
}

/// Everything that runs.
struct Running {
    app: Arc<App>,
    tcp: TcpServer,
    control: ControlServer,
    mcp: Option<Arc<McpEndpoint>>,
    workers: Vec<WorkerThread>,
    /// The name in the leases of its workers.
    owner: String,
    /// Whether the service manager goes on listening after the end.
    has_handed_over: bool,
    clock: Arc<dyn Clock>,
}

impl Running {
    fn start(config: Config, handed_over: Vec<HandedOver>) -> Result<Self, Error> {
        check_threads(&config)?;
        let has_handed_over = !handed_over.is_empty();
        let delay_max = longest_delay(&config);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let metrics = Arc::new(Metrics::default());
        let worker_notify = WorkerNotify::default();
        let store = disk::open_store(config.database, &clock)?;
        let outbox = &worker_notify.outbox;
        let forge = config.forge.as_ref().map(|forge| client(forge, &clock, &metrics, outbox));
        let forge = forge.transpose()?;
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
            reconciliation: config.reconciliation.map(|reconciliation| reconciliation.rules),
            forge: forge.clone(),
            started_at: clock.now(),
            relay: relay.clone(),
            reload: Reload::new(Box::new(read_settings), forge.clone(), config.secrets),
            worker_notify: worker_notify.clone(),
            metrics: Arc::clone(&metrics),
            card_checks: Semaphore::new(CARD_CHECKS_MAX),
            refused: app::Refused::default(),
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
        let mut workers = Workers { metrics, owner: workers::owner(), threads: Vec::new() };
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
        let Workers { owner, threads: workers, .. } = workers;
        Ok(Self { app, tcp, control, mcp: endpoint, workers, owner, has_handed_over, clock })
    }
}

fn read_settings() -> Result<Config, Vec<SettingProblem>> {
    Config::load(Source::process())
}

/// Starts what speaks to the forge.
fn start_forge(
    workers: &mut Workers,
    client: Arc<ForgeClient>,
    app: &App,
    settings: Option<&ForgeConfig>,
    reconciliation: Option<&ReconciliationConfig>,
    work: &WorkConfig,
) -> Result<(), Error> {
    let Some(settings) = settings else { return Ok(()) };
    let (store, worker_notify, clock) = (&app.store, &app.worker_notify, &app.clock);
    if settings.webhook_redelivery {
        workers.start_redelivery(store, Arc::<ForgeClient>::clone(&client), clock)?;
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
    let sweep = Sweep {
        store,
        retention: work.retention,
        release_retention: work.release_retention,
        releases_swept: None,
        delay_max,
        metrics,
    };
    workers.start(Box::new(sweep), Notify::new(), SWEEP_POLL)?;
    let (clock, metrics) = (Arc::clone(&app.clock), Arc::clone(&workers.metrics));
    let slo = SloWorker::new(app.store.clone(), clock, metrics, app.slo.clone());
    workers.start(Box::new(slo), Notify::new(), work.slo_poll)
}

// Libraries panic when they cannot start a thread: `docs/decisions/40-thread-reservation.md`.
fn check_threads(config: &Config) -> Result<(), Error> {
    let reconcilers = config.reconciliation.map_or(0, |it| it.concurrency + 1);
    // The thread of the start is one of them, because it has ended when all others run.
    let threads = THREADS_MAX - 1 + usize::try_from(reconcilers).unwrap_or(usize::MAX);
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
    relay: Option<RelayRoutes>,
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
        log::warn!(event = "daemon.notify_failed", error:% = error; "the service manager could not be notified");
    }
}
