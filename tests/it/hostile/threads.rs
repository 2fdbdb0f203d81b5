//! A daemon that the system gives no more threads: from the start, or later. It says so and ends, or
//! serves with those it has; what needs a thread of its own is turned away until there are some again.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::process::{Child, Command};

use rustix::process::Signal;

use super::probes::{Held, Probes};
use crate::daemon::ask::Ask;
use crate::daemon::process::Daemon;
use crate::daemon::site::{Site, svcd};
use crate::daemon::{commit, say, wait_for};

/// A user that no other process has. The superuser has as many threads as it likes; these are counted together.
const USER: u32 = 64_321;
/// Threads that a start asks for, and the two it is: one writes the log.
const ENOUGH: usize = 110;

/// Returns a command that runs `svcd` as a user of at most so many threads; nothing, with a word about
/// it, where this process cannot become another user.
fn limited(site: &Site, threads: usize) -> Option<Command> {
    let program = site.path("svcd");
    if !program.exists() {
        fs::copy(svcd(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }
    let entries = fs::read_dir(site.path("")).unwrap().map(|entry| entry.unwrap().path());
    for path in entries.chain([site.path("")]) {
        if chown(&path, Some(USER), Some(USER)).is_err() {
            say("skipped: only the superuser can become another user");
            return None;
        }
    }
    let mut command = site.command("/usr/bin/prlimit");
    command.arg(format!("--nproc={threads}")).arg("/usr/bin/setpriv").args([
        &format!("--reuid={USER}"),
        &format!("--regid={USER}"),
        "--clear-groups",
        program.to_str().unwrap(),
    ]);
    Some(command)
}

/// Returns what takes a thread from the user, each.
fn take_threads(count: usize) -> Vec<Child> {
    let [user, group] = [format!("--reuid={USER}"), format!("--regid={USER}")];
    let mut sleeper = Command::new("/usr/bin/setpriv");
    sleeper.args([&user, &group, "--clear-groups", "sleep", "60"]);
    (0..count).map(|_| sleeper.spawn().unwrap()).collect()
}

/// The tests count the threads of one user, so they are one.
#[test]
fn without_threads_it_does_not_start_or_goes_on_with_those_it_has() {
    let mut site = Site::new();
    site.set("SVC_LOG_LEVEL", "info");
    for threads in [1, 2, 3, 4, 5, 8, 13, 21, 34, 55, 103] {
        let Some(mut command) = limited(&site, threads) else { return };
        let log = Daemon::start(&mut command, site.socket()).err().unwrap();
        assert!(log.ends_with("exit status: 1"), "{threads}: {log}");
        assert!(log.contains("svcd: cannot start as many threads as it may need: "), "{log}");
        assert!(!log.contains("panicked"), "{threads}: {log}");
    }
    let mut daemon = Daemon::start(&mut limited(&site, ENOUGH).unwrap(), site.socket()).unwrap();
    let (before, mut probes) = (Held::of(&daemon), Probes::new());

    let takers = take_threads(ENOUGH);
    let took = || {
        let count =
            |taker: &Child| fs::read_to_string(format!("/proc/{}/comm", taker.id())).unwrap();
        takers.iter().all(|taker| count(taker) == "sleep\n").then_some(())
    };
    wait_for("every thread to be taken", took);
    let operator = daemon.operator.clone().unwrap();
    for number in 0..10 {
        let push = site.webhooks.push_tag(&format!("v{number}"), &commit(number));
        assert_eq!(daemon.deliver(&format!("push-{number}"), &push).status, 202);
        probes.ask(&operator, "a lack of threads");
        probes.ask(&daemon.public, "a lack of threads");
        // It needs a thread for each connection: it may say nothing, and must not fall for good.
        drop(daemon.control.try_ask(&Ask::get("/health/live")));
    }
    assert!(daemon.is_running(), "{}", daemon.log());
    let during = Held::of(&daemon);
    for mut taker in takers {
        taker.kill().unwrap();
        taker.wait().unwrap();
    }
    wait_for("the control socket", || {
        let answer = daemon.control.try_ask(&Ask::get("/health/live")).ok()?;
        (answer.status == 200).then_some(())
    });
    // What was under way is left to its lease; what comes now is worked on.
    let push = site.webhooks.push_tag("v77", &commit(77));
    assert_eq!(daemon.deliver("push-77", &push).status, 202);
    wait_for("the dispatch", || {
        site.forge.workflow_runs().into_iter().find(|run| run.git_ref == "v77")
    });
    println!("without threads: {}; {before:?} to {during:?}", probes.verdict());
    assert!(during.threads <= ENOUGH, "{during:?}");
    assert_eq!(daemon.end(Signal::TERM).code(), Some(0), "{}", daemon.log());
}
