//! The outcome table of results whose credential holds: every combination of what the store knows.

use std::fmt::Write as _;

use svc::domain::reconcile::AttemptStanding;
use svc::domain::result::{self, Credential, ResultRefusal, RunFacts};

use crate::outcomes::check;

const CREDENTIALS: [(&str, Credential); 3] = [
    ("new credential", Credential::New),
    ("same credential, same body", Credential::SameBody),
    ("same credential, other body", Credential::OtherBody),
];
const RUNS: [(&str, RunFacts); 4] = [
    ("its run", RunFacts::Known),
    ("run not known yet", RunFacts::Unknown),
    ("another run", RunFacts::Other),
    ("run of another attempt", RunFacts::Taken),
];

const fn name(standing: AttemptStanding) -> &'static str {
    match standing {
        AttemptStanding::Current => "attempt current",
        AttemptStanding::Ended => "attempt ended",
        AttemptStanding::Superseded => "attempt superseded",
    }
}

#[test]
fn result_callback() {
    let mut table = String::new();
    for (credential_name, credential) in CREDENTIALS {
        for standing in AttemptStanding::ALL {
            for (commit, same_commit) in [("its commit", true), ("other commit", false)] {
                for (sent, dispatched) in [("dispatched", true), ("not dispatched", false)] {
                    for (run_name, run) in RUNS {
                        let facts =
                            result::Facts { credential, standing, same_commit, dispatched, run };
                        let standing = name(standing);
                        let outcome = shown(result::decide(&facts));
                        writeln!(
                            table,
                            "{credential_name}; {standing}; {commit}; {sent}; {run_name} -> {outcome}"
                        )
                        .unwrap();
                    }
                }
            }
        }
    }
    assert_eq!(table.lines().count(), 144);
    check("result_callback", &table);
}

fn shown(outcome: result::Outcome) -> String {
    match outcome {
        result::Outcome::Record { proves_run: false } => "recorded: 200".to_owned(),
        result::Outcome::Record { proves_run: true } => {
            "recorded, and the run is proved: 200".to_owned()
        }
        result::Outcome::Repeat => "the same answer again: 200".to_owned(),
        result::Outcome::Refuse(refusal) => format!("{refusal}, nothing changes: 409"),
    }
}

#[test]
fn every_refusal_can_happen() {
    let table = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/outcomes/result_callback.txt"
    ))
    .unwrap();
    for refusal in ResultRefusal::ALL {
        assert!(table.contains(&format!("-> {refusal},")), "{refusal}");
    }
}

#[test]
fn every_refusal_has_its_words() {
    let mut table = String::new();
    for refusal in ResultRefusal::ALL {
        writeln!(table, "{refusal}: {}", refusal.text()).unwrap();
    }
    check("result_refusals", &table);
}
