//! The relay, put together: its hub, its sockets, and the worker that maintains both.

use std::sync::Arc;
use std::time::Duration;

use super::Error;
use super::mcp::with_port;
use super::workers::Workers;
use crate::app::relay;
use crate::config::{PublicUrl, RelayConfig};
use crate::http;
use crate::http::relay::plugin::PluginPages;
use crate::http::relay::socket::RelayEndpoint;
use crate::metrics::Metrics;
use crate::runtime::clock::Clock;
use crate::runtime::notify::Notify;
use crate::runtime::random::{Ids, SystemEntropy};
use crate::store::Store;
use crate::workers::driver::{self, Worker};

/// Time between two checks of what is due.
const TICK: Duration = Duration::from_secs(1);

/// Opens the relay, where it is on.
pub(super) fn open(
    config: Option<&RelayConfig>,
    store: &Store,
    clock: &Arc<dyn Clock>,
    metrics: &Arc<Metrics>,
) -> Result<Option<Arc<relay::Relay>>, Error> {
    let Some(config) = config else { return Ok(None) };
    let settings = relay::Settings {
        connections_max: config.connections_max,
        approval: config.approval,
        grant: config.grant,
        call_wait: config.wait,
        session_kept: config.session_kept,
        result_bytes_max: config.result_bytes_max,
        proposals_per_minute: config.proposals_per_minute,
        frames_per_second: config.frames_per_second,
    };
    let ids = Ids::new(Box::new(SystemEntropy::new()));
    let (clock, metrics) = (Arc::clone(clock), Arc::clone(metrics));
    let relay = relay::Relay::open(store.clone(), settings, clock, ids, metrics);
    relay.map(|relay| Some(Arc::new(relay))).map_err(Error::Relay)
}

/// Returns what the public address serves for it. `port` is that of the address.
pub(super) fn serve(
    relay: Option<&Arc<relay::Relay>>,
    config: Option<RelayConfig>,
    public_url: Option<PublicUrl>,
    port: u16,
) -> Option<http::relay::RelayRoutes> {
    let (relay, config) = relay.zip(config)?;
    let origins = config.origins.iter().map(|origin| with_port(origin, port)).collect();
    let sockets = RelayEndpoint::new(Arc::clone(relay), origins);
    let plugin = PluginPages::new(public_url, config.tool_origins);
    Some(http::relay::RelayRoutes { sockets, plugin })
}

/// Pings, ends of times, and what other processes have done.
struct Tick(Arc<relay::Relay>);

impl Worker for Tick {
    fn name(&self) -> &'static str {
        "relay"
    }

    fn step(&mut self) -> driver::Next {
        self.0.tick();
        driver::Next::Wait
    }
}

/// Starts the worker that maintains the relay, if it is on.
pub(super) fn start_tick(
    workers: &mut Workers,
    relay: Option<&Arc<relay::Relay>>,
) -> Result<(), Error> {
    let Some(relay) = relay else { return Ok(()) };
    workers.start(Box::new(Tick(Arc::clone(relay))), Notify::new(), TICK)
}
