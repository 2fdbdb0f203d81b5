//! A thousand paired sessions that do nothing: what each holds, and what their heartbeats cost.

use std::time::Duration;

use super::bare::Echo;
use super::site::{DEVICES, Site};
use crate::support::line;
use crate::svcd::{ran, resident};

/// Sessions that are there before memory is looked at, so that code and caches are there too.
const WARM: usize = 16;
/// Until what a thousand greetings needed for a moment is at rest.
const REST: Duration = Duration::from_secs(12);
/// How long the heartbeats are looked at: six of each session.
const LOOK: Duration = Duration::from_secs(60);

pub(super) fn run(site: &Site, echo: &Echo) {
    // They are paired at a daemon that has gone when memory is looked at.
    drop({
        let running = site.start();
        let pages = running.open(0..DEVICES);
        (pages, running)
    });
    let running = site.start();
    let alone = spent(|| running.svcd.ran());
    let _warm = running.open(0..WARM);
    let before = running.svcd.resident();
    let _pages = running.open(WARM..DEVICES);
    pause(REST);
    let added = |before: f64, after: f64| (after - before) * 1_024.0 / (DEVICES - WARM) as f64;
    let ours = added(before, running.svcd.resident());
    let spent_ours = spent(|| running.svcd.ran());
    let pid = echo.0.pid();
    let _warm: Vec<_> = (0..WARM).map(|_| echo.open()).collect();
    let before = resident(pid);
    let _sockets: Vec<_> = (WARM..DEVICES).map(|_| echo.open()).collect();
    let bare = added(before, resident(pid));
    let spent_bare = spent(|| ran(pid));
    let cells = [format!("{ours:.1} KiB"), format!("{bare:.1} KiB"), format!("{:.1}", ours / bare)];
    let [ours, bare, times] = cells;
    line("memory of each of 1,000 idle sessions", [ours, bare, times, "<= 16 KiB".to_owned()]);
    let percent = |value: f64| format!("{value:.2} %");
    let cells = [percent(spent_ours), percent(spent_bare), "-".to_owned(), "-".to_owned()];
    line("of one core, with their heartbeats", cells);
    let cells = [percent(spent_ours - alone), "-".to_owned(), "-".to_owned(), "<= 1 %".to_owned()];
    line("  more than without sessions", cells);
}

/// Returns how much of one core a process takes, in percent.
fn spent(ran: impl Fn() -> Duration) -> f64 {
    let before = ran();
    pause(LOOK);
    (ran() - before).as_secs_f64() / LOOK.as_secs_f64() * 100.0
}

#[expect(clippy::disallowed_methods, reason = "the processes that are looked at go on meanwhile")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
