//! Killed just before and just after every sync of a scripted run, and gone on with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use svc::thread;

use super::script::{Script, age, examine};
use super::{arm, disarm, log, say};
use crate::daemon::site::Site;

/// Runs at once: each waits more than it works.
const AT_ONCE: usize = 4;

/// Returns how many syncs a whole run needs.
fn syncs() -> usize {
    let mut site = Site::new();
    arm(&mut site);
    let path = site.path("power.log");
    site.set("POWER_LOG", path.to_str().unwrap());
    let mut daemon = site.start();
    let mut script = Script::new(&site, 1);
    assert!(script.go_on(&site, &mut daemon));
    daemon.kill();
    assert_eq!(script.judge(&site), Ok(()));
    assert_eq!((script.told.replays.len(), site.forge.workflow_runs().len()), (1, 1));
    let counted = |file| matches!(file, log::File::Database | log::File::Wal | log::File::Journal);
    let records = log::read(&path);
    records.iter().filter(|one| one.deed == log::Deed::Sync && counted(one.file)).count()
}

/// Kills at one sync and goes on. Returns whether the run came so far.
fn kill_at(deed: &str, number: usize) -> Result<bool, String> {
    let mut site = Site::new();
    let mut script = Script::new(&site, 1);
    arm(&mut site);
    site.set("POWER_FAULT", &format!("{deed} sync {number} 1"));
    // It may die before it is ready.
    let came_through = match site.try_start() {
        Ok(mut daemon) => script.go_on(&site, &mut daemon),
        Err(_) => false,
    };
    let owners = examine(&site, &script.told)?;
    disarm(&mut site);
    let mut daemon = site.try_start()?;
    age(&site, &owners);
    assert!(script.go_on(&site, &mut daemon));
    daemon.kill();
    script.judge(&site)?;
    Ok(!came_through)
}

#[test]
fn killed_at_every_sync_it_goes_on() {
    let last = syncs();
    let points: Vec<(&str, usize)> =
        (1..=last).flat_map(|number| [("kill-before", number), ("kill-after", number)]).collect();
    let (points, next) = (Arc::new(points), Arc::new(AtomicUsize::new(0)));
    let killed = Arc::new(AtomicUsize::new(0));
    let hands: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (points, next) = (Arc::clone(&points), Arc::clone(&next));
            let killed = Arc::clone(&killed);
            let work = move || {
                while let Some((deed, number)) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match kill_at(deed, *number) {
                        Ok(died) => killed.fetch_add(usize::from(died), Ordering::Relaxed),
                        Err(wrong) => panic!("{deed} sync {number}: {wrong}"),
                    };
                }
            };
            thread::spawn("test-kill", work).unwrap()
        })
        .collect();
    hands.into_iter().for_each(|hand| hand.join().unwrap());
    let killed = killed.load(Ordering::Relaxed);
    say(&format!("{last} syncs, {} kill points, {killed} of them reached", points.len()));
    // How many group commits a run needs differs a little with who comes first.
    assert!(killed * 10 > points.len() * 8, "{killed} of {} reached", points.len());
}
