//! What the daemon costs while nothing happens, and how soon it is ready.

use std::process::Command;
use std::time::Duration;

use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::notify::Notify;

use crate::support::{heading, line, median};
use crate::svcd::Site;

const STARTS: usize = 11;
const LOOK: Duration = Duration::from_secs(10);

pub(crate) fn run() {
    heading(
        "idle: the release binary, its settings as shipped",
        ["svcd", "raw limit", "ratio", "aim"],
    );
    let site = Site::new();
    let (mut starts, mut limits) = (Vec::new(), Vec::new());
    let first = site.start();
    let fresh = first.start;
    drop(first);
    for _ in 0..STARTS {
        limits.push(version().as_secs_f64() * 1e3);
        starts.push(site.start().start.as_secs_f64() * 1e3);
    }
    let (start, limit) = (median(starts), median(limits));
    let nothing = String::from("-");
    let fresh = format!("{:.0} ms", fresh.as_secs_f64() * 1e3);
    line("first start to ready, making the file", [&fresh, &nothing, &nothing, "< 100 ms"]);
    let cells =
        [format!("{start:.0} ms"), format!("{limit:.0} ms"), format!("{:.1}", start / limit)];
    let [value, limit, ratio] = cells;
    line("start to ready; limit: svcd --version", [&value, &limit, &ratio, "< 100 ms"]);
    let svcd = site.start();
    // These waits are never stopped.
    assert!(Notify::new().pause(Duration::from_secs(1)));
    let before = svcd.ran();
    assert!(Notify::new().pause(LOOK));
    let share = (svcd.ran() - before).as_secs_f64() / LOOK.as_secs_f64() * 100.0;
    let resident = format!("{:.1} MiB", svcd.resident());
    line("resident memory", [&resident, &nothing, &nothing, "< 15 MiB"]);
    let share = format!("{share:.2} %");
    line("of one core, over 10 s", [&share, &nothing, &nothing, "< 0.5 %"]);
}

/// How long the same binary takes to say its version and end.
fn version() -> Duration {
    let clock = SystemClock::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_svcd"));
    assert!(command.env_clear().arg("--version").output().unwrap().status.success());
    clock.monotonic()
}
