//! Conditional writes of agent cards, every combination.

use std::fmt::Write as _;

use svc::domain::agent_card::{Condition, Removal, Write, decide_removal, decide_write};
use svc::domain::digest::Digest;

#[test]
fn agent_card_writes() {
    let digest = |byte| Digest::from([byte; 32]);
    let (new, other) = (digest(1), digest(2));
    let found = [("none", None), ("the same", Some(new)), ("another", Some(other))];
    let conditions = [
        ("no condition", Condition::Always),
        ("if none", Condition::Absent),
        ("if any", Condition::Present),
        ("if the same", Condition::OneOf(vec![new])),
        ("if that other", Condition::OneOf(vec![other])),
        ("if an unknown one", Condition::OneOf(Vec::new())),
    ];
    let mut table = String::new();
    for (what, found) in found {
        for (condition_name, condition) in &conditions {
            for (room, is_full) in [("room", false), ("full", true)] {
                let write = match decide_write(found, new, condition, is_full) {
                    Write::Create => "created",
                    Write::Replace => "replaced",
                    Write::Keep => "unchanged",
                    Write::Full => "registry_full",
                    Write::PreconditionFailed => "precondition_failed",
                };
                writeln!(table, "write; found {what}; {condition_name}; {room} -> {write}")
                    .unwrap();
            }
            let removal = match decide_removal(found, condition) {
                Removal::Remove(_) => "removed",
                Removal::NotFound => "not_found",
                Removal::PreconditionFailed => "precondition_failed",
            };
            writeln!(table, "removal; found {what}; {condition_name} -> {removal}").unwrap();
        }
    }
    super::check("agent_card_writes", &table);
}
