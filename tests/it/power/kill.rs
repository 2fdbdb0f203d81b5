//! Killed just before and just after every sync of a scripted run, and between its writes, and gone
//! on with.

use std::collections::BTreeMap;

use super::log::{Deed, File};
use super::script::{Script, age, examine};
use super::{arm, disarm, for_each, log, say};
use crate::daemon::site::Site;
use crate::support::campaign::number_or;

/// Of the writes every so many-th; a campaign takes each: `SVC_POWER_STRIDE=1`.
const STRIDE: usize = 16;

struct Point {
    deed: &'static str,
    call: &'static str,
    number: usize,
}

/// Returns how many syncs and writes a whole run needs.
pub(super) fn count() -> (usize, usize) {
    let mut site = Site::new();
    arm(&mut site);
    let path = site.path("power.log");
    site.set("POWER_LOG", path.to_str().unwrap());
    let mut daemon = site.start();
    let mut script = Script::new(&site, 1);
    assert!(script.go_on(&site, &mut daemon));
    daemon.kill();
    assert_eq!(script.evaluate(&site), Ok(()));
    assert_eq!((script.told.replays.len(), site.forge.workflow_runs().len()), (1, 1));
    let mut records = log::read(&path);
    records.retain(|record| matches!(record.file, File::Database | File::Wal | File::Journal));
    let syncs = records.iter().filter(|record| record.deed == Deed::Sync).count();
    let writes = records.iter().filter(|record| matches!(record.deed, Deed::Write { .. })).count();
    (syncs, writes)
}

/// Kills at one point and goes on. Returns whether the run came so far.
fn kill_at(point: &Point) -> Result<bool, String> {
    let mut site = Site::new();
    let mut script = Script::new(&site, 1);
    arm(&mut site);
    site.set("POWER_FAULT", &format!("{} {} {} 1", point.deed, point.call, point.number));
    // It may die before it is ready.
    let came_through = match site.try_start() {
        Ok(mut daemon) => script.go_on(&site, &mut daemon),
        Err(_) => false,
    };
    let owners = examine(&site, &script.told)?;
    disarm(&mut site);
    let mut daemon = site.try_start()?;
    age(&site, &owners);
    assert!(script.go_on(&site, &mut daemon), "it ended: {}", daemon.log());
    daemon.kill();
    script.evaluate(&site)?;
    Ok(!came_through)
}

#[test]
fn killed_at_every_sync_it_goes_on() {
    let (syncs, writes) = count();
    let stride = number_or("SVC_POWER_STRIDE", STRIDE);
    let mut points = Vec::new();
    for deed in ["kill-before", "kill-after"] {
        points.extend((1..=syncs).map(|number| Point { deed, call: "sync", number }));
    }
    let numbers = (1..=writes).step_by(stride);
    points.extend(numbers.map(|number| Point { deed: "kill-after", call: "write", number }));
    let results = for_each(points, kill_at);
    let mut reached = 0;
    let mut deaths: BTreeMap<_, usize> = BTreeMap::new();
    for (Point { deed, call, number }, result) in &results {
        match result {
            Ok(died) => {
                reached += usize::from(*died);
                *deaths.entry(format!("{deed} {call}")).or_default() += usize::from(*died);
            }
            Err(wrong) => panic!("{deed} {call} {number}: {wrong}"),
        }
    }
    let points = results.len();
    say(&format!(
        "{syncs} syncs, {writes} writes: {points} points to die at, {reached} reached: {deaths:?}"
    ));
    // How many group commits a run needs differs a little with who comes first.
    assert!(reached * 10 > points * 8, "{reached} of {points} reached");
}
