//! A forge that refuses connections and comes back: what waits costs nothing, no try, and leaves at once.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use svc::runtime::thread;
use svc::simulator::Call;

use super::letters::push;
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, letters, wait_for};

const RELEASES: usize = 30;

/// An address that refuses connections until it is opened; from then on the simulated forge answers there.
struct ShutPort {
    socket: OwnedFd,
    address: SocketAddr,
}

impl ShutPort {
    fn shut() -> Self {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let address = getsockname(&socket).unwrap().try_into().unwrap();
        Self { socket, address }
    }

    fn url(&self, forge: &str) -> String {
        let (_, path) = forge.strip_prefix("http://").unwrap().split_once('/').unwrap();
        format!("http://{}/{path}", self.address)
    }

    fn open(self, forge: &str) {
        listen(&self.socket, 16).unwrap();
        let (to, _) = forge.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let to: SocketAddr = to.parse().unwrap();
        let listener = TcpListener::from(self.socket);
        thread::spawn("port", move || {
            for from in listener.incoming().map_while(Result::ok) {
                // A forge that has ended is the end of the test.
                let Ok(forge) = TcpStream::connect(to) else { return };
                let (answers, back) = (forge.try_clone().unwrap(), from.try_clone().unwrap());
                thread::spawn("port-in", move || pass(from, forge)).unwrap();
                thread::spawn("port-out", move || pass(answers, back)).unwrap();
            }
        })
        .unwrap();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 4_096];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}

/// How often the daemon tried in vain.
fn failures(daemon: &Daemon) -> u64 {
    daemon.metric(r#"svc_forge_failures_total{cause="refused"}"#)
}

#[test]
fn effects_wait_for_a_forge_that_refuses_connections_and_leave_once_it_is_back() {
    let mut site = Site::new();
    let port = ShutPort::shut();
    site.set("SVC_FORGE_API_URL", &port.url(&site.forge.base_url()));
    site.set("SVC_OUTBOX_CONCURRENCY", "4");
    site.set("SVC_RETRY_ATTEMPTS", "3");
    let daemon = site.start();
    (0..RELEASES).for_each(|number| push(&daemon, &site.webhooks, number));
    // One of the pauses is behind it, and the next one was made longer: by one probe, not by each message.
    wait_for("a second pause", || paused(&daemon, 2));
    assert_eq!(daemon.metric("svc_forge_paused"), 1);
    wait_for("what a release waits for", || {
        let url = format!("unix:{}", site.socket().display());
        let shown = site.svcctl(&url, &["releases", "show", "v29"]).stdout;
        shown.contains("the check run is created once the forge can be reached again").then_some(())
    });
    let tried = failures(&daemon);
    assert!(tried < 10, "{tried} calls of {RELEASES} effects that are due");
    port.open(&site.forge.base_url());
    wait_for("every release to be dispatched", || {
        (site.forge.requests(Call::Dispatch) == RELEASES).then_some(())
    });
    wait_for("every effect", || (site.forge.ledger().len() == 3 * RELEASES).then_some(()));
    assert_eq!(daemon.metric("svc_forge_paused"), 0);
    assert!(failures(&daemon) < 20, "{}", failures(&daemon));
    assert_eq!(letters::letters(&daemon, INSTALLATION).len(), 0, "the pause cost no try");
    wait_for("the line", || daemon.log().contains(r#""event":"forge.resumed""#).then_some(()));
}

#[test]
fn a_pause_lasts_while_the_only_effect_waits_for_its_next_try() {
    let mut site = Site::new();
    let port = ShutPort::shut();
    site.set("SVC_FORGE_API_URL", &port.url(&site.forge.base_url()));
    // Longer than the first pause, after which nothing is due.
    site.set("SVC_RETRY_BASE_MS", "3000");
    site.set("SVC_RETRY_MAX_MS", "3000");
    let daemon = site.start();
    push(&daemon, &site.webhooks, 1);
    wait_for("a second pause", || paused(&daemon, 2));
    assert_eq!(daemon.metric("svc_forge_paused"), 1);
    assert!(!daemon.log().contains("forge.resumed"), "there was no connection");
    port.open(&site.forge.base_url());
    wait_for("every effect", || (site.forge.ledger().len() == 3).then_some(()));
    wait_for("the line", || daemon.log().contains("the forge can be reached again").then_some(()));
}

fn paused(daemon: &Daemon, failures: u32) -> Option<()> {
    let told = |line: &str| {
        line.contains(r#""event":"forge.paused""#)
            && line.contains(&format!(r#""failures":{failures}"#))
    };
    daemon.log().lines().any(told).then_some(())
}
