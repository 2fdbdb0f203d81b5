//! Another installation's item and one that does not exist are the same to each caller: byte for
//! byte, and in what is left behind.

use std::fmt::Write as _;
use std::time::Duration;

use http::Method;
use svc::domain::outbox::EffectKind;
use svc::runtime::clock::{Clock as _, SystemClock};
use svc::runtime::random::Random as _;

use crate::support::forge::Plan;
use crate::support::reconciliation::{self, Item};
use crate::support::world::{bytes, commit, open_raw, webhooks};
use crate::support::{SeededRandom, World};

const PAIRS: usize = 10_000;
const SEED: u64 = 20_261_121;

/// Installation 1 has dead jobs, installation 3 dead messages, installation 2 nothing.
fn world() -> (World, Vec<(String, String)>) {
    let mut world = World::new();
    world.deliver(&webhooks(1).installation("suspend"));
    for number in 1..=20 {
        world.deliver(&webhooks(1).push_tag(&format!("v{number}"), &commit(number)));
        world.forge.plan(EffectKind::WorkflowDispatch, Plan::Refused);
        world.deliver(&webhooks(3).push_tag(&format!("v{number}"), &commit(100 + number)));
        world.settle();
    }
    let letters = [world.dead_letters(1), world.dead_letters(3)].concat();
    let text = |letter: &serde_json::Value, name: &str| letter[name].as_str().unwrap().to_owned();
    let items: Vec<_> =
        letters.iter().map(|letter| (text(letter, "itemType"), text(letter, "itemId"))).collect();
    for item_type in ["job", "outbox"] {
        assert!(items.iter().filter(|item| item.0 == item_type).count() >= 20, "{items:?}");
    }
    (world, items)
}

/// A well-formed id that was never given out, made in the same millisecond as one that was.
pub(crate) fn absent(random: &mut SeededRandom, like: &str) -> String {
    let mut bytes = *like.parse::<uuid::Uuid>().unwrap().as_bytes();
    random.fill(&mut bytes[9..]);
    uuid::Uuid::from_bytes(bytes).to_string()
}

/// Everything in the file that a question could change.
pub(crate) fn footprint(world: &World) -> Vec<(String, i64, String)> {
    let raw = open_raw(&world.database());
    let mut tables = raw
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .unwrap();
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut found = Vec::new();
    for name in names {
        let mut rows = raw.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let columns = rows.column_count();
        let (mut count, mut whole) = (0, String::new());
        let mut all = rows.query([]).unwrap();
        while let Some(row) = all.next().unwrap() {
            count += 1;
            for column in 0..columns {
                write!(whole, "{:?},", row.get_ref(column).unwrap()).unwrap();
            }
        }
        found.push((name, count, whole));
    }
    found
}

/// Releases of installation 3, and with each one row in every list that goes by ids.
fn listed() -> (World, Vec<(&'static str, Vec<String>)>) {
    let (world, items) = world();
    for (number, (_, id)) in items.iter().filter(|item| item.0 == "outbox").enumerate() {
        assert_eq!(world.replay(3, ("outbox", id), &format!("replay-{number}")).0, 200);
    }
    world.settle();
    let column = |sql: &str| -> Vec<String> {
        let raw = open_raw(&world.database());
        let mut rows = raw.prepare(sql).unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for attempt in column("SELECT attempt_id FROM release_run_attempts") {
        reconciliation::add(&world, 3, &Item::of_attempt("running_stale", &attempt));
    }
    let releases = column("SELECT release_run_id FROM release_runs");
    let lists = vec![
        ("releases/", releases.clone()),
        ("releases?before=", releases.clone()),
        ("releases?status=running&before=", releases),
        ("audit-events?before=", column("SELECT audit_event_id FROM audit_events")),
        (
            "reconciliation-items?before=",
            column("SELECT reconciliation_id FROM reconciliation_items"),
        ),
        (
            "reconciliation-items?status=completed&before=",
            column("SELECT reconciliation_id FROM reconciliation_items"),
        ),
    ];
    for (path, ids) in &lists {
        assert!(ids.len() >= 20, "{path}: {}", ids.len());
    }
    (world, lists)
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[test]
fn what_lists_know_of_another_installation_is_nothing() {
    let (world, lists) = listed();
    let before = footprint(&world);
    let mut random = SeededRandom(SEED);
    for round in 0..PAIRS / 10 {
        let mut chance = [0; 4];
        random.fill(&mut chance);
        let (path, ids) = &lists[round % lists.len()];
        let foreign = &ids[usize::from(chance[0]) % ids.len()];
        let absent = absent(&mut random, foreign);
        let installation = if chance[2] % 2 == 0 { 2 } else { 1_000 + i64::from(chance[3]) };
        let ask = |installation: i64, id: &str| {
            let target = format!("/api/v1/operator/installations/{installation}/{path}{id}");
            let answer = world.operate(Method::GET, &target, &[]);
            (answer.status.as_u16(), format!("{:?}", answer.headers), bytes(&answer).to_vec())
        };
        assert_eq!(ask(3, foreign).0, 200, "{path}{foreign}");
        let of_foreign = ask(installation, foreign);
        assert!([400, 404].contains(&of_foreign.0), "{path}{foreign}");
        assert_eq!(of_foreign, ask(installation, &absent), "round {round}: {path}{foreign}");
        assert_eq!(of_foreign, ask(3, &absent), "round {round}: {path}{foreign}");
    }
    assert_eq!(footprint(&world), before, "a question left something behind");
}

#[test]
fn ten_thousand_foreign_and_absent_items_are_the_same() {
    let (world, items) = world();
    let before = footprint(&world);
    let mut random = SeededRandom(SEED);
    let clock = SystemClock::new();
    let mut times = [Vec::new(), Vec::new()];
    for pair in 0..PAIRS {
        let mut chance = [0; 4];
        random.fill(&mut chance);
        let (item_type, foreign) = &items[usize::from(chance[0]) % items.len()];
        let absent = absent(&mut random, foreign);
        // The other type, too: then the foreign item is foreign and of another kind.
        let item_type = match (chance[1] % 8, item_type.as_str()) {
            (0, "job") => "outbox",
            (0, _) => "job",
            (_, own) => own,
        };
        let installation = if chance[2] % 2 == 0 { 2 } else { 1_000 + i64::from(chance[3]) };
        let (method, suffix) =
            if pair % 2 == 0 { (Method::GET, "") } else { (Method::POST, "/replay") };
        // Who is asked about first must not matter.
        let mut answers = [None, None];
        for turn in 0..2 {
            let which = (turn + usize::from(chance[1] >> 7)) % 2;
            let id = if which == 0 { foreign } else { &absent };
            let target = format!(
                "/api/v1/operator/installations/{installation}/dead-letters/{item_type}/{id}{suffix}"
            );
            let began = clock.monotonic();
            let answer = world.operate(method.clone(), &target, &[("idempotency-key", "one-key")]);
            times[which].push(clock.monotonic().saturating_sub(began));
            let headers = format!("{:?}", answer.headers);
            answers[which] = Some((answer.status.as_u16(), headers, bytes(&answer).to_vec()));
        }
        let [of_foreign, of_absent] = answers;
        assert_eq!(of_foreign.as_ref().unwrap().0, 404, "pair {pair} of seed {SEED}");
        assert_eq!(of_foreign, of_absent, "pair {pair} of seed {SEED}: {foreign} and {absent}");
    }
    assert_eq!(footprint(&world), before, "a question left something behind");
    let [foreign, absent] = times.each_mut().map(|times| median(times));
    println!("{PAIRS} pairs: median {foreign:?} for foreign items, {absent:?} for absent ones");
}
