//! A plan is applied while `svcctl` and `svcd` are killed: each item is replayed once, and audited once.
//!
//! `SVC_PLAN_KILL_ITEMS=1000` and `SVC_PLAN_KILLS=40` are a campaign.

use std::process::Stdio;
use std::time::Duration;

use super::letters;
use super::load::{Numbers, age_leases};
use super::plans::{audited, run, url};
use super::site::Site;
use super::{database, wait_within};
use crate::support::campaign::number_or;

const SEED: u64 = 0x5EED_0130;
/// A campaign on a busy machine goes over a thousand items again and again.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn each_item_is_replayed_once_wherever_a_process_dies() {
    let items = number_or("SVC_PLAN_KILL_ITEMS", 60);
    let kills = number_or("SVC_PLAN_KILLS", 8);
    let site = Site::new();
    let mut daemon = site.start();
    letters::suspended(&site, &daemon, &site.webhooks, 1..items + 1);
    letters::unsuspend(&daemon, &site.webhooks);
    run(&site, "dead-letters plan --file plan.json", 0);
    let mut numbers = Numbers::new(SEED);
    let step = u64::try_from(items / kills).unwrap();
    let apply = "dead-letters apply plan.json --yes --canary 0 --stop-after-failures 0";
    let words: Vec<&str> = apply.split_whitespace().collect();
    for number in 0..kills {
        let mut command = site.svcctl_command(&url(&site));
        command.args(&words).current_dir(site.path("."));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // So far, or it is at its end already.
        let until = audited(&site) + i64::try_from(numbers.below(step)).unwrap();
        // A run first repeats what earlier ones did, which takes long where there are many.
        wait_within(PATIENCE, "the next replays", || {
            (audited(&site) > until || child.try_wait().unwrap().is_some()).then_some(())
        });
        if number % 2 == 0 {
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            daemon.kill();
            age_leases(&site);
            // It goes on by itself once the daemon is back.
            daemon = site.start();
            assert_eq!(child.wait().unwrap().code(), Some(0), "{number}: {}", daemon.log());
        }
    }
    run(&site, apply, 0);
    let database = database::open(&site.database());
    let count = |query: &str| usize::try_from(database::number(&database, query, &[])).unwrap();
    for query in [
        "SELECT count(*) FROM audit_events WHERE event = 'control_plane.dead_letter_replayed'",
        "SELECT count(DISTINCT item_id) FROM audit_events",
        "SELECT count(*) FROM audit_events",
        "SELECT count(*) FROM dead_letters WHERE resolution = 'replayed'",
        "SELECT count(*) FROM operator_operations",
    ] {
        assert_eq!(count(query), items, "{query}");
    }
    database::assert_sound(&database);
}
