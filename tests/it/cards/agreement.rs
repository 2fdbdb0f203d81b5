//! The checker and the published schemas come to one verdict: on cards made by chance, on these with
//! faults, and in a campaign of mutations. `SVC_CARDS_MUTATIONS` says how many, `SVC_CARDS_SEED` from
//! where; what was ever found stands in `tests/data/cards/regressions`, a file each.

use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use svc::card::{self, FINDINGS_MAX, FindingCode, ValidationReport};

use super::{hand_written, make, oracle};
use crate::support::campaign::number;

/// Mutations of the test command.
const MUTATIONS: u64 = 20_000;

#[test]
fn hand_written_cards_and_what_was_ever_found() {
    for case in hand_written::cases() {
        agree(&case.text);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cards/regressions");
    for entry in std::fs::read_dir(folder).unwrap() {
        agree(&std::fs::read(entry.unwrap().path()).unwrap());
    }
}

proptest! {
    #[test]
    fn cards_made_by_chance_are_valid(card in make::card()) {
        for text in [card.to_string(), serde_json::to_string_pretty(&card).unwrap()] {
            prop_assert!(card::check(text.as_bytes()).is_valid(), "{text}");
            agree(text.as_bytes());
        }
    }

    #[test]
    fn any_uri_is_judged_alike(uri in "[a-z0-9:/?#\\[\\]@%.vF! ü+-]{0,20}") {
        agree_on("url", &uri);
    }

    #[test]
    fn any_host_is_judged_alike(host in "\\[?[0-9a-f:.v]{0,24}\\]?(:[0-9]{0,3})?") {
        agree_on("url", &format!("http://{host}"));
    }

    #[test]
    fn any_instant_is_judged_alike(made in make::instant(), place in 0..30_usize, char in "[0-9TZ:+. -]") {
        let mut instant = made.as_str().unwrap().to_owned();
        if place < instant.len() {
            instant.replace_range(place..=place, &char);
        }
        agree_on("signedAt", &instant);
    }

    #[test]
    fn any_text_gets_a_report(text in "\\PC*") {
        agree(text.as_bytes());
    }

    #[test]
    fn any_bytes_get_a_report(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        agree(&bytes);
    }

    #[test]
    fn what_serde_reads_is_json_and_nothing_else(text in "[\\[\\]{}\",:0-9eE.+\\-truefalsn\\\\ \n]{0,24}") {
        let ours = card::check(text.as_bytes());
        let stopped = [FindingCode::NotJson, FindingCode::Empty];
        let ours = !ours.findings.iter().any(|finding| stopped.contains(&finding.code));
        let out_of_range = |error: &serde_json::Error| error.to_string().contains("out of range");
        let theirs = match serde_json::from_str::<Value>(&text) {
            Ok(_) => true,
            Err(error) => out_of_range(&error),
        };
        prop_assert_eq!(ours, theirs, "{}", text);
    }
}

#[test]
fn mutations_are_judged_alike() {
    let mut runner = TestRunner::deterministic();
    let mut corpus: Vec<Vec<u8>> = hand_written::cases()
        .into_iter()
        .map(|case| case.text)
        .filter(|text| text.len() < 4_000)
        .collect();
    for _ in 0..300 {
        corpus.push(make::card().new_tree(&mut runner).unwrap().current().to_string().into_bytes());
    }
    let mut chance = Chance::new(number("SVC_CARDS_SEED").unwrap_or(1));
    for _ in 0..number("SVC_CARDS_MUTATIONS").unwrap_or(MUTATIONS) {
        let mut text = chance.pick(&corpus).clone();
        for _ in 0..=chance.below(3) {
            mutate(&mut text, &corpus, &mut chance);
        }
        agree(&text);
    }
}

/// Words worth putting anywhere.
const WORDS: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "1e400",
    "-0",
    "\"\"",
    "\\u0000",
    "\\ud800",
    "\\u0061",
    "\u{feff}",
    "\"type\"",
    "\"1.0\"",
    "\"1.2\"",
    "\"0.3\"",
    "\"protocolVersion\"",
    "\"name\"",
    "\"bearer\"",
    "\"apiKey\"",
    "\"http\"",
    "[]",
    "{}",
    "\"a:b\"",
    "%41",
    "\n",
    "\0",
    "ü",
    "\"transport\":\"ws\",",
];

fn mutate(text: &mut Vec<u8>, corpus: &[Vec<u8>], chance: &mut Chance) {
    let from = chance.below(text.len() + 1);
    let to = (from + chance.below(12)).min(text.len());
    match chance.below(6) {
        0 => drop(text.drain(from..to)),
        1 => drop(text.splice(from..to, chance.pick(WORDS).bytes())),
        2 => drop(text.splice(from..from, chance.pick(WORDS).bytes())),
        3 => {
            let copy = text[from..to].to_vec();
            let at = chance.below(text.len() + 1);
            drop(text.splice(at..at, copy));
        }
        4 if from < text.len() => text[from] = u8::try_from(chance.below(256)).unwrap(),
        _ => {
            let other = chance.pick(corpus);
            let begin = chance.below(other.len() + 1);
            let end = (begin + chance.below(60)).min(other.len());
            drop(text.splice(from..to, other[begin..end].iter().copied()));
        }
    }
}

/// Compares the verdicts, and looks whether the report makes sense.
fn agree(text: &[u8]) {
    let report = card::check(text);
    let valid = report.is_valid().then_some(report.variant).flatten();
    assert_eq!(valid, oracle::verdict(text), "{:?}", String::from_utf8_lossy(text));
    makes_sense(text, &report);
}

fn makes_sense(text: &[u8], report: &ValidationReport) {
    let shown = String::from_utf8_lossy(text);
    let places: Vec<_> = report.findings.iter().map(|finding| finding.place).collect();
    assert!(places.is_sorted(), "{shown}");
    assert!(places.len() <= FINDINGS_MAX && (!report.truncated || places.len() == FINDINGS_MAX));
    for finding in &report.findings {
        let end = finding.place.offset + finding.length;
        assert!(end <= text.len(), "{shown}: {finding:?}");
        assert!(std::str::from_utf8(&text[finding.place.offset..end]).is_ok(), "{shown}");
        let before = std::str::from_utf8(&text[..finding.place.offset]).unwrap();
        let line = before.rsplit('\n').next().unwrap();
        let lines = before.matches('\n').count();
        assert_eq!(finding.place.column, u64::try_from(line.chars().count()).unwrap() + 1);
        assert_eq!(finding.place.line, u64::try_from(lines).unwrap() + 1);
    }
}

fn agree_on(name: &str, value: &str) {
    let mut card = serde_json::json!(
        {"protocolVersion": "1.0", "name": "", "description": "", "url": "a:", "version": ""}
    );
    card[name] = value.into();
    agree(card.to_string().as_bytes());
}

/// A sequence that one number decides.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % bound
    }

    pub(super) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}
