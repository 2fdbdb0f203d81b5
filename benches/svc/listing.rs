//! A page of 100 dead letters: the first and the last, of a short and of a long list.

use svc::api::{DeadLetter, DeadLetterFilter, ListRequest};
use svc::domain::time::Timestamp;
use svc::runtime::clock::{Clock as _, SystemClock};

use crate::support::{Folder, heading, line, median, open_raw, open_store, ratio};
use crate::work::{INSTALLATION, NAME};

const LIMIT: u32 = 100;
/// Pages asked for in one round.
const PAGES: usize = 50;
const ROUNDS: usize = 41;
/// When the oldest of all died, in microseconds.
const BASE: i64 = 1_700_000_000_000_000;

/// A page, and how long it took in each round.
struct Place {
    name: String,
    before: i64,
    ours: Vec<f64>,
    raw: Vec<f64>,
}

pub(crate) fn run() {
    heading(
        &format!("listing: a page of {LIMIT} dead letters, microseconds, median"),
        ["svc", "raw limit", "to first", "aim"],
    );
    let lists = [1_000_u32, 1_000_000].map(|rows| {
        let folder = Folder::new();
        let path = folder.path("store.db");
        let store = open_store(&path);
        seed(&path, rows);
        let last = rows / LIMIT;
        let places = [1, last].map(|page| Place {
            name: format!("{rows} rows, page {page}"),
            // Newest first: the row that died last has the number `rows`.
            before: BASE + i64::from(rows - (page - 1) * LIMIT) + 1,
            ours: Vec::new(),
            raw: Vec::new(),
        });
        (folder, store, open_raw(&path), places)
    });
    let mut lists = lists;
    let clock = SystemClock::new();
    let timed = |page: &dyn Fn() -> usize| {
        let began = clock.monotonic();
        for _ in 0..PAGES {
            assert_eq!(page(), 100);
        }
        (clock.monotonic() - began).as_secs_f64() * 1e6 / PAGES as f64
    };
    for _ in 0..ROUNDS {
        for (_, store, connection, places) in &mut lists {
            for place in places {
                let before = Timestamp::from_micros(place.before);
                let installation = INSTALLATION.try_into().unwrap();
                place.raw.push(timed(&|| read(connection, place.before)));
                place.ours.push(timed(&|| {
                    let wanted: ListRequest<DeadLetter> = ListRequest {
                        filter: DeadLetterFilter::default(),
                        before: Some(before),
                        limit: LIMIT,
                    };
                    store.list(installation, &wanted, Timestamp::MIN).unwrap().unwrap().items.len()
                }));
            }
        }
    }
    let mut first: Option<Vec<f64>> = None;
    for Place { name, ours, raw, .. } in lists.into_iter().flat_map(|(.., places)| places) {
        let to_first = first.as_ref().map_or(1.0, |first| ratio(&ours, first));
        let shown = |values| format!("{:.0}", median(values));
        let cells = [shown(ours.clone()), shown(raw), format!("{to_first:.2}")];
        let [value, limit, ratio] = cells;
        line(&name, [value, limit, ratio, "<= 1.3 to first".to_owned()]);
        first.get_or_insert(ours);
    }
}

/// What the index holds of a page, read into nothing but its words.
fn read(connection: &rusqlite::Connection, before: i64) -> usize {
    let mut statement = connection
        .prepare_cached(
            "SELECT failed_at, item_type, item_id, repository, reason_code, error_class, \
                attempt_count, replay_class FROM dead_letters INDEXED BY dead_letters_open \
             WHERE installation_id = ?1 AND resolution IS NULL AND failed_at < ?2 \
             ORDER BY failed_at DESC LIMIT +?3",
        )
        .unwrap();
    let mut rows = statement.query((INSTALLATION, before, LIMIT)).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        let words: [String; 6] = [1, 2, 3, 4, 5, 7].map(|column| row.get(column).unwrap());
        let numbers: [i64; 2] = [0, 6].map(|column| row.get(column).unwrap());
        std::hint::black_box((words, numbers));
        count += 1;
    }
    count
}

fn seed(path: &std::path::Path, rows: u32) {
    let connection = open_raw(path);
    connection
        .execute(
            "INSERT INTO dead_letters (installation_id, failed_at, item_type, item_id, repository, \
                reason_code, error_class, attempt_count, replay_class, replay_safe) \
             SELECT ?1, ?2 + value, 'job', printf('%08x-0000-7000-8000-000000000000', value), ?3, \
                'job_failed', 'state', 3, 'job_transaction', 1 \
             FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n \
                WHERE value < ?4) SELECT value FROM n)",
            (INSTALLATION, BASE, NAME, rows),
        )
        .unwrap();
}
