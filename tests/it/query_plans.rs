//! No statement of the store walks a table. Every statement in the source is explained on an empty
//! file of the newest schema; a plan that scans must be named here with its reason.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::StatementStatus;

use crate::support::World;
use crate::support::world::open_raw;

/// Plans that may scan, and why.
const MAY_SCAN: &[(&str, &str)] = &[
    ("schema_compatibility", "it has one row"),
    ("installation_pauses", "a row for each installation that was ever paused, once a minute"),
    ("SCAN installations", "a row for each installation, each time the status is asked for"),
    ("sqlite_master", "asked once, at the start"),
    ("relay_processes", "a row for each process, every few seconds"),
    ("CONSTANT ROW", "no table at all"),
    ("(subquery", "counts at most 10,000 entries of an index"),
];

#[test]
fn no_statement_walks_a_table() {
    let world = World::new();
    let connection = open_raw(&world.database());
    let statements = statements();
    assert!(statements.len() > 50, "the scan of the source finds the statements");
    for (file, sql) in statements {
        let mut explained = connection
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .unwrap_or_else(|error| panic!("{file}: {sql}: {error}"));
        let mut rows = explained.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let detail: String = row.get("detail").unwrap();
            let walks = detail.starts_with("SCAN ") && !detail.contains(" USING ");
            let allowed = MAY_SCAN.iter().any(|(what, _)| detail.contains(what));
            assert!(!walks || allowed, "{file}: {sql}\n  {detail}");
            assert!(!detail.contains("TEMP B-TREE"), "{file}: {sql}\n  {detail}");
        }
    }
}

/// Deleting a row looks for all that refers to it, which no plan shows. Audit events and devices are never deleted.
#[test]
fn what_refers_to_a_row_that_can_be_deleted_is_found_by_an_index() {
    let world = World::new();
    let connection = open_raw(&world.database());
    let mut references = connection
        .prepare(
            "SELECT m.name || '.' || f.\"from\", EXISTS \
                (SELECT 1 FROM pragma_index_list(m.name) l, pragma_index_info(l.name) i \
                    WHERE l.partial = 0 AND i.seqno = 0 AND i.name = f.\"from\") \
             FROM sqlite_schema m, pragma_foreign_key_list(m.name) f \
             WHERE m.type = 'table' AND f.\"table\" NOT IN ('audit_events', 'relay_devices')",
        )
        .unwrap();
    let mut rows = references.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        let (column, is_indexed): (String, bool) = (row.get(0).unwrap(), row.get(1).unwrap());
        assert!(is_indexed, "{column}: deleting what it refers to walks its table");
        count += 1;
    }
    assert!(count >= 12, "references: {count}");
}

/// What is asked often, and must not read the rows behind its index.
#[test]
fn what_is_asked_often_reads_its_index_alone() {
    let world = World::new();
    let connection = open_raw(&world.database());
    for (part, index) in [
        ("ORDER BY failed_at DESC", "dead_letters_open"),
        ("AND outcome_code = :code)", "reconciliation_items_outcome"),
        ("min(received_at)", "webhook_inbox_unprocessed"),
    ] {
        let (_, sql) = statements().into_iter().find(|(_, sql)| sql.contains(part)).unwrap();
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = explained.raw_query();
        let mut plan = String::new();
        while let Some(row) = rows.next().unwrap() {
            plan = plan + &row.get::<_, String>("detail").unwrap() + "; ";
        }
        assert!(plan.contains(&format!(" USING COVERING INDEX {index}")), "{part}: {plan}");
    }
}

#[test]
fn every_list_is_read_in_the_order_of_its_index() {
    let world = World::new();
    let connection = open_raw(&world.database());
    let mut indexes = BTreeSet::new();
    for (file, sql) in statements().iter().filter(|(_, sql)| sql.contains("id < :bound")) {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = explained.raw_query();
        let plan: String = rows.next().unwrap().unwrap().get("detail").unwrap();
        assert!(plan.contains("installation_id=? AND") && plan.contains("id<?"), "{file}: {plan}");
        let index = plan.split(" INDEX ").nth(1).and_then(|rest| rest.split(' ').next());
        indexes.insert(index.unwrap().to_owned());
    }
    let expected = [
        "audit_events_of_installation",
        "reconciliation_items_listed",
        "reconciliation_items_listed_finished",
        "release_runs_of_installation",
        "release_runs_of_repository",
        "release_runs_of_status",
        "release_runs_of_tag",
        "release_runs_unfinished",
    ];
    assert_eq!(indexes, expected.map(str::to_owned).into());
}

/// A list of some hours goes through the entries of those hours, and through no row before or after them.
#[test]
fn a_list_by_time_is_read_in_the_order_of_time() {
    let world = World::new();
    let connection = open_raw(&world.database());
    let mut indexes = BTreeSet::new();
    for (file, sql) in statements().iter().filter(|(_, sql)| sql.contains("created_at DESC, ")) {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = explained.raw_query();
        let plan: String = rows.next().unwrap().unwrap().get("detail").unwrap();
        assert!(plan.contains("installation_id=? AND created_at>? AND"), "{file}: {plan}");
        let index = plan.split(" INDEX ").nth(1).and_then(|rest| rest.split(' ').next());
        indexes.insert(index.unwrap().to_owned());
    }
    let expected = ["audit_events_of_time", "release_runs_of_time"];
    assert_eq!(indexes, expected.map(str::to_owned).into());
}

/// A session has a proposal for each call that was ever made in it, and few of them wait. Looking for those among all of
/// them would make each call slower than the one before.
#[test]
fn only_retention_looks_among_all_proposals_of_a_session() {
    let world = World::new();
    let connection = open_raw(&world.database());
    let mut waiting = 0;
    for (file, sql) in statements() {
        let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = explained.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let plan: String = row.get("detail").unwrap();
            if plan.contains(" INDEX relay_proposals_of_session ") {
                assert!(sql.starts_with("DELETE FROM relay_sessions "), "{file}: {sql}\n  {plan}");
            }
            waiting += u32::from(plan.contains(" INDEX relay_proposals_waiting_of_"));
        }
    }
    assert!(waiting >= 2, "statements that look for what waits: {waiting}");
}

#[test]
fn no_statement_is_prepared_anew_for_its_values() {
    let world = World::new();
    let connection = open_raw(&world.database());
    connection.execute_batch("BEGIN").unwrap();
    for (file, sql) in statements() {
        let mut statement = connection.prepare(&sql).unwrap();
        for value in 1..4 {
            for parameter in 1..=statement.parameter_count() {
                statement.raw_bind_parameter(parameter, value).unwrap();
            }
            // What it comes to does not matter, and most of these values suit no column.
            let mut rows = statement.raw_query();
            while let Ok(Some(_)) = rows.next() {}
        }
        let prepared = statement.get_status(StatementStatus::RePrepare);
        assert_eq!(prepared, 0, "{file}: {sql}");
    }
}

/// Returns every statement in the store's source, with its file; text constants are filled in.
fn statements() -> Vec<(String, String)> {
    statements_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store"))
}

fn statements_below(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(statements_below(&path));
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let constants = constants(&source);
        for mut literal in literals(&source) {
            for (name, text) in &constants {
                literal = literal.replace(name, text);
            }
            let verb = literal.split(' ').next().unwrap_or_default();
            if ["SELECT", "INSERT", "UPDATE", "DELETE"].contains(&verb) {
                found.push((name.clone(), literal));
            }
        }
    }
    found
}

/// Returns the text constants of a source file, each with the braces around its name.
fn constants(source: &str) -> Vec<(String, String)> {
    let constant = |rest: &str| {
        let (name, text) = rest.split_once(": &str =")?;
        Some((format!("{{{name}}}"), literals(text).into_iter().next()?))
    };
    source.split("const ").skip(1).filter_map(constant).collect()
}

/// Returns the string literals of a source file; a backslash at the end of a line joins it to the next.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut literals = Vec::new();
    for piece in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |text, line| match line.trim_end().strip_suffix('\\') {
            Some(start) if text.ends_with('\u{1}') => {
                text.replace('\u{1}', "") + start.trim_start() + "\u{1}"
            }
            Some(start) => text + start + "\u{1}",
            None if text.ends_with('\u{1}') => text.replace('\u{1}', "") + line.trim_start() + "\n",
            None => text + line + "\n",
        })
        .split('\n')
    {
        let mut parts = piece.split('"');
        parts.next();
        while let Some(inside) = parts.next() {
            literals.push(inside.to_owned());
            parts.next();
        }
    }
    literals
}
