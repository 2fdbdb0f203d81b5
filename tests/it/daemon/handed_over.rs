//! A socket that the service manager listens at and hands over: nobody meets a closed door while the
//! daemon is restarted.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::thread::scope;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;

use super::ask::Door;
use super::commit;
use super::process::{Daemon, delivery};
use super::site::{Site, svcd};

/// Returns a command that hands `listener` over as a service manager does.
fn handing_over(site: &Site, listener: &(impl AsFd + AsRawFd)) -> Command {
    fcntl_setfd(listener, FdFlags::empty()).unwrap();
    let mut command = site.command("/bin/sh");
    let number = listener.as_raw_fd();
    let script = format!("exec 3<&{number}; export LISTEN_FDS=1 LISTEN_PID=$$; exec {}", svcd());
    command.args(["-c", &script]);
    command
}

#[test]
fn a_webhook_that_comes_while_the_daemon_is_restarted_waits_for_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut site = Site::new();
    site.set("SVC_PUBLIC_LISTEN", &address.to_string());
    let start = || Daemon::start(&mut handing_over(&site, &listener), site.socket()).unwrap();
    let door = Door::Tcp(address);
    let [early, late] = [1, 2].map(|n| {
        delivery(&format!("delivery-{n}"), &site.webhooks.push_tag(&format!("v{n}"), &commit(n)))
    });
    let mut daemon = start();
    assert_eq!(door.ask(&early).status, 202);
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0));
    scope(|scope| {
        let answer = scope.spawn(|| door.ask(&late));
        daemon = start();
        assert_eq!(answer.join().unwrap().status, 202);
    });
    assert!(daemon.log().contains("\"handed_over\":\"true\""), "{}", daemon.log());
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
        let told = format!("hands over a socket at {address}, which is neither");
        assert!(log.contains(&told), "{log}");
    }
}

#[test]
fn a_socket_of_another_kind_is_told() {
    let site = Site::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let log = Daemon::start(&mut handing_over(&site, &socket), site.socket()).err().unwrap();
    assert!(log.ends_with("exit status: 78"), "{log}");
    assert!(log.contains("cannot use a socket that the service manager hands over: "), "{log}");
}
