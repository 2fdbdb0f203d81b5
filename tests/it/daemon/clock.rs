//! A wall clock that jumps an hour, under the real `svcd`: by `faketime`, and only the wall clock, as
//! when a machine corrects it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use svc::runtime::notify::Notify;
use svc::simulator::{Call, Fault};

use super::load::{Load, Numbers, Told, check_but_for, come_to_rest, plan};
use super::process::Daemon;
use super::site::Site;
use super::{INSTALLATION, database, letters, say, wait_for};

const JUMPS: usize = 12;
const SEED: u64 = 0x5EED_000C;
const LEASED: &str = "SELECT count(*) FROM outbox WHERE status = 'leased' AND lease_owner = ?1";

/// Preloads a clock that a file moves into every `svcd` of a site; nothing where there is none.
fn arm(site: &mut Site) -> Option<()> {
    let Some(library) = library() else {
        say("skipped: this machine has no faketime");
        return None;
    };
    let offset = site.path("offset");
    site.set("LD_PRELOAD", library.to_str().unwrap());
    site.set("FAKETIME_TIMESTAMP_FILE", offset.to_str().unwrap());
    site.set("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    site.set("FAKETIME_NO_CACHE", "1");
    set_clock(site, 0);
    Some(())
}

fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let paths = folders.map(|folder| folder.unwrap().path().join("faketime/libfaketimeMT.so.1"));
    paths.into_iter().find(|path| path.exists())
}

/// Lets the wall clock of the site be so many seconds ahead of the machine's.
fn set_clock(site: &Site, seconds: i64) {
    let path = site.path("offset.new");
    std::fs::write(&path, format!("{seconds:+}\n")).unwrap();
    // Never half a number.
    std::fs::rename(path, site.path("offset")).unwrap();
}

#[test]
fn an_hour_forward_and_back_while_work_is_under_way() {
    let mut site = Site::new();
    let Some(()) = arm(&mut site) else { return };
    let mut other = Site::new();
    arm(&mut other).unwrap();
    for (name, value) in [
        ("SVC_DATABASE", site.database().to_str().unwrap()),
        ("SVC_FORGE_API_URL", &site.forge.base_url()),
        ("FAKETIME_TIMESTAMP_FILE", site.path("offset").to_str().unwrap()),
    ] {
        other.set(name, value);
    }
    let told = Arc::new(Told::default());
    let mut numbers = Numbers::new(SEED);
    let mut daemons = [site.start(), other.start()];
    let load = Load::start(&daemons[0], &site, &told);
    for jump in 0..JUMPS {
        plan(&site, &mut numbers);
        // Some calls are under way while the clock jumps over their lease.
        site.forge.plan(Call::Dispatch, Fault::Slow(Duration::from_millis(300)));
        site.forge.plan(Call::CheckRunCreate, Fault::Slow(Duration::from_millis(300)));
        assert!(Notify::new().pause(Duration::from_millis(30 + numbers.below(100))));
        // An hour late it is refused by the forge; the last jump is onto the right time.
        set_clock(&site, if jump % 2 == 0 { -3_600 } else { 0 });
    }
    load.stop();
    come_to_rest(&site);
    for daemon in &mut daemons {
        assert!(daemon.is_running(), "{}", daemon.log());
        assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
    }
    daemons.iter_mut().for_each(Daemon::kill);
    // Who looks for a check run that another is making finds none: documented, and harmless.
    check_but_for(&site, &told, true, &[Call::CheckRunCreate]);
    let taken_over = daemons.iter().map(|daemon| daemon.log().matches("_lost").count());
    say(&format!(
        "{JUMPS} jumps of an hour: {} deliveries, {} dispatches, {} leases lost",
        told.acknowledged(),
        site.forge.workflow_runs().len(),
        taken_over.sum::<usize>()
    ));
    assert!(told.acknowledged() > JUMPS, "{} deliveries are no load", told.acknowledged());
    assert!(!site.forge.workflow_runs().is_empty());
}

#[test]
fn a_lease_that_was_left_is_taken_over_when_it_is_due_and_not_before() {
    let mut site = Site::new();
    let Some(()) = arm(&mut site) else { return };
    let held = site.forge.hold(Call::Dispatch);
    let mut daemon = site.start();
    letters::push(&daemon, &site.webhooks, 1);
    wait_for("a dispatch under way", || (site.forge.requests(Call::Dispatch) == 1).then_some(()));
    daemon.kill();
    let database = database::open(&site.database());
    let query = "SELECT lease_owner FROM outbox WHERE status = 'leased'";
    let dead: String = database.query_row(query, [], |row| row.get(0)).unwrap();
    let leased = || database::number(&database, LEASED, &[&dead]);
    let ran = |number: usize| {
        let tag = format!("v{number}");
        site.forge.workflow_runs().iter().filter(|run| run.git_ref == tag).count()
    };
    drop(held);
    wait_for("the effect of the dead", || (ran(1) == 1).then_some(()));

    // Some minutes early: others are served, and no worker touches what another may be doing.
    set_clock(&site, -120);
    let mut daemon = site.start();
    letters::push(&daemon, &site.webhooks, 2);
    wait_for("the second dispatch", || (ran(2) == 1).then_some(()));
    assert_eq!(leased(), 1);
    daemon.kill();

    // An hour late: it is taken over, and not sent again.
    set_clock(&site, 3_600);
    let daemon = site.start();
    let letter = wait_for("a dead letter", || {
        let letters = letters::letters(&daemon, INSTALLATION);
        letters.into_iter().find(|letter| letter.reason_code == "forge_dispatch_uncertain")
    });
    assert!(!letter.replay_safe);
    assert_eq!(leased(), 0);

    set_clock(&site, 0);
    letters::push(&daemon, &site.webhooks, 3);
    wait_for("the third dispatch", || (ran(3) == 1).then_some(()));
    assert_eq!((ran(1), site.forge.requests(Call::Dispatch)), (1, 3));
}
