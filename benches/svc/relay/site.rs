//! The daemon with its relay, the devices of a thousand people, and an issuer of their tokens.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use svc::runtime::thread;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::plugin::{Device, open};
use crate::http::{ISSUER, free_address, issuer};
use crate::svcd::{Site as Daemons, Svcd};

/// Devices, each of a subject of its own.
pub(super) const DEVICES: usize = 1_000;
const SCOPES: &str = "mcp:read mcp:invoke mcp:pair";

pub(super) struct Site {
    daemons: Daemons,
    public: SocketAddr,
    keys: SocketAddr,
    devices: Mutex<Vec<Arc<Device>>>,
}

/// A running daemon.
pub(super) struct Running<'a> {
    site: &'a Site,
    pub(super) svcd: Svcd,
}

/// Who calls.
pub(super) struct Agent {
    pub(super) host: SocketAddr,
    pub(super) token: String,
}

/// Pages that answer, on a thread of their own. When this is dropped, their sockets close.
pub(super) struct Pages {
    _stop: oneshot::Sender<()>,
}

impl Site {
    pub(super) fn new() -> Self {
        let (keys, token) = issuer();
        let public = free_address();
        let url = format!("http://{public}");
        let device = |number| {
            Arc::new(Device::new(number, token(&url, &format!("person-{number}"), SCOPES)))
        };
        let devices = Mutex::new((0..DEVICES).map(device).collect());
        Self { daemons: Daemons::new(), public, keys, devices }
    }

    /// Starts the daemon. It is the same site each time, with what was paired before.
    pub(super) fn start(&self) -> Running<'_> {
        let (public, keys) = (self.public.to_string(), format!("http://{}/", self.keys));
        let url = format!("http://{public}");
        let svcd = self.daemons.start_with(&[
            ("SVC_PUBLIC_LISTEN", &public),
            ("SVC_PUBLIC_URL", &url),
            ("SVC_TRUSTED_PROXIES", "127.0.0.1/32"),
            ("SVC_MCP", "true"),
            ("MCP_V2_EXPERIMENTAL", "true"),
            ("SVC_MCP_ISSUER", ISSUER),
            ("SVC_MCP_JWKS_URL", &keys),
            ("SVC_MCP_PEER_RATE", "1000000"),
            ("SVC_MCP_SUBJECT_RATE", "1000000"),
            ("SVC_RELAY", "true"),
            ("SVC_RELAY_CONNECTIONS_MAX", "2000"),
            ("SVC_RELAY_PROPOSALS_PER_MINUTE", "6000"),
            ("SVC_RELAY_FRAMES_PER_SECOND", "5000"),
        ]);
        Running { site: self, svcd }
    }
}

impl Running<'_> {
    pub(super) fn address(&self) -> SocketAddr {
        self.site.public
    }

    pub(super) fn agent(&self, number: usize) -> Agent {
        let devices = self.site.devices.lock().unwrap();
        let token = devices.get(number).unwrap().token.clone();
        Agent { host: self.site.public, token }
    }

    /// Opens the pages of some devices, one after the other; returns once all are ready.
    pub(super) fn open(&self, devices: Range<usize>) -> Pages {
        let (stop, stopped) = oneshot::channel::<()>();
        let handle = runtime(stopped);
        let mut all = self.site.devices.lock().unwrap();
        for device in all.get_mut(devices).unwrap() {
            let page = handle.block_on(open(self.site.public, device));
            drop(handle.spawn(page.serve()));
        }
        Pages { _stop: stop }
    }
}

/// Starts a thread that serves sockets until it is stopped.
fn runtime(stopped: oneshot::Receiver<()>) -> Handle {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let handle = runtime.handle().clone();
    thread::spawn("bench-plugins", move || drop(runtime.block_on(stopped))).unwrap();
    handle
}
