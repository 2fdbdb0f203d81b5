//! A socket that the service manager listens at and hands over: nobody meets a closed door while the
//! daemon is restarted.

use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::thread::scope;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;

use super::ask::Door;
use super::commit;
use super::process::{Daemon, delivery};
use super::site::{Site, svcd};

/// Returns a command that hands `listener` over as a service manager does.
fn handing_over(site: &Site, listener: &TcpListener) -> Command {
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
    let site = Site::new();
    let log = Daemon::start(&mut handing_over(&site, &listener), site.socket()).err().unwrap();
    assert!(log.ends_with("exit status: 78"), "{log}");
    assert!(log.contains(&format!("hands over a socket at {address}, which is neither")), "{log}");
}
