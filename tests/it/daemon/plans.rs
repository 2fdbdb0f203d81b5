//! Plans: a set of dead letters that is frozen into a file and applied once, item by item.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use svc::simulator::Fault;

use super::letters;
use super::process::Daemon;
use super::site::{Ended, Site};
use super::{INSTALLATION, STRANGER, database};

/// Runs it; it must end with the code.
pub(super) fn run(site: &Site, line: &str, code: i32) -> Ended {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ended = site.svcctl_in_folder(&url(site), &words);
    assert_eq!(ended.code, Some(code), "svcctl {line}: {ended:?}");
    ended
}

pub(super) fn url(site: &Site) -> String {
    format!("unix:{}", site.socket().display())
}

/// Returns how many audit events there are.
pub(super) fn audited(site: &Site) -> i64 {
    database::number(&database::open(&site.database()), "SELECT count(*) FROM audit_events", &[])
}

/// Returns the lines that a run printed about items, and the one about its end.
fn lines(ended: &Ended) -> (Vec<Value>, Value) {
    let mut lines: Vec<Value> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.pop().unwrap();
    (lines, end)
}

fn outcomes(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect()
}

fn with_suspended(items: usize) -> (Site, Daemon) {
    let site = Site::new();
    let daemon = site.start();
    letters::suspended(&site, &daemon, &site.webhooks, 1..items + 1);
    (site, daemon)
}

#[test]
fn a_plan_replays_each_item_once_and_the_audit_log_names_it() {
    let (site, daemon) = with_suspended(5);
    letters::suspended(&site, &daemon, &site.strangers, 1..4);
    let uncertain = "dead-letters plan -A --type outbox --file none.json";
    assert!(run(&site, uncertain, 6).stderr.contains("no dead letter matches"));
    let made = run(&site, "dead-letters plan -A --file plan.json -o json", 0);
    let made: Value = serde_json::from_str(&made.stdout).unwrap();
    assert_eq!((&made["items"], &made["action"]), (&8.into(), &"replay".into()));
    let counts = serde_json::json!({ INSTALLATION.to_string(): 5, STRANGER.to_string(): 3 });
    assert_eq!(made["installations"], counts);
    assert_eq!(audited(&site), 0);
    let document = std::fs::read_to_string(site.path("plan.json")).unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["items"].as_array().unwrap().len(), 8);
    for webhooks in [&site.webhooks, &site.strangers] {
        letters::unsuspend(&daemon, webhooks);
    }
    let apply = "dead-letters apply plan.json -A --yes --rate 100/s";
    let (items, end) = lines(&run(&site, apply, 0));
    assert_eq!(outcomes(&items), ["replayed"; 8]);
    assert_eq!(end["outcome"], "done");
    assert_eq!((&end["applied"], &end["notTried"]), (&8.into(), &0.into()));
    let (items, end) = lines(&run(&site, apply, 0));
    assert_eq!(outcomes(&items), ["already_applied"; 8]);
    assert_eq!(end["alreadyApplied"], 8);
    let (items, end) = lines(&run(&site, &format!("{apply} -o ndjson --canary 0"), 0));
    assert_eq!((items.len(), &end["applied"]), (8, &0.into()));
    let named = "SELECT count(*) FROM audit_events WHERE operation_id = ?1 || '/job/' || item_id";
    let plan = made["planId"].as_str().unwrap();
    let database = database::open(&site.database());
    assert_eq!(database::number(&database, named, &[&plan]), 8);
    assert_eq!(audited(&site), 8);
}

#[test]
fn it_stops_when_the_first_items_die_again_and_leaves_them_to_a_new_plan() {
    let (site, daemon) = with_suspended(6);
    run(&site, "dead-letters plan --file plan.json", 0);
    let stopped = run(&site, "dead-letters apply plan.json --yes --canary 2", 16);
    let (items, end) = lines(&stopped);
    assert_eq!(end["outcome"], "items_died_again");
    assert_eq!((&end["applied"], &end["notTried"]), (&2.into(), &4.into()));
    assert_eq!(outcomes(&items)[..2], ["replayed"; 2]);
    assert_eq!(outcomes(&items)[2], "died_again");
    assert_eq!(items[2]["why"], "installation_suspended");
    assert!(stopped.stderr.contains("svcctl dead-letters plan"), "{stopped:?}");
    assert!(stopped.stderr.contains("--file plan-next.json"), "{stopped:?}");
    // The same plan stops again, and replays nothing.
    run(&site, "dead-letters apply plan.json --yes --canary 2", 16);
    assert_eq!(audited(&site), 2);
    // Without a wait, the deaths are noticed meanwhile or at the end.
    let (_, end) = lines(&run(&site, "dead-letters apply plan.json --yes --canary 0", 16));
    assert!(end["diedAgain"].as_u64().unwrap() >= 1, "{end}");
    // All are found, where none ends it.
    let all = "dead-letters apply plan.json --yes --canary 0 --stop-after-failures 0";
    let (_, end) = lines(&run(&site, all, 16));
    assert_eq!((&end["diedAgain"], &end["underWay"]), (&6.into(), &0.into()));
    letters::unsuspend(&daemon, &site.webhooks);
    run(&site, "dead-letters plan --file plan-next.json", 0);
    let (_, end) = lines(&run(&site, "dead-letters apply plan-next.json --yes", 0));
    assert_eq!(end["outcome"], "done");
    assert!(letters::letters(&daemon, INSTALLATION).is_empty());
}

#[test]
fn effects_that_die_after_the_last_request_are_found() {
    let site = Site::new();
    let daemon = site.start();
    let refuse = Fault::Validation422;
    letters::dispatches(&site, &daemon, &site.webhooks, 1..4, refuse);
    run(&site, "dead-letters plan --file plan.json", 0);
    (1..4).for_each(|number| site.forge.plan_dispatch(&format!("v{number}"), refuse));
    let apply = "dead-letters apply plan.json --yes --canary 0 --stop-after-failures 0";
    let (_, end) = lines(&run(&site, apply, 16));
    assert_eq!((&end["diedAgain"], &end["underWay"]), (&3.into(), &0.into()), "{end}");
    run(&site, "dead-letters plan --file plan-next.json", 0);
    let (_, end) = lines(&run(&site, "dead-letters apply plan-next.json --yes --canary 0", 0));
    assert_eq!((&end["applied"], &end["underWay"]), (&3.into(), &0.into()), "{end}");
    assert!(letters::letters(&daemon, INSTALLATION).is_empty());
}

#[test]
fn what_has_changed_since_the_plan_is_skipped() {
    let (site, daemon) = with_suspended(3);
    run(&site, "dead-letters plan --file plan.json", 0);
    let old = letters::letters(&daemon, INSTALLATION);
    let [first, second, _] = old.as_slice() else { panic!("{old:?}") };
    // One dies again, which is another death; one is closed.
    run(&site, &format!("replay job {}", first.item_id), 0);
    super::wait_for("another death", || {
        letters::letters(&daemon, INSTALLATION)
            .into_iter()
            .find(|letter| letter.item_id == first.item_id && letter.failed_at > first.failed_at)
    });
    run(&site, &format!("dead-letters close job {} --reason x", second.item_id), 0);
    letters::unsuspend(&daemon, &site.webhooks);
    let (items, end) = lines(&run(&site, "dead-letters apply plan.json --yes", 15));
    assert_eq!((&end["applied"], &end["skipped"]), (&1.into(), &2.into()));
    let why = |id: &str| {
        let line = items.iter().find(|line| line["itemId"] == id).unwrap();
        assert_eq!(line["outcome"], "skipped");
        line["why"].as_str().unwrap().to_owned()
    };
    assert_eq!(why(&first.item_id), "died_again");
    assert_eq!(why(&second.item_id), "closed");
    assert_eq!(audited(&site), 3);
}

#[test]
fn a_plan_that_closes_gives_each_item_the_reason() {
    let (site, daemon) = with_suspended(2);
    let uncertain = letters::uncertain_of(&site, &daemon, &site.strangers, 1);
    let plan = "dead-letters plan -A --close not-needed --file plan.json";
    let made = run(&site, plan, 0).stdout;
    assert!(made.contains("not-needed"), "{made}");
    let (items, _) = lines(&run(&site, "dead-letters apply plan.json -A --yes", 0));
    assert_eq!(outcomes(&items), ["closed"; 3]);
    assert!(items.iter().any(|line| line["itemId"] == uncertain.as_str()));
    let (items, _) = lines(&run(&site, "dead-letters apply plan.json -A --yes", 0));
    assert_eq!(outcomes(&items), ["already_applied"; 3]);
    let query = "SELECT count(*) FROM audit_events WHERE reason = 'not-needed' \
                 AND event = 'control_plane.dead_letter_closed'";
    assert_eq!(database::number(&database::open(&site.database()), query, &[]), 3);
}

#[test]
fn an_interruption_ends_behind_an_item_and_the_same_command_goes_on() {
    let (site, daemon) = with_suspended(3);
    letters::unsuspend(&daemon, &site.webhooks);
    run(&site, "dead-letters plan --file plan.json", 0);
    let words = "dead-letters apply plan.json --yes --canary 0 --rate 1/h";
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut command = site.svcctl_command(&url(&site));
    command.args(words).current_dir(site.path("."));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("\"replayed\""), "{line}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    line.clear();
    out.read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let end: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&end["outcome"], &end["notTried"]), (&"interrupted".into(), &2.into()));
    let (_, end) = lines(&run(&site, "dead-letters apply plan.json --yes", 0));
    assert_eq!((&end["applied"], &end["alreadyApplied"]), (&2.into(), &1.into()));
}
