//! `svcctl relay audit verify`: hashes and signatures apart, and how it ends.

use serde_json::{Value, json};

use super::canned_server::Reply;
use super::{Desk, Run};

/// Runs the command against a service that finds this.
fn verify(first_broken: Option<i64>, signatures: (u64, u64, u64), more: &str) -> (Run, Value) {
    let (valid, invalid, not_checkable) = signatures;
    let found = json!({
        "rows": 7,
        "head": "ab".repeat(32),
        "intact": first_broken.is_none(),
        "firstBroken": first_broken,
        "signatures": {
            "valid": valid,
            "invalid": invalid,
            "notCheckable": not_checkable,
            "firstInvalid": (invalid > 0).then_some(5),
        },
    });
    let desk = Desk::new(vec![Reply::json(200, &found.to_string())]);
    (desk.run(&format!("relay audit verify{more}")), found)
}

#[test]
fn a_log_that_holds_ends_with_0_and_what_cannot_be_checked_is_counted() {
    let (run, _) = verify(None, (3, 0, 2), "");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for line in
        ["intact      yes", "events      7", "signatures  3 valid, 0 invalid, 2 not checkable"]
    {
        assert!(run.stdout.lines().any(|said| said == line), "{line}: {}", run.stdout);
    }
}

#[test]
fn a_broken_hash_and_an_invalid_signature_each_end_with_1_and_say_which_event() {
    let (run, _) = verify(Some(8), (3, 0, 0), "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.starts_with("broken: the hash of event 8 is not valid"), "{}", run.stderr);
    assert!(run.stdout.contains("intact      no"), "{}", run.stdout);
    let (run, _) = verify(None, (2, 1, 0), "");
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.starts_with("invalid: event 5 is not signed by its device"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("intact      yes"), "{}", run.stdout);
}

#[test]
fn a_script_gets_what_was_found_and_the_same_code() {
    for (broken, signatures, code) in
        [(None, (3, 0, 2), 0), (Some(8), (3, 0, 0), 1), (None, (2, 1, 0), 1)]
    {
        let (run, found) = verify(broken, signatures, " -o json");
        assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap(), found);
        assert_eq!((run.code, run.stderr.as_str()), (code, ""));
    }
}
