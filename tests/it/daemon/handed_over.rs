//! A socket that the service manager listens at and hands over: no connection is refused while the
//! daemon is restarted.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::process::Command;
use std::thread::scope;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::Signal;

use super::ask::Endpoint;
use super::commit;
use super::process::{Daemon, delivery};
use super::site::{Site, svcd};

/// Returns a command that hands `socket` over as a service manager does: as descriptor 3. The shell gets it
/// as its standard input, because the redirections of some shells know descriptors of one digit only.
pub(super) fn handing_over(site: &Site, socket: impl AsFd) -> Command {
    let mut command = site.command("/bin/sh");
    let script =
        format!("exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec {}", svcd());
    command.args(["-c", &script]).stdin(socket.as_fd().try_clone_to_owned().unwrap());
    command
}

#[test]
fn the_number_of_the_descriptor_does_not_matter() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut site = Site::new();
    site.set("SVC_PUBLIC_LISTEN", &listener.local_addr().unwrap().to_string());
    let socket: OwnedFd = fcntl_dupfd_cloexec(&listener, 10).unwrap();
    assert!(socket.as_raw_fd() >= 10);
    let daemon = Daemon::start(&mut handing_over(&site, &socket), site.socket()).unwrap();
    assert!(daemon.log().contains("\"handed_over\":true"), "{}", daemon.log());
}

#[test]
fn a_webhook_that_comes_while_the_daemon_is_restarted_waits_for_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut site = Site::new();
    site.set("SVC_PUBLIC_LISTEN", &address.to_string());
    let start = || Daemon::start(&mut handing_over(&site, &listener), site.socket()).unwrap();
    let endpoint = Endpoint::Tcp(address);
    let [early, late] = [1, 2].map(|n| {
        delivery(&format!("delivery-{n}"), &site.webhooks.push_tag(&format!("v{n}"), &commit(n)))
    });
    let mut daemon = start();
    assert_eq!(endpoint.ask(&early).status, 202);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    scope(|scope| {
        let answer = scope.spawn(|| endpoint.ask(&late));
        daemon = start();
        assert_eq!(answer.join().unwrap().status, 202);
    });
    assert!(daemon.log().contains("\"handed_over\":true"), "{}", daemon.log());
}

#[test]
fn a_socket_that_no_setting_names_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut site = Site::new();
    let everywhere = format!("0.0.0.0:{}", address.port());
    for public in ["127.0.0.1:0", &everywhere] {
        site.set("SVC_PUBLIC_LISTEN", public);
        let log = Daemon::start(&mut handing_over(&site, &listener), site.socket()).err().unwrap();
        assert!(log.ends_with("exit status: 78"), "{log}");
        let told = format!("passed a socket at {address}, which is neither");
        assert!(log.contains(&told), "{log}");
    }
}

#[test]
fn a_socket_of_another_kind_is_told() {
    let site = Site::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let log = Daemon::start(&mut handing_over(&site, &socket), site.socket()).err().unwrap();
    assert!(log.ends_with("exit status: 78"), "{log}");
    assert!(log.contains("cannot use a socket that the service manager passed: "), "{log}");
}
